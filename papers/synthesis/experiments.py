"""The instruments of the five papers and a strong attack on the same networks and images.

Architectures are looked up by name, so that each network may be that of another paper. Networks, images,
settings and questions were written into the protocol before the runs.
"""
import contextlib
import dataclasses
from dataclasses import dataclass

import torch

from papers.scales import scales
from report import zoo
from report.experiment import Experiment
from report.provenance import clock
from shared import borderline, regions, roby, runtime
from shared.attacks.directions import directions as drawn_directions
from shared.attacks.gradient import PGD, Adversarial
from shared.attacks.line import LineSearch, gradients, lost_margin, scalings, smallest_steps
from shared.attacks.optimised import CarliniWagner
from shared.attacks.threat import Linf, per_image
from shared.boundary import survey
from shared.data import sets
from shared.inference import Careful, frozen, label_margins, labels, logits, pixels
from shared.susceptibility import susceptibility
from shared.training.recipe import Recipe

BACKGROUNDS = ("digit", "white", "black")
DELTAS = (1, 10)            # sizes of the noise, in norms of the step along the gradient
LONGEST = 10.0              # Euclidean norm of the longest step along the gradient
WIDTH = 10 / 255            # by which the examples of a box differ at most, in each pixel


# ---- networks --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Group:
    """Trainings of one architecture with one recipe, which differ by their seed.

    recipe     a `Recipe`, or the name of one of the paper's
    measured   how many of the trainings are measured
    trainings  how many there are: the others of them judge the boxes of each
    """
    architecture: str
    recipe: Recipe | str
    hook: Adversarial | None = None
    measured: int = 3
    trainings: int = 3

    @property
    def paper(self):
        """The key of the architecture's paper."""
        return self.architecture.split("-")[0]


def against(size):
    """Adversarial training by five steps in an L-infinity ball."""
    return Adversarial(PGD(Linf(size), steps=5, step=size / 2), train_mode=False)


# Of the LeNets that are trained for this comparison: one recipe, so that the attack alone differs.
LENET = Recipe(epochs=2, images=30_000, batch=100, rate=2e-3, weight_decay=0.0, optimiser="adam")
HE_TRAINING = Adversarial(PGD(Linf(0.3), steps=7, step=0.1))
GROUPS = {
    "ren-a": Group("ren-a", "paper"), "ren-b": Group("ren-b", "paper"),
    "ren-c": Group("ren-c", "paper", measured=1),
    "shu-lenet": Group("shu-lenet", "lenet"), "shu-mlp": Group("shu-mlp", "mlp"),
    "he-natural": Group("he-mnist", "natural", measured=1, trainings=1),
    "he-robust": Group("he-mnist", "adversarial_short", HE_TRAINING, measured=1, trainings=1),
    "chen-natural": Group("chen-lenet", LENET), "chen-robust-1": Group("chen-lenet", LENET, against(0.1)),
    "chen-robust-2": Group("chen-lenet", LENET, against(0.2))}
NETWORKS = tuple((name, number) for name, group in GROUPS.items() for number in range(group.measured))
FEW = (*(("ren-a", number) for number in range(3)), ("shu-mlp", 0))  # quickly trained on embedded digits
KEPT = (("ren-a", 0), ("shu-lenet", 0), ("shu-mlp", 0), ("he-natural", 0), ("he-robust", 0))


