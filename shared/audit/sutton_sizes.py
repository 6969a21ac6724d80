"""Sutton et al.: sizes of attacks and of random draws, training noise, network size."""
import numpy as np
from scipy import optimize

from shared.audit.finding import Checks
from shared.audit.sutton import consecutive
from shared.theory.ball import tail

checks = Checks("sutton")
NORMS = {"l1": "table-7", "l2": "table-6", "linf": "table-8"}
NOISE = {"cube": ("table-13", "table-15", "table-17"), "ball": ("table-14", "table-16", "table-18")}
DIMENSION = 3072  # CIFAR-10, 32 x 32 x 3
HALF = 0.005      # half a unit of the second printed decimal
GRID = 5 / 255    # step of 256 attack sizes from 0 to 5


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


def norms(p, item):
    """Mean and STD columns of Tables 13 to 18, 21 or 24, indexed by norm, split and class pair."""
    t = p.frame(item)
    t = t[t.quantity == "adv_attack_norm"].set_index(["norm", "split", "class_a", "class_b"])
    return t[["mean", "std"]].sort_index()


def noise_free(p, norm):
    """Mean and STD of a norm without training noise, train split, problems k-vs-(k+1)."""
    t = p.frame(NORMS[norm])
    return consecutive(t[t.split == "train"].set_index(["class_a", "class_b"])[["mean", "std"]])


@checks
def noise_and_norms(p):
    base = noise_free(p, "l2")["mean"]
    means = {"none": base.mean()}
    smaller = {}
    for kind, items in NOISE.items():
        values = [norms(p, item).loc[("l2", "train"), "mean"] for item in items]
        means[kind] = tuple(v.mean() for v in values)
        smaller[kind] = int((values[0] < base).sum())
    return p.finding("table-6, table-13, table-14, table-15, table-16, table-17, table-18",
                     "The norm of successful attacks rises with training noise",
                     printed=p.text("table-13", "claims", "rises with the training noise"),
                     recomputed={**means, "problems below noise-free, least noise": tuple(smaller.values())},
                     holds=all(means["none"] < v[0] < v[1] < v[2] for v in (means["cube"], means["ball"])),
                     consequence="Little noise first halves the norm: these nets are easier to attack than "
                                 "noise-free ones.")


def mean_train(p, clean, quantity):
    """Mean over the problems k-vs-(k+1) of a train percentage, without noise and by growing noise."""
    means = {"none": consecutive(p.frame(clean).set_index(["class_a", "class_b"])).train.mean()}
    for kind, items in NOISE.items():
        frames = [p.frame(item) for item in items]
        means[kind] = tuple(f[(f.quantity == quantity) & (f.split == "train")].value.mean() for f in frames)
    return means


@checks
def noise_and_susceptibility(p):
    return p.finding("table-5, table-13, table-14, table-15, table-16, table-17, table-18",
                     "Mean train susceptibility with growing training noise",
                     printed=p.text("table-13", "claims", "little effect"), holds=None,
                     recomputed=mean_train(p, "table-5", "adversarial_susceptibility"),
                     consequence="Small noise raises susceptibility by a few points; large noise undoes it.")


@checks
def noise_and_accuracy(p):
    means = mean_train(p, "table-4", "accuracy")
    return p.finding("table-4, table-13, table-14, table-15, table-16, table-17, table-18",
                     "Large training noise lowers accuracy", recomputed=means,
                     printed=p.text("table-13", "claims", "drop in accuracy"),
                     holds=all(means["none"] > v[0] > v[1] > v[2] for v in (means["cube"], means["ball"])),
                     consequence="The lost noise sizes can be calibrated on these means.")


@checks
def spread_of_norms(p):
    noisy = [row for items in NOISE.values() for item in items for row in norms(p, item).to_numpy()]
    clean = p.frame("table-6")
    return p.finding("table-6, table-13, table-14, table-15, table-16, table-17, table-18",
                     "Norm cells whose STD exceeds the mean",
                     printed=f"{len(noisy)} with noise, {len(clean)} without",
                     recomputed={"with noise": sum(std > mean for mean, std in noisy),
                                 "without": int((clean["std"] > clean["mean"]).sum())}, holds=None,
                     consequence="The distribution changes shape with noise, or was averaged otherwise.")


