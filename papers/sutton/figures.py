"""What the pages of Section 7.2 show of their problems: in words, rows, bars and violins.

`runs` is a DataFrame with a row a problem (`tables`), `problems` the pairs of classes that a picture may
show, and `names` the classes' names by index.
"""
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from papers.sutton import tables
from papers.sutton.experiments import ATTACKED, DELTAS, SIGNS
from papers.sutton.theory.models import planar_flip_probability
from report import display
from report.comparison import over_alike
from report.prose import mean, percent
from shared.susceptibility import percentage

DATASETS = {"cifar10": "CIFAR-10", "fashion_mnist": "Fashion-MNIST", "gtsrb": "GTSRB"}   # of Table 1
SETS = {"train": "training images", "test": "test images"}
NORMS = {"l1": "ℓ₁ norm", "l2": "Euclidean norm", "linf": "ℓ∞ norm"}
# Percent of the images of two traffic signs that show the more frequent one. Other classes are equally large.
LARGER_SIGN = {(a, a + 1): 100 * max(SIGNS[a:a + 2]) / sum(SIGNS[a:a + 2]) for a in range(len(SIGNS) - 1)}
BETTER = 2      # points, than predicting the larger class for all: a training that succeeded


def name(problem, names):
    """The two classes of a problem by name: "cat – deer"."""
    return " – ".join(names[int(k)] for k in problem)


def by_problem(runs):
    """`{(class_a, class_b): run}` of the problems that are there."""
    return {(u["class_a"], u["class_b"]): u for u in runs.to_dict("records")}


def example(runs, label):
    """What the run of Figures 1, 11 and 12 keeps of one image of class 0 or 1; None where none was found."""
    return next((panel for panels in runs.panels for panel in panels if panel["label"] == label), None)


# ---- how much was measured -------------------------------------------------------------------------------
def scale_words(runs, of, again=()):
    """On how many problems and images the results of a page rest, those of failed trainings too.

    again   further trainings, of which some may stand `with_second` in the place of failed ones
    """
    second = second_trainings(runs, again) if len(again) else {}
    runs = with_second(runs, again) if second else runs
    parts = [run[split] for run in runs.to_dict("records") for split in tables.SPLITS]
    images, correct = (sum(part["accuracy"][key] for part in parts) for key in ("of", "hits"))
    tried, flipped = (sum(tables.flipped_by_step(part)[key] for part in parts) for key in ("of", "hits"))
    zero = sum(part["saturated"] for part in parts)
    failed = zero - sum(part["saturated"] for split in tables.SPLITS for part in learned(runs)[split])
    perturbed = sum(tables.share(part, DELTAS[0])["of"] for part in parts)
    return (f"{len(runs)} of {counted(of, 'class pair')} are measured"
            + (f", {len(second)} of them by a further training" if second else "")
            + f". Of their {images:,} training and test images, {correct:,} are correctly classified, and "
            f"{tried:,} of these were attacked. A step flips {flipped:,}; {zero:,} more have a gradient of "
            "exactly zero and count as attackable"
            + (f" ({failed:,} of these belong to pairs whose training failed)" if failed else "")
            + f". {perturbed:,} of the flipped ones were perturbed at random.")


def in_percent(share):
    """A share in percent as text, finer where it is small."""
    if 0 < share < 0.005:
        return "less than 0.01%"
    return "0%" if share == 0 else f"{share:.2f}%" if share < 1 else f"{share:.1f}%"


