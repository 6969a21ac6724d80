"""runtime: messages to a user, files, locks, devices, chunks."""
import errno
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time

import matplotlib
import pytest
import torch

from report.repository import ROOT
from shared import runtime


def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    runtime.write_atomically(path, lambda part: part.write_text("old"))

    def full_disk(part):
        part.write_text("ha")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        runtime.write_atomically(path, full_disk)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_what_a_killed_writer_left_goes_with_a_file_written_a_day_later(tmp_path):
    def killed(part):
        part.write_text("ha")
        os.kill(os.getpid(), 9)

    writer = multiprocessing.get_context("fork").Process(
        target=runtime.write_atomically, args=(tmp_path / "a.txt", killed))
    writer.start()
    writer.join()
    remains, = tmp_path.iterdir()
    runtime.write_atomically(tmp_path / "b.txt", lambda part: part.write_text("b"))
    assert remains.name.startswith(".part-") and remains.exists()     # its writer may be alive
    os.utime(remains, (0, 0))
    runtime.write_atomically(tmp_path / "c.txt", lambda part: part.write_text("c"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.txt", "c.txt"]


@pytest.mark.parametrize("number", ["ENOSPC", "EROFS", "EACCES"])
def test_what_cannot_be_written_is_named_in_one_line(tmp_path, monkeypatch, number):
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path))
    code = getattr(errno, number)

    def fail(part):
        raise OSError(code, os.strerror(code))

    message = rf"^.*/runs/a.*{os.strerror(code)}.*BOUNDARY_CACHE.*\Z"
    with pytest.raises(runtime.Unwritable, match=message) as error:
        runtime.write_atomically(tmp_path / "runs/a", fail)
    assert isinstance(error.value, OSError) and isinstance(error.value, runtime.UserError)
    (tmp_path / "locks").touch()  # a file where a folder should be
    with pytest.raises(runtime.UserError, match="locks/x-"), runtime.lock("x"):
        pass


def test_two_hundred_turns_at_a_lock_have_no_two_holders(tmp_path):
    def take_turns():
        for _ in range(50):
            with runtime.lock(tmp_path / "x"):
                (tmp_path / "held").mkdir()  # fails where somebody else is inside
                (tmp_path / "held").rmdir()

    workers = [multiprocessing.get_context("fork").Process(target=take_turns) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4


def script(text, **environment):
    """The finished process of a prepared script without torch."""
    text = f"from shared import runtime\nruntime.prepare(computes=False)\n{text}"
    return subprocess.run([sys.executable, "-c", text], cwd=ROOT, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT), **environment})


@pytest.mark.parametrize("text, environment, message", [
    ("raise runtime.UserError('digit is 0 to 9')", {}, "digit is 0 to 9"),
    ("", {"OMP_NUM_THREADS": "many"}, "OMP_NUM_THREADS='many' in the environment; allowed: a whole number"),
    ("import numpy; numpy.zeros(10**15)", {}, "memory"),
    ("runtime.stop_cleanly(); import os; os.kill(os.getpid(), 15)", {}, "stopped; the same command goes on")])
def test_a_mistake_that_the_user_can_mend_ends_a_script_in_one_line(text, environment, message):
    process = script(text, **environment)
    lines = [line for line in process.stderr.splitlines() if line and not line.startswith("libgomp")]
    assert process.returncode and len(lines) == 1 and message in lines[0]


def test_a_fault_of_ours_keeps_its_traceback():
    process = script("1 / 0")
    assert "Traceback" in process.stderr and "ZeroDivisionError" in process.stderr


