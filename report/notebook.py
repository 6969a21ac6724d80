"""What the kernel of a notebook needs: progress bars that leave no output, and no late interrupt."""
import io
import logging
import os
import sys

from shared import runtime


class _Line(io.TextIOBase):
    """One line of a notebook's cell that progress bars overwrite; at last it is an output without data."""
    encoding = "utf-8"

    def __init__(self, shell):
        self.cell, self.publish = shell.execution_count, shell.display_pub.publish
        self.show({}, update=False)

    def show(self, data, update=True):
        self.publish(data, {}, transient={"display_id": f"progress-{os.getpid()}-{self.cell}"}, update=update)

    def write(self, text):
        text = text.replace("\x1b[A", "").strip("\r\n")  # bars inside others, too, are this line
        if text:
            self.show({"text/plain": text} if text.strip() else {})
        return len(text)


_line = None


def _line_of_the_cell():
    """The line of the cell that runs; None outside of notebooks."""
    global _line
    ipython = sys.modules.get("IPython") if "ipykernel" in sys.modules else None
    shell = ipython and ipython.get_ipython()
    if shell is None:
        return None
    if _line is None or _line.cell != shell.execution_count:
        _line = _Line(shell)
    return _line


def _no_late_interrupt(record):
    return "KeyboardInterrupt caught" not in record.getMessage()


def prepare_kernel():
    """Let progress bars and the log be those of a notebook, where this process is its kernel."""
    runtime.progress_stream = _line_of_the_cell
    # jupyter_client interrupts a kernel before it ends it; under papermill that can meet the end of the last
    # answer. No cell is stopped then, but the kernel logs an error. A stopped cell reports it itself.
    logging.getLogger("IPKernelApp").addFilter(_no_late_interrupt)
