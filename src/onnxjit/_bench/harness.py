# SPDX-License-Identifier: Apache-2.0
"""Time calls against each other: in turn, in one run, so that what disturbs one disturbs all.

The machine's speed changes from one second to the next, and other processes take their turns.
Calls are therefore timed in blocks. In each block every contender runs a few times for a
fraction of a millisecond, and its quickest time counts: that one was not interrupted. Ratios
are taken within blocks, before any median is.
"""

from __future__ import annotations

import math
import timeit
from time import sleep
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Contender", "Spread", "Timings", "measure"]

#: loops longer than this say nothing new
_MOST_LOOPS: Final = 100_000
#: how much a step of the calibration multiplies by at most
_GROWTH: Final = 16
#: times in a block, of which the quickest counts
_TRIES: Final = 4


class Spread:
    """Median, and quartiles on both sides of it.

    Parameters
    ----------
    samples : sequence of float
        One number for each block.
    """

    __slots__ = ("high", "low", "median", "samples")

    def __init__(self, samples: Sequence[float]) -> None:
        self.samples: Final = tuple(samples)
        ordered = sorted(samples)
        self.low: Final = _quantile(ordered, 0.25)
        self.median: Final = _quantile(ordered, 0.5)
        self.high: Final = _quantile(ordered, 0.75)

    def to_json(self) -> dict[str, float]:
        """Return median and quartiles as plain data."""
        return {"median": self.median, "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        return f"Spread({self.median:.4g}, {self.low:.4g} to {self.high:.4g})"


def _quantile(ordered: Sequence[float], at: float) -> float:
    """Interpolate between sorted samples."""
    if not ordered:
        return math.nan
    place = at * (len(ordered) - 1)
    left = math.floor(place)
    right = min(left + 1, len(ordered) - 1)
    return ordered[left] + (ordered[right] - ordered[left]) * (place - left)


class Contender:
    """A call to time.

    Parameters
    ----------
    name : str
        Of the contender, in tables.
    call : callable
        What is timed.
    *args : object
        Arguments of the call.
    setup : callable, optional
        Run before each call, outside the clock; its result is a tuple that replaces `args`.
        Calls are then timed one by one.
    """

    __slots__ = ("_args", "_call", "_setup", "_timer", "name")

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        *args: Any,
        setup: Callable[[], tuple[Any, ...]] | None = None,
    ) -> None:
        self.name: Final = name
        self._call: Final = call
        self._args: Final = args
        self._setup: Final = setup
        self._timer: Final = _timer(call, args)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The call and its arguments."""
        return self._call, *self._args

    def seconds(self, loops: int) -> float:
        """Return the time of one call, averaged over some."""
        if self._setup is None:
            return self._timer.timeit(loops) / loops
        total = 0.0
        for _ in range(loops):
            total += _timer(self._call, self._setup()).timeit(1)
        return total / loops

    def loops(self, seconds: float) -> int:
        """Return how many calls take about some seconds; this also warms up."""
        loops = 1
        while loops < _MOST_LOOPS:
            taken = max(min(self.seconds(loops) for _ in range(_TRIES)) * loops, 1e-9)
            if taken >= seconds / 2:
                break
            loops = min(_MOST_LOOPS, math.ceil(loops * min(_GROWTH, seconds / taken)))
        return loops


def _timer(call: Callable[..., Any], args: tuple[Any, ...]) -> timeit.Timer:
    """Return a timer of a call written out, as a user would write it."""
    names = {f"a{i}": x for i, x in enumerate(args)}
    return timeit.Timer(f"call({', '.join(names)})", globals={"call": call, **names})


class Timings:
    """Seconds per call of contenders, by block.

    Attributes
    ----------
    seconds : dict of str to Spread
        Of each contender, in order.
    """

    __slots__ = ("seconds",)

    def __init__(self, samples: dict[str, list[float]]) -> None:
        self.seconds: Final = {name: Spread(each) for name, each in samples.items()}

    def ratio(self, name: str, to: str) -> Spread:
        """Return how many times longer one contender takes than another, within blocks."""
        pairs = zip(self.seconds[name].samples, self.seconds[to].samples, strict=True)
        return Spread([a / b for a, b in pairs])


def measure(
    contenders: Sequence[Contender],
    *,
    blocks: int = 25,
    seconds: float = 0.0005,
    rest: float = 0.0,
) -> Timings:
    """Time contenders in turn.

    Parameters
    ----------
    contenders : sequence of Contender
        What is compared; names differ.
    blocks : int
        Blocks of one measurement of every contender. The order turns from block to block.
    seconds : float
        About how long one try takes; a call that takes longer is made once.
    rest : float
        Seconds to wait whenever another contender's turn comes, which then has all its tries
        of the block.  Threads of a session go on spinning for a while after a run, and take
        the cores that the next contender needs.

    Returns
    -------
    Timings
    """
    loops = {c.name: c.loops(seconds) for c in contenders}
    samples: dict[str, list[float]] = {c.name: [] for c in contenders}
    for block in range(blocks):
        turn = block % len(contenders)
        order = (*contenders[turn:], *contenders[:turn])
        best = dict.fromkeys(samples, math.inf)
        for c in _rested(order, rest) if rest else order * _TRIES:
            best[c.name] = min(best[c.name], c.seconds(loops[c.name]))
        for name, seconds_ in best.items():
            samples[name].append(seconds_)
    return Timings(samples)


def _rested(order: Sequence[Contender], rest: float) -> Iterator[Contender]:
    """Return each contender as often as it is tried, with a rest and a warm-up before."""
    for c in order:
        sleep(rest)
        c.seconds(1)
        yield from (c,) * _TRIES
