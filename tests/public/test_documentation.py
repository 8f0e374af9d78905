# SPDX-License-Identifier: Apache-2.0
"""What the pages and docstrings promise: they name what is public, and their examples run."""

import doctest
import inspect
import subprocess
import sys

import pytest

import onnxjit
from onnxjit import errors, jit_onnx

from .test_layout import PAGES, ROOT

GUIDE = PAGES["docs/getting-started.md"]
EXAMPLES = [name for name, text in PAGES.items() if doctest.DocTestParser().get_examples(text)]
TOOLS = ("to_onnx", "save", "explain", "verify", "benchmark")
ITSELF = {"self", "args", "named", "kwargs"}


def test_the_guide_names_everything_public():
    text = GUIDE.replace("`onnxjit.", "`")
    assert [name for name in onnxjit.__all__ if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", TOOLS)
def test_the_guide_shows_each_method(name):
    assert f".{name}(" in GUIDE


def test_the_guide_lists_the_options_of_an_export():
    missing = set(inspect.signature(jit_onnx(abs).to_onnx).parameters) - ITSELF
    assert {name for name in missing if f"`{name}`" not in GUIDE} == set()


def test_pages_with_examples_are_found():
    assert {"README.md", "docs/getting-started.md"} <= set(EXAMPLES)


@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run(page):
    command = [sys.executable, "-W", "error", "-m", "doctest", page]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


PUBLIC = [(name, getattr(onnxjit, name)) for name in onnxjit.__all__]
FUNCTIONS = [(name, each) for name, each in PUBLIC if inspect.isfunction(each)]
METHODS = [(name, getattr(type(jit_onnx(abs)), name)) for name in TOOLS]


@pytest.mark.parametrize(("name", "each"), [*FUNCTIONS, *METHODS])
def test_docstrings_name_each_parameter_and_have_an_example_that_runs(name, each):
    text = inspect.getdoc(each) or ""
    for parameter in inspect.signature(each).parameters:
        assert parameter == "self" or parameter in text, parameter
    (test,) = doctest.DocTestFinder(recurse=False).find(each, name, module=False, globs={})
    assert test.examples
    failed = doctest.DocTestRunner().run(test)
    assert failed.failed == 0


@pytest.mark.parametrize("name", errors.__all__)
def test_each_error_says_what_it_is(name):
    assert inspect.getdoc(getattr(errors, name))


def test_save_and_to_onnx_have_the_same_options():
    jit = jit_onnx(abs)
    own = inspect.signature(jit.save).parameters
    assert {k: v.default for k, v in own.items() if k != "path"} == {
        k: v.default for k, v in inspect.signature(jit.to_onnx).parameters.items()
    }
