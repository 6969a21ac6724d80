"""Natural networks beside adversarially trained ones (Section IV.D): pairs, how ROBY differs, pictures."""
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from papers.chen import experiments, figures, ranking
from report import display
from report.cell import Cell, bare

SAMPLES = {"original": "clean images", "adversarial": "adversarial images"}
KINDS, PRINTED = ("natural", "robust"), experiments.PAPER["table-5"].rows
# How ROBY is computed: features and classes, and the measure; the last one is not rescaled.
READINGS = {"logits, true classes": (("logits", "true"), "roby_2"),
            "logits, predicted classes": (("logits", "predicted"), "roby_2"),
            "unscaled overlap, logits, true classes": (("logits", "true"), "overlap_2")}
TRUE, PREDICTED, OVERLAP = READINGS


# ---- pairs -----------------------------------------------------------------------------------------------
def measures(run, reading=TRUE):
    """`{samples: ROBY}` of a network, or another reading; None where it has none."""
    how, name = READINGS[reading]
    places = {"original": run["classes_test"], "adversarial": run["attacks"]["text"]["classes"]}
    return {samples: figures.metrics(classes, *how)[name] for samples, classes in places.items()}


def by_network(*frames):
    """`{(data set, model): {kind: run}}` by printed names, of all networks that are there."""
    networks = {}
    for kind, runs in zip(KINDS, frames):
        for u in runs.to_dict("records"):
            name = experiments.DATASETS[u["dataset"]], experiments.SPELT[u["model"]]
            networks.setdefault(name, {})[kind] = u
    return networks


def table_5(*frames):
    """A row a network of which there is a natural or a robust one, as Table V prints them."""
    columns = [f"roby_{samples}_{kind}" for samples in SAMPLES for kind in KINDS]
    return [dict.fromkeys(columns) | dict(zip(("dataset", "model"), name)) | {
        f"roby_{samples}_{kind}": Cell(value, status=figures.below(u) if value is not None else None)
        for kind, u in sides.items() for samples, value in measures(u).items()}
        for name, sides in by_network(*frames).items()]


def pairs(*frames):
    """`{(data set, model): [natural run, robust run]}` of networks with both, each with a ROBY."""
    return {name: [sides[kind] for kind in KINDS] for name, sides in by_network(*frames).items()
            if len(sides) == 2 and None not in [v for u in sides.values() for v in measures(u).values()]}


def change(natural, robust, samples):
    """`(difference, low, high)`: ROBY of the robust minus that of the natural network; over test images."""
    images = {"original": "test", "adversarial": "text"}[samples]
    gaps = figures.resampled(robust, images) - figures.resampled(natural, images)
    return (measures(robust)[samples] - measures(natural)[samples], *np.quantile(gaps, (0.025, 0.975)))


def natural_and_robust(*frames):
    """A row a pair: accuracy, success of the text's PGD, and differences of ROBY."""
    return [{"network": f"{model}, {data}"} | {
        f"{name}_{kind}": value for kind, u in zip(KINDS, pair) for name, value in (
            ("acc", 100 * u["test_accuracy"]),
            ("asr", f"{100 * figures.success(u, 'text'):.1f} (n = {np.sum(u['correct'])})"))} | {
        samples: "{:.3f} ({:.3f} to {:.3f})".format(*change(*pair, samples)) for samples in SAMPLES}
        for (data, model), pair in pairs(*frames).items()]


def with_values(both, reading, samples):
    """A row a pair with ROBY of both networks; a pair in which one never predicts some class has none."""
    return pd.DataFrame([[measures(u, reading)[samples] for u in pair] for pair in both.values()],
                        columns=KINDS, index=[*both]).dropna().astype(float)


def by_reading(*frames):
    """A row a way to compute ROBY: means over the pairs, and in how many the robust network has less."""
    both, rows = pairs(*frames), []
    for reading in READINGS if both else ():
        rows.append({"reading": reading})
        for samples in SAMPLES:
            some = with_values(both, reading, samples)
            rows[-1] |= {f"{samples}_{kind}": some[kind].mean() for kind in KINDS} | {
                samples: f"{(some.robust < some.natural).sum()} of {len(some)}"}
    return rows


