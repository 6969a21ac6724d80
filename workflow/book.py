"""Run the notebooks that are out of date: python -m workflow.book PROFILE JOBS [SNAKEMAKE OPTION ...]"""
import sys
from pathlib import Path

from report import repository
from shared import runtime
from workflow import catalogue, jobs


def last_recorded(name):
    """When the last run of a notebook's paper was recorded, in seconds; 0 where there is none."""
    runs = (repository.results_folder() / "runs" / name.split("/")[0]).glob("*/[!.]*.json")
    return max((path.stat().st_mtime for path in runs), default=0)


def drop_older(folder):
    """Drop run notebooks that are older than a run of their paper: they are made again."""
    for name in catalogue.notebooks():
        path = Path(folder) / "notebooks" / f"{name}.ipynb"
        if path.is_file() and path.stat().st_mtime < last_recorded(name):
            path.unlink()  # runs are data, not code that Snakemake follows


def main(profile, at_once, *options):
    """Run the workflow; exits with Snakemake's status."""
    at_once = jobs.count(at_once)
    folder = Path("_runs") / profile
    with runtime.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    drop_older(folder)
    raise SystemExit(jobs.run("Snakefile", at_once, *options, "--config", f"profile={profile}"))


if __name__ == "__main__":
    runtime.prepare(computes=False)
    runtime.stop_cleanly()
    main(*sys.argv[1:])
