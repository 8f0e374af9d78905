# SPDX-License-Identifier: Apache-2.0
"""Captured weights above 2 GB, more than protobuf writes in one piece."""

import re
import shutil
import stat
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxjit import jit_onnx
from onnxjit._lower import large

GIGABYTE = 2**30
ROWS = np.array([5, 0, -1, 77])


def looked_up(tables):
    @jit_onnx(fallback="error")
    def lookup(rows):
        total = np.float32(0)
        for table in tables:
            total = total + table[rows] * table[0, 0]
        return total

    return lookup


def small_tables():
    return [np.random.default_rng(i).random((100, 30), np.float32) for i in range(3)]


@pytest.fixture
def low_limit(monkeypatch):
    monkeypatch.setattr(large, "_PROTOBUF_LIMIT", 20_000)
    monkeypatch.setattr(large, "_HEAVY", 1_000)


def run_file(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"rows": rows})[0]


def test_a_large_model_keeps_its_weights_beside_it(low_limit, tmp_path):
    lookup = looked_up(small_tables())
    path = tmp_path / "lookup.onnx"
    lookup.save(path, ROWS)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lookup.onnx", "lookup.onnx.data"]
    assert path.stat().st_size < 5_000
    np.testing.assert_array_equal(run_file(path, ROWS), lookup.__wrapped__(ROWS))
    modes = {stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    assert len(modes) == 1, "who may read the one may read the other"


def test_calls_with_large_weights(low_limit):
    lookup = looked_up(small_tables())
    plain = lookup.__wrapped__
    many = np.arange(70_000) % 100  # for the session that has threads
    for rows in (ROWS, many, ROWS[:1]):
        np.testing.assert_array_equal(lookup(rows), plain(rows))


def test_verification_of_large_models(low_limit):
    report = looked_up(small_tables()).verify(ROWS, opsets=[13, 21])
    assert report.ok
    assert [row.checks["onnxruntime"].status for row in report.rows] == ["ok"] * 3
    assert "no models above 2 GB" in str(report)


def test_to_onnx_returns_a_model_that_onnx_can_save_with_its_weights(low_limit, tmp_path):
    lookup = looked_up(small_tables())
    path = tmp_path / "lookup.onnx"
    onnx.save_model(lookup.to_onnx(ROWS), path, save_as_external_data=True)
    np.testing.assert_array_equal(run_file(path, ROWS), lookup.__wrapped__(ROWS))


def test_small_models_are_not_large(tmp_path):
    lookup = looked_up(small_tables())
    lookup.save(tmp_path / "lookup.onnx", ROWS)
    assert [p.name for p in tmp_path.iterdir()] == ["lookup.onnx"]


def available_memory():
    """Return the bytes that may be taken, as far as the system tells: Linux does."""
    meminfo = Path("/proc/meminfo")
    text = meminfo.read_text() if meminfo.exists() else ""
    found = re.search(r"^MemAvailable: +(\d+) kB$", text, re.MULTILINE)
    return 1024 * int(found[1]) if found else 0


@pytest.mark.slow
def test_more_than_two_gigabytes():
    """The real thing: a model of 2.2 GB saved, loaded, run and compared, and a call."""
    memory, disk = 14 * GIGABYTE, 6 * GIGABYTE
    if available_memory() < memory:
        pytest.skip("needs 14 GB of free memory: the weights are 2.2 GB, in up to six copies")
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < disk:
            pytest.skip(
                "needs 6 GB of free disk: the model of 2.2 GB, and its copy while saved"
            )
        random = np.random.default_rng(0)
        lookup = looked_up([random.random((2**18, 750), np.float32) for _ in range(3)])
        want = lookup.__wrapped__(ROWS)
        path = Path(folder) / "lookup.onnx"
        lookup.save(path, ROWS)
        data = path.with_name("lookup.onnx.data")
        assert path.stat().st_size < 100_000
        assert data.stat().st_size > 2**31
        np.testing.assert_array_equal(run_file(path, ROWS), want)
        data.unlink()
    np.testing.assert_array_equal(lookup(ROWS), want)