def in_print(data, model):
    """The row of Table V of a network."""
    return experiments.PAPER["table-5"].row(dataset=data, model=model)


def counts(both, reading):
    """`{samples: {"below", "of", "paper"}}`: in how many pairs the robust network has the smaller ROBY.

    "paper" counts the published pairs among those that have a value here.
    """
    result = {}
    for samples in SAMPLES:
        some = with_values(both, reading, samples)
        same = [in_print(*name) for name in some.index]
        result[samples] = {
            "below": int((some.robust < some.natural).sum()), "of": len(some),
            "paper": sum(row[f"roby_{samples}_robust"] < row[f"roby_{samples}_natural"] for row in same)}
    return result


PAIRS = ("Natural and robust networks: accuracy on the test images, attack success rate (ASR) of the text's "
         "PGD on the n correctly classified of the attacked images, and ROBY (L2) of the robust minus that "
         "of the natural network (95% interval over test images; one training each)")
COLUMNS = {"network": "network", "acc_natural": "accuracy, natural, %", "acc_robust": "accuracy, robust, %",
           "asr_natural": "ASR, natural, %", "asr_robust": "ASR, robust, %",
           **{samples: f"ROBY, difference, {words}" for samples, words in SAMPLES.items()}}
MEANS = ("ROBY (L2) by classes, and the unscaled overlap: mean over the pairs, and in how many the robust "
         "network has the smaller value; a pair does not count where a network never predicts some class")
HEADER = {"reading": "features, classes"} | {
    name: heading for samples, words in SAMPLES.items() for name, heading in (
        (f"{samples}_natural", f"{words}: natural"), (f"{samples}_robust", f"{words}: robust"),
        (samples, f"{words}: robust smaller in"))}


# ---- facts -----------------------------------------------------------------------------------------------
def facts(*frames):
    """For sentences: how many pairs, how they were trained and attacked, in how many ROBY is smaller; or {}.

    `true` and `predicted` are `counts` by these classes; `flipped` is the success of the text's PGD on the
    robust networks, `unprotected` how many lose most labels to it; `upper` is the half attacked least (None
    of fewer than four pairs).
    """
    both = pairs(*frames) if all(map(len, frames)) else {}
    if not both:
        return {}
    by_success = sorted(both, key=lambda name: figures.success(both[name][1], "text"))
    gaps = {samples: [change(*both[name], samples)[0] for name in by_success] for samples in SAMPLES}
    half = len(both) // 2
    models = pd.DataFrame(both.keys(), columns=("data", "model")).groupby("data", sort=False).model
    return {"all": len(PRINTED), "true": counts(both, TRUE), "predicted": counts(both, PREDICTED),
            "names": ", ".join(f"{len(names)} on {data}" for data, names in models),
            "flipped": figures.between(100 * figures.success(pair[1], "text") for pair in both.values()),
            "unprotected": sum(figures.success(pair[1], "text") > 0.5 for pair in both.values()),
            "upper": {"of": half, "rise": sum(gap > 0 for gap in gaps["original"][:half]),
                      "fall": sum(gap < 0 for gap in gaps["adversarial"][:half])} if half > 1 else None,
            **{f"{kind}_{name}": figures.between((pair[n][name] for pair in both.values()), unit="", digits=9)
               for n, kind in enumerate(KINDS) for name in ("epochs", "images_train")},
            "short": sum(any(pair[1][name] < pair[0][name] for name in ("images_train", "epochs"))
                         for pair in both.values())}


