"""papers.shu.experiments: the plans of small runs, and what a run measures."""
from types import SimpleNamespace

import pytest
import torch

from papers.shu import experiments
from papers.shu import models as shu
from papers.shu.attacks.iterative import BasicIterative
from papers.shu.experiments import Family
from shared import regions as boxes
from shared import runtime
from shared.regions import Box


def test_small_runs_of_other_pages_are_few():
    plans = experiments.lenet_sweeps.plan, experiments.planes.plan
    for profile in ("smoke", "quick"):
        assert [len(plan(SimpleNamespace(**experiments.ONE_DIGIT[profile]))) for plan in plans] == [3, 1]
        assert len(experiments.plan_perceptrons(SimpleNamespace(**experiments.MOBILENET[profile]))) == 2
    assert not experiments.plan_perceptrons(SimpleNamespace(**experiments.MOBILENET["paper"]))


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """Three networks that are trained once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUNDARY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Family("digits", "shu-lenet", (shu.SMOKE,), 3)


ATTACK = BasicIterative("Linf", epsilon=(0.05, 0.1, 0.2, 0.4), growths=8, halvings=4)
IMAGE = dict(label=1, split="test", number=None, aims=1, count=4, least=2, sizes=4, also=[3, 10_000],
             whole=True, samples=20, seed=0)


@pytest.mark.slow
def test_a_run_on_an_image_describes_its_boxes(family):
    result = experiments.measure_image(family, ATTACK, **IMAGE)
    models = family.models(0)
    x, y = family.image("test", result["number"])
    assert int(y) == 1 and result["number"] == family.chosen(models, 1)[0]
    assert (boxes.answers(models, x) == 1).all()
    assert torch.as_tensor(result["clean"]).equal((255 * x[0]).byte())
    aims = [k for k in result["succeeded"] if k != "untargeted"]
    with torch.no_grad():
        second = int(models[0](x).topk(2).indices[0, 1])
    assert aims == [str(second)] and second in result["classes"]
    target = result["classes"][second]
    assert target["attack"]["rates"][0] == 1.0 and target["examples"] >= 2
    box = Box(x, target["values"].long(), target["low"], target["high"], target["changed"].long())
    for rule, share in experiments.RULES.items():
        assert target["changed_values"][rule] == len(box.kept(share, target["examples"]).values)
        curve = target["boxes"][rule]
        assert 3 in curve["sizes"] and curve["sizes"][-1] == target["changed_values"][rule]
        assert len(curve["rates"]) == len(curve["sizes"]) and len(curve["rates"][0]) == 3
        assert target["whole"][rule]["log_measure"] == [0.0] * len(target["whole"][rule]["sizes"])
    assert sum(map(sum, target["noise"]["agreement"])) == target["examples"]
    again = experiments.measure_image(family, ATTACK, **IMAGE | {"number": result["number"]})
    assert again["classes"][second]["boxes"] == target["boxes"]
    few = experiments.measure_image(family, ATTACK, **IMAGE | {"least": 1000})
    assert few["classes"][second] == {"examples": target["examples"]}


@pytest.mark.slow
def test_networks_of_a_family_differ_by_seed_and_are_measured(family):
    one, two = (experiments.measure_network(family, number=k, seed=0) for k in (0, 1))
    assert one["parameters"] == 21_840 and one["epochs"] == shu.SMOKE.epochs and one["tested"] == 500
    assert one["test_error"] != two["test_error"] and one["test_error"] < 0.3
    clean = experiments.measure_clean(family, images=200, seed=0)
    assert sum(map(sum, clean["agreement"])) == 200 and len(clean["rates"]) == 3
    assert family.trained(0, 1).name == Family("digits", "shu-lenet", (shu.SMOKE,), 2).trained(1, 1).name


def test_too_few_images_that_all_classify_correctly_are_named(family):
    with pytest.raises(runtime.UserError, match="test images of class 1 are classified correctly by all 3"):
        family.chosen(family.models(0), 1, 400)
