# SPDX-License-Identifier: Apache-2.0
"""Settings that hold for every test."""

from hypothesis import settings

# The same examples in each run, and no deadline: a first call compiles a model.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("ci")
