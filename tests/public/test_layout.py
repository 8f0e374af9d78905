# SPDX-License-Identifier: Apache-2.0
"""Promises about the files of the project that a test can keep."""

import inspect
import os
import re
from importlib.resources import files
from pathlib import Path

import pytest

from onnxjit import errors

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "tools", "examples", "benchmarks", "docs", "changes", ".ci")
SUFFIXES = {".md", ".py", ".toml", ".yaml", ".yml"}
SPDX = "# SPDX-License-Identifier: Apache-2.0"
MAX_LINES = 600

PLACES = ("home", "root", "Users", "work", "mnt", "opt")
MACHINE_PATH = re.compile(rf"(?<![\w.~/-])/(?:{'|'.join(PLACES)})/\w|\b[A-Z]:\\\w")


def project_files() -> list[Path]:
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found.extend(path for path in (ROOT / folder).rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix in SUFFIXES or path.name == "run")


TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in project_files()
}
SOURCES = {name: text for name, text in TEXTS.items() if name.endswith(".py")}
PAGES = {name: text for name, text in TEXTS.items() if name.endswith(".md")}


def test_the_walk_finds_the_project():
    assert {"noxfile.py", "src/onnxjit/errors.py", "tests/conftest.py"} <= SOURCES.keys()
    assert {"README.md", "docs/errors.md"} <= PAGES.keys()


def test_each_source_file_opens_with_its_licence():
    assert [name for name, text in SOURCES.items() if text.partition("\n")[0] != SPDX] == []


def test_each_source_file_is_short():
    long = {name: text.count("\n") for name, text in SOURCES.items()}
    assert {name: lines for name, lines in long.items() if lines >= MAX_LINES} == {}


def test_no_module_is_named_after_nothing():
    vague = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert [name for name in SOURCES if Path(name).name in vague] == []


def test_no_file_names_a_place_on_a_machine():
    found = {name: MACHINE_PATH.findall(text) for name, text in TEXTS.items()}
    assert {name: hits for name, hits in found.items() if hits} == {}


@pytest.mark.parametrize("place", PLACES)
def test_places_on_a_machine_are_recognised(place):
    assert MACHINE_PATH.search(f"see (/{place}/x)")


def test_the_package_says_that_it_is_typed():
    assert files("onnxjit").joinpath("py.typed").is_file()


def heading_anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", PAGES[page], flags=re.MULTILINE)
    plain = (re.sub(r"[^\w -]", "", title).strip().lower() for title in titles)
    return {title.replace(" ", "-") for title in plain}


def test_each_error_has_an_entry_in_the_documentation():
    named = {name.lower() for name in errors.__all__}
    assert named <= heading_anchors("docs/errors.md")


def test_each_error_class_is_public():
    classes = inspect.getmembers(errors, inspect.isclass)
    own = {name for name, each in classes if each.__module__ == errors.__name__}
    assert own == set(errors.__all__)


def test_links_between_pages_lead_somewhere():
    broken = []
    for name, text in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            page = (ROOT / name).parent / path if path else ROOT / name
            relative = os.path.relpath(page, ROOT).replace(os.sep, "/")
            if not page.exists() or (anchor and anchor not in heading_anchors(relative)):
                broken.append(f"{name}: {target}")
    assert broken == []
