# SPDX-License-Identifier: Apache-2.0
"""The namespace has what the standard names, and answers its questions."""

import inspect
import math
import sys

import array_api_compat
import numpy as np
import pytest

import onnxjit as oj
import onnxjit.array_api as xp
from onnxjit.array_api import v2024_12
from tests.array_api.standard import FFT, FUNCTIONS, LINALG

DTYPES = {
    "bool": "bool", "complex floating": "complex64 complex128",
    "real floating": "float32 float64", "signed integer": "int8 int16 int32 int64",
    "unsigned integer": "uint8 uint16 uint32 uint64",
}  # fmt: skip


def standard(signature: str) -> inspect.Signature:
    found: dict[str, object] = {}
    exec(f"def f({signature}): pass", found)
    return inspect.signature(found["f"])  # type: ignore[arg-type]  # a function


def plain(signature: inspect.Signature) -> inspect.Signature:
    empty = inspect.Parameter.empty
    parameters = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=empty)


SIGNATURES = [
    *[(xp, name, text) for name, text in FUNCTIONS.items()],
    *[(xp.linalg, name, text) for name, text in LINALG.items()],
    *[(xp.fft, name, text) for name, text in FFT.items()],
]


@pytest.mark.parametrize(
    ("module", "name", "text"),
    SIGNATURES,
    ids=[f"{m.__name__.removeprefix('onnxjit.')}.{name}" for m, name, _ in SIGNATURES],
)
def test_signatures_are_the_standards(module, name, text):
    function = getattr(module, name)
    assert plain(inspect.signature(function)) == standard(text)
    assert function.__name__ == name
    assert function.__doc__


def test_every_name_is_listed():
    listed = {*FUNCTIONS, *" ".join(DTYPES.values()).split(), "__array_api_version__"}
    assert set(xp.__all__) == {*listed, "e", "inf", "nan", "newaxis", "pi", "fft", "linalg"}
    assert set(xp.linalg.__all__) == set(LINALG)
    assert set(xp.fft.__all__) == set(FFT)


def test_constants():
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xp.nan)


def test_arrays_know_their_namespace():
    x = oj.asarray([1.0])
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2025.12") is xp
    assert x.__array_namespace__(api_version="2024.12") is v2024_12
    assert xp.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"2019.12.*2025.12, 2024.12"):
        x.__array_namespace__(api_version="2019.12")


def test_the_namespace_is_not_imported_before_it_is_needed():
    import subprocess

    code = "import sys, onnxjit; sys.exit('onnxjit.array_api' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_older_revision_returns_lists():
    x = oj.asarray([1.0, 2.0])
    for name in ("meshgrid", "broadcast_arrays"):
        new, old = getattr(xp, name)(x, x), getattr(v2024_12, name)(x, x)
        assert type(new) is tuple
        assert type(old) is list
        assert [np.asarray(a).tolist() for a in new] == [np.asarray(a).tolist() for a in old]
    assert v2024_12.__array_namespace_info__().devices() == ["cpu"]
    assert v2024_12.sin is xp.sin
    assert set(dir(v2024_12)) == set(xp.__all__)
    assert v2024_12.__array_api_version__ == "2024.12"


def test_info():
    info = xp.__array_namespace_info__()
    assert info.devices() == ("cpu",)
    assert info.default_device() == "cpu"
    assert info.default_dtypes(device="cpu") == {
        "real floating": xp.float64,
        "complex floating": xp.complex128,
        "integral": xp.int64,
        "indexing": xp.int64,
    }
    assert info.capabilities()["boolean indexing"] is True
    for kind, names in DTYPES.items():
        assert info.dtypes(kind=kind) == {name: getattr(xp, name) for name in names.split()}
    assert info.dtypes(kind=("bool", "real floating")).keys() == {"bool", "float32", "float64"}
    assert info.dtypes().keys() == {*" ".join(DTYPES.values()).split()}
    with pytest.raises(ValueError, match="no device 'gpu'"):
        info.dtypes(device="gpu")


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_finfo_has_python_numbers(name):
    want, found = np.finfo(name), xp.finfo(getattr(xp, name))
    for limit in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(found, limit)) is float
        assert getattr(found, limit) == getattr(want, limit)
    assert (found.bits, found.dtype) == (want.bits, want.dtype)