def within_chance(natural, robust, again):
    """Facts: in how many pairs ROBY on clean images differs by less than `ranking.limit` on their data set;
    in how many the published values do. {} of no further training.
    """
    by_data, model = ranking.limits(natural, again)
    some = with_values(pairs(natural, robust), TRUE, "original")
    changes = []    # (limit, ours, published) of each pair
    for (data, network), row in some.iterrows():
        if data in by_data:
            paper = in_print(data, network)
            changes.append((by_data[data], row.robust - row.natural,
                            paper["roby_original_robust"] - paper["roby_original_natural"]))
    return changes and {
        "within": sum(abs(ours) < limit for limit, ours, _ in changes), "pairs": len(changes), "model": model,
        "paper": sum(abs(published) < limit for limit, _, published in changes),
        "limits": ", ".join(f"{limit:.2f} on {data}" for data, limit in by_data.items())}


def shorter(*frames):
    """`facts`, where robust networks were trained for less than their natural ones; else {}."""
    whole = facts(*frames)
    return whole if whole and whole["short"] else {}


def under_attack(runs):
    """`{(data set, model): (ours, published)}`: ROBY on adversarial minus clean images, natural networks."""
    columns = [f"roby_{samples}_natural" for samples in ("adversarial", "original")]
    rows = pd.DataFrame(bare(table_5(runs))).dropna(subset=columns)
    both = {(row["dataset"], row["model"]): [row[name] for name in columns]
            for row in rows.to_dict("records")}
    return {name: (both[name][0] - both[name][1], row[columns[0]] - row[columns[1]])
            for row in PRINTED if (name := (row["dataset"], row["model"])) in both}


def natural_facts(runs):
    """For sentences: on how many natural networks ROBY falls under attack, here and in the paper.

    `rate` is the attack's success on those where it falls. With the mean unscaled overlap of one data set on
    `original` and on `adversarial` images.
    """
    gaps = under_attack(runs)
    if not gaps:
        return gaps
    there = Counter(data for data, _ in gaps)
    nets = {(experiments.DATASETS[u["dataset"]], experiments.SPELT[u["model"]]): u
            for u in runs.to_dict("records")}
    falls = [100 * figures.success(nets[name], "text") for name, (ours, _) in gaps.items() if ours < 0]
    data = ranking.MNIST if ranking.MNIST in there else next(iter(there))
    overlaps = pd.DataFrame([measures(u, OVERLAP) for (of, _), u in nets.items() if of == data], dtype=float)
    return {"n": len(gaps), "where": ", ".join(f"{n} on {data}" for data, n in there.items()),
            **{who: sum(gap[k] < 0 for gap in gaps.values()) for k, who in enumerate(("ours", "paper"))},
            "rate": figures.between(falls) if falls else None,
            "data": data, **overlaps.mean()}


def neighbours(natural, robust):
    """For sentences: for how many networks the map of attacked images groups classes better when robust.

    `which` says whether the text's PGD flips these least once they are robust, `caveat` how many images the
    maps hold, where these numbers differ.
    """
    shares = [{u["model"]: figures.grouped(u["map_text"], u["labels"]) for u in runs.to_dict("records")}
              for runs in (natural, robust)]
    both = [model for model in shares[0] if model in shares[1]]
    images = [{len(u["labels"]) for u in runs.to_dict("records") if u["model"] in both}
              for runs in (natural, robust)]
    numbers = [figures.between(some, unit="", digits=9) for some in images] if both else []
    caveat = len(set().union(*images)) > 1 and (
        f" The natural maps hold {numbers[0]} images, the robust ones {numbers[1]}, so that these shares are "
        "comparable only roughly.")
    better = {m for m in both if shares[1][m] > shares[0][m]}
    least = sorted(both, key={u["model"]: figures.success(u, "text")
                              for u in robust.to_dict("records")}.get)[:len(better)]
    some = 0 < len(better) < len(both)
    which = ": those of which the attack flips the fewest labels" if some and better == set(least) else ""
    return both and {"of": len(both), "better": len(better), "which": which, "caveat": caveat or ""}