def counted(count, word):
    """"1 problem", "2 problems"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


# ---- shares over the problems ----------------------------------------------------------------------------
NOISE = {1: "the attack's norm", 2: "twice that norm", 5: "five times that norm", 10: "ten times that norm"}
# What is measured on the test images of each problem: in words, and how a part of a run gives it.
MEASURES = {"step": ("label flipped by a gradient step", tables.flipped_by_step),
            "attack": ("the same, or a gradient of exactly zero (counted as attackable)",
                       partial(tables.share, key="attack")),
            "logit": ("label flipped by a step along the gradient of the logit",
                      lambda part: part["logit_attack"]["susceptibility"]),
            **{d: (f"label flipped by noise of {norm}", partial(tables.share, key=d))
               for d, norm in NOISE.items()}}


def means(runs, printed):
    """`{measure: {"mean", "percents", "hits", "of", "published"}}` of the test images, by `MEASURES`.

    "percents" are those of the problems that have such images, "mean" is their mean in percent, None of none;
    "published" is the mean of the published values of the same problems.

    printed   {"attack" or delta: {(class_a, class_b): printed row}}; a step is compared with "attack"
    """
    facts = {}
    for measure, (_, of) in MEASURES.items():
        shares = {p: share for p, u in by_problem(runs).items() if (share := of(u["test"]))["of"]}
        rows = printed.get("attack" if measure == "step" else measure, {})
        facts[measure] = {
            "percents": {p: share["percent"] for p, share in shares.items()},
            "mean": mean([share["percent"] for share in shares.values()]),
            "published": mean([rows[p]["test"] for p in shares if p in rows]),
            **{key: sum(share[key] for share in shares.values()) for key in ("hits", "of")}}
    return facts


def mean_rows(runs, printed):
    """Rows of a table of our own: `means` in words, with their ranges over the problems."""
    return [{"measure": str(measure), "share": MEASURES[measure][0], "ours": in_percent(facts["mean"]),
             "ends": ends_in_words(facts["percents"].values()), "of": facts["of"],
             "published": None if facts["published"] is None else in_percent(facts["published"])}
            for measure, facts in means(runs, printed).items() if facts["of"]]


def below_published(runs, printed):
    """On how many problems the step flips fewer test images than published, and with images of zero gradient
    counted ("counted"); {} of no problem.
    """
    below = {key: [share < printed["attack"][p]["test"] for p, share in of["percents"].items()]
             for key, of in means(runs, printed).items() if key in ("step", "attack")}
    return {"n": len(below["step"]), "below": sum(below["step"]),
            "counted": sum(below["attack"])} if below["step"] else {}


def box_facts(runs, printed, of):
    """What the box of a page names, of the networks whose training succeeded; {} where nothing was perturbed.

    "alike" says whether a step flips most images, noise of its norm practically none, and of ten
    times that norm fewer than half, as on CIFAR-10.

    of   how many pairs the page has
    """
    good = learned(runs)
    shares = means(good, printed)
    step, one, ten = shares["step"], shares[DELTAS[0]], shares[DELTAS[-1]]
    if not one["of"]:
        return {}
    interval = percentage(one["hits"], one["of"])
    return {"pairs": len(good), "of": of, "failed": len(runs) - len(good), "one": one["hits"],
            "perturbed": one["of"], "draws": int(good.draws.max()), "low": interval["low"],
            "high": interval["high"], "step": step["mean"], "counted": shares["attack"]["mean"],
            "norm": mean([sizes["mean"] for part in good.test if (sizes := part["attack"]["l2"])["count"]]),
            "logit": shares["logit"]["mean"], "one_percent": one["mean"], "ten": ten["mean"],
            "paper": {"step": step["published"], "one": one["published"], "ten": ten["published"]},
            "fewest": step["mean"] < 50, "some": one["mean"] > 1, "most": step["mean"] > 50,
            "alike": step["mean"] > 50 > ten["mean"] and one["mean"] <= 1,
            "words": {"one": "practically none" if one["hits"] else "none",
                      **{name: "most" if share["mean"] > 50 else "fewer than half"
                         for name, share in (("step", step), ("ten", ten))}},
            "odd": [p for p, share in one["percents"].items() if share]}


def draw_means(runs, printed, names, titles=()):
    """Bars of the mean shares of the box, a dot a problem, a line the published mean; None of no attack.

    titles   problems whose dots of the noise of the attack's norm have their names beside them
    """
    shares = means(runs, printed)
    if not shares["step"]["of"]:
        return None
    figure, ax = plt.subplots(figsize=(4.8, 3.4))
    for place, key in enumerate(("step", *DELTAS)):
        if not shares[key]["of"]:
            continue
        ax.bar(place, shares[key]["mean"], width=0.66, alpha=0.55,
               color=display.PALETTE[1 if key == "step" else 0])
        if key == "step" and (more := shares["attack"]["mean"] - shares[key]["mean"]) > 0:
            ax.bar(place, more, bottom=shares[key]["mean"], width=0.66, alpha=0.25, color=display.PALETTE[1],
                   label="zero gradient, counted as attackable")
        percents = shares[key]["percents"]
        places = dict(zip(percents, place + np.linspace(-0.2, 0.2, len(percents)) * (len(percents) > 1)))
        ax.plot([*places.values()], [*percents.values()], "o", ms=4, color=display.GUIDE, clip_on=False)
        for problem in titles if key == DELTAS[0] else ():
            ax.annotate(name(problem, names).replace(" – ", " –\n"), (places[problem], percents[problem]),
                        xytext=(0.2, 0.45), textcoords="axes fraction",
                        arrowprops={"arrowstyle": "-", "color": display.GUIDE})
        ax.plot([place - 0.42, place + 0.42], [shares[key]["published"]] * 2, color=display.PRINTED, lw=2.5)
    ax.plot([], [], color=display.PRINTED, lw=2.5, label="paper, same pairs")
    ax.plot([], [], "o", ms=4, color=display.GUIDE, label="one class pair")
    ax.set_xticks(range(5), ["gradient\nstep", "noise of\nits norm", *(f"{d} ×" for d in DELTAS[1:])])
    ax.set(ylabel="label flipped, %", ylim=(0, 105))
    for place, words in ((0, "of correct\nimages"), (2.5, "of the images that the step flips")):
        ax.text(place, -0.24, words, transform=ax.get_xaxis_transform(), ha="center", va="top",
                fontsize=display.SMALLEST)
    figure.legend(loc="outside upper center", ncols=2, columnspacing=1, handlelength=1.2)
    return figure


def draw_pairs(runs, printed, names):
    """A row a problem: test images that a gradient step flips, and that ten times longer noise flips.

    With 95% intervals over images, ticks at the published shares (attackable; noise); a second share counts
    images of zero gradient as attackable, too. None where nothing was attacked.
    """
    problems = {p: u["test"] for p, u in by_problem(runs).items() if u["test"]["tried"]}

    def panel(title, key, series):
        return {f"{title}, %": {"limits": (0, 102), "series": {
            words: {name(p, names): (share["percent"], share["low"], share["high"])
                    for p, part in problems.items() if (share := of(part))["of"]}
            for words, of in series.items()},
            "published": {name(p, names): printed[key][p]["test"] for p in problems if p in printed[key]}}}

    ten = DELTAS[-1]
    return display.dots(
        panel("flipped by a gradient step", "attack", {
            "step": tables.flipped_by_step,
            "zero gradients counted, too": partial(tables.share, key="attack")})
        | panel("by ten times longer noise", ten, {"noise": partial(tables.share, key=ten)}),
        [name(p, names) for p in problems])


MEANS = ("Bars: the share of correctly classified test images that a gradient step flips (pale: those of "
         "zero gradient), and the share of flipped images that noise of one to ten times its norm flips. "
         "Dots are class pairs, lines the published means.")


def has_learned(run):
    """Whether a network is better on its training images than predicting the larger class for all.

    Classes are unequal where test images are held out of the training images, as of traffic signs. Among
    training images alone the larger share is up to 1.2 points off, by which images are held out.
    """
    unequal = isinstance(run.get("held_out"), list | tuple)
    larger = LARGER_SIGN[run["class_a"], run["class_b"]] if unequal else 50
    return tables.percent(run["train"], "accuracy") > larger + BETTER


def learned(runs):
    """Those runs whose network `has_learned` its problem; all runs where none has, as in small runs."""
    kept = [has_learned(u) for u in runs.to_dict("records")]
    return runs[kept] if any(kept) else runs


def distance_facts(runs, draws):
    """How much nearer the boundary is than the step along the gradient is long, and what a flat one predicts.

    Of the runs that measured it: the smaller norm of two attacks over that of the step ("ratio", the median;
    "low" and "high" hold nine in ten), and by the length of the noise in steps the percentage of images that
    `draws` samples flip: "near" if each boundary is a plane that far away, "at_step" if it is as far as the
    step is long, "flipped" as measured, and "inside": whether its 95% interval holds "near". "inside" of
    all counts such lengths; "longest" has the values of the longest noise.
    """
    some = [u for u in runs.to_dict("records") if len(u["test"].get("nearest", {}).get("step", ()))]
    if not some:
        return {}
    ratio = np.concatenate([np.fmin(1, u["test"]["nearest"]["carlini_wagner"] / u["test"]["nearest"]["step"])
                            for u in some])
    n, lengths = some[0]["dimension"], {}
    for delta in DELTAS:
        shares = [tables.share(u["test"], delta) for u in some]
        near, at_step = (100 * float(np.mean(planar_flip_probability(n, far / delta, draws)))
                         for far in (ratio, 1.0))
        flipped = percentage(*(sum(share[key] for share in shares) for key in ("hits", "of")))
        lengths[delta] = {"near": near, "at_step": at_step, "flipped": flipped,
                          "inside": flipped["low"] <= near <= flipped["high"]}
    low, median, high = np.quantile(ratio, (0.05, 0.5, 0.95))
    return {"runs": len(some), "images": len(ratio), "ratio": float(median), "low": float(low),
            "high": float(high), "lengths": lengths, "longest": lengths[DELTAS[-1]], "of": len(lengths),
            "inside": sum(v["inside"] for v in lengths.values())}


def nearer(runs, draws):
    """`distance_facts` where the boundary is nearer than the step is long; else {}."""
    facts = distance_facts(runs, draws)
    return facts if facts.get("ratio", 1) < 1 else {}


def distance_rows(facts):
    """Rows of `distance_facts`: the length of the noise, what planes at two distances predict, measured.

    Beside the prediction at the shorter distance stands whether the measured interval holds it.
    """
    def words(share):
        return f"{share:.4f}%" if 0.00005 < share < 0.01 else in_percent(share)

    return [[f"{delta} ×", in_percent(v["at_step"]),
             f"{words(v['near'])} ({'inside' if v['inside'] else 'outside'})",
             "{} ({} to {})".format(*(words(v["flipped"][key]) for key in ("percent", "low", "high")))]
            for delta, v in facts["lengths"].items()]


def second_trainings(runs, again):
    """`{problem: further training}`: where a training failed, the first further one that succeeded."""
    failed, second = by_problem(runs).keys() - by_problem(learned(runs)).keys(), {}
    for run in again.to_dict("records"):
        if (problem := (run["class_a"], run["class_b"])) in failed and has_learned(run):
            second.setdefault(problem, run)
    return second


def with_second(runs, again):
    """The runs, with the `second_trainings` in the place of those that failed."""
    second = second_trainings(runs, again)
    return pd.DataFrame([second.get(p, run) for p, run in by_problem(runs).items()]) if second else runs


def with_retraining(rows):
    """`(runs, further trainings) -> rows` whose values have the range over five or more trainings.

    rows    runs -> rows of a table, asked of `with_second`; failed trainings have no part in the range
    """
    keys = "quantity", "delta_inferred", "norm", "split", "problem", "class_a", "class_b"

    def both(runs, again):
        shown = [run["run"] for run in second_trainings(runs, again).values()]
        others = again[[has_learned(u) and u["run"] not in shown for u in again.to_dict("records")]]
        return over_alike(rows(with_second(runs, again)), rows(others) if len(others) else [], keys,
                          ("train", "test", "mean", "std"), whole=100)
    return both


def compared_where_learned(rows):
    """`runs -> rows` of a table, not compared where a training failed: they say nothing of the paper's."""
    def of(runs):
        there = by_problem(learned(runs))
        return [row if (row["class_a"], row["class_b"]) in there else
                row | {"status": "proxy: a network whose training failed"} for row in rows(runs)]
    return of