def shared_draw(p):
    """The images of Figures 11 and 12, whose panels (c) use one random draw: interval of the ratio of their
    attack sizes from the l1 norms, and intervals of the two sizes from the l2 norms."""
    cat, plane = p.numbers("figure-11"), p.numbers("figure-12")
    ratio = ((cat["c"]["l1"] - HALF) / (plane["c"]["l1"] + HALF),
             (cat["c"]["l1"] + HALF) / (plane["c"]["l1"] - HALF))
    # A draw of ten times the attack has at most ten times its norm.
    sizes = [(max(f["b"]["l2"] - HALF, (f["c"]["l2"] - HALF) / 10), f["b"]["l2"] + HALF)
             for f in (cat, plane)]
    return ratio, sizes


@checks
def attack_grid(p):
    ratio, ((low_1, high_1), (low_2, high_2)) = shared_draw(p)
    steps = []
    for j in range(1, 256):
        for k in range(max(1, int(j / ratio[1])), min(255, int(j / ratio[0]) + 1) + 1):
            low, high = max(low_1 / j, low_2 / k), min(high_1 / j, high_2 / k)
            if ratio[0] <= j / k <= ratio[1] and low <= high:
                steps.append((j, k, low, high))
    return p.finding("figure-11, figure-12, procedure-adversarial-attack",
                     "The two attacks are whole steps of one grid of 256 sizes from 0 to 5",
                     printed={"l1 ratio": ratio,
                              "l2": (p.numbers("figure-11")["b"]["l2"], p.numbers("figure-12")["b"]["l2"])},
                     recomputed={f"{j} and {k} steps": (low, high) for j, k, low, high in steps},
                     holds=any(low <= GRID <= high for *_, low, high in steps),
                     source="figure-11.printed_numbers, figure-12.printed_numbers",
                     consequence="The lost largest attack is 5 with a step of 5/255; the only other "
                                 "solution is half of it.")


@checks
def half_grid(p):
    needed = max(largest_needed(m, s) for items in NOISE.values() for item in items
                 for m, s in norms(p, item).loc["l2"].to_numpy())
    return p.finding("table-13, table-14, table-15, table-16, table-17, table-18, "
                     "procedure-adversarial-attack",
                     "Attacks reach beyond the half grid, which ends at 2.5", printed=GRID / 2 * 255,
                     recomputed={"largest norm needed": needed}, holds=needed > GRID / 2 * 255,
                     source="table-13.rows to table-18.rows",
                     consequence="A printed mean and STD force larger attacks, so the grid ends at 5.")


@checks
def typical_draws(p):
    shares = {f"{f} {panel}": n[panel]["linf"] / n[panel]["l2"] for f, n in
              (("figure-11", p.numbers("figure-11")), ("figure-12", p.numbers("figure-12")))
              for panel in "cd"}
    extreme = tuple(largest_share(DIMENSION, r) for r in shares.values())
    typical = optimize.brentq(lambda r: largest_share(DIMENSION, r) - 0.5, 0.03, 0.2)
    return p.finding("figure-11, figure-12", "Largest pixel over norm of the random draws shown, and how rare it is",
                     printed=shares,
                     recomputed={"median of random draws": typical, "share of draws as extreme": extreme},
                     holds=None,
                     source="figure-11.printed_numbers, figure-12.printed_numbers",
                     consequence="The pictures show unusually large pixels; a reproduction's draws look "
                                 "smoother.")


@checks
def draws_mean_change(p):
    shares = {f"{f} {panel}": n[panel]["l1"] / n[panel]["l2"] for f, n in
              (("figure-11", p.numbers("figure-11")), ("figure-12", p.numbers("figure-12")))
              for panel in "cd"}
    expected, sd = np.sqrt(2 * DIMENSION / np.pi), np.sqrt(1 - 3 / np.pi)  # of l1 / l2 of a random direction
    return p.finding("figure-11, figure-12", "l1 over l2 norm of the random draws shown", printed=shares,
                     recomputed={"expected": expected, "STD": sd},
                     holds=all(abs(v - expected) < 3 * sd for v in shares.values()),
                     source="figure-11.printed_numbers, figure-12.printed_numbers",
                     consequence="The draws are uniform in direction apart from their largest pixel.")


