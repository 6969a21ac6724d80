"""Every documented command runs: `pytest tests/commands.py`, in a copy of the tree; `.ci/run` does it.

The commands are those of the Makefile's header, with all knobs that it names, and of the documents' blocks of
`bash`. They run as they stand there, but for what SMALLER replaces so that each takes seconds.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import papermill
import pytest
import torch
from safetensors.torch import save_file

from report.repository import ROOT

DOCUMENTS = "README.md", "CONTRIBUTING.md", "book/how-to-run.md"
KNOBS = dict(PROFILE="smoke", JOBS="1", VENV=".venv", PYTHON=sys.executable, KEEP="kept.json",
             HOURS="8", FIRST="sutton/cifar10", OPTIONS="--quiet", EXPERIMENT="he/attacks",
             MODEL="package.module:factory", WEIGHTS="net.safetensors", RETRAINED="net.safetensors",
             DATA="images.npz", OUT="card.html", IMAGES="4", CHECK="'pgd_accuracy>=0.3'", EPS="0.1",
             NORM="Linf", RESTARTS="1", SSIM="uniform", MEAN="0.5", STD="0.5",
             ABOUT="'licence=MIT'", FROM="HEAD", KEY="doe",
             NAME="4_more", ITEM="table-2")
# Commands that something else runs, and what.
ELSEWHERE = {
    r"make (book|test)\b.*": ".ci/run", r"jupyter-book build \.": ".ci/run, by workflow/render.py",
    "make records": ".ci/run, with --check",
    "make fill .*--workflow-profile.*": "the header's, which ends where data are asked for, as this would",
    r"make (paper|page)\b.*": "test_new.py",
    "(conda|bash postBuild).*": "test_workflow.py: postBuild, and the lock that environment.yml names"}
SMALLER = {
    r"HOURS=\d+": "HOURS=0.002", r"JOBS=\d+": "JOBS=1", r"xargs -P 8": "xargs -P 1",
    r"seq 0 5 195": "seq 0 0",
    "(?<=-p device )cuda": "cpu", "he/attacks": "shu/projection",
    r"ren/iv_simulation(?=\.ipynb sweeps)": "sutton/4_1_one_point",     # a page with numbers of its own
    r"ren/ii_networks(?=\.ipynb)": "sutton/7_1_1_network",     # computes a run
    r"ren/(ii_networks|iv_simulation)": "sutton/4_2_two_balls",
    r"(?<=-p profile )(quick|paper)(?! -p \w+ none)": "smoke",
    "^snakemake": "snakemake -n",
    r"=/(data|scratch)\b": r"=$PWD/_runs/\1",
    # There are no data and no network: these say what to do.
    "^make (data|explorer)$": r"make \1 || [ $? = 2 ]",
    "^(make fill .*)$": r"\1 2>&1 | grep 'put it there, or run `make data`'",
    "^(python -m workflow.compute .*)$": r"\1 2>&1 | grep 'put it there, or run `make data`'",
    "^make lock$": "echo > requirements.in; echo > benchmarks/requirements.in; UV_OFFLINE=1 make lock"}


def blocks(language, *documents):
    """The blocks of a language in some documents."""
    return [block for name in documents
            for block in re.findall(rf"(?s)```{language}\n(.*?)```", (ROOT / name).read_text())]


def of_the_header():
    """The commands of the Makefile's header, each with the knobs that it names."""
    header = (ROOT / "Makefile").read_text().partition("\nSHELL")[0]
    for target, text in re.findall(r"make ([a-z-]+)((?:(?!make [a-z]).)*)", header, re.DOTALL):
        knobs = (f"{knob}={KNOBS[knob]}" for knob in re.findall(r"\b([A-Z]+)=", text))
        yield " ".join([f"make {target}", *knobs])


def documented():
    """Every command as it is documented, once; before it what its block exports, in one line each."""
    lines = list(of_the_header())
    targets = [line.split()[1] for line in lines]
    for block in blocks("bash", *DOCUMENTS):
        exports = ""
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = line.partition("  #")[0].partition(" # ")[0].strip()
            if line.startswith("export"):
                exports += f"{line}; "
            elif line and not (line.split()[0] == "make" and line.split()[1] in targets and '"' not in line):
                lines.append(exports + line)    # else a target with some of its knobs: the header's has all
    return list(dict.fromkeys(line for line in lines if not any(re.match(done, line) for done in ELSEWHERE)))


def small(line):
    """A documented command as it is run here."""
    for old, new in SMALLER.items():
        line = re.sub(old, new, line)
    return line