def of_first(again):
    """Of further trainings those of the first one's problem."""
    if not len(again):
        return again
    first, *_ = again.to_dict("records")
    return again[(again.class_a == first["class_a"]) & (again.class_b == first["class_b"])]


def retrained_in_words(again, printed, names):
    """How far further trainings of one problem lie apart, and whether the published attackable share lies
    among them; nothing of fewer than two that succeeded.

    printed   {"attack": {problem: published row}}
    """
    trained = learned(of_first(again))
    parts = [part for part in trained.get("test", ()) if part["attack"]["l2"]["count"]]
    if len(parts) < 2:
        return ""
    problem, norms = next(iter(by_problem(trained))), [part["attack"]["l2"]["mean"] for part in parts]
    shares, paper = [tables.percent(part, "attack") for part in parts], printed["attack"][problem]["test"]
    explains = "may explain" if min(shares) <= paper <= max(shares) else "explains little of"
    accuracy, noise = (ends_in_words([tables.percent(part, key) for part in parts])
                       for key in ("accuracy", DELTAS[-1]))
    return (f"On *{name(problem, names)}* another seed, which also draws the images, {explains} the "
            f"difference: over {len(parts)} further trainings the attackable share is "
            f"{ends_in_words(shares)} (paper: {in_percent(paper)}). "
            f"Their test accuracy is {accuracy}, the mean norm of their steps "
            f"{min(norms):.2f} to {max(norms):.2f}, and noise of {DELTAS[-1]} times that norm flips {noise} "
            "of the labels.")


