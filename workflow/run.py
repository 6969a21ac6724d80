"""Run one notebook with papermill: python -m workflow.run IN OUT [-p NAME VALUE] ...

The result appears in one step when all cells have run, and with it its numbers as a table, `OUT.csv`. A
notebook that fails leaves none; what it got to is kept in its folder as `.NAME.failed.ipynb`. Whatever a user
can mend is told in one line, before anything runs where that is possible.
"""
import os
import shutil
import signal
import sys
import tempfile
import weakref
from functools import cached_property
from pathlib import Path

import nbformat
import papermill
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient.exceptions import DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from traitlets import default

from report import parameters
from shared import runtime
from shared.runtime import UserError
from workflow import jobs, table


def refuse(source, target):
    """Raise UserError for a source or target that could not be used after the run."""
    try:
        nbformat.validate(nbformat.reads(source.read_text(encoding="utf-8"), as_version=4))
    except (OSError, ValueError, KeyError, AttributeError, nbformat.ValidationError):
        raise UserError(f"{source}: not a notebook; name one of notebooks/<paper>/<section>.ipynb") from None
    if target.is_dir():
        raise UserError(f"{target}: a folder; name a file for the run notebook: {target / source.name}")
    if target.suffix != ".ipynb":
        raise UserError(f"{target}: the run notebook's name ends in .ipynb")
    if target.exists() and os.path.samefile(source, target):
        raise UserError(f"{target}: the notebook itself; name another file, the source is never overwritten")
    table.place(target)


def patience():
    """For how many seconds a kernel may be silent as it starts."""
    seconds = os.environ.get(PATIENCE, "").strip() or "180"
    if not seconds.isdecimal() or int(seconds) < 1:
        raise UserError(f"{PATIENCE}={seconds!r}; allowed: a whole number of seconds from 1")
    return int(seconds)


def run(source, target, words):
    """Execute `source` with the parameters of `words`, `-p NAME VALUE ...`, and write `target`.

    Raises UserError for what is wrong before the run, SystemExit with the reason if a cell fails.
    """
    source, target = Path(source), Path(target)
    refuse(source, target)
    seconds = patience()
    given = parameters.from_command_line(parameters.declared(source), words)
    failed = target.with_name(f".{target.stem}.failed.ipynb")
    with runtime.writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".part-", dir=target.parent))
    part = scratch / target.name

    def kept():
        if not part.exists():
            return ""
        os.replace(part, failed)
        return f"\nThe notebook as far as it got: {failed}"

    try:
        with runtime.writing(target):
            _execute(source, part, given, seconds)
            os.replace(part, target)
            table.write(target)
        failed.unlink(missing_ok=True)
    except PapermillExecutionError as error:
        line = runtime.one_line(error.ename, error.evalue)
        lines = [] if line or len(error.traceback) <= 1 else error.traceback  # one line: the user can mend it
        said = f"{source}: {error.ename}: {line or error.evalue}{kept()}"
        raise SystemExit("\n".join([*lines, said])) from None
    except RuntimeError as error:
        reason = DIED if isinstance(error, DeadKernelError) else next(
            (why for begin, why in NO_KERNEL.items() if str(error).startswith(begin)), None)
        if reason is None:
            raise
        raise SystemExit(f"{source}: {reason.format(seconds)}{kept()}") from None
    except KeyboardInterrupt:
        raise SystemExit(f"{source}: {runtime.STOPPED}{kept()}") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


DIED = ("its process was killed, most likely because the memory was full; run fewer at a time (JOBS=1) or "
        "ask for less with -p; finished runs are kept")

PATIENCE = "BOUNDARY_KERNEL_SECONDS"
NO_KERNEL = {       # how jupyter_client's texts begin, and what to do
    "Kernel died": DIED,
    "Kernel didn't respond": "its kernel did not start within {} seconds, since the machine is busy; run "
                             f"fewer at a time (JOBS=1) or wait longer: {PATIENCE}=600"}


def _stop(number, frame):
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_IGN)  # the first one ends the kernel, however often they come
    raise KeyboardInterrupt


# Variables by which a person's session would change what a kernel computes or shows.
PERSONAL = ("PYTHONSTARTUP", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "MPLBACKEND", "JPY_SESSION_NAME")
SOCKET = 80     # characters that the folder of a socket may have: its whole path has at most 103, on macOS


def short_folder():
    """A folder for temporary files whose name is short enough for sockets. Raises UserError without one."""
    usual = tempfile.gettempdir()
    for folder in (usual, "/tmp", "/var/tmp", os.environ.get("XDG_RUNTIME_DIR", usual)):
        if len(os.fsencode(folder)) <= SOCKET and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise UserError(f"TMPDIR={usual}: a kernel's sockets need a folder whose name has at most {SOCKET} "
                    "characters; set TMPDIR to one")


class Kernel(AsyncKernelManager):
    """A kernel of the Python that runs this, whatever a kernelspec `python3` of the machine starts.

    It is reached through sockets in a folder of its own: a free TCP port, which Jupyter looks for by default,
    can be taken by another program before the kernel has it, and then the kernel dies. Its profile
    lies there, too: a person's settings of IPython change no page.
    """

    @cached_property
    def folder(self):
        folder = tempfile.mkdtemp(prefix="kernel-", dir=short_folder())
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    @property
    def kernel_spec(self):
        spec = super().kernel_spec
        spec.env = {**dict.fromkeys(PERSONAL, ""), "IPYTHONDIR": f"{self.folder}/ipython"}
        if not jobs.home_writable():     # else matplotlib says so on the page, with its path
            spec.env["MPLCONFIGDIR"] = self.folder
        return spec

    @default("kernel_spec_manager")
    def _without_folders(self):
        return KernelSpecManager(kernel_dirs=[])

    @default("transport")
    def _sockets(self):
        return "ipc"

    @default("ip")
    def _where(self):
        return f"{self.folder}/socket"

    def format_kernel_cmd(self, extra_arguments=None):
        # Without the traceback of a kernel that is stopped while it answers, and without a database of cells.
        return [*super().format_kernel_cmd(extra_arguments), "--log-level=CRITICAL",
                "--HistoryManager.enabled=False"]


class Engine(NBClientEngine):
    """Papermill's, which writes the notebook when it ends or fails, without a path of this machine."""

    @classmethod
    def execute_managed_notebook(cls, manager, kernel_name, **settings):
        path, manager.output_path = manager.output_path, None
        for name in ("input_path", "output_path"):
            del manager.nb.metadata.papermill[name]
        try:
            super().execute_managed_notebook(manager, kernel_name, **settings)
        except BaseException:
            manager.output_path = path
            raise


papermill_engines.register("at the end", Engine)


def _execute(source, part, given, seconds):
    papermill.execute_notebook(source, part, parameters=given, engine_name="at the end",
                               kernel_name="python3", kernel_manager_class=Kernel, progress_bar=False,
                               log_output=True, stdout_file=sys.stdout, stderr_file=sys.stderr,
                               start_timeout=seconds, iopub_timeout=seconds)


if __name__ == "__main__":
    runtime.prepare(computes=False)
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, _stop)
    if len(sys.argv) < 3:
        raise UserError("usage: python -m workflow.run IN.ipynb OUT.ipynb [-p NAME VALUE] ...")
    run(*sys.argv[1:3], sys.argv[3:])