# ---- the instruments -------------------------------------------------------------------------------------
def measure(group: Group, *, number, images, classes, directions, step, top, draws, examples, samples, attack,
            pgd, seed):
    """What five instruments and two attacks say of one network, for each of the first test images; seconds.

    number      of the training within its group
    classes     images by which ROBY is computed
    directions  half of them, and their opposites; step and top of the search along them are RMS distances
    draws       noise samples of each size in `DELTAS`
    examples, samples   of a box: adversarial examples that span it, points drawn from it
    """
    device, data, seconds = runtime.device(), sets.load("mnist"), {}

    def trained(number):
        return zoo.net(group.architecture, group.recipe, data, seed + number, device=device, hook=group.hook)

    def generator(instrument):      # the same draws for all networks
        return runtime.generator(seed, "synthesis", instrument)

    @contextlib.contextmanager
    def timed(instrument):
        start = clock()
        yield
        seconds[instrument] = clock() - start

    network = trained(number)
    others = [trained((number + k) % group.trainings).net for k in range(1, group.trainings)]
    x, y = data.first(images)
    x, y = pixels(x.to(device)), y.to(device)
    model, result = network.net, {"accuracy": network.test_accuracy, "images": len(y)}
    with timed("margin"):
        result["margin"] = label_margins(logits(model, x), y)
    result["correct"] = (result["margin"] > 0).tolist()
    with timed("mixing"):
        result |= mixed(model, x, y, generator("mixing"))
    with timed("boxes"):
        boxes = boxed([model, *others], x, y, examples, samples, seed) if others else None
    result["own"], result["transfer"], result["least_other"] = \
        torch.full((3, len(y)), torch.nan) if boxes is None else boxes
    with timed("directions"):
        along = drawn_directions(x[0].numel(), -(-directions // 2), negatives=True,
                                 generator=generator("directions"))[:directions]
        around = survey(model, x, along, step=step, top=top)
    result |= {"directions": len(along), "nearest": around.nearest, "reached": around.reached.float().mean(1),
               "distance": torch.where(around.reached, around.distance, around.top).mean(1)}
    with timed("gradient"):
        steps = LineSearch(largest=LONGEST)(model, x, y)
    result |= {"gradient": torch.where(steps.success | steps.no_gradient, steps.distance, LONGEST),
               "vanished": int(steps.no_gradient.sum())}
    with timed("noise"):
        noisy = susceptibility(model, x, y, generator=generator("noise"), draws=draws, deltas=DELTAS,
                               largest=LONGEST, clip=True)
    result |= {"stepped": noisy.attack.isfinite().tolist(), "noise": noisy.random.isfinite().tolist()}
    result |= classes_of(model, *data.first(classes), seconds)
    with timed("attack"):
        result["attack"] = attack(model, x, y).distance
    with timed("pgd"):
        against_pgd = pgd(model, x, y, generator=generator("pgd"))
    result["survives"] = (against_pgd.was_correct & ~against_pgd.success).tolist()
    return result | {"seconds": seconds}


def mixed(model, x, y, generator):
    """SSIM of each image to the last image with its label, and to the first without: both [3, N]."""
    searches = [borderline.search(model, x, borderline.backgrounds(name, x, y, generator))
             for name in BACKGROUNDS]
    return {"robustness": torch.stack([pairs.robustness for pairs in searches]),
            "example": torch.stack([pairs.adversarial for pairs in searches])}


def boxed(models, x, y, examples, samples, seed):
    """Misclassified shares of a box for each image: of the first model; mean and least of the others.

    The examples lie along the sign of the margin's gradient, from the first that is misclassified on. NaN for
    an image that is misclassified itself, and where there is no box.
    """
    rates = torch.full((len(models), len(x)), torch.nan)
    model = models[0]
    with frozen(model):
        slopes, scores = gradients(model, x, y, lost_margin)
        direction = slopes.sign() * per_image((scores.argmax(1) == y).float(), x)
        first = smallest_steps(Careful(model).flips, x, y, direction, scalings(256, 1.0), clip=True)
    beyond = torch.linspace(0, WIDTH, examples, device=x.device).view(-1, 1, 1, 1)
    for n in first.success.nonzero()[:, 0].tolist():
        some = (x[n] + (first.size[n] + beyond) * direction[n]).clamp(0, 1)
        called = labels(model, some)
        with contextlib.suppress(runtime.UserError):    # no value changes in all of them
            box = regions.intervals(x[n:n + 1], some[called == called[0]], least=2)
            points = box.sample(samples, generator=runtime.generator(seed, "synthesis", "boxes", n))
            rates[:, n] = regions.error_rates(models, points, y[n:n + 1]).float()
    return rates[0], rates[1:].mean(0), rates[1:].amin(0)


def classes_of(model, x, y, seconds):
    """ROBY in the Euclidean norm of the logits, and the overlap that is not scaled inside the network."""
    start = clock()
    layout = roby.measure(model, x, y)
    seconds["roby"] = clock() - start
    return {"classes": len(y), **dataclasses.asdict(layout)}


# ---- scales and plan -------------------------------------------------------------------------------------
# The attack comes within 5% of one of six searches of 500 steps of 0.02, on 16 training images and a network
# that is not in the comparison.
STRONG = CarliniWagner(rate=0.1, c=1.0, searches=5, iterations=100)
SHORT = dataclasses.replace(STRONG, searches=3, iterations=40)
SCALE = scales(
    networks=[FEW, KEPT, NETWORKS], images=[8, 20, 1_000], classes=[100, 500, 1_000],
    directions=[8, 20, 1_000], step=[0.12, 0.12, 0.06], top=0.48, draws=[10, 20, 100], examples=[5, 10, 20],
    samples=[10, 20, 50], attack=[SHORT, SHORT, STRONG], pgd=PGD(Linf(0.1), steps=20, step=0.025), seed=0)


def plan(scale):
    """A run for each network."""
    return {(name, number): dict(
        group=GROUPS[name], number=number, images=scale.images, classes=scale.classes,
        directions=scale.directions, step=scale.step, top=scale.top, draws=scale.draws,
        examples=scale.examples, samples=scale.samples, attack=scale.attack, pgd=scale.pgd, seed=scale.seed)
        for name, number in scale.networks}


instruments = Experiment("synthesis/instruments", measure, plan, scale=SCALE, names="{network}-{number}",
                         sizes=("images", "directions"))