def ends_in_words(shares):
    """The range of shares: "2.0% to 5.0%"; one share where all are equal."""
    return " to ".join(dict.fromkeys(in_percent(end(shares)) for end in (min, max)))


def show_means(page, slug, runs, printed, names):
    """Show the means over the problems whose training succeeded, and name those whose training failed."""
    page.extra(slug, runs, lambda u: mean_rows(learned(u), printed),
               "Means over class pairs, test images. Noise is tried on images that a step flips.",
               header={"share": "share", "ours": "mean", "ends": "range over pairs", "of": "images",
                       "published": "published, same pairs"})
    page.text(runs, lambda u: failed_in_words(u, names))


def failed_in_words(runs, names, again=None):
    """Which trainings failed, and which others are shown for them; nothing where none did.

    again   further trainings of a page whose tables are asked of `with_second`
    """
    failed = [p for p in by_problem(runs) if p not in by_problem(learned(runs))]
    second = {} if again is None else second_trainings(runs, again)

    def listed(problems):
        return " and ".join(name(p, names) for p in problems)

    words = [f"Training failed on {listed(failed)}: the network is hardly better than one that always "
             "predicts the larger class."] * bool(failed)
    if failed and again is None:
        words.append("Means leave it out.")
    elif second:
        words.append("The tables and figures of this page show, and compare, the first further training of "
                     f"{listed(second)} that succeeded.")
    if again is not None and (left := [p for p in failed if p not in second]):
        words.append(f"The failed training of {listed(left)} is shown and not compared.")
    return " ".join(words)


