# SPDX-License-Identifier: Apache-2.0
"""Every task of the project; `nox -l` lists them, `nox -s NAME` runs one."""

import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.error_on_missing_interpreters = True
nox.options.default_venv_backend = "virtualenv"  # the same everywhere, with or without uv

PROJECT = nox.project.load_toml("pyproject.toml")["project"]
EXTRAS = PROJECT["optional-dependencies"]


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting and the order of the layers."""
    session.install(*EXTRAS["lint"])
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", env={"PYTHONPATH": "src"})


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check types with mypy."""
    session.install("-e", ".[lint,test]")
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, without the slow sweeps; arguments after -- go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", *(session.posargs or ["tests", "-m", "not slow"]))


@nox.session
def demo(session: nox.Session) -> None:
    """Install the package as a user would and run the examples."""
    session.install(".[demo]")
    session.run("python", "examples/digits_knn.py")
    session.run("python", "examples/image_preprocessing.py")
    session.run("python", "examples/sklearn_estimators.py")


@nox.session(name="tests-all", default=False)
def tests_all(session: nox.Session) -> None:
    """Run all tests, the slow sweeps included."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "tests", *session.posargs)


@nox.session(default=False)
def opsets(session: nox.Session) -> None:
    """Run the slow sweeps alone: every opset and dtype."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "tests", "-m", "slow", *session.posargs)


@nox.session(name="min-deps", default=False)
def min_deps(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that pyproject.toml allows."""
    oldest = [each.replace(">=", "==") for each in PROJECT["dependencies"]]
    session.install("-e", ".[test]", *oldest)
    session.run("pytest", "-q", *(session.posargs or ["tests", "-m", "not slow"]))


@nox.session(name="array-api", default=False)
def array_api(session: nox.Session) -> None:
    """Run the array API standard's test suite: `nox -s array-api -- PATH [pytest options]`.

    PATH, or the variable ARRAY_API_TESTS_DIR, is a checkout of data-apis/array-api-tests with
    data-apis/array-api in its folder array-api.
    """
    given = [*session.posargs]
    path = os.environ.get("ARRAY_API_TESTS_DIR") or (given.pop(0) if given else None)
    if path is None:
        session.error("give the path of a checkout of data-apis/array-api-tests")
    xfails = Path("tests/array_api/xfails.txt").resolve()
    session.install("-e", ".[test]", "-r", f"{path}/requirements.txt")
    session.chdir(path)
    modules = {"2024.12": "onnxjit.array_api.v2024_12", "2025.12": "onnxjit.array_api"}
    command = ["pytest", "-q", "--disable-deadline", f"--xfails-file={xfails}", *given]
    for version, module in modules.items():
        env = {"ARRAY_API_TESTS_MODULE": module, "ARRAY_API_TESTS_VERSION": version}
        session.run(*command, "array_api_tests", env=env)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Run the examples of the README, the documentation and the docstrings."""
    session.install("-e", ".[test]")
    pages = ["README.md", *sorted(str(page) for page in Path("docs").rglob("*.md"))]
    session.run("python", "-W", "error", "-m", "doctest", *pages)
    no_examples = 5
    session.run("pytest", "-q", "--doctest-modules", "src", success_codes=[0, no_examples])


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure against NumPy; arguments after -- go to benchmarks/run.py."""
    session.install(".")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the archives in dist/ and import the package from its wheel."""
    session.install("build")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    (wheel,) = Path("dist").glob("*.whl")
    session.install(str(wheel))
    session.run("python", "-W", "error", "-c", "import onnxjit; print(onnxjit.__version__)")
