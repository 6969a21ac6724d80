"""What `sutton` alone needs: the measuring of a class pair, noise while training."""
import torch

from papers.sutton.class_pairs import compare_bf16, measure_images, summary
from papers.sutton.noise import BallNoise, CubeNoise, matching_radius
from shared.inference import Careful, margins, pixels
from tests.outputs.examples import SHAPE, Coarse, answers, apart, bf16, drawn, network, seeded


def subjects(count, *labels, gain=3.0, wrong=0):
    """A coarse network of one logit, uint8 images, labels."""
    net, x = Coarse(network(1, *labels, gain=gain)).eval(), drawn(count, "stability", *labels)
    return net, x, answers(net, pixels(x), wrong)


def measured(net, x, y, *, doubt=None, draws=30, images_attack=None, images_random=None):
    return measure_images(Careful(net, doubt), x, y, apart(draws, SHAPE, seeded("points 2")), (1, 5),
                   images_attack=images_attack, images_random=images_random, generator=seeded("rows"),
                   device=torch.device("cpu"))


def test_measure(stored):
    values = {}
    for able, doubt in ((False, None), (True, 0.1)):
        net, x, y = subjects(16, "measured 3", wrong=6)
        assert (margins(net, pixels(x), y).abs() > 0.05).all()      # what lengths are divided by
        with bf16(able):
            values[f"{doubt}"] = measured(net, x, y, doubt=doubt, images_attack=9, images_random=4)
    stored(values)


def test_measure_where_gradients_vanish(stored):
    """Squared error has gradients of exactly 0 on confident images: the logit's direction is tried."""
    net, x, y = subjects(14, "saturated 3", gain=80.0, wrong=9)
    margin = margins(net, pixels(x), y)
    assert not ((margin > 14) & (margin < 20) & (y == 1) | (margin > 43) & (margin < 56) & (y == 0)).any()
    stored(measured(net, x, y))


def test_audit(stored):
    net, x, y = subjects(12, "audits 1")
    _, attacked = measured(net, x, y, draws=2)
    points = apart(50, SHAPE, seeded("audits 4"))
    with bf16(True):
        stored([compare_bf16(Careful(net, doubt), attacked, points, (1, 4), generator=seeded("audit"))
                for doubt in (None, 0.03, 1.0)])


def test_summaries(stored):
    values = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    stored({"summary": [summary(values), summary(values, 8), summary(values[:1], 1), summary(values[:0])]})


def test_training_noise(stored):
    x = torch.rand(4, *SHAPE, generator=seeded("noises"))
    stored({"cube": CubeNoise(0.3)(None, x, None, seeded("cube")),
            "ball": BallNoise(2)(None, x, None, seeded("ball")),
            "radius": [matching_radius(0.3, n) for n in (1, 3, 3072)]})
