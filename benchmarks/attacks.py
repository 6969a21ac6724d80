"""Carlini & Wagner's L2 attack beside those of Foolbox, torchattacks and ART: distance, passes, seconds."""
import math
import warnings
from functools import partial

import torch
from torch import nn

from benchmarks import factor, installed, median, rounds, seconds, sized, table, trained
from shared import inference
from shared.attacks.optimised import CarliniWagner

with warnings.catch_warnings():      # Foolbox takes a filter from where SciPy no longer wants it taken
    warnings.simplefilter("ignore", DeprecationWarning)
    import foolbox

# ART is about a hundred times slower: few images, its seconds are scaled.
IMAGES, IMAGES_ART = sized((64, 4), (16, 1))
SEARCHES, ITERATIONS = sized((4, 100), (1, 9))
RATE, SMALL_RATE, C = 0.1, 0.01, 1.0
REPEATS = {"ren-a": 5, "ren-b": 3}
FLOOR = 10                       # batches that the floor is measured on
CURVED = "Passes against distance"
CURVE = sized(((4, 100), (4, 75), (4, 50), (4, 30), (2, 100), (3, 100), (6, 100)), ((1, 9), (1, 5)))


class Counted(nn.Module):
    """A net that counts the images that go forward through it."""

    def __init__(self, net):
        super().__init__()
        self.net, self.seen = net, 0
        self.eval()

    def forward(self, x):
        self.seen += len(x)
        return self.net(x)


# ---- attack(net, x, y, searches=, iterations=, rate=) -> images, which of them it calls a success --------
def ours(net, x, y, *, searches=SEARCHES, iterations=ITERATIONS, rate=RATE, stop="image"):
    attack = CarliniWagner(rate=rate, c=C, searches=searches, iterations=iterations, stop=stop)
    result = attack(net, x, y)
    return result.x_adv, result.success


def peer_foolbox(net, x, y, *, searches=SEARCHES, iterations=ITERATIONS, rate=RATE, early=True):
    attack = foolbox.attacks.L2CarliniWagnerAttack(
        binary_search_steps=searches, steps=iterations, stepsize=rate, initial_const=C, abort_early=early)
    _, images, success = attack(foolbox.PyTorchModel(net, (0, 1), device="cpu"), x, y, epsilons=None)
    return images, success


def peer_torchattacks(net, x, y, *, rate=RATE):
    """It has one c and no search: all iterations go into it."""
    import torchattacks
    images = torchattacks.CW(net, c=C, steps=SEARCHES * ITERATIONS, lr=rate)(x, y)
    return images, wrong(net, images, y)


def peer_art(net, x, y, *, rate=RATE):
    from art.attacks.evasion import CarliniL2Method
    from art.estimators.classification import PyTorchClassifier
    classifier = PyTorchClassifier(net, nn.CrossEntropyLoss(), tuple(x.shape[1:]), 10, clip_values=(0, 1),
                                   device_type="cpu")
    attack = CarliniL2Method(classifier, learning_rate=rate, binary_search_steps=SEARCHES,
                             max_iter=ITERATIONS, initial_const=C, batch_size=len(x), verbose=False)
    images = torch.from_numpy(attack.generate(x.numpy(), y.numpy()))
    return images, wrong(net, images, y)


def wrong(net, images, y):
    """Which images [N] the net gives another class than y."""
    return inference.logits(net, images).argmax(1) != y


class Outcome:
    """What one run of an attack did to each image; a success has another class and is not black all over."""

    def __init__(self, attack, net, x, y):
        counted = Counted(net)
        images, self.said = attack(counted, x, y)
        self.passes = counted.seen / len(x)
        self.black = images.flatten(1).amax(1) == 0
        self.distance = (images - x).flatten(1).norm(dim=1)
        self.success = wrong(net, images, y) & ~self.black

    @property
    def mean(self):
        """Mean distance of the successes."""
        return self.distance[self.success].mean().item()

    def beside(self, other):
        """Mean distance over the other's, on the images that both found."""
        count = len(self.success)      # the other has these images, and perhaps more
        both = self.success & other.success[:count]
        return (self.distance[both].mean() / other.distance[:count][both].mean()).item()


def share(flags):
    return f"{100 * flags.float().mean().item():.0f}%"


def run(dataset):
    """Print the tables: side by side on two nets; on the first, passes against distance and a small rate."""
    for name, repeats in REPEATS.items():
        net = trained(name, dataset)
        x, y = dataset.x_test[:2 * IMAGES].float() / 255, dataset.y_test[:2 * IMAGES]
        right = ~wrong(net, x, y)
        x, y = x[right][:IMAGES], y[right][:IMAGES]
        first = name == next(iter(REPEATS))
        side_by_side(name, net, x, y, repeats, art=first)
        if first:
            curve(name, net, x, y)
            small_rate(name, net, x, y)