@checks
def fashion_channels(p):
    t = norms(p, "table-21")["mean"].unstack("norm")
    ratio = ((t.l1 - HALF) / (t.l2 + HALF)).max()
    return p.finding("table-21", "Fashion-MNIST attacks act on three channels, not one",
                     printed=p.settings("table-21")["channels"],
                     source="table-21.settings.channels, table-21.rows",
                     recomputed={"largest l1 / l2": ratio, "root of 28 x 28": 28.0,
                                 "root of 28 x 28 x 3": np.sqrt(3) * 28},
                     holds=bool(28 < ratio <= np.sqrt(3) * 28),
                     consequence="No attack on 28 x 28 values reaches this ratio of norms: the dimension is "
                                 "2352.")


@checks
def order_of_norms(p):
    sets = [(DIMENSION, {n: p.frame(item)["mean"].to_numpy() for n, item in NORMS.items()})]
    for n, item in ((28 * 28 * 3, "table-21"), (DIMENSION, "table-24")):
        sets.append((n, norms(p, item)["mean"].unstack("norm")))
    worst = []
    for n, means in sets:
        l1, l2, linf = (np.asarray(means[name], dtype=float) for name in NORMS)
        worst += [*((l2 - HALF) / np.sqrt((l1 + HALF) * (linf + HALF))),
                  *((l1 - HALF) / ((l2 + HALF) * np.sqrt(n)))]
    return p.finding("table-6, table-7, table-8, table-21, table-24",
                     "Mean norms obey l2^2 <= l1 linf and l1 <= sqrt(n) l2",
                     printed=f"{len(worst)} inequalities",
                     recomputed={"largest ratio of the sides": max(worst)}, holds=max(worst) <= 1,
                     consequence="Confirms which table holds which norm, lost in the text.")


@checks
def representative_l1(p):
    value, change = p.quote("table-7", "claims", r"value of (\d+) means .* about (0\.\d+) per pixel")
    t = p.frame("table-7")
    return p.finding("table-7", "An l1 norm of 100 as representative, 0.03 per pixel channel",
                     printed=(value, change),
                     recomputed={"100 / 3072": value / DIMENSION, "means from": t["mean"].min(),
                                 "means to": t["mean"].max(),
                                 "per channel from": t["mean"].min() / DIMENSION,
                                 "to": t["mean"].max() / DIMENSION},
                     holds=None, source="table-7.claims, table-7.rows",
                     consequence="The division is right, but it is a bound: mean attacks change a channel "
                                 "far less.")


@checks
def localised(p):
    l1, l2, linf = (p.frame(item)["mean"] for item in NORMS.values())
    spread = (l1 / l2) ** 2 / DIMENSION  # share of equal channels with this ratio of norms
    return p.finding("table-6, table-7, table-8", "Attacks are localised in a few pixels",
                     printed=p.text("table-8", "claims", "localised"),
                     recomputed={"largest over mean change, smallest": (linf / l1).min() * DIMENSION,
                                 "largest": (linf / l1).max() * DIMENSION,
                                 "share of channels, from": spread.min(),
                                 "to": spread.max(), "share for a random direction": 2 / np.pi}, holds=None,
                     consequence="Judged by ratios of means, attacks use fewer channels than noise does, "
                                 "but by no means a few.")


@checks
def parameters(p):
    rows = p.paper["table-2"].rows
    printed = [r["trained_parameters"] for r in rows if r["trained_parameters"]]
    expected, channels = [], 3
    for r in (r for r in rows if r["trained_parameters"]):
        expected.append(((9 if r["layer"].startswith("Conv") else 1) * channels + 1) * r["output_channels"])
        channels = r["output_channels"]
    return p.finding("table-2", "Parameter counts are those of 3 x 3 kernels with bias and two dense layers",
                     printed=(*printed, sum(printed)), recomputed=(*expected, sum(expected)),
                     holds=printed == expected,
                     consequence="The network has no batch normalisation and takes three channels.")


@checks
def imagenet_dimensions(p):
    common, = p.quote("theorem-4", "claims", r"about (\d+)")
    used = p.settings("table-25")["input_dimension_d"]
    sides = tuple(np.sqrt(n / 3) for n in (common, used))
    return p.finding("theorem-4, table-25", "Both ImageNet dimensions are those of square colour images",
                     printed=(common, used), recomputed={"sides": sides},
                     holds=all(s.is_integer() for s in sides),
                     source="theorem-4.claims, table-25.settings.input_dimension_d",
                     consequence="The text has two sizes: common images, and the smaller inputs of the "
                                 "networks.")