# ---- pictures and figures ------------------------------------------------------------------------------
def draw_changes(*frames):
    """How ROBY differs between the networks of each pair, on clean and on adversarial images."""
    both, panels = pairs(*frames), {}
    rows = {name: f"{name[1]}, {name[0]}" for name in sorted(
        both, key=lambda name: figures.success(both[name][1], "text"))}
    for samples, words in SAMPLES.items():
        panels[f"{words}:\nROBY, robust minus natural"] = {
            "series": {"ours": {rows[name]: change(*both[name], samples) for name in rows}},
            "published": {rows[name]: in_print(*name)[f"roby_{samples}_robust"]
                          - in_print(*name)[f"roby_{samples}_natural"] for name in rows}, "guide": 0}
    return display.dots(panels, [*rows.values()])


def draw_success(*frames):
    """Success of the paper's attack on both networks of each pair."""
    both = pairs(*frames)
    rows = {name: f"{name[1]}, {name[0]}" for name in sorted(
        both, key=lambda name: figures.success(both[name][1], "text"))}
    return display.dots({"label flipped, % of the correctly classified images": {"series": {
        f"{kind} network": {rows[name]: figures.percent(both[name][n], "text") for name in rows}
        for n, kind in enumerate(KINDS)}, "limits": (0, 101)}}, [*rows.values()])


def draw_under_attack(runs):
    """ROBY of natural networks on adversarial minus clean images, here and in the paper."""
    gaps = {f"{model}, {data}": gap for (data, model), gap in under_attack(runs).items()}
    return display.dots({"ROBY, adversarial minus clean images": {
        "series": {"ours": {name: ours for name, (ours, _) in gaps.items()}},
        "published": {name: paper for name, (_, paper) in gaps.items()}, "guide": 0}})


def draw_neighbours(natural, robust):
    """Share of images whose nearest neighbour in the map of a network has their class."""
    def shares(runs, key):
        return {experiments.SPELT[u["model"]]: figures.grouped(u[key], u["labels"])
                for u in runs.to_dict("records")}

    return display.dots({"nearest neighbour in the map has the image's class, %": {"series": {
        "natural, clean": shares(natural, "map_clean"),
        "natural, attacked": shares(natural, "map_text"), "robust, attacked": shares(robust, "map_text")},
        "limits": (0, 101)}})


def draw_slopes(*frames):
    """ROBY on clean images of each natural network and of its robust one."""
    ends = [[measures(u)["original"] for u in pair] for pair in pairs(*frames).values()]
    figure, ax = plt.subplots(figsize=(4.2, 3.4))
    for sign, word in ((-1, "falls"), (1, "rises")):
        some = [pair for pair in ends if np.sign(pair[1] - pair[0]) == sign]
        for n, pair in enumerate(some):
            ax.plot((0, 1), pair, "o-", color=display.PALETTE[sign > 0], ms=4, lw=1.5,
                    label=f"ROBY {word}: {len(some)}" if n == 0 else None)
    ax.set(xticks=(0, 1), xticklabels=("natural", "adversarially trained"), xlim=(-0.2, 1.2),
           ylabel="ROBY, clean images")
    ax.legend()
    return figure


def of_samples(samples):
    """What `page.figure` takes for Figure 5 or 6: ROBY of natural and robust networks on these images."""
    def networks(*frames):
        return {f"{row['dataset']} {row['model']}": {kind: row[f"roby_{samples}_{kind}"] for kind in KINDS}
                for row in table_5(*frames)}

    def draw(*frames):
        series = {f"roby_{samples}_{kind}": f"{kind} network" for kind in KINDS}
        return figures.draw_networks(pd.DataFrame(bare(table_5(*frames))), series,
                                     sort=f"roby_{samples}_natural", axis=f"ROBY, {SAMPLES[samples]}")

    return {"draw": draw, "data": lambda *frames: {
        "panels": len({row["dataset"] for row in table_5(*frames)}), "networks": networks(*frames)},
        "alt": f"For each data set, ROBY of natural and of trained robust networks, {SAMPLES[samples]}."}
