# SPDX-License-Identifier: Apache-2.0
"""Settings that hold for every test."""

from hypothesis import settings

from onnxjit._engine import compile
from onnxjit._runtime.options import Options

# The same examples in each run, and no deadline: a first call compiles a model.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("ci")

# Threads of a session spin for a while after each run: with hundreds of small graphs they
# would slow the tests more than they speed any of them up.
compile._DEFAULT = Options(threads=1)  # type: ignore[misc]  # for tests only