def side_by_side(name, net, x, y, repeats, *, art):
    """Equal searches and iterations. ART takes one turn, on few images, where it is asked for."""
    batches, setting = SEARCHES * ITERATIONS, f"{SEARCHES} x {ITERATIONS}"
    attacks = {f"ours, {setting}": ours, f"Foolbox, {setting}": peer_foolbox}
    if installed("torchattacks"):
        attacks[f"torchattacks, 1 x {batches}"] = peer_torchattacks
    outcomes = {}

    def attack(label, function, count=None):
        outcomes[label] = Outcome(function, net, x[:count], y[:count])

    def floor():
        for _ in range(FLOOR):
            inference.gradient(lambda images: net(images).sum(1), x)

    runs = [partial(attack, label, function) for label, function in attacks.items()]
    *times, floors = zip(*rounds(*runs, floor, repeats=repeats))
    spent = dict(zip(attacks, times))
    if art and installed("art"):
        label, scale = f"ART, {setting}, {IMAGES_ART} images", len(x) / IMAGES_ART
        spent[label] = [seconds(partial(attack, label, peer_art, IMAGES_ART)) * scale]
    own = outcomes[f"ours, {setting}"]

    def costs(times):
        return f"{median(times):.1f}", f"{factor(times, spent[f'ours, {setting}']):.2f}"

    rows = [(label, share(f.success), f"{f.mean:.3f}", f"{f.beside(own):.3f}", f"{f.passes:.0f}",
             *costs(spent[label])) for label, f in outcomes.items()]
    rows.append((f"forward and backward, {batches} batches", "-", "-", "-", f"{batches}",
                 *costs([t * batches / FLOOR for t in floors])))
    table(f"Carlini & Wagner L2 on {name}, searches x iterations, {len(x)} images, rate {RATE}, first c {C}",
          ("attack", "success", "mean L2", "L2 to ours", "passes an image", "s", "times ours"), rows,
          "Success: another class, and not black all over. L2 to ours: on images that both found. "
          "Passes: images sent forward, nearly all of them backward, too. Medians over rounds that time all "
          "in turn.", "torchattacks has one c and no search.", *[
              "ART ran once, on so few images because of its time, which is scaled to all of them."] * art)


def curve(name, net, x, y):
    """Passes against mean distance: our settings beside Foolbox's."""
    attacks = {}
    for searches, iterations in CURVE:
        setting = dict(searches=searches, iterations=iterations)
        words = f"{searches} x {iterations}"
        attacks[f"ours, {words}"] = partial(ours, **setting)
        attacks[f"Foolbox, {words}"] = partial(peer_foolbox, **setting)
    most = f"{SEARCHES} x {ITERATIONS}"
    attacks[f"ours, {most}, never stopped early"] = partial(ours, stop="never")
    attacks[f"ours, {most}, stopped with the batch"] = partial(ours, stop="batch")
    attacks[f"Foolbox, {most}, never stopped early"] = partial(peer_foolbox, early=False)
    outcomes, spent = {}, {}
    for label, attack in attacks.items():
        def once(label=label, attack=attack):
            outcomes[label] = Outcome(attack, net, x, y)

        spent[label] = seconds(once)
    rows = [(label, f"{f.passes:.0f}", share(f.success), f"{f.mean:.3f}", f"{spent[label]:.1f}")
            for label, f in sorted(outcomes.items(), key=lambda pair: pair[1].passes)]
    target = outcomes[f"Foolbox, {most}"]
    as_near = {label: f.passes for label, f in outcomes.items()
               if f.success.sum() >= target.success.sum() and f.mean <= 1.01 * target.mean}
    least = {who: min((n for label, n in as_near.items() if label.startswith(who)), default=math.nan)
             for who in ("ours", "Foolbox")}
    table(f"{CURVED}, Carlini & Wagner L2 on {name}, rate {RATE}, {len(x)} images",
          ("attack, searches x iterations", "passes an image", "success", "mean L2", "s, one run"), rows,
          f"Fewest passes within 1% of Foolbox's distance at {most} ({target.passes:.0f} passes): "
          f"ours {least['ours']:.0f}, Foolbox {least['Foolbox']:.0f}.")


def small_rate(name, net, x, y):
    """What is returned where the searches end too early: at a small rate black pixels hardly move."""
    attacks = {"ours": ours, "Foolbox": peer_foolbox}
    if installed("torchattacks"):
        attacks["torchattacks"] = peer_torchattacks
    rows = []
    for label, attack in attacks.items():
        f = Outcome(partial(attack, rate=SMALL_RATE), net, x, y)
        rows.append((label, f"{int(f.said.sum())}", f"{int(f.success.sum())}", f"{int(f.black.sum())}",
                     f"{int((f.black & f.said).sum())}", f"{f.distance[f.said].mean():.3f}", f"{f.mean:.3f}"))
    table(f"Carlini & Wagner L2 on {name} at rate {SMALL_RATE}, {SEARCHES} x {ITERATIONS}, {len(x)} images",
          ("attack", "called successes", "found", "black images", "black called successes",
           "mean L2 of called", "mean L2 of found"), rows)