# ---- violins: Figures 8 to 10, 13 and 17 to 20 -----------------------------------------------------------
def draw_violins(runs, problems, names, key, norms=tuple(NORMS)):
    """One panel a norm: for each measured problem a violin of training images left, of test images right.

    key   of `tables.outcome`: the norms of attacks, or of each image's smallest perturbation that flips it
    None where no image has such a norm. Norms are known by 101 quantiles; smoothing is a quarter of their
    spread.
    """
    shown = {p: run for p, run in by_problem(runs).items() if p in problems}
    outcomes = {split: [tables.outcome(run[split], key) for run in shown.values()] for split in tables.SPLITS}
    if not any(outcome[norms[0]]["count"] for some in outcomes.values() for outcome in some):
        return None
    figure, axes = plt.subplots(len(norms), 1, figsize=(8, 1.3 + 2.4 * len(norms)), sharex=True,
                                squeeze=False)
    for ax, norm in zip(axes[:, 0], norms):
        for split, side, color in zip(tables.SPLITS, ("low", "high"), display.PALETTE):
            values = {place: tables.points(outcome[norm]) for place, outcome in enumerate(outcomes[split])
                      if outcome[norm]["count"]}
            if values:
                violins = ax.violinplot([*values.values()], [*values], side=side, widths=0.84,
                                        bw_method=0.25, showextrema=False, showmedians=True)
                violins["cmedians"].set_color("k")
                for body in violins["bodies"]:
                    body.set(color=color, alpha=0.75)
        ax.set(ylabel=f"{word(key)}, {NORMS[norm]}", xlim=(-0.6, len(shown) - 0.4))
        ax.set_ylim(bottom=0)
    axes[-1, 0].set_xticks(range(len(shown)), [name(p, names) for p in shown], rotation=25, ha="right",
                           rotation_mode="anchor")
    handles = [Rectangle((0, 0), 1, 1, color=c, alpha=0.75) for c in display.PALETTE[:2]]
    figure.legend(handles, [f"{SETS[s]} ({side})" for s, side in zip(tables.SPLITS, ("left", "right"))],
                  loc="outside upper right", ncols=2)
    return figure


