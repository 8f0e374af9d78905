# SPDX-License-Identifier: Apache-2.0
"""Programs that do not work yet, by mode; each is a strict xfail of ``test_programs.py``.

Written by ``python -m tests.control.status -w``.
"""

from typing import Final

__all__ = ["NOT_YET"]

NOT_YET: Final[dict[str, tuple[str, ...]]] = {
    "jit": (),
    "eager": (),
    "opset13": (),
    "newest": (),
}
