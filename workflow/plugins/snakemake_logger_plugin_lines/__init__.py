"""A line a job, for a person: snakemake --logger lines

A line has the job's name (its message), the minutes it took and how many are left. `workflow.jobs` puts the
folder of this module on Snakemake's path.
"""
import logging
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from shared import runtime


class LogHandler(LogHandlerBase):
    """What Snakemake does, event by event, turned into what a person wants to know."""
    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self):
        self.planned, self.running, self.done = 0, {}, set()

    def emit(self, record):
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.planned = sum(n for rule, n in record.stats.items() if rule not in ("all", "total"))
        elif event == LogEvent.JOB_INFO and record.rule_msg:    # the rule that asks for all has none
            if not self.running and not self.done:
                print(f"{self.planned} to run", flush=True)
            self.running[record.jobid] = record.rule_msg, record.created
        elif event == LogEvent.JOB_FINISHED:
            self._end(record.job_id, record.created)
        elif event == LogEvent.JOB_ERROR:
            self._end(record.jobid, record.created, [reason(Path(log)) for log in record.log], record.log)
        elif record.levelno >= logging.ERROR and not self.running and not self.done:
            print(record.getMessage(), flush=True)

    def _end(self, job, now, reasons=None, logs=()):
        if job not in self.running:
            return
        name, started = self.running.pop(job)
        self.done.add(name)
        left = self.planned - len(self.done)
        stopped = any(runtime.STOPPED in why for why in reasons or ())
        ended = "" if reasons is None else ", stopped" if stopped else ", FAILED"
        print(f"{name:36} {in_words(now - started)}{ended}; {left or 'nothing'} left", flush=True)
        if ended == ", FAILED":
            for why, log in zip(reasons, logs):
                print(f"  {why}\n  log: {Path(log).absolute()}", flush=True)


def in_words(seconds):
    """Minutes, or hours from three on."""
    return f"{seconds / 60:6.1f} min" if seconds < 10_800 else f"{seconds / 3600:6.1f} h"


def reason(log):
    """The line of a run's log that says why it failed."""
    try:
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return "it left no log"
    lines = [line for line in lines if not line.startswith("The notebook as far as it got")]
    return lines[-1] if lines else "its log is empty"
