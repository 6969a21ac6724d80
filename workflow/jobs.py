"""Run a workflow of this folder with Snakemake, one line a job (`plugins/snakemake_logger_plugin_lines`)."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from report.repository import ROOT
from shared import runtime

PATIENCE = 60   # seconds for an orderly end


def count(text):
    """How many jobs at once, of a text; raises UserError where it is no number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise runtime.UserError(f"JOBS={text!r}; allowed: a whole number from 1")
    return int(text)


def home_writable():
    """Whether libraries can write their caches to the home folder."""
    return os.access(os.path.expanduser("~"), os.W_OK)


def run(workflow, jobs, *options, timeout=None, low=False, **how):
    """Run a workflow to its end, or for `timeout` seconds; returns Snakemake's status, None when time was up.

    workflow   its file in this folder
    jobs       how many at once
    options    Snakemake's own
    low        whether it gives way to everything else
    how        for `subprocess.Popen`
    """
    command = [sys.executable, "-m", "snakemake", "-s", f"workflow/{workflow}", "--cores", str(jobs),
               "--jobs", str(jobs), "--logger", "lines", *options]      # here, and on a cluster
    path = [str(ROOT / "workflow/plugins"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path),
                        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    if not home_writable():     # Snakemake keeps a cache there
        env["XDG_CACHE_HOME"] = str(runtime.cache_folder())

    def begin():
        signal.signal(signal.SIGINT, signal.SIG_DFL)    # ignored where this was started in the background
        if low:
            give_way()

    with (subprocess.Popen(command, env=env, start_new_session=True, preexec_fn=begin, **how) as child,
          ends_with_this(child)):
        try:
            return child.wait(timeout)
        except subprocess.TimeoutExpired:
            stop(child)
            return None
        except KeyboardInterrupt:
            stop(child)
            raise


@contextlib.contextmanager
def ends_with_this(child):
    """Inside the block, the child's group ends when this process does, even where it is killed.

    A shell waits for the end of a pipe that only this process holds open.
    """
    words = f"read -r _; kill -s INT -- -{child.pid}; sleep {PATIENCE}; kill -s KILL -- -{child.pid}"
    guard = subprocess.Popen(["/bin/sh", "-c", words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        guard.kill()
        guard.wait()
        guard.stdin.close()


def give_way():
    """In the child: take low priority."""
    os.nice(10)
    with contextlib.suppress(OSError):                      # what Linux alone has
        # sessions have a priority of their own
        Path("/proc/self/autogroup").write_text("10", encoding="utf-8")


def stop(child):
    """End Snakemake and its jobs: those here are in its group; interrupted, it cancels those on a cluster."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
            return
