# SPDX-License-Identifier: Apache-2.0
"""Methods of jitted functions and methods beside the call: export, and what tells about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import onnx

    from onnxjit._bench.report import BenchmarkReport

    from .explanation import Explanation
    from .function import JitFunction
    from .verify import Verification

__all__ = ["Tools"]


class Tools:
    """What a jitted function and a jitted method of an object have in common."""

    __slots__ = ()

    def _parts(self) -> tuple[JitFunction, Any]:
        """Return the jitted function, and the object it is bound to."""
        raise NotImplementedError

    def to_onnx(  # noqa: PLR0913  an option each
        self,
        /,
        *args: Any,
        opset: int | None = None,
        target: str = "onnxruntime",
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        dynamic: bool | Mapping[str, Any] = True,
        strict: bool = False,
        mutated: str = "auto",
        kwargs: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> onnx.ModelProto:
        """Return the function as an ONNX model.

        Parameters
        ----------
        *args : array, specification or plain value
            What the function is traced with: example arrays (any values), or specifications
            such as ``float32["N", 3]``.  Arrays become inputs; numbers, strings and None
            become constants.  Without any argument, those of the last call are taken.
        opset : int, optional
            Opset of the model; 21, or that of `jit_onnx`, if None.
        target : {"onnxruntime", "spec"}
            For whom the model is written: for onnxruntime, around the kernels that it does not
            have, or by the standard alone.
        input_names, output_names : sequence of str, optional
            A name for each input and output.  Inputs are named after parameters otherwise
            (``data_a`` for ``data["a"]``), outputs ``output_0`` and so on.
        dynamic : bool or mapping
            Which sizes of example arrays are symbolic: True for all, False for none, or names
            by input and axis, ``{"x": {0: "N"}}``.  A specification speaks for itself.
        strict : bool
            Raise where the model would need an assumption, instead of warning.
        mutated : {"auto", "outputs", "drop"}
            Whether arguments that the function writes to are outputs too, as ``<name>_out``:
            if it returns None ("auto"), always, or never.  A model cannot store in objects
            made before, which is an error; "drop" leaves such stores out, and lists them in
            the metadata, as ``onnxjit.dropped_stores``.
        kwargs : mapping, optional
            Keyword arguments of the function whose names are options here.
        **named
            Keyword arguments of the function.

        Returns
        -------
        onnx.ModelProto
            Checked by ``onnx.checker``, up to 2 GB.  A larger one cannot be serialised: `save`
            writes it, with its weights in a file of their own.  A list whose length only a
            run knows is one output for each number or array of an element, with all elements
            stacked.

        Raises
        ------
        DataDependentError, SideEffectError, UnsupportedError, AliasError
            The function cannot be one graph.
        OpsetError, LoweringError, RankError
            ONNX cannot express an operation, at this opset or at all.
        SpecError
            An option or a specification is malformed, or there is no call to take from.

        Warns
        -----
        AssumptionWarning
            The model holds only for some sizes.

        Examples
        --------
        >>> from onnxjit import float32, jit_onnx
        >>> @jit_onnx
        ... def scale(x, factor=2.0):
        ...     return x * factor
        >>> model = scale.to_onnx(float32["N", 3], output_names=["scaled"], factor=3.0)
        >>> [each.name for each in (*model.graph.input, *model.graph.output)]
        ['x', 'scaled']
        """
        from .export import to_onnx

        jit, owner = self._parts()
        given = {
            "opset": opset, "target": target, "input_names": input_names,
            "output_names": output_names, "dynamic": dynamic, "strict": strict,
            "mutated": mutated, "kwargs": {**(kwargs or {}), **named},
        }  # fmt: skip
        return to_onnx(jit, owner, args, given)

    def save(  # noqa: PLR0913  an option each
        self,
        path: str | Path,
        /,
        *args: Any,
        opset: int | None = None,
        target: str = "onnxruntime",
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        dynamic: bool | Mapping[str, Any] = True,
        strict: bool = False,
        mutated: str = "auto",
        kwargs: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> None:
        """Write the function as an ONNX model to a file.

        The file appears only when it is complete.  A model above 2 GB keeps its weights beside
        it, in ``<path>.data``.

        Parameters
        ----------
        path : str or Path
            File to write, in a folder that is there.
        *args : array, specification or plain value
            What the function is traced with; see `to_onnx`.
        opset : int, optional
            Opset of the model; 21, or that of `jit_onnx`, if None.
        target : {"onnxruntime", "spec"}
            For whom the model is written.
        input_names, output_names : sequence of str, optional
            A name for each input and output.
        dynamic : bool or mapping
            Which sizes of example arrays are symbolic: True, False, or ``{"x": {0: "N"}}``.
        strict : bool
            Raise where the model would need an assumption, instead of warning.
        mutated : {"auto", "outputs", "drop"}
            Whether arguments that the function writes to are outputs too.
        kwargs : mapping, optional
            Keyword arguments of the function whose names are options here.
        **named
            Keyword arguments of the function.

        Raises
        ------
        FileNotFoundError
            The folder is missing.
        OnnxJitError
            As in `to_onnx`.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from onnxjit import float32, jit_onnx
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     jit_onnx(abs).save(Path(folder) / "abs.onnx", float32["N"])
        ...     [each.name for each in Path(folder).iterdir()]
        ['abs.onnx']
        """
        from .export import save

        jit, owner = self._parts()
        given = {
            "opset": opset, "target": target, "input_names": input_names,
            "output_names": output_names, "dynamic": dynamic, "strict": strict,
            "mutated": mutated, "kwargs": {**(kwargs or {}), **named},
        }  # fmt: skip
        save(jit, owner, path, args, given)

    def explain(self) -> Explanation:
        """Tell which graphs are kept for calls, what runs eagerly, and why.

        Returns
        -------
        Explanation
            Prints as text; `to_json` gives the same as data.  For each graph: its signature,
            number of nodes and opset, its guards and frozen sizes with the line that caused
            each, and why older graphs did not do.  For each signature that runs eagerly: the
            reason and the line.  Of a method, it tells about calls of this object's.

        Examples
        --------
        >>> import numpy as np
        >>> from onnxjit import jit_onnx
        >>> @jit_onnx
        ... def double(x):
        ...     return x + x
        >>> double(np.ones(3))
        array([2., 2., 2.])
        >>> print(double.explain())  # doctest: +ELLIPSIS
        double: 1 graph
        <BLANKLINE>
        graph 1: double(x: float64[:])
          1 node, opset ...
        """
        from .explain import explain

        return explain(*self._parts())

    def verify(
        self,
        /,
        *args: Any,
        opsets: str | int | Iterable[int] | None = None,
        target: str | None = None,
        rtol: float | None = None,
        node_runs: int | None = 100_000,
        kwargs: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Verification:
        """Compare with NumPy on these arguments, opset by opset.

        The call itself is compared first.  Then models with symbolic sizes are exported and
        run at the sizes of the arguments: on onnxruntime, and (written for ``target="spec"``)
        on onnx's reference evaluator.

        Parameters
        ----------
        *args : object
            Arguments of the function; they are not changed.
        opsets : "all", int or iterable of int, optional
            Opsets to export at; that of the function's calls if None.
        target : {"onnxruntime", "spec"}, optional
            Compare only this one.
        rtol : float, optional
            Relative bound of floats; by their dtype if None.
        node_runs : int or None
            The reference evaluator, which is slow, is left out for models that would run more
            nodes than this; None for never.
        kwargs : mapping, optional
            Keyword arguments of the function whose names are options here.
        **named
            Keyword arguments of the function.

        Returns
        -------
        Verification
            Prints as a table; `ok` says whether all of it agrees.

        Raises
        ------
        Exception
            Whatever the function raises in NumPy.
        SpecError, OpsetError
            An option is malformed.

        Examples
        --------
        >>> import numpy as np
        >>> from onnxjit import jit_onnx
        >>> jit_onnx(np.tanh).verify(np.linspace(-1, 1, 5), opsets=[13, 21]).ok
        True
        """
        from .verify import verify

        jit, owner = self._parts()
        given = {
            "opsets": opsets, "target": target, "rtol": rtol, "node_runs": node_runs,
            "kwargs": {**(kwargs or {}), **named},
        }  # fmt: skip
        return verify(jit, owner, args, given)

    def benchmark(
        self,
        /,
        *args: Any,
        repeat: int = 25,
        seconds: float = 0.0005,
        kwargs: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> BenchmarkReport:
        """Time NumPy, a warm call, the bare run of its model, and the steps of the first call.

        Parameters
        ----------
        *args : object
            Arguments of the function; they are not changed.
        repeat : int
            Blocks in which each contender is timed.
        seconds : float
            About how long each contender is timed in a block.
        kwargs : mapping, optional
            Keyword arguments of the function whose names are options here.
        **named
            Keyword arguments of the function.

        Returns
        -------
        BenchmarkReport
            Prints as a table; `to_json` gives data, `plot` writes a picture, and `ok` says
            whether the results agreed.

        Notes
        -----
        A function that writes to its arguments gets fresh copies before each call, outside the
        clock.  What runs eagerly has no model of its own, and no bare run.

        Examples
        --------
        >>> import numpy as np
        >>> from onnxjit import jit_onnx
        >>> report = jit_onnx(np.tanh).benchmark(np.ones(1000), repeat=3)
        >>> report.ok
        True
        """
        from .benchmark import benchmark

        jit, owner = self._parts()
        given = {
            "repeat": repeat, "seconds": seconds, "kwargs": {**(kwargs or {}), **named}
        }  # fmt: skip
        return benchmark(jit, owner, args, given)
