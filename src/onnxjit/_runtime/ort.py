# SPDX-License-Identifier: Apache-2.0
"""Plans on onnxruntime's CPU provider."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from onnxjit._compat.onnxruntime import add_weights, open_session

from .options import DISABLED, Options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .base import Array, Plan

__all__ = ["OrtExecutor", "OrtRunner"]

#: sessions of this process; those that a forked child inherits are never ended there: their
#: threads were not inherited, and waiting for them would hang or crash the child
_ALIVE: Final[WeakSet[Any]] = WeakSet()
_INHERITED: Final[list[Any]] = []


def _keep_inherited() -> None:
    _INHERITED.extend(_ALIVE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)


class OrtRunner:
    """A session and the names that go with it.

    Attributes
    ----------
    session : object or None
        The C-level session: ``session.run(fetches, {name: array}, None)``.  None once closed.
    feeds, fetches : list of str
        Input names in order, output names in order.
    """

    __slots__ = ("_kept", "feeds", "fetches", "session")

    def __init__(
        self, session: Any, feeds: Sequence[str], fetches: Sequence[str], kept: Any = None
    ) -> None:
        self.session = session
        self._kept: Final = kept  # weights, which the session uses where they are
        _ALIVE.add(session)
        self.feeds: Final = list(feeds)
        self.fetches: Final = list(fetches)

    def run(self, feeds: Sequence[Array]) -> list[Array]:
        """Run the model; raises onnxruntime's own exceptions."""
        out: list[Array] = self.session.run(
            self.fetches, dict(zip(self.feeds, feeds, strict=True)), None
        )
        return out

    @property
    def raw(self) -> tuple[Any, list[str], list[str]]:
        """Session, input names and output names, for generated code."""
        return self.session, self.feeds, self.fetches

    def close(self) -> None:
        """Drop the session; it ends when the last call in progress does."""
        self.session = None


class OrtExecutor:
    """Makes sessions.

    Parameters
    ----------
    options : Options, optional
        How to set sessions up.
    """

    __slots__ = ("options",)

    def __init__(self, options: Options | None = None) -> None:
        self.options: Final = options or Options()

    def prepare(self, plan: Plan) -> OrtRunner:
        """Return a session of a plan of one segment."""
        (segment,) = plan.segments
        options = self.options.session_options()
        kept = add_weights(options, segment.weights)
        session = open_session(options, segment.model, DISABLED)
        return OrtRunner(session, segment.feeds, segment.fetches, kept)