def test_iinfo():
    found = xp.iinfo(oj.asarray(np.ones(2, np.int16)))
    assert found == (16, 32767, -32768, xp.int16)
    assert {type(each) for each in found[:3]} == {int}


def test_questions_about_dtypes():
    x = oj.asarray(np.ones(2, np.float32))
    assert xp.isdtype(x.dtype, "real floating")
    assert not xp.isdtype(x.dtype, (xp.float64, "integral"))
    assert xp.result_type(x, xp.int8) == xp.float32
    assert xp.result_type(x, 1.0) == xp.float32
    assert xp.result_type(x, xp.float64) == xp.float64
    assert xp.can_cast(x, xp.float64)
    assert xp.can_cast(x, xp.float64) is not np.True_
    assert not xp.can_cast(xp.float64, x.dtype)


def test_astype():
    x = oj.asarray([1.5, -2.5])
    assert xp.astype(x, xp.int32).dtype == xp.int32
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float64) is not x
    with pytest.raises(ValueError, match="no device"):
        xp.astype(x, xp.int32, device="gpu")


def test_astype_takes_no_part_of_complex_numbers():
    z = oj.asarray(np.array([1 + 2j]))
    assert xp.astype(z, xp.complex64).dtype == xp.complex64
    assert bool(xp.astype(z, xp.bool)[0])
    with pytest.raises(TypeError, match=r"real\(x\)"):
        xp.astype(z, xp.float64)


def test_devices_of_arrays():
    x = xp.asarray([1.0], device="cpu")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    for make in (
        lambda: xp.zeros(3, device="gpu"), lambda: xp.asarray(3, device="gpu"),
        lambda: x.to_device("gpu"), lambda: xp.arange(3, device="gpu"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="no device 'gpu'"):
            make()


def test_asarray_copies_as_asked():
    values = np.arange(3.0)
    shared = xp.asarray(values)
    values[0] = 5
    assert float(shared[0]) == 5
    assert xp.asarray(shared) is shared
    copied = xp.asarray(shared, copy=True)
    values[1] = 7
    assert float(copied[1]) == 1
    assert xp.asarray(shared, copy=False) is shared
    for obj, dtype in (([1.0], None), (shared, xp.float32)):
        with pytest.raises(ValueError, match="copy"):
            xp.asarray(obj, dtype=dtype, copy=False)
    assert xp.asarray([shared[0], 2.0]).shape == (2,)
    assert xp.asarray(shared, dtype=xp.int8).dtype == xp.int8
    with pytest.raises(oj.UnsupportedError, match="datetime64"):
        xp.asarray(np.array("2020-01-01", "M8[D]"))


def test_a_scalar_becomes_an_array_of_its_own():
    scalar = oj.asarray([1.0, 2.0])[0]
    array = xp.asarray(scalar)
    array[...] = 9.0
    assert float(scalar) == 1.0
    assert float(array) == 9.0


def test_dlpack():
    values = np.arange(3.0)
    ours = xp.from_dlpack(values)
    assert isinstance(ours, oj.Array)
    back = np.from_dlpack(ours)
    values[0] = 4
    assert back[0] == 4
    assert float(ours[0]) == 4
    assert xp.from_dlpack(ours) is ours
    assert float(xp.from_dlpack(ours, copy=True)[0]) == 4
    assert ours.__dlpack_device__() == values.__dlpack_device__()

    @oj.jit_onnx(fallback="error")
    def export(x):
        return np.from_dlpack(x)

    with pytest.raises(oj.DataDependentError):
        export(values)


def test_array_api_compat_knows_arrays():
    x = oj.asarray([[1.0, 2.0]])
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is xp
    assert array_api_compat.device(x) == "cpu"
    assert array_api_compat.to_device(x, "cpu") is x
    assert array_api_compat.size(x) == 2
    assert not array_api_compat.is_lazy_array(x)
    assert array_api_compat.is_writeable_array(x)
