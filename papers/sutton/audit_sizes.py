"""Sutton et al.: sizes of attacks and of random draws, training noise, network size."""
import numpy as np
from scipy import optimize

from papers.sutton.audit import SPLITS, cells
from papers.sutton.theory.ball import tail
from report.finding import Checks, stated

checks = Checks("sutton")
NORMS = {"l1": "table-7", "l2": "table-6", "linf": "table-8"}
NOISE = {"cube": ("table-13", "table-15", "table-17"), "ball": ("table-14", "table-16", "table-18")}
NOISE_TABLES = ", ".join(sorted(NOISE["cube"] + NOISE["ball"]))
DIMENSION = 3072  # CIFAR-10, 32 x 32 x 3
HALF = 0.005      # half a unit of the second printed decimal


def largest_share(n, ratio):
    """Probability that a random direction of R^n has |largest coordinate| / norm above `ratio`.

    A coordinate of the sphere of R^n is distributed as T of dimension n - 2; the n of them are taken as
    independent, which is close for large n and for rare ratios.
    """
    return -np.expm1(n * np.log1p(-2 * tail(n - 2, ratio)))


def largest_needed(mean, std):
    """Smallest maximum that a non-negative quantity of this printed mean and STD must reach, rounding in its
    favour (Bhatia and Davis, 2000: variance <= (maximum - mean) (mean - minimum))."""
    return (mean + HALF) + (std - HALF) ** 2 / (mean + HALF)


def line(p, item, quantity, split, norm=None):
    """The cells of a line of Tables 13 to 24 as dicts."""
    return next(r["cells"] for r in p.rows(item)
                if (r["quantity"], r["split"], r["norm"]) == (quantity, split, norm))


def norms(p, item, split="train", norm="l2"):
    """(mean, STD) of attack norms by problem, shape (problems, 2), from Tables 13 to 18, 21 or 24."""
    return np.array([(c["mean"], c["std"]) for c in line(p, item, "adv_attack_norm", split, norm)])


def noise_free(p):
    """Mean and STD of the l2 norm without training noise, train split, problems k-vs-(k+1)."""
    return np.array([(c["mean"], c["std"]) for c in cells(p, NORMS["l2"])
                     if c["split"] == "train" and c["class_b"] == c["class_a"] + 1])


@checks(pool=True)
def noise_and_norms(p):
    means = {kind: tuple(norms(p, item)[:, 0].mean() for item in items) for kind, items in NOISE.items()}
    return p.finding(NOISE_TABLES, "The norm of successful attacks rises with training noise",
                     quotes=[("the average norm of the successful adversarial attacks does seem to increase",
                              "Section 7.2.1")], numbers="three sizes of noise, two shapes", ours=means,
                     holds=all(v[0] < v[1] < v[2] for v in means.values()),
                     use="Mean l2 norm over the nine problems, training images.")


@checks
def averaged_otherwise(p):
    clean = p.frame("table-6")
    noisy = np.concatenate([norms(p, item, split, norm) for items in NOISE.values() for item in items
                            for split in SPLITS for norm in NORMS])
    base = noise_free(p)
    shape = 1 + (base[:, 1] / base[:, 0]).mean() ** 2
    # A share s of values of mean m and relative spread v, and zeros else, has the mean s m and a relative
    # spread V with 1 + V^2 = (1 + v^2) / s.
    rescaled = {}
    for kind, items in NOISE.items():
        t = [norms(p, item) for item in items]
        rescaled[kind] = tuple((v[:, 0] * (1 + (v[:, 1] / v[:, 0]) ** 2)).mean() / shape for v in t)
    return p.finding(f"table-6, {NOISE_TABLES}", "Norm cells whose STD exceeds the mean",
                     numbers=f"{len(noisy)} with noise, {len(clean)} without",
                     ours={"with noise": int((noisy[:, 1] > noisy[:, 0]).sum()),
                           "without": int((clean["std"] > clean["mean"]).sum()),
                           "mean norm without noise": base[:, 0].mean(),
                           "mean norms with noise, if they average zeros in": rescaled},
                     reading="the tables with noise average over more images, with zero for those not "
                             "attacked.",
                     use="The norms of Table 6 and of the tables with noise cannot be compared directly.")


