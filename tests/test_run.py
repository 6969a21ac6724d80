"""One run of a notebook on a reader's machine: files that lie there, settings, folders, locale, load."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from types import SimpleNamespace

import matplotlib.pyplot as plt
import papermill
import pytest
from conftest import environment
from test_workflow import write

from report import display, git
from report.repository import ROOT
from shared import runtime
from shared.data import download
from workflow import catalogue, jobs, render, run, table

OURS = "item,row,column,value,n,low,high,published\ntable-3,a,ssim,0.5,1,,,\n"


# ---- files of a person -----------------------------------------------------------------------------------
@pytest.mark.parametrize("content", [b"name,age\nAnn,41\n", b"item\n", b"\xff\xfe\x00", b""])
def test_a_persons_table_beside_the_run_notebook_is_left_as_it_is(tmp_path, monkeypatch, content):
    source = write(tmp_path / "in.ipynb", "1")
    (tmp_path / "out.csv").write_bytes(content)
    monkeypatch.setattr(run, "_execute", lambda *_: pytest.fail("it ran"))
    with pytest.raises(runtime.UserError, match="out.csv: .*; move it, or name another file") as error:
        run.run(source, tmp_path / "out.ipynb", [])
    assert "\n" not in str(error.value) and (tmp_path / "out.csv").read_bytes() == content


def test_a_folder_of_the_tables_name_is_refused_and_a_table_of_ours_is_not(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(runtime.UserError, match="a.csv"):
        table.place(tmp_path / "a.ipynb")
    (tmp_path / "b.csv").write_text(OURS)
    assert table.place(tmp_path / "b.ipynb") == tmp_path / "b.csv"
    assert table.place(tmp_path / "c.ipynb") == tmp_path / "c.csv"


def test_a_notebook_without_results_leaves_no_table_not_even_an_earlier_one(tmp_path):
    (tmp_path / "a.csv").write_text(OURS)
    stamp = {"kind": "stamp", "facts": {"profile": "smoke", "seed": 0, "parameters": {}}}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [{"outputs": [{"data": {table.MIME: stamp}}]}]}))
    table.write(tmp_path / "a.ipynb")
    assert sorted(os.listdir(tmp_path)) == ["a.ipynb"]


@pytest.mark.parametrize("name, there", [("._x", True), ("mine", False), ("x-Copy1", True)])
def test_a_notebook_that_is_no_page_is_left_out(tmp_path, monkeypatch, name, there):
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    for page in ("ren/x", f"ren/{name}"):
        write(tmp_path / f"{page}.ipynb")
    if not there:
        (tmp_path / f"ren/{name}.py").unlink()
    assert catalogue.notebooks() == ["ren/x"]


# ---- settings of a person --------------------------------------------------------------------------------
SETTINGS = """c = get_config()
c.InteractiveShell.ast_node_interactivity = "all"
c.IPKernelApp.exec_lines = ["stray = 1"]
"""
SEEN = """import os, sys, tempfile
1
names = [name for name in ("stray", "started", "begun") if name in globals()]
print(names, sys.flags.optimize, os.environ["MPLBACKEND"].rpartition(".")[2])"""


def test_a_persons_settings_and_a_long_tmpdir_change_no_page(tmp_path, monkeypatch):
    """Of IPython, Python, matplotlib and JupyterLab; the notebook names no folder of the machine."""
    profile = tmp_path / "home/.ipython/profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "ipython_config.py").write_text(SETTINGS)
    (profile / "startup/00.py").write_text("started = 1")
    (tmp_path / "begin.py").write_text("begun = 1")
    folder = tmp_path / ("x" * 124)
    folder.mkdir()
    for name, value in {"HOME": tmp_path / "home", "PYTHONSTARTUP": tmp_path / "begin.py",
                        "PYTHONOPTIMIZE": "2", "MPLBACKEND": "TkAgg", "JPY_SESSION_NAME": "mine"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    run.run(write(tmp_path / "in.ipynb", SEEN), tmp_path / "out.ipynb", [])
    text = (tmp_path / "out.ipynb").read_text()
    output, = json.loads(text)["cells"][-1]["outputs"]
    assert output["text"] == ["[] 0 backend_inline\n"]
    assert str(tmp_path) not in text and os.listdir(folder) == []


def test_a_folder_for_sockets_is_short_or_asked_for(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/" + "x" * 124)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert run.short_folder() in ("/tmp", "/var/tmp")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(runtime.UserError, match="TMPDIR=/xx+: .* set TMPDIR to one"):
        run.short_folder()


def test_a_persons_style_of_figures_changes_none():
    with plt.rc_context({"lines.linewidth": 9, "axes.facecolor": "red", "image.interpolation": "bicubic"}):
        display.style()
        ours = dict(plt.rcParams)
    display.style()
    assert ours == dict(plt.rcParams) and ours["lines.linewidth"] < 3


def test_make_hands_on_no_settings_of_a_session():
    """Those of a git hook, of Snakemake, pytest and Python; the text of files is UTF-8, the path stays."""
    names = ("GIT_DIR", "GIT_INDEX_FILE", "SNAKEMAKE_PROFILE", "PYTEST_ADDOPTS", "PYTHONOPTIMIZE",
             "PYTHONSTARTUP", "PYTHONINSPECT")
    env = os.environ | dict.fromkeys((*names, "PYTHONPATH"), "theirs") | {"LC_ALL": "C"}
    done = subprocess.run(["make", "-s", "--eval", "probe:; @env", "probe"], cwd=ROOT, env=env,
                          capture_output=True, text=True, check=True)
    there = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert not set(names) & set(there) and (there["PYTHONUTF8"], there["PYTHONPATH"]) == ("1", "theirs")


@pytest.mark.parametrize("words", [
    ["-C", ROOT], ["-s", "-C", ROOT], ["--no-print-directory", "-C", ROOT], []])
def test_make_card_takes_files_from_where_the_user_stands(tmp_path, words):
    """With -C. Without it that is the clone, whatever PWD a program has left that starts `make`."""
    around = "MAKEFLAGS", "MAKELEVEL"      # of the make that runs this test
    env = {k: v for k, v in os.environ.items() if k not in around} | {"PWD": str(tmp_path)}
    place = tmp_path if words else ROOT
    done = subprocess.run(["make", "-n", *words, "card", "MODEL=a:b", "DATA=c.npz"], env=env, cwd=place,
                          capture_output=True, text=True)
    assert re.findall('cd "(.*?)" && python', done.stdout) == [str(place)], done.stderr


def test_what_is_hidden_while_a_package_is_imported_is_there_afterwards():
    code = "import workflow, sys; print('jsonschema' in sys.modules, 'rfc3987_syntax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"


def test_hooks_of_a_person_do_not_run_in_a_tree_of_ours(tmp_path, monkeypatch):
    """Of `make fill` and `make same`, which check the last commit out into a tree of its own."""
    hook = tmp_path / "hooks/post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    (tmp_path / "config").write_text(f"[core]\nhooksPath = {hook.parent}\n[user]\nname = a\nemail = a@b.c\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (tmp_path / "book").mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"],
                  ["worktree", "add", "-q", "--detach", str(tmp_path / "a")]):
        git.git(*words, folder=tmp_path / "book")
    assert (tmp_path / "a/.git").exists()
    assert not (tmp_path / "ran").exists()


def test_what_shows_the_roles_of_pages_in_jupyterlab_is_in_the_environment():
    assert "{cite:p}" in (ROOT / "notebooks/he/3_optmargin.ipynb").read_text()
    assert "\njupyterlab-myst==" in (ROOT / "requirements.lock").read_text()


def test_a_python_in_a_folder_with_a_space_makes_the_environment(tmp_path):
    python = tmp_path / "a b/python"
    python.parent.mkdir()
    python.write_text(f"""#!/bin/sh
