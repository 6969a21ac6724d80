"""What `chen` alone uses: attacks as in its text and in its authors' code, and its adversarial training."""
import torch

from papers.chen.attacks import HalfAdversarial, LinfEuclideanSteps, PGDBeyondWhite
from shared.attacks.gradient import PGD
from shared.attacks.threat import Linf
from tests.outputs.examples import attacked, seeded, some_images, subject


def test_euclidean_steps(stored):
    x, z, threat = some_images(name="x"), some_images(name="z"), LinfEuclideanSteps(0.15)
    z[1], z[2] = x[1], x[2] + 0.01
    slope = torch.randn(x.shape, generator=seeded("attacks", "slope"))
    slope[0], slope[1] = 0, slope[1] * 1e-14      # nearly zero
    stored({"length": threat.length(z - x), "distance": threat.distance(x, z),
            "project": threat.project(z, x), "steepest": threat.steepest(slope),
            "random": threat.random(x, seeded("attacks", "draw")),
            "PGD": attacked(PGD(threat, 3, 0.4), "judged")})


def test_pgd_beyond_white(stored):
    net, x, y = subject()
    stored([attack.propose(net.eval(), x, y, attack.draw(x, seeded("attacks", name))) for name, attack in (
        ("beyond", PGDBeyondWhite(Linf(0.15), 3, 0.06)),
        ("beyond far", PGDBeyondWhite(LinfEuclideanSteps(0.15), 2, 2.0)))])


def test_half_adversarial(stored):
    half = HalfAdversarial(PGD(Linf(0.15), 4, 0.06), train_mode=False)
    net, x, y = subject()
    stored(half(net, x[:5], y[:5], seeded("attacks", "half")))
