"""parameters: declared once, read from a command line, a cell or papermill, refused in one line."""
import json

import pytest

from report import parameters
from shared import runtime

CELL = """profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the first network
device: str = "auto"  # auto, cpu or cuda
runs: str = "missing"  # which runs a page at full scale computes
images: int = None  # test images; None takes the profile's value [1..]
networks: int = None  # of them [1..]
threshold: float = 0.99  # stop above this (0..1]
epsilon: float = 0.5  # a size above zero (0..)
dataset: str = "mnist"  # what the networks learn {mnist, fashion_mnist, digits, *.npz}
recipe: str = None  # a name # with a hash in its help
deltas: list = [0.1, 1.0]  # radii (0..)
sizes: list = [3, 5]  # sides {3, 5, 7}
"""


@pytest.fixture
def declared(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(f'# ---\n# %% [markdown]\n# # T\n\n# %% tags=["parameters"]\n{CELL}\n# %%\nimport os\n')
    return parameters.declared(path)


@pytest.fixture
def space(declared):
    """The variables of a page after its parameters cell."""
    return {p.name: p.default for p in declared.values()}


def test_a_declaration_says_type_default_meaning_and_range(declared, tmp_path):
    assert list(declared)[:4] == ["profile", "seed", "device", "runs"]
    images, sizes, threshold = (declared[name] for name in ("images", "sizes", "threshold"))
    assert (images.type, images.optional, images.interval) == ("int", True, {"ge": 1})
    assert images.help == "test images; None takes the profile's value"
    assert declared["recipe"].help == "a name # with a hash in its help" and not declared["recipe"].choices
    assert sizes.choices == ("3", "5", "7") and declared["dataset"].choices[0] == "mnist"
    assert not threshold.optional and threshold.interval == {"gt": 0, "le": 1}
    assert parameters.rows(tmp_path / "x.py")[4] == {
        "parameter": "images", "type": "int", "default": "the profile's", "meaning": images.help,
        "allowed": "a whole number from 1; or null for the profile's value"}


def test_both_halves_of_a_notebook_declare_the_same(declared, tmp_path):
    cells = [{"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": CELL.splitlines(True)}]
    (tmp_path / "x.ipynb").write_text(json.dumps({"cells": cells}))
    assert parameters.declared(tmp_path / "x.ipynb") == declared


@pytest.mark.parametrize("name, text, value", [
    ("images", "12", 12), ("images", "null", None), ("images", "", None), ("images", "1e3", 1000),
    ("epsilon", "1e-300", 1e-300), ("epsilon", "1", 1.0), ("epsilon", "012", 12.0), ("threshold", "1", 1.0),
    ("recipe", "", None), ("recipe", "007", "007"), ("runs", "none", "none"),
    ("deltas", "[1e-3, 2]", [1e-3, 2.0]), ("deltas", "[010, 0.5]", [10.0, 0.5]), ("sizes", "[3, 7]", [3, 7]),
    ("dataset", "my folder/leaves.npz", "my folder/leaves.npz"),
    ("seed", "010", 10),  # as papermill reads it; to YAML 1.1 it is 8
    ("images", "0099", 99), ("seed", "9007199254740993", 9007199254740993)])
def test_a_value_is_read_in_its_type(declared, name, text, value):
    read = parameters.from_command_line(declared, ["-p", name, text])[name]
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize("name, text, message", [
    ("networks", "0", "cannot be 0; allowed: a whole number from 1"),
    ("images", "-1", "cannot be -1; allowed: a whole number from 1; or null"),
    ("images", "2.5", "cannot be 2.5; allowed: a whole number"), ("images", "true", "cannot be 'true'"),
    ("images", "1e30", "allowed: a whole number"), ("images", "[1", "cannot be '[1'"),
    ("seed", "12:30", "cannot be '12:30'; allowed: a whole number"), ("seed", "0x10", "cannot be '0x10'"),
    ("seed", "-1", "cannot be -1; allowed: a whole number from 0"), ("seed", "abc", "cannot be 'abc'"),
    ("threshold", "0", "cannot be 0; allowed: a number above 0 to 1"),
    ("threshold", "nan", "a number above 0"), ("epsilon", "1:30", "cannot be '1:30'; allowed: a number"),
    ("epsilon", ".inf", "cannot be '.inf'; allowed: a number"), ("epsilon", "null", "cannot be 'null'"),
    ("dataset", "cifar10", "cannot be 'cifar10'; allowed: mnist, fashion_mnist, digits, *.npz"),
    ("dataset", "minst", "did you mean 'mnist'?"),
    ("deltas", "[1, -1]", "a list of numbers or names, each above 0"),
    ("deltas", "[1:30]", "cannot be ['1:30']"), ("deltas", "3", "cannot be '3'; allowed: a list"),
    ("sizes", "[4]", "cannot be ['4']; allowed: 3, 5, 7"),
    ("runs", "4/3", "cannot be '4/3'; allowed: missing, none"),
    ("profile", "fast", "cannot be 'fast'; allowed: smoke, quick, paper"),
    ("device", "tpu", "cannot be 'tpu'; allowed: auto, cpu, cuda"),
    ("profil", "smoke", "unknown parameter 'profil'; did you mean 'profile'? This notebook takes: profile")])
def test_a_wrong_name_or_value_is_refused_in_one_line(declared, name, text, message):
    with pytest.raises(runtime.UserError) as error:
        parameters.from_command_line(declared, ["-p", name, text])
    assert message in str(error.value) and name in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("words", [["--profile", "smoke"], ["-p", "seed"]])
def test_a_wrong_form_is_answered_with_the_usage(declared, words):
    with pytest.raises(runtime.UserError, match=r"usage: .* \[-p NAME VALUE\]"):
        parameters.from_command_line(declared, words)


@pytest.mark.parametrize("line", [
    "images = 3", "images: int | None = None", "images: int", "images: array = 3", "images: int = f()", "f()",
    "images: int = -3  # [1..]", "images: int ="])
def test_a_declaration_out_of_form_is_named(tmp_path, line):
    path = tmp_path / "x.py"
    path.write_text(f'#\n# %% tags=["parameters"]\n{line}\n')
    with pytest.raises(runtime.UserError, match="x.py|parameter 'images'"):
        parameters.declared(path)


def test_the_cell_of_papermill_shows_what_was_set(declared, space):
    page = "profile: str = 'quick'\nsurprise = 1"
    cell = '# Parameters\nprofile = "smoke"\nepsilon = 1e-300\nimages = None\n'
    assert parameters.injected([page, cell, "# Parameters of the plot\nplot(3)"]) == [
        "profile", "epsilon", "images"]
    assert parameters.injected([page]) == []
    space |= {"In": [page, cell], "helper": 3, "epsilon": "1e-300"}
    assert parameters.checked(declared, space, [])["epsilon"] == space["epsilon"] == 1e-300
    space["In"] = [page, "# Parameters\nprofil = 'smoke'\n"]
    with pytest.raises(runtime.UserError, match="did you mean 'profile'"):
        parameters.checked(declared, space, [])


def test_a_script_takes_its_command_line(declared, space):
    space["__file__"] = "x.py"
    assert parameters.checked(declared, space, ["-p", "images", "7"])["images"] == space["images"] == 7


def test_a_number_that_counts_things_is_held_against_how_many_there_are():
    assert parameters.index("digit", 9, 10, "test images") == 9
    with pytest.raises(runtime.UserError, match="'digit' cannot be 99999; allowed: 0 to 499, .* 500 test"):
        parameters.index("digit", 99999, 500, "test images")


def test_a_default_saved_into_the_file_still_departs_from_the_committed_one(monkeypatch):
    path = parameters.script_of("ren/iii_borderline")
    committed = path.read_text().replace("seed: int = 0", "seed: int = 7")
    monkeypatch.setattr(parameters.git, "committed", lambda _: committed)
    assert parameters.defaults(path)["seed"] == 7 and parameters.declared(path)["seed"].default == 0
    monkeypatch.setattr(parameters.git, "committed", lambda _: None)     # an exported tree
    assert parameters.defaults(path)["seed"] == 0
