# SPDX-License-Identifier: Apache-2.0
"""What rewritten code calls in the place of statements and operators, in one place."""

from .forms import cond, fori_loop, switch, while_loop
from .kept import kept
from .listed import spread
from .scans import map_, scan
from .statements import assert_, comp, for_, if_, list_, raised, trying, while_
from .truth import and_, chain, compare, ifexp, not_, or_
from .unsure import bound

__all__ = [
    "and_", "assert_", "bound", "chain", "comp", "compare", "cond", "for_", "fori_loop", "if_",
    "ifexp", "kept", "list_", "map_", "not_", "or_", "raised", "scan", "spread", "switch",
    "trying", "while_", "while_loop",
]  # fmt: skip
