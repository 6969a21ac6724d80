"""A run notebook carries the hash of its content: one changed or damaged since is told from a sound one."""
import hashlib
import json

SEAL = "sha256"  # where it stands in the metadata


def _content(notebook):
    metadata = {k: v for k, v in notebook["metadata"].items() if k != SEAL}
    return hashlib.sha256(json.dumps(notebook | {"metadata": metadata}, sort_keys=True).encode()).hexdigest()


def seal(path):
    """Enter the hash of its content into the notebook `path`."""
    notebook = json.loads(path.read_text())
    notebook["metadata"][SEAL] = _content(notebook)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def opened(path):
    """The notebook `path`, or None where it is not what was sealed: cut, damaged, edited, run otherwise."""
    try:
        notebook = json.loads(path.read_text())
        return notebook if notebook["metadata"][SEAL] == _content(notebook) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
