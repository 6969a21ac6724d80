"""Run one notebook with papermill: python -m workflow.run IN OUT [-p NAME VALUE] ...

The result appears in one step when all cells have run. A notebook that fails leaves no result; what it got to is
kept beside it as `.NAME.failed.ipynb`, and a mistake in the input is told in one line.
"""
import argparse
import os
import sys
from pathlib import Path

import papermill
import yaml
from papermill.exceptions import PapermillExecutionError


def run(source, target, given, timeout=None):
    """Execute `source` with parameters `given`; write `target`. Raises SystemExit with the reason if a cell fails."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.stem}.{os.getpid()}.part.ipynb")
    failed = target.with_name(f".{target.stem}.failed.ipynb")
    try:
        papermill.execute_notebook(source, part, parameters=given, kernel_name="python3", progress_bar=False,
                                   log_output=True, stdout_file=sys.stdout, stderr_file=sys.stderr,
                                   execution_timeout=timeout)
    except PapermillExecutionError as error:
        os.replace(part, failed)
        told = [] if error.ename == "ValueError" else error.traceback  # ValueError: the input was wrong, one line
        raise SystemExit("\n".join([*told, f"{source}: {error.ename}: {error.evalue}",
                                    f"The notebook as far as it got: {failed}"]))
    os.replace(part, target)
    failed.unlink(missing_ok=True)


if __name__ == "__main__":
    cli = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cli.add_argument("source")
    cli.add_argument("target")
    cli.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    arguments = cli.parse_args()
    run(arguments.source, arguments.target, {n: yaml.safe_load(v) for n, v in arguments.p})
