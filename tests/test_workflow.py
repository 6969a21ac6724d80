"""workflow: pairs, what a run depends on, papermill's wrapper, the jobs, what a person sees of them."""
import graphlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import conftest
import nbformat
import papermill
import pytest
from conftest import NOTEBOOKS, environment
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from jupytext.sync_contentsmanager import build_sync_jupytext_contents_manager_class
from nbformat.v4 import new_code_cell, new_notebook, new_output
from traitlets.config import Config

from report import git, page, parameters
from report.experiment import Results
from report.repository import ROOT
from shared import runtime
from shared.data import sets
from workflow import book, catalogue, fill, imports, missing, pair, records, render, run, versions


@pytest.fixture
def text(tmp_path):
    """The script of a page, alone in a folder."""
    return shutil.copy(ROOT / "notebooks" / f"{NOTEBOOKS[0]}.py", tmp_path / "x.py")


def test_pairs_agree():
    pair.main(str(ROOT / "notebooks"), check=True)


def test_a_pair_out_of_step_is_named_and_mended(text):
    pair.main(text.parent)
    pair.main(text.parent, check=True)
    text.write_text(text.read_text() + "\n# %%\nprint(1)\n")
    with pytest.raises(SystemExit, match="x.ipynb: not in step"):
        pair.main(text.parent, check=True)
    pair.main(text.parent)
    pair.main(text.parent, check=True)
    assert "print(1)" in text.with_suffix(".ipynb").read_text()


def test_an_ipynb_that_was_edited_later_is_named_and_left(text):
    pair.main(text.parent)
    ipynb, later = text.with_suffix(".ipynb"), time.time() + 10
    edited = ipynb.read_text().replace("import", "from x import", 1)
    ipynb.write_text(edited)
    os.utime(ipynb, (later, later))
    with pytest.raises(SystemExit, match="x.ipynb: edited after x.py; `jupytext"):
        pair.main(text.parent)
    assert ipynb.read_text() == edited
    os.utime(text, (later, later))
    pair.main(text.parent)
    pair.main(text.parent, check=True)


def test_pairs_are_utf_8_wherever_they_are_written(text):
    source = text.read_text(encoding="utf-8")
    text.write_text(f"{source}\n# %%\nprint('ε ≤ ½')\n", encoding="utf-8")
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = f"from workflow import pair; pair.main({str(text.parent)!r})"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all("ε ≤ ½" in half.read_text(encoding="utf-8") for half in (text, text.with_suffix(".ipynb")))
    assert sorted(p.name for p in text.parent.iterdir()) == ["x.ipynb", "x.py"]


def test_a_page_that_is_run_and_saved_in_jupyterlab_stays_as_committed(tmp_path, monkeypatch):
    """Both halves to the byte, with the setting that the environment has; a copy keeps what it shows."""
    monkeypatch.setattr(pair, "ROOT", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    halves = [tmp_path / f"notebooks/he/3_optmargin{end}" for end in (".ipynb", ".py")]
    halves[0].parent.mkdir(parents=True)
    before = [(ROOT / half.relative_to(tmp_path)).read_text() for half in halves]
    for half, text in zip(halves, before):
        half.write_text(text)
    config = Config(json.loads((ROOT / "workflow/jupyter.json").read_text()))
    lab = build_sync_jupytext_contents_manager_class(LargeFileManager)(root_dir=str(tmp_path), config=config)
    nb = lab.get("notebooks/he/3_optmargin.ipynb")["content"]

    def saved(name):
        nb.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "x"}
        nb.metadata.language_info = {"name": "python", "version": "3.11.7"}
        for cell in nb.cells:
            cell.metadata["execution"] = {"iopub.execute_input": "2026-01-01"}
            if cell.cell_type == "code":
                cell.execution_count, cell.outputs = 3, [new_output("stream", text="shown")]
        lab.save({"type": "notebook", "format": "json", "content": nb}, f"notebooks/he/{name}.ipynb")

    saved("3_optmargin-Copy1")
    assert "shown" in halves[0].with_stem("3_optmargin-Copy1").read_text()
    saved("3_optmargin")
    assert [half.read_text() for half in halves] == before
    nb.cells[-1].source += "\n# edited"
    saved("3_optmargin")
    assert all("# edited" in half.read_text() for half in halves)
    pair.main(str(tmp_path), check=True)    # of the page alone: the copy is not in this form


