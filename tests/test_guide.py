"""The guide: what *Your own model* shows runs as shown, in an empty folder, with the package alone."""
import copy
import json
import os
import re
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import jupytext
import nbformat
import numpy as np
import pytest
import torch
import torchvision
from torch import nn

from report.repository import ROOT
from report.tidy import MIME
from shared import inference
from shared.attacks.gradient import PGD
from shared.attacks.noise import RandomSearch
from shared.attacks.threat import Linf

CELLS = jupytext.read(ROOT / "notebooks/guide/your_own_model.py").cells
SHOWN = [cell.source for cell in CELLS if "show-input" in cell.metadata.get("tags", [])]
PROSE = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")


def run(code, folder, installed):
    """A finished process of a script in a folder, beside a reader's own package and module `shared`."""
    (folder / "script.py").write_text(code)
    (folder / "shared").mkdir()
    for name in ("shared/__init__.py", "shared.py"):
        (folder / name).write_text("raise ImportError('not the instruments')")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("BOUNDARY_", "PYTHON"))}
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True,
                          env={**env, "PYTHONPATH": str(installed), "HOME": str(folder / "home"),
                               "OMP_NUM_THREADS": "1"})


@pytest.mark.slow
def test_the_script_and_what_follows_run_as_shown(tmp_path, installed):
    """With fewer images; at the end the boxes once more, where no example is found."""
    start, end = SHOWN[-1].split("L2(1.5)")
    code = "\n\n".join([*SHOWN, f"{start}L2(1e-6){end}"])
    for many, few in (("images=40", "images=4"), ("x_test[:100], y_test[:100]", "x_test[:20], y_test[:20]")):
        assert many in code
        code = code.replace(many, few)
    done = run(code, tmp_path, installed)
    assert done.returncode == 0, done.stderr
    values = dict(re.findall(r"^([\w ]+): (\S+)$", done.stdout, re.MULTILINE))
    assert float(values["accuracy"]) > 0.9 > 0.5 > float(values["accuracy under PGD"])
    assert "classified correctly" in done.stdout and done.stdout.count("no example found") == 1
    assert sorted(os.listdir(tmp_path)) == ["card.html", "card.json", "script.py", "shared", "shared.py"]


@pytest.mark.slow
def test_a_pretrained_model_and_a_file_of_images_run_as_shown(tmp_path, installed):
    script, = re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = torchvision.models.resnet18(weights=None).eval()
    torch.save(network.state_dict(), tmp_path / "resnet18.pt")
    x = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    y = network((torch.as_tensor(x).permute(0, 3, 1, 2) / 255 - mean) / std).argmax(1)
    np.savez(tmp_path / "images.npz", x=x, y=y.numpy())
    done = run(script, tmp_path, installed)
    assert done.returncode == 0, done.stderr
    assert "accuracy: 1.0\nResult(4 images: 4 correct before" in done.stdout


# ---- the table of models -----------------------------------------------------------------------------------
NETWORK = nn.Sequential(nn.Flatten(), nn.Linear(144, 3))
nn.init.normal_(NETWORK[1].weight, generator=torch.Generator().manual_seed(0))
X = torch.rand(6, 1, 12, 12, generator=torch.Generator().manual_seed(0))
Y = inference.labels(NETWORK, X)

MODELS = {  # beginning of a row: models of this kind, of the classes of NETWORK
    "returns logits": [NETWORK],
    "returns an object": [lambda x: SimpleNamespace(logits=NETWORK(x), loss=None)],
    "returns a dict": [lambda x: {"loss": None, "logits": NETWORK(x)}],
    "returns a tuple": [lambda x: (NETWORK(x), None)],
    "is compiled": [NETWORK],
    "has float64 or bfloat16 weights": [copy.deepcopy(NETWORK).double(), copy.deepcopy(NETWORK).bfloat16()],
    "expects normalised pixels": [lambda x: NETWORK(0.13 + 0.31 * x)],
    "takes and returns numpy arrays": [lambda x: NETWORK(torch.from_numpy(x)).detach().numpy()]}
ROWS = dict(re.findall(r"^\| ((?!Your model|---).*?) \| `(.*)` \|$", PROSE, re.MULTILINE))


@pytest.mark.filterwarnings("ignore:The .grad attribute")     # torch.compile's own
@pytest.mark.parametrize("row", MODELS)
def test_each_row_of_the_table_of_models(row):
    code, = (code for text, code in ROWS.items() if text.startswith(row))
    assert len(ROWS) == len(MODELS)
    attack = RandomSearch(Linf(0.3), 20) if "numpy" in row else PGD(Linf(0.3), 5, 0.1)
    quick = SimpleNamespace(from_numpy=torch.from_numpy, compile=partial(torch.compile, backend="eager"))
    for model in MODELS[row]:
        passed = eval(code, {"adapt": inference.adapt, "torch": quick, "model": model})
        result = attack(passed, X, Y, generator=0)
        assert result.was_correct.all() and result.success.any()


def test_what_a_shown_cell_prints_is_on_the_page(tmp_path, monkeypatch):
    """The renderer drops a cell without source, and with it what the cell prints."""
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    monkeypatch.setenv("BOUNDARY_RUNS", str(tmp_path))
    monkeypatch.setenv("PROFILE", "smoke")
    import executed
    cell = nbformat.v4.new_code_cell("print(1)", metadata={"tags": ["show-input"]},
                                     outputs=[nbformat.v4.new_output("stream", name="stdout", text="1\n")])
    (tmp_path / "smoke").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "smoke/page.ipynb")
    source = [(tmp_path / "smoke/page.ipynb").read_text()]
    env = SimpleNamespace(doc2path=lambda name: f"{name}.ipynb", note_dependency=lambda path: None)
    executed.read(SimpleNamespace(env=env), "page", source)
    code, printed = json.loads(source[0])["cells"]
    assert "print(1)" in code["source"] and printed["outputs"] and printed["source"]
    assert "remove-input" in printed["metadata"]["tags"]


@pytest.mark.parametrize("small", [True, False])
def test_the_parameters_of_a_small_run_are_called_so(tmp_path, monkeypatch, small):
    """A page whose own run stands at its end shows larger ones: their parameters are others."""
    monkeypatch.syspath_prepend(str(ROOT / "book/_ext"))
    monkeypatch.setenv("BOUNDARY_RUNS", str(tmp_path))
    monkeypatch.setenv("PROFILE", "quick")
    import executed

    def cell(spec):
        output = nbformat.v4.new_output("display_data", data={MIME: {"myst": "x", "pictures": {}} | spec})
        return nbformat.v4.new_code_cell("x", outputs=[output])

    facts = {"notebook": "chen/iii_roby", "parameters": {}}
    cells = [nbformat.v4.new_code_cell("x", metadata={"tags": ["parameters"]}),
             *[cell({"kind": "own"})] * small, cell({"kind": "stamp", "facts": facts})]
    (tmp_path / "quick").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "quick/page.ipynb")
    source = [(tmp_path / "quick/page.ipynb").read_text()]
    env = SimpleNamespace(doc2path=lambda name: f"{name}.ipynb", note_dependency=lambda path: None)
    executed.read(SimpleNamespace(env=env), "page", source)
    assert ("own small run" in json.loads(source[0])["cells"][0]["source"]) == small