def word(key):
    """What violins call a key of `tables.outcome`."""
    return "attack" if key == "attack" else "draw"


def medians(runs, names, key, norm):
    """What a violin shows, in numbers: `{problem: {split: {"count", "median", "low", "high"}}}`.

    low and high are the quantiles of 5 and 95%.
    """
    return {name(problem, names): {
        split: {"count": facts["count"], "median": tables.quantile(facts, 0.5),
                "low": tables.quantile(facts, 0.05), "high": tables.quantile(facts, 0.95)}
        for split in tables.SPLITS for facts in [tables.outcome(run[split], key)[norm]]}
        for problem, run in by_problem(runs).items()}


def publish_violins(page, item, results, problems, names, key):
    """Publish one of Figures 17 to 20: violins of three norms; its data are `medians` by norm.

    results   those of a page and their further trainings, of which those are shown that stand for a failed
              one
    """
    page.figure(item, results, lambda *u: draw_violins(with_second(*u), problems, names, key),
                rests=ATTACKED if key == "attack" else None,
                data=lambda *u: {norm: medians(with_second(*u), names, key, norm) for norm in NORMS},
                alt="Half violins for each problem in three panels, one a norm: the sizes of the "
                    f"{word(key)}s, training images left, test images right.")


# ---- Figures 11, 12 and 14 -------------------------------------------------------------------------------
def draw_example(runs, label):
    """Original, attacked, random and right, random and wrong; their norms below. None of no such image."""
    if (kept := example(runs, label)) is None:
        return None
    figure, axes = plt.subplots(1, 4, figsize=(8, 3.1))
    display.image_grid(axes, kept["images"].astype(np.float32).clip(0, 1),
                       ("(a) original", "(b) attacked: wrong", "(c) noise: correct", "(d) noise: wrong"))
    for ax, *norms in zip(axes[1:], *(kept["norms"][k] for k in NORMS)):
        ax.set_xlabel("ℓ₁ {:.1f}\nEuclidean {:.2f}\nℓ∞ {:.2f}".format(*norms))
    return figure


def flipping_norms(runs, delta):
    """Norms of the attacks on test images, and of the smallest draw of one size that flips each label.

    Draws are tried by increasing norm: the k-th of N in the unit ball of R^n has norm (k / (N + 1))^(1/n),
    to within a thousandth here.
    """
    run, = runs.to_dict("records")
    attack = np.asarray(run["test"]["sampled"]["attack_l2"], float)
    first, draws = np.asarray(run["test"]["sampled"]["first"])[DELTAS.index(delta)], run["draws"]
    flipped = first < draws
    return attack, delta * attack[flipped] * ((first[flipped] + 1) / (draws + 1)) ** (1 / run["dimension"])


def detail_data(runs):
    """Counts and medians of both, and the 95th percentile over the median with its bootstrap interval."""
    data = {}
    for group, norms in zip(("attacks", "draws"), flipping_norms(runs, DELTAS[-1])):
        data[group] = {"count": len(norms)}
        if len(norms):
            drawn = np.random.default_rng(0).choice(norms, (2_000, len(norms)))
            reach = np.quantile(drawn, 0.95, axis=1) / np.median(drawn, axis=1)
            data[group] |= {"median": float(np.median(norms)),
                            "reach": float(np.quantile(norms, 0.95) / np.median(norms)),
                            "low": float(np.quantile(reach, 0.025)), "high": float(np.quantile(reach, 0.975))}
    return data


def draw_detail(runs):
    """Distributions of the norms of attacks and random perturbations; the legend tells what the axis cuts."""
    figure, ax = plt.subplots(figsize=(7.2, 3.6))
    norms = {"attacks": flipping_norms(runs, 1)[0]} | {
        f"noise, {d} × the norm": flipping_norms(runs, d)[1] for d in (5, 10)}
    end = max(1.0, np.quantile(np.concatenate([*norms.values(), [0.0]]), 0.98))    # one sample takes no axis
    for color, (label, values) in zip(display.PALETTE, norms.items()):
        inside = values[values <= end]
        beyond = f", {len(values) - len(inside)} beyond" if len(inside) < len(values) else ""
        ax.hist(inside, np.linspace(0, end, 40), density=len(inside) > 0, color=color, alpha=0.55,
                label=f"{label} ({len(values):,}{beyond})")
    ax.set(xlabel="Euclidean norm", ylabel="density")
    ax.legend()
    return figure


