"""Run what is out of date, one line a notebook: python -m workflow.book PROFILE JOBS [SNAKEMAKE OPTION ...]

Snakemake does the work and its chatter goes to a log. A person sees for each notebook its name, the minutes
it took, what is left, and how long that takes if it goes as last time.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from shared import runtime
from shared.runtime import PROFILES, UserError
from workflow import catalogue, records

PLANNED = re.compile(r"^run +(\d+)$")  # a row of the table of jobs
STARTED = re.compile(r"^Job (\d+): notebooks/(\S+): running")
FINISHED = re.compile(r"^Finished jobid: (\d+)")
FAILED = re.compile(r"^\s+jobid: (\d+)")


class Watch:
    """What Snakemake says, line by line, turned into what a person wants to know."""

    def __init__(self, folder, jobs, *, say=print, now=time.monotonic):
        self.folder, self.jobs, self.say, self.now = Path(folder), jobs, say, now
        self.planned, self.running, self.done, self.in_error = 0, {}, set(), False
        self.figures = self.folder / "seconds.json"
        try:
            self.last = {str(k): float(v) for k, v in json.loads(self.figures.read_text()).items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self.last = {}  # the first run here, or a damaged file: this run writes it anew

    def hear(self, line):
        """Take in one line of Snakemake's output."""
        if match := PLANNED.match(line):
            self.planned += int(match[1])
        elif match := STARTED.match(line):
            if not self.running and not self.done:
                self.say(f"{self.planned} to run{self._expected()}")
            self.running[match[1]] = match[2], self.now()
        elif match := FINISHED.match(line):
            self._end(match[1], failed=False)
        elif line.startswith("Error in rule"):
            self.in_error = True
        elif self.in_error and (match := FAILED.match(line)):
            self.in_error = False
            self._end(match[1], failed=True)

    def _end(self, job, failed):
        if job not in self.running:  # the job that asks for all, or one told twice
            return
        name, started = self.running.pop(job)
        seconds = self.now() - started
        self.done.add(name)
        left = self.planned - len(self.done)
        self.say(f"{name:36} {seconds / 60:6.1f} min{', FAILED' if failed else ''}; "
                 f"{left or 'nothing'} left{self._expected()}")
        if failed:
            log = self.folder / "logs" / "notebooks" / f"{name.replace(' ', '.')}.log"
            self.say(f"  {reason(log)}\n  log: {log}")
        else:
            self.last[name] = round(seconds, 1)
            runtime.write_atomically(
                self.figures, lambda part: part.write_text(json.dumps(self.last, indent=1)))

    def _expected(self):
        known, left = [s for n, s in self.last.items() if n not in self.done], self.planned - len(self.done)
        if not known or left < 1:
            return ""
        return f", about {left * sum(known) / len(known) / min(self.jobs, left) / 60:.1f} min"


def reason(log):
    """The line of a run's log that says why it failed."""
    try:
        lines = [line for line in log.read_text().splitlines() if line.strip()]
    except OSError:
        return "it left no log"
    lines = [line for line in lines if not line.startswith("The notebook as far as it got")]
    return lines[-1] if lines else "its log is empty"


def told_since(name):
    """When the last run of a notebook's paper was recorded, in seconds; 0 where there is none."""
    runs = (runtime.results_folder() / "runs" / name.split("/")[0]).glob("*/[!.]*.json")
    return max((path.stat().st_mtime for path in runs), default=0)


def tidy(folder):
    """Drop run notebooks that are damaged, or older than a run of their paper: they are made again."""
    for path in sorted(Path(folder).glob("**/*.ipynb")):
        if not path.name.startswith(".") and catalogue.opened(path) is None:
            print(f"{path}: cut or damaged; made again")
            path.unlink()
    for name in catalogue.notebooks():
        path = Path(folder) / "notebooks" / f"{name}.ipynb"
        if path.is_file() and path.stat().st_mtime < told_since(name):
            path.unlink()  # runs are data, not code that Snakemake follows


def main(profile, jobs, *options):
    """Run the workflow; exits with Snakemake's status."""
    if profile not in PROFILES:
        raise UserError(f"unknown profile {profile!r}; allowed: {', '.join(PROFILES)}")
    records.jobs(jobs)
    folder = Path("_runs") / profile
    tidy(folder)
    log = folder / "logs" / "snakemake.log"
    with runtime.writing(log):
        log.parent.mkdir(parents=True, exist_ok=True)
    watch = Watch(folder, int(jobs))
    command = [sys.executable, "-m", "snakemake", "-s", "workflow/Snakefile", "--cores", jobs,
               "--config", f"profile={profile}", *options]
    with open(log, "w") as kept, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                  text=True, start_new_session=True) as child:
        try:
            for line in child.stdout:
                kept.write(line)
                kept.flush()
                watch.hear(line.rstrip())
        except KeyboardInterrupt:
            os.killpg(child.pid, signal.SIGTERM)  # Snakemake's jobs are in its group
            raise
    if child.returncode and not watch.done:
        print(f"{reason(log)}\nlog: {log}", file=sys.stderr)
    raise SystemExit(child.returncode)


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    if len(sys.argv) < 3:
        raise UserError("usage: python -m workflow.book PROFILE JOBS [SNAKEMAKE OPTION ...]")
    main(*sys.argv[1:])
