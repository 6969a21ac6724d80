"""Every instrument gives on a CUDA device what it gives on the CPU, within rounding: pytest -m cuda

Everywhere, the same comparison is made with a network on the CPU that sums in another order.
"""
import warnings

import pytest
import torch

from papers.chen.attacks import HalfAdversarial, LinfEuclideanSteps, PGDBeyondWhite
from papers.he.classifier import features
from papers.shu.attacks.iterative import BasicIterative
from papers.sutton.noise import BallNoise, CubeNoise
from shared import borderline, inference, roby
from shared import regions as boxes
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD
from shared.attacks.judge import Attack
from shared.attacks.line import LineSearch, squared_error
from shared.attacks.optimised import CarliniWagner
from shared.attacks.square import SquareSearch
from shared.attacks.threat import L2, Linf
from shared.boundary import purity, survey
from shared.card import card
from shared.similarity import ssim
from shared.susceptibility import susceptibility
from shared.training.fit import fit
from shared.training.recipe import Recipe
from tests import test_any_model
from tests.test_any_model import INSTRUMENTS, X, Y, alike, network, parts, seeded

THREE = torch.arange(6) % 3


def on_device(model, x, y):
    """Images and classes where the model is: training hooks get them so."""
    device = inference.device_of(model, x)
    return x.to(device), y.to(device)


def regions(model, x, y):
    models = [model, *(network(seed=seed).to(inference.device_of(model, x)) for seed in (1, 2))]
    box = boxes.intervals(x[:1], x, keep=0, least=2)
    agreed = boxes.agreement(boxes.answers(models, x), y)
    return [box, box.sample(3, generator=seeded()), agreed, boxes.alarm(agreed[0]),
            boxes.error_rates(models, x, y),
            list(boxes.curve(models, y[:1], box, [2, 9], samples=4, generator=seeded()).values()),
            boxes.noise(x, x.flatten(1)[:, 0], generator=seeded()), list(boxes.lengths(x[:1], x).values())]


def distances(model, x, y):
    result = survey(model, x, directions(432, 40, generator=seeded()), step=0.1, top=0.5)
    return [purity(result), features(result), result.nearest, result.linf]


def measures(model, x, y):
    x = on_device(model, x, y)[0]
    mean = inference.logits(model, x).mean(0)       # without it, all images are of one class

    def centred(images):
        return model(images) - mean
    sections = card(centred, x, inference.labels(centred, x), retrained=[model]).sections["model"]
    assert not [s.error for s in sections if s.error]
    return [m.value for s in sections for m in s.measures]


OF_CHEN = PGDBeyondWhite(LinfEuclideanSteps(0.05), 3, 0.1)
TARGETED = [PGD(Linf(0.05, targeted=True), 3, 0.03), LineSearch(12, loss="margin", targeted=True),
            CarliniWagner(rate=0.05, c=1.0, searches=1, iterations=5, targeted=True),
            SquareSearch(L2(2.0, targeted=True), 8), BasicIterative(growths=3, halvings=3, targeted=True)]


def targeted(model, x, y):
    with warnings.catch_warnings(action="ignore", category=inference.NoExample):
        return [attack(model, x, y, target=(y + 1) % 3, generator=seeded()) for attack in TARGETED]


COMPARED = INSTRUMENTS | {
    "targeted": targeted, "PGDBeyondWhite": lambda m, x, y: OF_CHEN(m, x, y, generator=seeded()),
    # In bfloat16 the largest logit alone has a meaning.
    "Careful": lambda m, x, y: inference.labels(inference.Careful.measured(m, x, y), x),
    "susceptibility, squared": lambda m, x, y: susceptibility(m, x, y, generator=0, draws=4, steps=8,
                                                              loss=squared_error, clip=True),
    "regions": regions, "distances": distances,
    "card": measures,
    "roby": lambda m, x, y: roby.measure(m, x, THREE.to(x.device)),
    "backgrounds": lambda m, x, y: borderline.backgrounds("digit", x, THREE.to(x.device), seeded()),
    "adversarial pairs": lambda m, x, y: borderline.search(m, x, 1 - x, max_iterations=3, threshold=1,
                                                           objective="adversarial", keep_path=True),
    "ssim": lambda m, x, y: [ssim(x, x.flip(3), convention=c) for c in ("matlab", "skimage", "uniform")],
    "bootstrap": lambda m, x, y: roby.bootstrap(inference.logits(m, x), THREE.to(x.device), draws=3,
                                                generator=seeded()),
    "penultimate": lambda m, x, y: roby.embed(roby.Penultimate(m), x),
    "Adversarial": lambda m, x, y: INSTRUMENTS["Adversarial"](m, *on_device(m, x, y)),
    "hooks": lambda m, x, y: [hook(m, *on_device(m, x, y), seeded()) for hook in (
        HalfAdversarial(PGD(Linf(0.05), 2, 0.03)), CubeNoise(0.1), BallNoise(0.1))],
    "fit": lambda m, x, y: list(fit(m, x, y, Recipe(epochs=2, batch=3, flip=True), generator=0,
                                    device=inference.device_of(m, x)).parameters())[1:3]}


def reordered():
    """The network of `INSTRUMENTS` with its filters in another order."""
    order, model = torch.tensor([2, 0, 3, 1]), network()
    with torch.no_grad():
        for filters in model[0].parameters():
            filters.copy_(filters[order])
        model[3].weight.copy_(model[3].weight.view(3, 4, 100)[:, order].flatten(1))
    return model


def compare(name, model, x, y):
    """Raises AssertionError unless an instrument gives for this model what it gives for `network()`."""
    outputs = [[part.detach().cpu() if isinstance(part, torch.Tensor) else part for part in parts(result)]
               for result in (COMPARED[name](network(), X, Y), COMPARED[name](model, x, y))]
    alike(*outputs, 1e-3)


# "fit" and "penultimate" give filters, whose order differs; each instrument of a card is compared by itself.
@pytest.mark.parametrize("name", [name for name in COMPARED if name not in ("fit", "penultimate", "card")])
def test_an_instrument_gives_the_same_where_sums_are_in_another_order(name):
    compare(name, reordered(), X, Y)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("images", ["cpu", "cuda"])
@pytest.mark.parametrize("name", COMPARED)
def test_an_instrument_gives_the_same_on_cuda(name, images):
    compare(name, network().cuda(), X.to(images), Y.to(images))


@pytest.mark.parametrize("name", ["PGD", "survey", "roby"])
def test_another_network_is_not_the_same(name):
    with pytest.raises(AssertionError):
        compare(name, network(seed=1), X, Y)


def test_every_attack_is_compared():
    kinds = [Attack]
    for kind in kinds:      # with those of those
        kinds += kind.__subclasses__()
    attacks = {kind for kind in kinds[1:] if kind.__module__.startswith(("shared.", "papers."))}
    assert len(attacks) >= 12 and attacks == {type(a) for a in (*test_any_model.ATTACKS.values(), OF_CHEN)}