case "$*" in "-m venv"*) echo made;; *) exec "{sys.executable}" "$@";; esac
""")
    python.chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-s", "venv", "VENV=no-such", f"PYTHON={python}"], cwd=ROOT, env=env,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "made\n"), done.stderr


def test_a_download_in_jupyterlab_warns_of_no_widgets(monkeypatch):
    for name in [n for n in sys.modules if n.partition(".")[0] == "pooch" or n.startswith("tqdm.auto")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", sys)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=str))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with warnings.catch_warnings(record=True) as said, pytest.raises(download.DownloadError):
        warnings.simplefilter("always")
        download.fetch("http://127.0.0.1:9/x", seconds=1)
    assert [str(warning.message) for warning in said] == []


# ---- machines --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, words", [
    ("Kernel didn't respond in 7 seconds", "did not start within 7 seconds.* BOUNDARY_KERNEL_SECONDS=600"),
    ("Kernel died before replying to kernel_info", "its process was killed")])
def test_a_kernel_that_does_not_start_is_one_line(tmp_path, monkeypatch, text, words):
    asked = {}

    def busy(*_, **how):
        asked.update(how)
        raise RuntimeError(text)

    monkeypatch.setenv("BOUNDARY_KERNEL_SECONDS", "7")
    monkeypatch.setattr(papermill, "execute_notebook", busy)
    with pytest.raises(SystemExit, match=words) as end:
        run.run(write(tmp_path / "in.ipynb", "1"), tmp_path / "out.ipynb", [])
    assert "\n" not in str(end.value) and asked["start_timeout"] == asked["iopub_timeout"] == 7


def test_another_error_of_a_run_is_not_taken_for_a_slow_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_execute", lambda *_: (_ for _ in ()).throw(RuntimeError("another")))
    with pytest.raises(RuntimeError, match="another"):
        run.run(write(tmp_path / "in.ipynb", "1"), tmp_path / "out.ipynb", [])
    monkeypatch.setenv("BOUNDARY_KERNEL_SECONDS", "long")
    with pytest.raises(runtime.UserError, match="'long'; allowed: a whole number of seconds from 1"):
        run.run(tmp_path / "in.ipynb", tmp_path / "out.ipynb", [])


def latin(folder):
    """The settings of a terminal in ISO-8859-1, whose locale is made in a folder, or skips the test."""
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "en_US", "-f", "ISO-8859-1", folder / "en_US.ISO-8859-1"],
                       capture_output=True)
    if not (folder / "en_US.ISO-8859-1").is_dir():
        pytest.skip("no localedef, or no sources of locales (Debian: the package locales)")
    return {"LC_ALL": "en_US.ISO-8859-1", "LOCPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["ascii", "iso8859-1"])
def test_a_locale_without_utf_8_and_an_optimised_python(tmp_path, locale):
    """A sound record is read as it is, and any text is shown; without asserts nothing is computed."""
    words = "from shared import runtime; runtime.prepare(computes=False)\n{}"
    glossary = ROOT / "book/glossary.md"
    env = environment(tmp_path) | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
                                   "BOUNDARY_RESULTS": str(ROOT / "results"), "PYTHONIOENCODING": ""}
    env |= latin(tmp_path) if locale == "iso8859-1" else {}

    def done(code, **more):
        return subprocess.run([sys.executable, "-c", words.format(code)], cwd=ROOT, env=env | more, text=True,
                              capture_output=True)

    sound = done("import codecs, locale; print(codecs.lookup(locale.getencoding()).name)\n"
                 "from report import git, record; print(record.read('sutton', 'table-1')['item'], chr(949))\n"
                 f"print(ascii(git.committed({str(glossary)!r})))")
    assert sound.returncode == 0, sound.stderr
    assert sound.stdout == f"{locale}\ntable-1 \\u03b5\n{ascii(git.committed(glossary))}\n"
    line = done("", PYTHONOPTIMIZE="2")
    assert line.returncode == 1 and re.fullmatch(r".*; unset it\n", line.stderr), line.stderr


def test_a_clone_that_cannot_be_written_is_named_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "_build").touch()       # no folder can be there
    monkeypatch.setattr(render, "PAGES", tmp_path / "_build/html")
    with pytest.raises(runtime.Unwritable, match="_build/html: cannot be written") as error:
        render.main("smoke")
    assert "\n" not in str(error.value)


def test_a_home_that_cannot_be_written_is_not_used(tmp_path, monkeypatch):
    for home, writable in ((tmp_path, True), ("/proc/nobody", False)):
        monkeypatch.setenv("HOME", str(home))
        assert jobs.home_writable() is writable
        assert ("MPLCONFIGDIR" in run.Kernel().kernel_spec.env) is not writable
