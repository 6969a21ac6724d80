"""units.once: a step that units share is computed once, and every unit says what ran and what it costs."""
import pytest
import torch

from shared.attacks.gradient import FGSM
from shared.attacks.threat import Linf
from shared.boundary import setting
from shared.units import identity, once, provenance, run

CALLS = []
X, Y = torch.linspace(0.1, 0.9, 32).view(2, 1, 4, 4), torch.zeros(2, dtype=torch.int64)


def net(weight=1.0):
    made = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 2)).eval()
    with torch.no_grad():
        made[1].weight.copy_(weight * torch.stack([-torch.ones(16), torch.ones(16)]))
        made[1].bias.copy_(8 * weight * torch.tensor([1.0, -1.0]))
    return made


def success(*, weight, size, iterations):
    """A toy unit that looks at the examples of an attack; of none where size is 0."""
    attack = FGSM(Linf(size)) if size else None
    found = setting.examples(net(weight), X, Y, attack, iterations=iterations, seed=0)
    return {"success": found.success.tolist(), "x": found.x}


@pytest.fixture
def attacked(tmp_path, monkeypatch):
    """A function that computes units {name: arguments} and counts the attacks it took."""
    monkeypatch.setenv("BOUNDARY_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("BOUNDARY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(identity, "check_function", lambda function, half: None)
    monkeypatch.setattr(once, "WORTH", 0.0)
    there = FGSM.__call__

    def counted(self, *args, **named):
        CALLS.append(self)
        start = provenance.clock()
        while provenance.clock() < start + 0.05:
            pass
        return there(self, *args, **named)

    monkeypatch.setattr(FGSM, "__call__", counted)

    def compute(page, units):
        CALLS.clear()
        units = {name: dict(weight=1.0, size=0.2, iterations=1) | given for name, given in units.items()}
        made = run.gather(page, "looks", success, wanted=units, published=units, parts=(), which="missing",
                          record=True, text_half=__file__).recorded
        return made, len(CALLS)
    return compute


def test_two_pages_attack_once_and_each_unit_tells_all_that_ran_and_its_whole_cost(attacked):
    (first, took), (second, again) = (attacked(page, {"a": {}}) for page in ("toy/one", "toy/two"))
    a, b = first["a"], second["a"]
    assert (took, again) == (1, 0)
    assert a.code == b.code and b.code["attacks"].startswith("version ")
    assert torch.equal(torch.as_tensor(a.result["x"]), torch.as_tensor(b.result["x"]))
    assert a.result["success"] == b.result["success"]
    assert b.provenance["seconds"] >= 0.05


def test_images_as_they_are_come_back_too(attacked):
    (first, _), (second, _) = (attacked(page, {"a": {"size": 0.0}}) for page in ("toy/one", "toy/two"))
    assert first["a"].result["success"] == second["a"].result["success"]
    assert torch.equal(torch.as_tensor(second["a"].result["x"]), X)


@pytest.mark.parametrize("other", [{"weight": 2.0}, {"size": 0.3}, {"iterations": 2}])
def test_another_model_attack_or_length_is_attacked_anew(attacked, other):
    assert attacked("toy/one", {"a": {}, "b": other})[1] == 2


def test_what_decides_a_number_besides_the_arguments_decides_the_place(monkeypatch):
    given = {"model": net(), "x": X, "attack": FGSM(Linf(0.2)), "seed": 0}
    others = {"x": X.flip(0)}, {"x": X.view(2, 4, 1, 4)}, {"x": X.half()}
    keys = [once._key(given | other) for other in ({}, *others)]
    monkeypatch.setattr(once.provenance, "versions", lambda: {"torch": "0"})
    keys.append(once._key(given))
    assert len(set(keys)) == len(keys)
    with pytest.raises(TypeError, match="rates is a set"):
        once._key({"rates": {1, 2}})


def test_changed_code_or_a_damaged_file_is_not_given_again(attacked, tmp_path, monkeypatch):
    attacked("toy/one", {"a": {}})
    file, = (tmp_path / "cache" / "once").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] + b"xyz")
    assert attacked("toy/two", {"a": {}})[1] == 1
    with monkeypatch.context() as patch:
        patch.setattr(identity, "changed", lambda code: [n for n in code if n == "boundary"])
        assert attacked("toy/three", {"a": {}})[1] == 1


def test_what_ran_from_a_file_that_says_otherwise_now_is_not_kept(attacked, tmp_path, monkeypatch):
    monkeypatch.setattr(identity, "STARTED", 0.0)   # as if the files had been written while this ran
    assert attacked("toy/one", {"a": {}})[1] == 1
    assert not (tmp_path / "cache" / "once").exists()


def test_what_is_soon_computed_is_not_kept(attacked, tmp_path, monkeypatch):
    monkeypatch.setattr(once, "WORTH", 5.0)
    assert [attacked(page, {"a": {}})[1] for page in ("toy/one", "toy/two")] == [1, 1]
    assert not (tmp_path / "cache" / "once").exists()


def test_outside_a_unit_nothing_is_kept(attacked, tmp_path):
    CALLS.clear()
    for _ in range(2):
        setting.examples(net(), X, Y, FGSM(Linf(0.2)), iterations=1, seed=0)
    assert len(CALLS) == 2 and not (tmp_path / "cache" / "once").exists()


def test_the_decorator_says_nothing_about_what_a_function_gives():
    text = "def f(x):\n    return x"
    plain, kept, cached = (identity.Source(f"{head}{text}").hash("f") for head in (
        "", "@once.kept(Examples)\n", "@cache\n"))
    assert plain == kept != cached