def git(*words, folder=ROOT):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder,
                          check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """A clone of the tree as it is now, all committed, in a folder with a space, with this environment."""
    tree = tmp_path_factory.mktemp("clone") / "My Drive" / "book"
    git("clone", "-q", "--shared", str(ROOT), str(tree))
    for name in git("ls-files", "-mdo", "--exclude-standard").splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tree / name)
        else:
            (tree / name).unlink(missing_ok=True)
    (tree / "package").mkdir()
    (tree / "package/module.py").write_text(FACTORY)
    save_file({"2.weight": torch.tensor([[-9.0], [9.0]]), "2.bias": torch.tensor([4.5, -4.5])},
              tree / "net.safetensors")
    y = np.arange(12) % 2
    x = np.broadcast_to(y.reshape(-1, 1, 1, 1), (12, 1, 28, 28))
    np.savez(tree / "images.npz", x=x.astype("float32"), y=y)
    git("add", "-A", folder=tree)
    git("commit", "-qm", "as it is", "--allow-empty", folder=tree)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tree / ".venv"], check=True)
    packages, = tree.glob(".venv/lib/python3*/site-packages")
    (packages / "boundary_book.pth").write_text(f"{tree}\n")
    (packages / "others.pth").write_text(f"{Path(papermill.__file__).parent.parent}\n")
    return tree


FACTORY = """from torch import nn


def factory():
    return nn.Sequential(nn.AvgPool2d(28), nn.Flatten(), nn.Linear(1, 2))
"""


@pytest.fixture
def shell(tree):
    """`shell(script)` runs a script in the clone, which is then as it was; returns what it printed."""
    ours = ("BOUNDARY_", "PYTHONPATH", "VENV", "MAKE", "PROFILE", "JOBS")   # as from a shell of its own
    env = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    env |= {"PATH": f"{tree}/.venv/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "BOUNDARY_CACHE": f"{tree}/_runs/cache", "BOUNDARY_DATA": f"{tree}/_runs/data",
            "XDG_CACHE_HOME": f"{tree}/_runs/cache", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE",
            **dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")}

    def run(script):
        (tree / ".venv/.ready").touch()
        done = subprocess.run(["bash", "-euc", script], cwd=tree, env=env, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    yield run
    git("checkout", "-q", ".", folder=tree)
    git("clean", "-fdq", folder=tree)


@pytest.mark.parametrize("line", documented())
def test_a_documented_command_runs(shell, line):
    after, = [b for b in blocks("python", "book/how-to-run.md") if "sweeps/" in b]
    shell(small(line) + (f"\npython - <<'END'\n{after}END\n" if "sweeps/" in line else ""))


def test_make_runs_a_notebook_in_a_folder_with_a_space(shell, tree):
    shell("git ls-files notebooks | grep -v 7_1_1_network | xargs rm\nmake run PROFILE=smoke JOBS=1")
    assert (tree / "_runs/smoke/notebooks/sutton/7_1_1_network.ipynb").is_file()


def test_every_target_is_documented_and_what_is_run_elsewhere_is_still_there():
    makefile = (ROOT / "Makefile").read_text()
    header = {line.split()[1] for line in of_the_header()}
    assert header | {"run"} == set(" ".join(re.findall(r"\.PHONY: (.*)", makefile)).split())
    lines = "\n".join([*of_the_header(), *blocks("bash", *DOCUMENTS)])
    assert not [done for done in ELSEWHERE if not re.search(rf"(?m)^{done}", lines)]


def test_a_half_made_environment_is_made_anew_and_no_other_folder_touched(tmp_path):
    def make(folder):
        return subprocess.run(["make", f"VENV={folder}", f"PYTHON={sys.executable}", "venv"], cwd=ROOT,
                              text=True, capture_output=True)

    def sound(folder):
        command = [f"{folder}/bin/python", "-m", "pip", "--version"]
        return subprocess.run(command, capture_output=True).returncode == 0

    env = tmp_path / "env"
    (env / "bin").mkdir(parents=True)  # killed while it was made
    assert "making it anew" in make(env).stderr and sound(env)
    assert make(env).stderr == ""  # a sound one stays
    pip, = env.glob("lib/python3*/site-packages/pip")
    shutil.rmtree(pip)
    moved = env.rename(tmp_path / "moved")  # without pip, and moved
    assert "making it anew" in make(moved).stderr and sound(moved)
    packages, = moved.glob("lib/python3*/site-packages")
    (packages / "boundary_book.pth").write_text(f"{tmp_path / 'My clone'}\n")
    assert make(moved).returncode == 0  # of a clone that is no longer there
    (tmp_path / "My clone/workflow").mkdir(parents=True)
    refused = make(moved)
    assert refused.returncode and f"to the clone {tmp_path / 'My clone'}; name another" in refused.stderr
    letters = tmp_path / "folder/letters"
    letters.mkdir(parents=True)
    refused = make(letters.parent)
    assert refused.returncode and "is a folder of other things" in refused.stderr and letters.exists()