def mean_train(p, clean, quantity):
    """Mean over the problems k-vs-(k+1) of a train percentage, without noise and by growing noise."""
    means = {"none": np.mean([c["train"] for c in cells(p, clean) if c["class_b"] == c["class_a"] + 1])}
    for kind, items in NOISE.items():
        means[kind] = tuple(np.mean([c["value"] for c in line(p, i, quantity, "train")]) for i in items)
    return means


@checks
def noise_and_susceptibility(p):
    return p.finding(f"table-5, {NOISE_TABLES}", "Mean train susceptibility with growing training noise",
                     quotes=[("additive random noise has little impact on the adversarial susceptibility",
                              "Section 7.2.1")], numbers="none, then three sizes",
                     ours=mean_train(p, "table-5", "adversarial_susceptibility"),
                     use="It moves by a few points up and back.")


@checks(pool=True)
def noise_and_accuracy(p):
    means = mean_train(p, "table-4", "accuracy")
    return p.finding(f"table-4, {NOISE_TABLES}", "Large training noise lowers accuracy", ours=means,
                     quotes=[("large perturbations cause the networks' accuracy to decrease",
                              "Section 7.2.1")], numbers="none, then three sizes",
                     holds=all(means["none"] > v[0] > v[1] > v[2] for v in (means["cube"], means["ball"])),
                     use="The lost noise sizes can be calibrated on these means.")


@checks
def largest_attack(p):
    cells = np.concatenate([norms(p, item, split) for items in NOISE.values() for item in items
                            for split in SPLITS])
    needed = [largest_needed(mean, std) for mean, std in cells]
    top = int(np.argmax(needed))
    return p.finding(f"{NOISE_TABLES}, procedure-adversarial-attack",
                     "How far the tested attacks reach at least",
                     quotes=[("We then tested 256 equally-spaced scalings", "Section 7.1.2")],
                     numbers={"mean, STD": tuple(cells[top])},
                     ours={"smallest possible maximum": needed[top]},
                     use="Bounds the largest attack, which the text has lost, from below.")


def of_random_draws(p, over, under):
    """Ratio of two printed norms of the random draws of Figures 11 and 12, panels (c) and (d)."""
    return {f"{p.paper[f].label}({panel})": p.single(p.figure(f)[panel][over]) / p.figure(f)[panel][under]
            for f in ("figure-11", "figure-12") for panel in "cd"}


@checks
def typical_draws(p):
    shares = of_random_draws(p, "linf", "l2")
    typical = optimize.brentq(lambda r: largest_share(DIMENSION, r) - 0.5, 0.03, 0.2)
    return p.finding("figure-11, figure-12", "Largest pixel over norm of the random draws shown",
                     numbers=shares,
                     ours={"median of random draws": typical,
                           "share of draws as extreme": tuple(largest_share(DIMENSION, r)
                                                              for r in shares.values())},
                     reading="the draws shown need not be typical of the 2,000 of each image.")


@checks
def draws_mean_change(p):
    shares = of_random_draws(p, "l1", "l2")
    expected, sd = np.sqrt(2 * DIMENSION / np.pi), np.sqrt(1 - 3 / np.pi)  # of l1 / l2 of a random direction
    return p.finding("figure-11, figure-12",
                     "l1 over l2 norm of the random draws is that of random directions", numbers=shares,
                     ours={"expected": expected, "STD": sd},
                     holds=all(abs(v - expected) < 3 * sd for v in shares.values()),
                     use="The draws shown are uniform in direction by this measure.")


@checks
def fashion_channels(p):
    t = {n: norms(p, "table-21", "train", n)[:, 0] for n in ("l1", "l2")}
    ratio = ((t["l1"] - HALF) / (t["l2"] + HALF)).max()
    return p.finding("table-21", "Ratio of norms of the Fashion-MNIST attacks, and the largest possible",
                     quotes=[("we converted to RGB by simply duplicating the channels", "Section 7.2.2")],
                     numbers={"values of a grey image": 28 * 28, "of a colour image": 28 * 28 * 3},
                     ours={"largest l1 / l2": ratio, "limits": (28.0, np.sqrt(3) * 28)},
                     use="No attack on 28 x 28 values reaches this ratio of norms: the dimension is 2352.")


