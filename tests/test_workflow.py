"""workflow: pairs, what a run depends on, papermill's wrapper, the list of jobs."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOTEBOOKS, environment

from shared import ROOT
from shared.pages import notebook
from shared.units import sources
from workflow import needs, pair


def test_pairs_agree():
    pair.main(str(ROOT / "notebooks"), check=True)


def test_a_pair_out_of_step_is_named_and_mended(tmp_path):
    source = ROOT / "notebooks" / f"{NOTEBOOKS[0]}.py"
    (tmp_path / "a").mkdir()
    text = tmp_path / "a" / "x.py"
    text.write_text(source.read_text())
    pair.main(str(tmp_path))
    pair.main(str(tmp_path), check=True)
    text.write_text(text.read_text() + "\n# %%\nprint(1)\n")
    with pytest.raises(SystemExit, match="x.ipynb: not in step"):
        pair.main(str(tmp_path), check=True)
    pair.main(str(tmp_path))
    pair.main(str(tmp_path), check=True)
    assert "print(1)" in text.with_suffix(".ipynb").read_text()


def test_the_environment_has_one_lock_that_names_no_host():
    for lock in ("requirements.lock", "benchmarks/requirements.lock"):
        text = (ROOT / lock).read_text()
        assert "://" not in text and "--index-url" not in text and "--hash=sha256:" in text
    lines = (ROOT / "environment.yml").read_text().splitlines()
    assert [line.strip() for line in lines[lines.index("  - pip:") + 1:]] == ["- -r requirements.lock"]


@pytest.mark.parametrize("module", ["data", "borderline", "similarity"])
def test_a_changed_module_reruns_exactly_its_importers(module):
    users = [n for n in NOTEBOOKS if f"shared/{module}.py" in needs.inputs(f"notebooks/{n}")]
    reached = [n for n in NOTEBOOKS if f"shared/{module}.py" in sources.files(notebook.text_half(n))]
    assert users == reached and all((ROOT / f).is_file() for n in NOTEBOOKS for f in needs.inputs(f"notebooks/{n}"))


def test_a_notebook_depends_on_its_paper_s_printed_values_only():
    assert [f for f in needs.inputs("notebooks/ren/ii_networks") if "reference/" in f] == ["book/reference/ren.json"]


def test_declared_needs_exist():
    for name in NOTEBOOKS:
        assert all(Path(ROOT / f"{n}.ipynb").is_file() for n in needs.before(f"notebooks/{name}"))


def jobs(folder, home, *options):
    """Notebooks that the workflow in `folder` would run now."""
    told = subprocess.run([f"{Path(sys.executable).parent}/snakemake", "-s", "workflow/Snakefile", "--cores", "1", *options,
                           "--config", "profile=smoke"], cwd=folder, capture_output=True, text=True,
                          env={**environment(home), "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(home)})
    assert told.returncode == 0, told.stderr
    return sorted(re.findall(r"notebooks/(\S+): running", told.stdout + told.stderr))


def test_one_job_a_notebook(tmp_path):
    assert jobs(ROOT, tmp_path, "-n", "--forceall") == NOTEBOOKS


def test_the_workflow_runs_what_a_change_reaches_and_nothing_else(tmp_path):
    tree = tmp_path / "tree"
    for part in ("shared", "workflow", "notebooks", "book/reference"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    shutil.copy(ROOT / "requirements.lock", tree)
    for name in NOTEBOOKS:
        ran = tree / "_runs/smoke/notebooks" / f"{name}.ipynb"
        ran.parent.mkdir(parents=True, exist_ok=True)
        ran.write_text("{}")
    jobs(tree, tmp_path, "--touch")
    assert jobs(tree, tmp_path, "-n") == []

    def after_changing(file):
        path = tree / file
        old, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        path.write_text(old + "\n# changed\n")
        try:
            return jobs(tree, tmp_path, "-n")
        finally:
            path.write_text(old)
            os.utime(path, ns=times)

    assert after_changing("shared/report.py") == NOTEBOOKS
    assert after_changing("shared/audit/shu.py") == ["audit/printed_numbers"]
    assert after_changing("shared/borderline.py") == [n for n in NOTEBOOKS if n.startswith("ren/") and "/ii_" not in n]


# ---- parameters: one clear line each ---------------------------------------------------------------------
def script(folder, *arguments):
    return subprocess.run([sys.executable, "notebooks/ren/ii_networks.py", *arguments], cwd=ROOT, capture_output=True,
                          text=True, env=environment(folder))


BAD = [
    (["-p", "profil", "smoke"], "unknown parameter 'profil'; did you mean 'profile'?"),
    (["-p", "profile", "fast"], "unknown profile 'fast'; allowed: smoke, quick, paper"),
    (["-p", "seed", "abc"], "parameter 'seed' takes int, not 'abc'"),
    (["-p", "seed", "-1"], "parameter 'seed' is 0 or more, not -1"),
    (["-p", "device", "tpu"], "unknown device 'tpu'; allowed: auto, cpu, cuda"),
    (["-p", "profile", "smoke", "-p", "dataset", "minst"], "minst"),
    (["-p", "profile", "smoke", "-p", "recipe", "fast"], "unknown recipe 'fast'; allowed: "),
    (["--profile", "smoke"], "usage: python notebooks/"),
]


@pytest.mark.parametrize("arguments, said", BAD)
def test_a_script_refuses_bad_input_in_one_line(tmp_path, arguments, said):
    told = script(tmp_path, *arguments)
    assert told.returncode != 0 and said in told.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("results/**/*.json"))


def test_papermill_refuses_an_unknown_parameter_in_one_line(tmp_path):
    told = subprocess.run([sys.executable, "-m", "workflow.run", "notebooks/ren/ii_networks.ipynb", f"{tmp_path}/out.ipynb",
                           "-p", "profil", "smoke"], cwd=ROOT, capture_output=True, text=True, env=environment(tmp_path))
    assert told.returncode == 1 and "did you mean 'profile'?" in told.stderr
    assert not (tmp_path / "out.ipynb").exists() and (tmp_path / ".out.failed.ipynb").exists()


def test_every_notebook_has_the_common_parameters_each_with_help():
    for name in NOTEBOOKS:
        known = notebook.parameters(notebook.text_half(name))
        assert list(known)[:3] == list(notebook.COMMON)
        assert all(help_text for _, _, help_text in known.values()), name
