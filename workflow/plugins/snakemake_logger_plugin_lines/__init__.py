"""A line a job, for a person: snakemake --logger lines --logger-lines-seconds FILE

A line has the job's name (its message), the minutes it took, what is left, and how long that takes. FILE says
how long: `{name: seconds}`, as expected or as last time. What a job took is written there. `workflow.jobs`
puts the folder of this module on Snakemake's path.
"""
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from shared import runtime


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    seconds: Path = field(default=None, metadata={"help": "what jobs take, {name: seconds} as JSON"})


class LogHandler(LogHandlerBase):
    """What Snakemake does, event by event, turned into what a person wants to know."""
    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self):
        self.planned, self.running, self.done = 0, {}, set()
        try:
            kept = json.loads(self.settings.seconds.read_text())
            self.seconds = {str(k): float(v) for k, v in kept.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self.seconds = {}   # the first time here, or a damaged file: it is written anew

    def emit(self, record):
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.planned = sum(n for rule, n in record.stats.items() if rule not in ("all", "total"))
        elif event == LogEvent.JOB_INFO and record.rule_msg:    # the rule that asks for all has none
            if not self.running and not self.done:
                print(f"{self.planned} to run{self._expected()}", flush=True)
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
        print(f"{name:36} {in_words(now - started)}{ended}; {left or 'nothing'} left{self._expected()}",
              flush=True)
        if ended == ", FAILED":
            for why, log in zip(reasons, logs):
                print(f"  {why}\n  log: {Path(log).absolute()}", flush=True)
        if not ended and self.settings.seconds:
            self.seconds[name] = round(now - started, 1)
            text = json.dumps(self.seconds, indent=1)
            runtime.write_atomically(self.settings.seconds, lambda part: part.write_text(text))

    def _expected(self):
        known = [s for name, s in self.seconds.items() if name not in self.done]
        left = self.planned - len(self.done)
        if not known or left < 1:
            return ""
        return f", about {in_words(left * sum(known) / len(known)).strip()} of one core"


def in_words(seconds):
    """Minutes, or hours from three on."""
    return f"{seconds / 60:6.1f} min" if seconds < 10_800 else f"{seconds / 3600:6.1f} h"


def reason(log):
    """The line of a run's log that says why it failed."""
    try:
        lines = [line for line in log.read_text().splitlines() if line.strip()]
    except OSError:
        return "it left no log"
    lines = [line for line in lines if not line.startswith("The notebook as far as it got")]
    return lines[-1] if lines else "its log is empty"
