"""Run a workflow of this folder with Snakemake, one line a job (`plugins/snakemake_logger_plugin_lines`)."""
import os
import signal
import subprocess
import sys
from pathlib import Path

from shared import ROOT


def run(workflow, seconds, jobs, *options, timeout=None, **how):
    """Run a workflow to its end, or for `timeout` seconds; returns Snakemake's status, None when time was up.

    workflow   its file in this folder
    seconds    a file with what its jobs take, {name: seconds}; see the plugin
    jobs       how many at once
    options    Snakemake's own
    how        for `subprocess.Popen`
    """
    command = [sys.executable, "-m", "snakemake", "-s", f"workflow/{workflow}", "--cores", str(jobs),
               "--logger", "lines", "--logger-lines-seconds", str(seconds), *options]
    log = Path(seconds).with_name("snakemake.log")
    path = [str(ROOT / "workflow/plugins"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path),
                        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    with (open(log, "w") as file,
          subprocess.Popen(command, env=env, stderr=file, start_new_session=True, **how) as child):
        try:
            child.wait(timeout)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as stopped:
            os.killpg(child.pid, signal.SIGTERM)    # its jobs are in its group
            if isinstance(stopped, KeyboardInterrupt):
                raise
            return None
    if child.returncode:
        print(f"Snakemake ended with status {child.returncode}; log: {log.absolute()}", file=sys.stderr)
    return child.returncode
