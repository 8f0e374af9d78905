# SPDX-License-Identifier: Apache-2.0
"""Faults of NumPy that we work around; an xfail that passes says that one is mended."""

import subprocess
import sys

import pytest


@pytest.mark.xfail(strict=True, reason="NumPy 2.4 crashes")
def test_accumulations_into_one_element_raise() -> None:
    code = "import numpy as np; np.cumsum(np.ones(3), out=np.zeros(()))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert "wrong size for the accumulation" in done.stderr
