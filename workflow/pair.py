"""Keep each notebook and its script the same: the .ipynb is a pure function of the script (.py).

python -m workflow.pair           write each .ipynb from its .py
python -m workflow.pair --check   exit 1 and name the pairs that differ
"""
import hashlib
import sys
from pathlib import Path

import jupytext
import nbformat

from report.repository import ROOT
from shared import runtime

COPY = "-Copy"      # in JupyterLab's name of a copy, which is a reader's own and no page
KEEP_CELL = {"tags", "mystnb"}


def _normal(nb):
    """The notebook without outputs, with cell ids that follow from the cells: one text, one notebook."""
    seen = {}
    for cell in nb.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k in KEEP_CELL}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    extra = {k: v for k, v in nb.metadata.items() if k == "boundary_book"}
    nb.metadata = {
        **extra,
        # Without the filter jupytext drops our metadata from the script.
        "jupytext": {"formats": "ipynb,py:percent", "notebook_metadata_filter": "boundary_book"},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nb.nbformat, nb.nbformat_minor = 4, 5
    return nbformat.from_dict(nb)


def _halves(nb):
    """The normal form of both halves, (.ipynb, .py), of a notebook."""
    ipynb = nbformat.writes(_normal(nb), indent=1) + "\n"
    nb = jupytext.reads(ipynb, fmt="ipynb")
    nb.metadata.pop("language_info", None)
    return ipynb, jupytext.writes(nb, fmt="py:percent")


def on_save(model, path, contents_manager, **_):
    """JupyterLab calls this before it saves a file (`workflow/jupyter.json`): a page is saved as committed.

    So to run and save a page changes nothing. A reader's copy and other files are saved as they are.
    """
    place = Path(contents_manager.root_dir, path.strip("/")).resolve()
    if ROOT / "notebooks" not in place.parents or COPY in place.stem:
        return
    if model["type"] == "notebook":
        model["content"] = _normal(nbformat.from_dict(model["content"]))
    elif place.suffix == ".py":
        model["content"] = _halves(jupytext.reads(model["content"], fmt="py:percent"))[1]


def main(root="notebooks", check=False):
    """Write the .ipynb of each script; where `check`, only name the pairs that differ.

    An .ipynb that was edited after its script, outside JupyterLab, is named and left as it is.
    """
    files = [p for p in sorted(Path(root).rglob("[!.]*.*")) if ".ipynb_checkpoints" not in p.parts
             and COPY not in p.stem]
    texts = [p for p in files if p.suffix == ".py"]
    bad = [f"{p}: no script" for p in files if p.suffix == ".ipynb" and p.with_suffix(".py") not in texts]
    for text in texts:
        ipynb = text.with_suffix(".ipynb")
        for path, wanted in zip((ipynb, text), _halves(jupytext.read(text))):
            if path.exists() and path.read_text(encoding="utf-8") == wanted:
                continue
            if check:
                bad.append(f"{path}: not in step with its other half; run `make pair`")
            elif path.exists() and path.stat().st_mtime > text.stat().st_mtime:
                bad.append(f"{path}: edited after {text.name}; `jupytext --to py:percent {path}` takes its "
                           f"cells over, `touch {text}` drops them; then run `make pair` again")
                break
            else:
                runtime.write_text(path, wanted)
    if bad:
        raise SystemExit("\n".join(bad))


if __name__ == "__main__":
    runtime.prepare(computes=False)
    main(check="--check" in sys.argv)