def test_the_environment_has_one_lock_that_names_no_host():
    for lock in ("requirements.lock", "benchmarks/requirements.lock"):
        text = (ROOT / lock).read_text()
        assert "://" not in text and "--index-url" not in text and "--hash=sha256:" in text
    lines = (ROOT / "environment.yml").read_text().splitlines()
    assert [line.strip() for line in lines[lines.index("  - pip:") + 1 :]] == ["- -r requirements.lock"]


def test_binder_alone_is_offered_and_its_files_work(tmp_path):
    config = (ROOT / "_config.yml").read_text()
    assert re.findall(r"(\w+)_url: https", config) == ["binderhub"]
    assert "not tried" in (ROOT / "book/_static/book.css").read_text()
    venv.create(tmp_path, symlinks=True)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    subprocess.run(["bash", ROOT / "postBuild"], env={"PATH": path}, cwd=tmp_path, check=True)
    there = subprocess.run(["python", "-c", "import shared; print(shared.__file__)"], env={"PATH": path},
                           cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(there.stdout.strip()) == ROOT / "shared/__init__.py"
    assert (tmp_path / "etc/jupyter/jupyter_server_config.json").read_bytes() == (
        ROOT / "workflow/jupyter.json").read_bytes()


def test_what_notebooks_depend_on_exists_and_names_the_users_of_an_instrument():
    files = {name: imports.inputs(name) for name in NOTEBOOKS}
    assert all((ROOT / file).is_file() for name in NOTEBOOKS for file in files[name])
    users = "audit/", "guide/", "he/", "ren/", "report_card/", "synthesis/"
    assert [name for name in NOTEBOOKS if "shared/borderline.py" in files[name]] == [
        name for name in NOTEBOOKS if name.startswith(users)]
    # Of the published values only those of its paper.
    assert [f for f in files["ren/ii_networks"] if "reference/" in f] == ["book/reference/ren.json"]


def jobs(folder, home, *options):
    """Notebooks that the workflow in `folder` would run now."""
    done = subprocess.run(
        [f"{Path(sys.executable).parent}/snakemake", "-s", "workflow/Snakefile", "--cores", "1", *options,
         "--config", "profile=smoke"], cwd=folder, capture_output=True, text=True,
        env={**environment(home), "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(home)})
    assert done.returncode == 0, done.stderr
    return sorted(re.findall(r"(?m)^Job \d+: (\S+)$", done.stdout + done.stderr))


def copied(tree, folders, files):
    """A tree with these folders and files of the project."""
    for part in folders:
        shutil.copytree(ROOT / part, tree / part,
                        ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for file in files:
        shutil.copy(ROOT / file, tree)


@pytest.mark.parametrize("changed, reached", [
    ("papers/ren/experiments.py", {"ren/ii_networks", "ren/iii_borderline"}),
    ("papers/shu/claims.py", {"shu/2_1_lenet", "shu/3_theorem"}),
    ("papers/he/models.py", {"he/3_optmargin", "synthesis/five_instruments"}),
    ("papers/he/audit.py", {"audit/printed_numbers"}),
    ("shared/card/known.json", {"report_card/report_card"}),
    ("notebooks/he/3_optmargin.ipynb", {"he/3_optmargin"}), ("report/page.py", {*NOTEBOOKS})])
def test_the_tests_run_a_page_again_where_what_it_rests_on_has_changed(monkeypatch, changed, reached):
    before, content = {name: conftest.rests_on(name) for name in NOTEBOOKS}, conftest.content
    monkeypatch.setattr(conftest, "content", lambda file: "other" if file == changed else content(file))
    again = {name for name in NOTEBOOKS if conftest.rests_on(name) != before[name]}
    assert reached <= again and ("chen/iii_roby" in again) == ("chen/iii_roby" in reached)


@pytest.mark.slow
def test_the_workflow_runs_what_a_change_reaches_and_nothing_else(tmp_path):
    tree = tmp_path / "tree"
    copied(tree, ("shared", "report", "papers", "workflow", "notebooks", "book/reference"),
           ("requirements.lock", "_toc.yml"))
    now = time.time()
    for name in NOTEBOOKS:
        output = tree / "_runs/smoke/notebooks" / f"{name}.ipynb"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("{}")
        os.utime(output, (now, now))    # all at once, after their inputs

    path = tree / "papers/shu/audit.py"
    path.write_text(path.read_text() + "\n# changed\n")
    assert jobs(tree, tmp_path, "-n") == ["audit/printed_numbers"]


# ---- one run ---------------------------------------------------------------------------------------------
CELL = """profile: str = "quick"  # scale
seed: int = 0  # of the draws
device: str = "auto"  # where
runs: str = "missing"  # which runs
images: int = None  # how many [1..]
"""


def write(path, *cells):
    """A notebook with the common parameters; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    first = new_code_cell(CELL, metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[first, *map(new_code_cell, cells)], metadata={"kernelspec": kernel}),
                   path)
    path.with_suffix(".py").write_text(f'# %% tags=["parameters"]\n{CELL}')
    return path


@pytest.mark.parametrize("target, message", [
    ("in.ipynb", "the notebook itself; name another file"), ("../x/in.ipynb", "the notebook itself"),
    ("link.ipynb", "the notebook itself"), (".", "a folder; name a file"), ("out.txt", "name ends in .ipynb"),
    ("file/out.ipynb", "file/out.ipynb: cannot be written")])
def test_a_target_that_could_not_be_written_is_refused_before_the_run(tmp_path, monkeypatch, target, message):
    source = write(tmp_path / "x/in.ipynb", "1")
    (tmp_path / "x/link.ipynb").symlink_to(source)
    (tmp_path / "x/file").touch()
    monkeypatch.setattr(run, "_execute", lambda *_: pytest.fail("it ran"))
    before = source.read_bytes(), sorted(os.listdir(tmp_path / "x"))
    with pytest.raises(runtime.UserError) as error:
        run.run(source, tmp_path / "x" / target, [])
    assert message in str(error.value) and "\n" not in str(error.value)
    assert (source.read_bytes(), sorted(os.listdir(tmp_path / "x"))) == before


def test_a_source_that_is_no_notebook_is_named(tmp_path):
    (tmp_path / "x.ipynb").write_text('{"cells": [')
    for name in ("x.ipynb", "absent.ipynb"):
        with pytest.raises(runtime.UserError, match=f"{name}: not a notebook"):
            run.run(tmp_path / name, tmp_path / "out.ipynb", [])


@pytest.mark.parametrize("cell, reason", [
    ("import os\nos.kill(os.getpid(), 9)", "killed, most likely because the memory was full"),
    ("from shared.runtime import UserError\nraise UserError('digit 12; allowed: 0 to 9')",
     "digit 12; allowed")])
def test_the_reason_why_a_notebook_failed_is_one_line(tmp_path, cell, reason):
    source = write(tmp_path / "in.ipynb", "print('begun')", cell)
    with pytest.raises(SystemExit) as end:
        run.run(source, tmp_path / "out.ipynb", [])
    first, second = str(end.value).splitlines()
    assert reason in first and second.endswith("/.out.failed.ipynb")
    assert "begun" in (tmp_path / ".out.failed.ipynb").read_text()
    assert not (tmp_path / "out.ipynb").exists() and not list(tmp_path.glob(".part-*"))


def test_only_what_needs_the_last_commit_needs_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BOUNDARY_REVISION", raising=False)
    assert git.revision() == "unknown" and git.committed(ROOT / "Makefile") is None
    for command in (fill.worktree, lambda: versions.compare("he/attacks")):
        with pytest.raises(runtime.UserError, match="no git on this machine"):
            command()


BARS = """from report import notebook
from shared import runtime
notebook.prepare_kernel()
for label in ("first", "second"):
    with runtime.progress(3, label) as bar:
        for _ in range(3):
            with runtime.progress(9, "inside") as inner:
                inner.update(9)
            bar.update()
print("end")"""


LATE = """from report import notebook
import time
notebook.prepare_kernel()
handlers = get_ipython().kernel.shell_handlers
at_once = handlers["kernel_info_request"]
async def late(*message):
    await at_once(*message)
    time.sleep(0.5)
handlers["kernel_info_request"] = late"""


def test_a_run_is_of_the_commands_python_and_leaves_no_bars_and_no_interrupt(tmp_path, monkeypatch, capfd):
    """A kernelspec `python3` that somebody has put on Jupyter's path is not taken; bars are not saved;
    papermill ends a kernel at its last reply, here a slow one.
    """
    folder = tmp_path / "jupyter/kernels/python3"
    folder.mkdir(parents=True)
    other = {"argv": ["/bin/false", "{connection_file}"], "display_name": "other", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(other))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    run.run(write(tmp_path / "in.ipynb", "import sys\nprint(sys.executable)", BARS, LATE),
            tmp_path / "out.ipynb", [])
    _, python, bars, _ = json.loads((tmp_path / "out.ipynb").read_text())["cells"]
    assert python["outputs"][0]["text"] == [f"{sys.executable}\n"]
    bar, end = bars["outputs"]
    assert bar["data"] == {} and end["text"] == ["end\n"]
    assert "Interrupt" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("copy", [False, True])
def test_a_copy_says_so_in_one_line_and_records_nothing(home, monkeypatch, capsys, copy):
    """JupyterLab names the file of the notebook that a kernel belongs to."""
    monkeypatch.setattr(sets, "_profile", sets._profile)
    monkeypatch.setattr(runtime, "_device", runtime._device)
    place = ROOT / "notebooks/he" / f"3_optmargin{'-Copy1' * copy}.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(place))
    known = parameters.declared(parameters.script_of("he/3_optmargin"))
    scratch = page.Page("he/3_optmargin", {p.name: p.default for p in known.values()} | {"profile": "paper"})
    line = "This is a scratch copy of `he/3_optmargin`: its tables and figures are not recorded."
    assert capsys.readouterr().out.splitlines() == [line] * copy
    scratch.extra("of-ours", (), lambda: [{"a": 1}], "Ours")
    scratch.finish()
    files = [path.name for path in home.rglob("*.json")]
    assert files == ([] if copy else ["extra-of-ours.json"])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_leaves_no_litter(tmp_path, number):
    flag = tmp_path / "begun"
    source = write(tmp_path / "in.ipynb", f"open({str(flag)!r}, 'w').close()\nimport time\ntime.sleep(600)")
    process = subprocess.Popen([sys.executable, "-m", "workflow.run", source, tmp_path / "out.ipynb"],
                               cwd=ROOT, env=environment(tmp_path), text=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    while not flag.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, message = process.communicate(timeout=60)
    assert process.returncode and not (tmp_path / "out.ipynb").exists()
    left = list(tmp_path.glob(".part-*"))
    if number == signal.SIGKILL:  # nobody could tidy up: who writes there a day later does
        os.utime(left[0], (0, 0))
        runtime.write_atomically(tmp_path / "more", lambda part: part.touch())
    else:
        assert "stopped; the same command goes on where it was" in message
    assert not list(tmp_path.glob(".part-*"))


# ---- all runs --------------------------------------------------------------------------------------------
def test_a_page_is_run_again_when_a_run_of_its_paper_is_newer(home, tmp_path):
    runs = {n: tmp_path / "smoke/notebooks" / f"{n}.ipynb" for n in NOTEBOOKS}
    for path in runs.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"cells": []}')
    recorded = tmp_path / "results/runs/sutton/gtsrb/s0-s1.json"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("{}")
    os.utime(recorded, (1, 1))
    book.drop_older(tmp_path / "smoke")
    assert all(path.exists() for path in runs.values())
    os.utime(recorded, (time.time() + 60,) * 2)
    book.drop_older(tmp_path / "smoke")
    gone = {n for n, path in runs.items() if not path.exists()}
    assert gone == {n for n in NOTEBOOKS if n.startswith("sutton/")}


# ---- make ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("old, new, differ", [(3e-8, 1e-5, True), (9.9e-6, 0, True), (1, 1 + 9e-6, False),
                                              (1e-17, 0, False)])
def test_records_differ_where_a_small_probability_does(old, new, differ):
    assert bool(list(records.differences({"p": old}, {"p": new}))) == differ


def test_records_are_rebuilt_each_after_those_it_needs(tmp_path, monkeypatch):
    order = []
    monkeypatch.setenv("JOBS", "1")
    monkeypatch.setattr(records, "run_script", lambda name: (order.append(name) or 1.0, None))
    monkeypatch.setattr(records, "ProcessPoolExecutor", lambda count, *_: ThreadPoolExecutor(count))
    assert sorted(n for n, *_ in records.rebuild(NOTEBOOKS, tmp_path)) == sorted(order) == NOTEBOOKS
    assert all(order.index(first) < order.index(n) for n in NOTEBOOKS for first in catalogue.needs(n))
    monkeypatch.setattr(catalogue, "needs", lambda name: [n for n in NOTEBOOKS[:2] if n != name])
    with pytest.raises(graphlib.CycleError, match=NOTEBOOKS[0]):
        list(records.rebuild(NOTEBOOKS[:2], tmp_path))
    monkeypatch.setenv("JOBS", "many")
    with pytest.raises(runtime.UserError, match="JOBS='many'; allowed: a whole number from 1"):
        list(records.rebuild(NOTEBOOKS, tmp_path))


def test_what_is_absent_smaller_or_out_of_date_is_listed_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path))
    for file in ("runs/ren/networks/gone.json", "runs/ren/unplanned/x.json"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    task = partial(missing.Task, "ren/sets")
    known = {"ren/sets": {"b2": task("b2", 3600.0, (("images", 50),)), "b3": task("b3", 7200.0)}}
    old = SimpleNamespace(sizes={"images": [50, 100]}, fraction=0.5, share=lambda rests: 0.5,
                          inputs=None, provenance={"data": {}})
    sets = {n: Results(f"ren/{n}", dict.fromkeys(published), **how) for n, published, how in [
        ("sets", ("b0", "b2", "b3"), dict(recorded={"b0": old}, outdated={"b0": ["version"]})),
        ("more", [f"c{n}" for n in range(5)], dict(recorded={f"c{n}": old for n in range(5)}, outdated={
            f"c{n}": ["arguments", "ren/sets"][n % 2:] for n in range(5)})),
        ("whole", (), {})]}
    monkeypatch.setattr(missing, "standings", lambda: {s.name: s for s in sets.values()})
    monkeypatch.setattr(missing, "tasks", lambda standing: dict.fromkeys(standing, {}) | known)
    monkeypatch.setattr(missing, "items", lambda known: [
        missing.Incomplete("ren", "table-1", frozenset(known["ren/sets"].values()), True)])
    assert list(missing.lines())[1:] == [
        "    3.0 h  Ren et al., Table I: 2 runs of ren/sets: make fill HOURS=3 FIRST=ren/sets",
        "ren/sets: 1 of 3 runs; 2 absent (about 3.0 h in the sizes of the recorded ones), "
        "1 smaller than published, 1 out of date (version changed): b0, 1 whose inputs are unknown: "
        "make fill HOURS=n FIRST=ren/sets",
        "ren/more: 5 of 5 runs; 5 smaller than published, 5 out of date (arguments, "
        "ren/sets changed), 5 whose inputs are unknown: make fill HOURS=n FIRST=ren/more",
        "ren/networks: no plan names gone: git rm results/runs/ren/networks/gone*",
        "ren/unplanned: no plan names x: git rm results/runs/ren/unplanned/x*"]


def test_records_of_one_notebook_are_judged_alone(tmp_path, monkeypatch):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, values in ((old, {"a": 1.0, "b": 1.0, "c": 1.0}), (new, {"a": 1.0, "b": 2.0, "d": 1.0})):
        (folder / "paper").mkdir(parents=True)
        for name, value in values.items():
            (folder / "paper" / f"{name}.json").write_text(json.dumps({"value": value, "check": folder.name}))
    changed, new_one = "paper/b.json: value: 1.0 is now 2.0", "paper/d.json: is new; run `make records`"
    gone = "paper/c.json: is not made any more; delete it"
    assert list(records.compare(old, new)) == [changed, gone, new_one]
    for items, lines in ((["b"], [changed, new_one]), (["b", "c"], [changed, gone, new_one])):
        monkeypatch.setattr(catalogue, "items", lambda name, items=items: items)
        assert list(records.compare(old, new, ["paper/1_page"])) == lines


@pytest.mark.parametrize("words, message", [
    (["run", "PROFILE=fast"], "allowed: smoke, quick, paper"),
    (["run", "VENV=my env"], "VENV='my env': a folder without spaces")])
def test_make_refuses_in_one_line(words, message):
    done = subprocess.run(["make", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and message in done.stderr


# ---- the pages -------------------------------------------------------------------------------------------
def test_every_notebook_declares_its_parameters_each_with_help_and_papermill_reads_all():
    """papermill warns of a parameter that it does not read, and then sets it."""
    for name in NOTEBOOKS:
        known = parameters.declared(parameters.script_of(name))
        assert list(known)[:3] == ["profile", "seed", "device"] and all(p.help for p in known.values()), name
        assert papermill.inspect_notebook(ROOT / "notebooks" / f"{name}.ipynb").keys() == known.keys(), name


@pytest.fixture
def rendering(tmp_path, monkeypatch):
    """`rendering()` renders a tree with a script in place of jupyter-book, which marks whole pages."""
    tool, pages = tmp_path / "bin" / "jupyter-book", tmp_path / "_build" / "html"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nmkdir -p '{pages}'; cd '{pages}'; rm -f .whole; echo $PROFILE >> profiles\n"
                    f"touch .whole\n[ ! -e '{tmp_path}/broken' ] || exit 2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PROFILE", "that of the shell")
    for name, value in (("ROOT", tmp_path), ("PAGES", pages), ("WHOLE", pages / ".whole")):
        monkeypatch.setattr(render, name, value)

    def profiles():
        """The profiles of the renderings since pages were last made from nothing."""
        render.main("smoke")
        return (pages / "profiles").read_text().split()

    return profiles


def test_what_a_killed_or_failed_rendering_left_goes(rendering, tmp_path):
    left, broken = tmp_path / "_build/.doctrees/environment.pickle", tmp_path / "broken"
    for whole in (False, True):
        left.parent.mkdir(parents=True, exist_ok=True)
        left.touch()
        assert rendering()[0] == "smoke" and left.exists() == whole
    broken.touch()
    (tmp_path / "_toc.yml").touch()
    with pytest.raises(SystemExit, match="2"):
        rendering()
    broken.unlink()
    assert rendering() == ["smoke"] and not left.exists()


def test_nothing_is_rendered_where_nothing_changed(rendering, tmp_path):
    page = tmp_path / "_build/html/page.html"
    assert rendering() == rendering() == ["smoke"]
    for n, file in enumerate(("book/index.md", "_runs/smoke/notebooks/ren/x.ipynb", "shared/x.py"), 2):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
        assert rendering() == rendering() == ["smoke"] * n
    (tmp_path / "_build/html/.whole").write_text("")    # as jupyter-book alone leaves it
    assert rendering() == rendering() == ["smoke"] * 5
    page.touch()    # by another hand: the pages are made from nothing
    assert rendering() == ["smoke"] and not page.exists()
