"""Runs of notebooks after a common import: python -m tests.warm FILE, a server; its port is written to FILE.

The imports of a page take longer than most pages. This process imports once. For each run it forks a process
that is `python -m workflow.run`, which forks the notebook's kernel before anything else. So each run and each
kernel is a process of its own, in the state of one that has only imported. Where BOUNDARY_FLIPS names a
folder, the kernel leaves there which claims no other results would flip (`flips`).

A connection is one run: a line `{"words": [...], "out": file, "err": file}`, and as the reply the status with
which the run ended. The server ends with its input.
"""
import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import filelock

from report.repository import ROOT
from shared import runtime


class Runs:
    """The server, seen from a test: `run(words, scratch)`. Of the tests' processes one has it, for all."""

    def __init__(self, env, folder):
        self.env, self.port, self.process = env, folder / "port", None
        self.owner, self.turn = filelock.FileLock(folder / "port.lock", thread_local=False), threading.Lock()

    def run(self, words, scratch):
        """A finished `python -m workflow.run WORDS`; `scratch` is the beginning of the names of two files."""
        out, err = (scratch.with_name(f"{scratch.name}.{stream}") for stream in ("out", "err"))
        with self._connected() as line:
            line.sendall((json.dumps({"words": words, "out": str(out), "err": str(err)}) + "\n").encode())
            status = int(line.makefile().readline())
        return subprocess.CompletedProcess(words, status, out.read_text(), err.read_text())

    def _connected(self):
        """A connection, once a server is there. Where no process has one any more, this one starts it."""
        while True:
            with self.turn:
                if self.process is None:
                    self._start()
            assert self.process is None or self.process.poll() is None, "the server of the runs has ended"
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", int(self.port.read_text())))
            time.sleep(0.05)

    def _start(self):
        with contextlib.suppress(filelock.Timeout):
            self.owner.acquire(blocking=False)
            self.port.unlink(missing_ok=True)
            self.process = subprocess.Popen([sys.executable, "-m", "tests.warm", str(self.port)], cwd=ROOT,
                                            env=self.env, stdin=subprocess.PIPE)

    def close(self):
        if self.process is not None:
            self.port.unlink(missing_ok=True)
            self.process.stdin.close()
            self.process.wait()
            self.owner.release()


def be(module):
    """Be `python -m MODULE` from here to the end of this process, but take nothing apart at its end.

    An interpreter that ends frees all that it ever imported, object by object, which a fork would copy first.
    """
    status = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


class Kernel:
    """A forked kernel, in place of the `subprocess.Popen` that jupyter_client starts one with."""
    stdin = stdout = stderr = returncode = None

    def __init__(self):
        self.line, end = socket.socketpair()
        if not (pid := os.fork()):
            self.line.close()
            self._be(end)
        self.pid = pid
        end.close()
        self.line.recv(1)  # it leads its own group now, as jupyter_client expects

    def _be(self, line):
        os.setsid()
        line.send(b".")
        request = line.makefile().readline()
        if not request:
            os._exit(0)  # the run ended before it started a kernel
        words, env = json.loads(request)
        line.close()
        os.environ.clear()
        os.environ.update(env)
        if "BOUNDARY_FLIPS" in env:
            from tests import flips
            flips.leave_in(env["BOUNDARY_FLIPS"])
        place = words.index("-m")
        sys.argv = [words[place + 1], *words[place + 2:]]
        be(words[place + 1])

    def launch(self, words, env=None, cwd=None, **_):
        """Become the kernel that jupyter_client wants started."""
        assert cwd is None or os.path.samefile(cwd, os.getcwd())
        self.line.sendall((json.dumps([list(words), dict(env or os.environ)]) + "\n").encode())
        self.line.close()
        return self

    def poll(self):
        return self._waited(os.WNOHANG)

    def wait(self):
        return self._waited(0)

    def _waited(self, how):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, how)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


def serve(place):
    """Fork for each connection who waits for its run; returns None at the end of the input, and in a run its
    words.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        runtime.write_text(place, str(server.getsockname()[1]))
        while sys.stdin not in select.select([sys.stdin, server], [], [])[0]:
            connection, _ = server.accept()
            if not os.fork():
                server.close()
                return answered(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def answered(connection):
    """In a run its words; who waits for it tells its status and ends."""
    request = json.loads(connection.makefile().readline())
    if not (pid := os.fork()):
        connection.close()
        for number, path in enumerate((os.devnull, request["out"], request["err"])):
            with open(path, "w" if number else "r") as file:
                os.dup2(file.fileno(), number)
        return request["words"]
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    connection.sendall(f"{status}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    runtime.prepare()
    # Who imports this module for `Runs` needs none of what follows.
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as a kernel sets it
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")    # as ipykernel sets it for its debugger
    import weakref

    import ipykernel.debugger  # noqa: F401  (a kernel imports it, and with it debugpy, as it starts)
    import ipykernel.kernelapp  # noqa: F401  (of a kernel)
    import jupyter_client.provisioning.local_provisioner as provisioner
    import nbformat
    import sklearn.datasets  # noqa: F401  (of six pages)
    import sklearn.manifold  # noqa: F401  (of three pages)
    import torch._dynamo  # (torch imports it for its first optimiser)
    import torchvision.models  # noqa: F401  (of six pages: it takes three times as long as torch)

    import report.page  # noqa: F401  (of every page)
    import tests.flips  # noqa: F401
    import workflow.run  # noqa: F401
    from report import parameters, zoo
    from shared.data import sets

    # What each run would do first, the same each time: the form of notebooks, parameters, sample data, the
    # code of networks.
    nbformat.validate(nbformat.v4.new_notebook())
    parameters.declared(parameters.script_of("ren/iii_borderline"))
    for name in ("mnist", "cifar10"):
        sets.load(name, profile="smoke")
    for name in ("chen-lenet", "he-small", "ren-a", "shu-lenet"):
        zoo.digest(name)
    # What each would do last: take torch's libraries apart, and count what was compiled.
    for known in [*weakref.finalize._registry]:
        known.atexit = False
    atexit.unregister(torch._dynamo.utils.dump_compile_times)

    gc.collect()
    gc.freeze()  # forks share the imported objects: no collection walks through them
    if len(sys.argv) == 1 or (words := serve(sys.argv[1])) is None:
        os._exit(0)     # as in `be`
    provisioner.launch_kernel = Kernel().launch
    sys.argv = ["workflow.run", *words]
    sys.modules.pop("workflow.run")
    be("workflow.run")