# ---- Figure 1, and Table 1 as a picture ------------------------------------------------------------------
def paradox(runs, published):
    """Figure 1, of one run: flipped images over the norm of the attack and of the noise, and two images.

    published   {"attack" or delta: row of the printed values, {"train", "test"}}
    """
    run, = runs.to_dict("records")
    figure, panels = plt.subplot_mosaic([["left", "right"], ["cat", "aeroplane"]], figsize=(5.6, 5.2),
                                        height_ratios=(1, 0.6))
    left, right = panels["left"], panels["right"]
    for split, colour, style, side, hatch in zip(tables.SPLITS, display.PALETTE, display.LINES, (-0.2, 0.2),
                                                 ("", "//")):
        part = run[split]
        if (norms := part["attack"]["l2"])["count"]:
            reached = np.linspace(0, tables.flipped_by_step(part)["percent"], len(norms["quantiles"]))
            left.step(np.r_[0, norms["quantiles"], 5], np.r_[0, reached, reached[-1]], color=colour, ls=style,
                      label=SETS[split])
        left.plot(4.9, published["attack"][split], "_", color=display.PRINTED, ms=14, mew=2)
        for place, delta in enumerate(DELTAS):
            if (flipped := tables.share(part, delta))["of"]:
                right.bar(place + side, flipped["percent"], 0.4, color=colour, edgecolor="white", hatch=hatch)
                right.vlines(place + side, flipped["low"], flipped["high"], color=display.GUIDE, lw=1.2)
            right.plot(place + side, published[delta][split], "_", color=display.PRINTED, ms=14, mew=2)
    left.plot([], [], "_", color=display.PRINTED, ms=14, mew=2, label="published")
    left.legend(loc="lower right")
    left.set(xlim=(0, 5), ylim=(0, 105), xlabel="Euclidean norm of the attack\n(pixels from 0 to 1)",
             ylabel="label flipped, % of images", title="attack along the gradient")
    right.set(ylim=(0, 105), xlabel="norm of the noise,\nin norms of the attack",
              title=f"{run['draws']:,} noise samples")
    right.set_xticks(range(len(DELTAS)), [f"{d} ×" for d in DELTAS])
    for label, name, which, text in ((1, "cat", 1, "attacked cat: “aeroplane”"),
                                     (0, "aeroplane", 2, "noisy aeroplane: correct")):
        panels[name].set_axis_off()
        if (panel := example(runs, label)) is not None:
            panels[name].set_axis_on()
            display.image_grid([panels[name]], [panel["images"][which].astype(np.float32).clip(0, 1)])
            panels[name].set_xlabel(text)
    return figure


def paradox_data(runs):
    """Shares and norms in Figure 1, for both sets; of the first perturbation alone, too."""
    run, = runs.to_dict("records")
    data = {}
    for split in tables.SPLITS:
        part, ten = run[split], tables.share(run[split], 10)
        first = np.asarray(part["sampled"]["first"])[DELTAS.index(10)]
        data[split] = {
            "attacked_pct": tables.percent(part, "attack"),
            **{f"median_{norm}": tables.quantile(part["attack"][norm], 0.5) for norm in ("l2", "linf")},
            **{f"turned_{d}_pct": tables.percent(part, d) for d in DELTAS},
            "turned_10_interval": [ten["low"], ten["high"]], "perturbed": ten["of"],
            "single_10_pct": percent(int((first == 0).sum()), first.size), "pictures": len(run["panels"])}
    return data


def over_pairs(rows, xlabel, *, ours="ours: median, range", published="published median", limits=None):
    """Median and range of each row, a tick at its published value: `{label: (shares, published or None)}`.

    ours, published   what the legend calls them
    """
    return display.dots({xlabel: {"limits": limits, "series": {ours: {
        label: (np.median(some), min(some), max(some)) for label, (some, _) in rows.items() if some}},
        "published": {label: printed for label, (_, printed) in rows.items() if printed is not None}}},
        [*rows], tick=published)