SILENT = """
import ast, contextlib, importlib, logging, os, pkgutil, signal, sys, warnings
from pathlib import Path
import matplotlib, torch
import shared

for path in Path(shared.__file__).parent.rglob("*.py"):  # not what the import of other packages changes
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        for name in names:
            if name.partition(".")[0] != "shared":
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)

def state():
    return {"threads": torch.get_num_threads(), "hook": sys.excepthook, "warnings": list(warnings.filters),
            "TF32": (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32),
            "environment": dict(os.environ), "style": dict(matplotlib.rcParams),
            "backend": matplotlib.get_backend(), "type": torch.get_default_dtype(),
            "signals": [signal.getsignal(n) for n in sorted(signal.valid_signals())],
            "logging": (logging.root.level, list(logging.root.handlers)), "path": list(sys.path),
            "draws": torch.get_rng_state().tolist(), "profile": sys.getprofile(), "folder": os.getcwd(),
            "files": sorted(os.listdir(os.environ["HOME"]))}

torch.set_num_threads(2)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
before = state()
names = [m.name for m in pkgutil.walk_packages(shared.__path__, "shared.") if "__main__" not in m.name]
for name in names:
    importlib.import_module(name)
    after = state()
    changed = [k for k in before if after[k] != before[k]]
    assert not changed, f"{name}: {changed}"
print(len(names))
shared.runtime.prepare()
shared.runtime.prepare()
assert sys.excepthook.args == (before["hook"],) and torch.get_num_threads() == 1
assert state()["TF32"] == (False, False)
torch.zeros(10**15)
"""


@pytest.mark.slow
def test_to_import_the_package_changes_nothing_in_a_process_and_to_prepare_it_does(tmp_path):
    """An empty number of threads is one; memory that torch does not get is one line."""
    folders = {f"BOUNDARY_{name}": str(tmp_path / name) for name in ("CACHE", "DATA", "RESULTS")}
    process = subprocess.run(
        [sys.executable, "-c", SILENT], text=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "OMP_NUM_THREADS": "",
             "MPLBACKEND": "agg", "MPLCONFIGDIR": matplotlib.get_cachedir(), **folders})
    line, = (line for line in process.stderr.splitlines() if line and not line.startswith("libgomp"))
    assert "not enough memory" in line and int(process.stdout) > 30


def test_bfloat16_is_taken_where_it_is_faster(monkeypatch):
    for able, faster in (({"avx512_bf16": True, "cpu_name": "Intel Xeon"}, False),
                         ({"avx512_bf16": True, "amx_bf16": True, "cpu_name": "Intel Xeon"}, True),
                         ({"avx512_bf16": True, "cpu_name": "AMD EPYC"}, True), ({"bf16": True}, True),
                         ({}, False)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able)
        assert runtime.has_bf16(torch.device("cpu")) == faster


def test_a_command_prepares_its_process_before_anything_else():
    """Commands are files that a person starts with `python -m`."""
    commands = {}
    for folder in ("workflow", "benchmarks", "shared", "report", "papers", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            text, _, body = path.read_text().partition('\nif __name__ == "__main__":\n')
            if body and not path.name.startswith("test_"):
                commands[path] = text, body
    assert {path.parent.name for path in commands} == {"workflow", "benchmarks", "sutton", "tests"}
    for path, (text, body) in commands.items():
        if "shared" in text + body:  # what imports nothing of the package has no messages of it
            assert re.match(r"\s*runtime\.prepare\((computes=False)?\)", body), path


def test_a_lock_dies_with_its_holder(tmp_path):
    def hold(ready):
        with runtime.lock(tmp_path / "x"):
            ready.set()
            time.sleep(60)  # until it is killed

    context = multiprocessing.get_context("fork")
    ready = context.Event()
    holder = context.Process(target=hold, args=(ready,))
    holder.start()
    assert ready.wait(10)
    threading.Timer(0.3, holder.kill).start()
    start = time.monotonic()
    with runtime.lock(tmp_path / "x"):
        assert time.monotonic() - start > 0.2
    holder.join()


@pytest.mark.parametrize("name, message", [("tpu", "allowed: auto, cpu, cuda"),
                                           ("cuda", "use 'auto' or 'cpu'")])
def test_a_device_that_cannot_be_had_is_refused(name, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=message):
        runtime.pick_device(name)


def test_one_image_too_large_for_the_memory_fails():
    sizes = []

    def no_memory(x):
        sizes.append(len(x))
        raise torch.OutOfMemoryError("too large")

    with pytest.raises(torch.OutOfMemoryError):
        runtime.chunked(no_memory, torch.arange(10), chunk=8)
    assert sizes == [8, 4, 2, 1]