@checks
def order_of_norms(p):
    sets = [(DIMENSION, {n: np.array([c["mean"] for c in cells(p, item)]) for n, item in NORMS.items()})]
    for n, item in ((28 * 28 * 3, "table-21"), (DIMENSION, "table-24")):
        sets.append((n, {k: np.concatenate([norms(p, item, s, k)[:, 0] for s in SPLITS]) for k in NORMS}))
    worst = []
    for n, t in sets:
        worst += [*((t["l2"] - HALF) / np.sqrt((t["l1"] + HALF) * (t["linf"] + HALF))),
                  *((t["l1"] - HALF) / ((t["l2"] + HALF) * np.sqrt(n)))]
    return p.finding("table-6, table-7, table-8, table-21, table-24",
                     "Mean norms obey l2^2 <= l1 linf and l1 <= sqrt(n) l2",
                     numbers=f"{len(worst)} inequalities", ours={"largest ratio of the sides": max(worst)},
                     holds=max(worst) <= 1, use="Confirms which table holds which norm, lost in the text.")


@checks
def representative_l1(p):
    words = "Taking 100 as a representative maximum value for the norm"
    value, t = stated(words)[0], p.frame("table-7")["mean"]
    return p.finding("table-7",
                     "Mean change of a pixel channel for an l1 norm of 100, and for the mean norms",
                     quotes=[(words, "Section 7.2.1"),
                             ("mean absolute change of approximately 0.03", "Section 7.2.1")], numbers=value,
                     ours={"100 / 3072": value / DIMENSION, "means from": t.min(), "means to": t.max(),
                           "per channel from": t.min() / DIMENSION, "to": t.max() / DIMENSION},
                     use="The division is right; it is a bound, as said, and mean attacks change less.")


@checks
def localised(p):
    l1, l2, linf = (p.frame(item)["mean"] for item in NORMS.values())
    spread = (l1 / l2) ** 2 / DIMENSION  # share of equal channels with this ratio of norms
    return p.finding("table-6, table-7, table-8", "How many channels attacks use, by ratios of mean norms",
                     quotes=[("most of the change must be focused in just a few pixels", "Section 7.2.1")],
                     numbers=f"{len(l1)} cells a table",
                     ours={"largest over mean change, from": (linf / l1).min() * DIMENSION,
                           "up to": (linf / l1).max() * DIMENSION, "share of channels, from": spread.min(),
                           "to": spread.max(), "of a random direction": 2 / np.pi},
                     reading="few means fewer than noise changes.",
                     use="Ratios of means say little of single images.")


@checks
def parameters(p):
    rows = [r for r in p.rows("table-2") if r["trained_parameters"]]
    printed, expected, channels = [r["trained_parameters"] for r in rows], [], 3
    for r in rows:
        expected.append(((9 if r["layer"].startswith("Conv") else 1) * channels + 1) * r["output_channels"])
        channels = r["output_channels"]
    return p.finding("table-2", "Parameter counts are those of 3 x 3 kernels with bias and two dense layers",
                     numbers=(*printed, sum(printed)), ours=(*expected, sum(expected)),
                     holds=printed == expected,
                     use="The network has no batch normalisation and takes three channels.")


@checks
def imagenet_dimensions(p):
    words = ("the images in ImageNet have 196,608 attributes",
             "meaning that they have 150,528 individual attributes")
    sizes = tuple(p.single(int(stated(w)[0])) for w in words)
    sides = tuple(np.sqrt(n / 3) for n in sizes)
    return p.finding("procedure-imagenet", "Both ImageNet dimensions are those of square colour images",
                     quotes=[(words[0], "Section 4.2"), (words[1], "Section 7.2.4")], numbers=sizes,
                     ours={"sides": sides}, holds=all(float(s).is_integer() for s in sides),
                     use="The text has two sizes: common images, and the smaller inputs of the networks.")
