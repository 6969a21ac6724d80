"""papers.shu.experiments: the published plans beside what is recorded, and what a run measures."""
from types import SimpleNamespace

import pytest
import torch

from papers.shu import experiments
from papers.shu import models as shu
from papers.shu.experiments import Family
from report.experiment import Experiment, recorded
from shared import regions as boxes
from shared import runtime
from shared.attacks.iterative import BasicIterative
from shared.regions import Box

ALL = [each for each in vars(experiments).values() if isinstance(each, Experiment)]


@pytest.mark.parametrize("experiment", ALL, ids=lambda each: each.name)
def test_the_published_plan_is_what_is_recorded(experiment):
    planned, labels = experiment.planned()
    found = recorded(experiment, planned, labels)
    assert planned and not found.outdated and len(found.recorded) == len(found.published)


def test_small_runs_of_other_pages_are_few():
    def count(experiment, settings, plan=None):
        plan = plan or experiment.plan
        return len(plan(SimpleNamespace(**settings)))

    for profile in ("smoke", "quick"):
        around = experiments.ONE_DIGIT[profile]
        assert [count(each, around) for each in (experiments.lenet_sweeps, experiments.planes)] == [3, 1]
        assert count(None, experiments.MOBILENET[profile], experiments.plan_perceptrons) == 2
    assert not count(None, experiments.MOBILENET["paper"], experiments.plan_perceptrons)


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """Three networks that are trained once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOUNDARY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Family("digits", "shu-lenet", (shu.SMOKE,), 3)


ATTACK = BasicIterative("Linf", epsilon=(0.05, 0.1, 0.2, 0.4), growths=8, halvings=4)
IMAGE = dict(label=1, split="test", number=None, aims=1, count=4, least=2, sizes=4, also=[3, 10_000],
             whole=True, samples=20, seed=0)


def test_a_run_on_an_image_tells_what_its_boxes_hold(family):
    told = experiments.measure_image(family, ATTACK, **IMAGE)
    models = family.models(0)
    x, y = family.image("test", told["number"])
    assert int(y) == 1 and told["number"] == family.chosen(models, 1)[0]
    assert (boxes.answers(models, x) == 1).all() and torch.as_tensor(told["clean"]).equal((255 * x[0]).byte())
    aims = [k for k in told["succeeded"] if k != "untargeted"]
    with torch.no_grad():
        second = int(models[0](x).topk(2).indices[0, 1])
    assert aims == [str(second)] and second in told["classes"]
    there = told["classes"][second]
    assert there["attack"]["rates"][0] == 1.0 and there["examples"] >= 2
    box = Box(x, there["values"].long(), there["low"], there["high"], there["changed"].long())
    for rule, share in experiments.RULES.items():
        assert there["changed_values"][rule] == len(box.kept(share, there["examples"]).values)
        curve = there["boxes"][rule]
        assert 3 in curve["sizes"] and curve["sizes"][-1] == there["changed_values"][rule]
        assert len(curve["rates"]) == len(curve["sizes"]) and len(curve["rates"][0]) == 3
        assert there["whole"][rule]["log_measure"] == [0.0] * len(there["whole"][rule]["sizes"])
    assert sum(map(sum, there["noise"]["agreement"])) == there["examples"]
    again = experiments.measure_image(family, ATTACK, **IMAGE | {"number": told["number"]})
    assert again["classes"][second]["boxes"] == there["boxes"]
    few = experiments.measure_image(family, ATTACK, **IMAGE | {"least": 1000})
    assert few["classes"][second] == {"examples": there["examples"]}


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
