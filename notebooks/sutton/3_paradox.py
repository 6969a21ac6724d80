# ---
# jupyter:
#   boundary_book:
#     items:
#     - figure-1
#     - table-1
#     needs:
#     - sutton/7_2_1_cifar10
#     - sutton/7_2_2_fashion_mnist
#     - sutton/7_2_3_gtsrb
#     - sutton/7_2_4_imagenet
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: boundary_book
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (sutton-3)=
# # 3. All experiments in short: adversarial against random perturbations
#
# *Sutton et al. {cite:p}`sutton2023`, Section 3*

# %% tags=["parameters"]
profile: str = "quick"  # smoke, quick or paper
seed: int = 0  # of the small networks of smoke and quick
device: str = "auto"  # auto, cpu or cuda
units: str = "missing"  # nothing is computed here at full scale
images: int = None  # training images of a small net; None takes the profile's value [16..]
draws: int = None  # random perturbations in the small runs; None takes the profile's value [1..2000]

# %% tags=["hide-cell"]
import matplotlib.pyplot as plt
import numpy as np

from papers.sutton import experiments, figures, readings, tables
from papers.sutton.experiments import DELTAS
from papers.sutton.figures import DATASETS
from report import display, reference
from report.page import start
from report.sums import words

run = start("sutton/3_paradox", globals())
paper = reference.paper("sutton")
SHOWN = "-".join(experiments.SHOWN)  # the problem of Figure 1

# %% [markdown]
# ## The claim, and how it is tested
#
# The whole paper sets out to explain one finding, which it states as follows. A network classifies most images correctly. Most images also
# have a small adversarial perturbation, hardly visible to us, that flips the predicted label. Such a network seems fragile. Yet 2,000 random
# perturbations of up to five times the norm of that attack mostly leave the label unchanged. The paper calls this the *paradox of apparent
# stability*.
#
# Section 3 presents the finding in one figure and one table, which summarise the experiments of Section 7. This page therefore computes
# nothing of its own at full scale. It uses the results of the pages on {ref}`CIFAR-10 <sutton-7-2-1>`, {ref}`Fashion-MNIST <sutton-7-2-2>`,
# {ref}`traffic signs <sutton-7-2-3>` and {ref}`ImageNet <sutton-7-2-4>`. Only small runs without these results train a few small networks.
# Pixels lie between 0 and 1 throughout.

# %%
scale = run.scale(**experiments.PARADOX)


# %%
# From each data set come the problems of a class and the next one; from the photographs, whose network is a
# proxy, whatever is there.
def next_ones(names):
    """Names of the problems of each class and the next one."""
    return [f"{a}-{b}" for a, b in zip(names, names[1:])]


PROBLEMS = {dataset: next_ones(names) for dataset, names in experiments.CLASSES.items()}
PROBLEMS["gtsrb"] = next_ones([f"s{n}" for n in range(len(experiments.SIGNS))])  # signs go by number
colours = run.results(experiments.cifar10, plan=experiments.small_cifar10,
                      names=[*PROBLEMS["cifar10"], SHOWN])
photos = run.results(experiments.imagenet, plan=experiments.small_imagenet)
example = colours.only(lambda given: given["run"] == SHOWN)
recorded = figures.joined(
    "experiments", colours.only(lambda given: given["run"] in PROBLEMS["cifar10"]),
    run.results(experiments.fashion_mnist, plan=experiments.small_fashion_mnist,
                names=PROBLEMS["fashion_mnist"]),
    run.results(experiments.gtsrb, plan=experiments.small_gtsrb, names=PROBLEMS["gtsrb"]),
    photos.only(lambda given: given["run"] in (photos.recorded or photos.own)))

# %% [markdown]
# ## Figure 1: aeroplane against cat

# %%
COLOURS = dict(zip(tables.SPLITS, display.PALETTE))


def the_example(units):
    """The run of Figure 1, or None."""
    mine = units[units.run == SHOWN] if len(units) else units
    return mine.to_dict("records")[0] if len(mine) else None


def inset(ax, image, text):
    """A picture [3, H, W] with a line of text below it."""
    display.image_grid([ax], [np.clip(np.asarray(image, np.float32), 0, 1)])
    ax.set_xlabel(text)


def panel_of(unit, label):
    """Pictures of a class (0 aeroplane, 1 cat): original, attacked, random and right, random and wrong."""
    found = [p for p in unit["panels"] if p["label"] == label]
    return found[0] if found else None


def draw_paradox(units):
    """Flipped images over the norm of the attack, and over the norm of random perturbations."""
    unit = the_example(units)
    figure, panels = plt.subplot_mosaic([["left", "right", "cat"], ["left", "right", "aeroplane"]],
                                        figsize=(8, 4.2), width_ratios=(1, 1, 0.55))
    left, right = panels["left"], panels["right"]
    for split in tables.SPLITS if unit else ():
        facts, found = unit[split]["attack"]["l2"], tables.attacked(unit[split])
        if facts["count"]:
            reached = np.linspace(0, found["percent"], len(facts["quantiles"]))
            left.step(np.r_[0, facts["quantiles"], 5], np.r_[0, reached, reached[-1]], color=COLOURS[split],
                      ls="-" if split == "train" else "--", label=figures.SETS[split])
    left.set(xlim=(0, 5), ylim=(0, 105), xlabel="Euclidean norm of the attack\n(pixels from 0 to 1)",
             ylabel="label flipped, % of images", title="(a) adversarial perturbation")
    if left.get_legend_handles_labels()[0]:
        left.legend(loc="lower right")
    for split, side in zip(tables.SPLITS, (-0.2, 0.2)):
        for place, delta in enumerate(DELTAS if unit else ()):
            found = tables.disturbed(delta)(unit[split])
            if found["percent"] is None:
                continue
            right.bar(place + side, found["percent"], 0.4, color=COLOURS[split], edgecolor="white",
                      hatch="" if split == "train" else "//")
            right.vlines(place + side, found["low"], found["high"], color="0.2", lw=1.2)
    right.set(ylim=(0, 105), xlabel="norm, in norms of the attack",
              title=f"(b) {unit['draws']:,} noise samples" if unit else "(b) noise samples")
    right.set_xticks(range(len(DELTAS)), [f"{d} ×" for d in DELTAS])
    for label, name, which, text in ((1, "cat", 1, "attacked cat:\n“aeroplane”"),
                                     (0, "aeroplane", 2, "noise:\ncorrect label")):
        found = panel_of(unit, label) if unit else None
        if found is None:
            panels[name].set_axis_off()
        else:
            inset(panels[name], found["images"][which], text)
    return figure


def paradox_data(units):
    """Shares and sizes of the figure, for both sets."""
    unit = the_example(units)
    if unit is None:
        return {}
    return {split: {"attacked_pct": tables.attacked(unit[split])["percent"],
                    "median_l2": tables.quantile(unit[split]["attack"]["l2"], 0.5),
                    "median_linf": tables.quantile(unit[split]["attack"]["linf"], 0.5),
                    **{f"turned_{d}_pct": tables.disturbed(d)(unit[split])["percent"] for d in DELTAS},
                    "turned_10_interval": [tables.disturbed(10)(unit[split])[k] for k in ("low", "high")],
                    "perturbed": tables.disturbed(10)(unit[split])["of"],
                    "single_10_pct": single(unit[split]),
                    "pictures": len(unit["panels"])} for split in tables.SPLITS}


def single(part):
    """Share of the images that their first random change turns, at ten times the attack's length."""
    first = np.asarray(part["sampled"]["first"])[DELTAS.index(10)]
    return 100 * float((first == 0).mean()) if first.size else None


def attacked_images(unit):
    """How many test images were attacked."""
    return tables.attacked(unit["test"])["of"]


def turned(unit, delta):
    """Share of the test images whose label random perturbations flip, with its interval, for a sentence."""
    found = tables.disturbed(delta)(unit["test"])
    return (f"{words(found['percent'])} (95% interval {words(found['low'])} to {words(found['high'])})"
            if found["of"] else "no image")


ALT = ("Left: the share of images whose label an attack flips rises with its norm, for training and test "
       "images. Middle: bars of the shares whose label noise flips, at one to ten times the norm of the "
       "attack. Right: an attacked cat and a noisy aeroplane.")
run.figure("figure-1", example, draw_paradox, data=paradox_data, alt=ALT,
           contains={"panel (a)": lambda d: bool(d) and all(v["median_l2"] is not None for v in d.values()),
                     "panel (b)": lambda d: bool(d) and None not in [v["turned_10_pct"] for v in d.values()],
                     "inset images": lambda d: bool(d) and d["test"]["pictures"] > 0})


# %%
def printed_for(item):
    """The printed share of test images of the problem that is shown, in words."""
    return words(tables.printed(paper[item])[0, 3]["test"], "%")


def outside(found):
    """Whether the printed attackable share lies outside the interval of ours, in words."""
    printed = tables.printed(paper["table-5"])[0, 3]["test"]
    if found["low"] <= printed <= found["high"]:
        return ", inside that interval"
    return ", outside that interval; {ref}`Section 7.2.1 <sutton-7-2-1>` names possible causes"


shown = run.best(example)
unit = the_example(shown) if len(shown) else None
if unit is not None and unit["test"]["attack"]["l2"]["count"]:
    d, found = paradox_data(shown)["test"], tables.attacked(unit["test"])
    display.say(
        f"The attack flips the label of {words(d['attacked_pct'])} of the {attacked_images(unit):,} "
        f"correctly classified test images that were attacked (95% interval {words(found['low'])} to "
        f"{words(found['high'])}; paper: {printed_for('table-5')}{outside(found)}); the median "
        f"norm of these attacks is {words(d['median_l2'], '')}. {d['perturbed']:,} of the attackable "
        "images, drawn at random, were perturbed at random. With noise of up to five "
        "times the norm of the attack at least "
        f"one random perturbation flips the label for {turned(unit, 5)} (paper: {printed_for('table-11')}), "
        f"at ten times for {turned(unit, 10)} (paper: {printed_for('table-12')}).")


# %% [markdown]
# ## Table 1: all data sets
#
# The figure itself prints no numbers; those behind it stand in Tables 5, 11 and 12. Table 1 summarises pairs of a class and the next
# one, such as aeroplane and automobile, so the pair of Figure 1 is not among them.
#
# The table's caption is lost in our copy. What its entries summarise can be found out from the other tables: the *median* over the problems of a class and the
# next one, row by row, so that a column joins different problems.

# %%
def printed_median(dataset, quantity, delta, split):
    """The median over consecutive problems of the printed table that a row of Table 1 may summarise."""
    if dataset == "cifar10":
        table = {"accuracy": "table-4", "adversarial_susceptibility": "table-5"}.get(
            quantity, {2: "table-10", 5: "table-11", 10: "table-12"}.get(delta))
        mine = [r for r in paper[table].rows if r["class_b"] == r["class_a"] + 1]
    else:
        mine = [r for r in paper["table-20" if dataset == "fashion_mnist" else "table-23"].rows
                if (r["quantity"], r["delta_inferred"]) == (quantity, delta)]
    return float(np.median([r[split] for r in mine]))


entries = [(r["quantity"], r["delta_inferred"], dataset, split, r[dataset][split])
           for r in paper["table-1"].rows if r["unit"] == "%"
           for dataset in DATASETS for split in tables.SPLITS]
same = [abs(printed_median(d, q, delta, s) - value) < 0.006 for q, delta, d, s, value in entries]
other = [(DATASETS[d], s, value, printed_median(d, q, delta, s))
         for (q, delta, d, s, value), equal in zip(entries, same) if not equal]
exceptions = "; ".join(f"{name}, {figures.SETS[s]}: {value:g} printed, the median is {median:g}"
                       for name, s, value, median in other)
display.say(f"{sum(same)} of the {len(entries)} printed entries of the three small data sets are the "
            f"medians of the printed tables. The exception{'s' if len(other) != 1 else ''}: {exceptions}.")


# %%
def parts_of(units, dataset):
    """The runs of a data set's problems, in their order."""
    mine = units[units.run.isin(PROBLEMS[dataset])] if len(units) else units
    return mine.to_dict("records")


READ = [("accuracy", None, tables.accuracy), ("adversarial_susceptibility", None, tables.attacked),
        *(("random_susceptibility", delta, tables.disturbed(delta)) for delta in (2, 5, 10))]


def values_of(units, dataset, of, split, failed=(), key="percent"):
    """One number of each problem of a data set, None left out, and problems named in `failed`."""
    found = [of(u[split]) for u in parts_of(units, dataset) if u["run"] not in failed]
    return [each[key] for each in found if each["percent"] is not None]


def failures(units, dataset):
    """Names of the problems of a data set whose net learned no more than to answer one class."""
    mine = units[units.run.isin(PROBLEMS[dataset])] if len(units) else units
    larger = figures.LARGER_SIGN if dataset == "gtsrb" else None
    return sorted({*mine.run} - {*figures.learned(mine, larger).run}) if len(mine) else []


def photographs(units):
    """Accuracy, adversarial and random susceptibility on ImageNet, in percent, by row of the table."""
    blocks = units[units.run.str.startswith("squeezenet")].to_dict("records") if len(units) else []
    if not blocks:
        return {}
    correct, sizes = (np.concatenate([np.asarray(b[key]) for b in blocks]) for key in ("correct", "l2"))
    first = np.concatenate([np.asarray(b["first"]) for b in blocks], 1)
    tried = min(int(b["draws"]) for b in blocks)
    told = {"accuracy": 100 * float(correct.mean()), "dimension": int(blocks[0]["dimension"])}
    if len(sizes):
        told["adversarial_susceptibility"] = 100 * float((sizes > 0).mean())
    if first.shape[1]:
        told["random_susceptibility"] = 100 * float((first[DELTAS.index(10)] < tried).mean())
    return told


NOT_RUN = {"imagenet_resnet50": "not run: no images of ImageNet are measured yet",
           "imagenet_vgg19": "not run: the weights of VGG19 are not in the data folder"}


def incomplete(dataset, units, found):
    """Why a median over what was found is not that of the paper; None where all problems have a value."""
    have, of_all = len(parts_of(units, dataset)), len(PROBLEMS[dataset])
    if have < of_all:
        return f"not run: {have} of {of_all} problems are there"
    without = of_all - len(found)
    return f"not run: {without} of {of_all} problems without an attackable image" if without else None


def chosen(units, dataset):
    """Why an attackable share cannot disagree; None where no choice of the network rests on it."""
    fitted = dataset == "gtsrb" and any(experiments.reading(u.get("architecture", "")) in readings.NORMALISED
                                        for u in parts_of(units, dataset))
    return readings.FITTED if fitted else None


def table_1(units):
    """Medians over problems, compared once all are there; for ImageNet the proxy's shares."""
    net, made = photographs(units), []
    for quantity, delta, of in READ:
        row = {"quantity": quantity, "delta_inferred": delta}
        for dataset in DATASETS:
            row[dataset] = {}
            for split in tables.SPLITS:
                found = values_of(units, dataset, of, split)
                row[dataset] |= {split: float(np.median(found)) if found else None}
                if found and quantity != "accuracy":   # a median over problems: the images of one, at least
                    row[dataset][f"{split}_of"] = min(values_of(units, dataset, of, split, key="of"))
                if why := incomplete(dataset, units, found) or (
                        quantity == "adversarial_susceptibility" and chosen(units, dataset)):
                    row[dataset][f"{split}_status"] = why
        proxy = net.get(quantity) if delta in (None, 10) else None
        for column, why in NOT_RUN.items():
            mine = proxy if column == "imagenet_resnet50" else None
            row[column] = {"test": mine, "test_status": why if mine is None else
                           "proxy: SqueezeNet 1.1 in place of ResNet50, on images of the data folder"}
        made.append(row)
    dimensions, classes = {"quantity": "input_dimension", "delta_inferred": None}, {
        "quantity": "number_of_classes", "delta_inferred": None}
    for dataset in DATASETS:
        mine = parts_of(units, dataset)
        dimensions[dataset] = int(mine[0]["dimension"]) if mine else None
        # so many classes take part in the problems
        classes[dataset] = len({name for problem in PROBLEMS[dataset] for name in problem.split("-")})
        if why := incomplete(dataset, units, mine):
            classes[f"{dataset}_status"] = why
    dimensions["imagenet_resnet50"] = net.get("dimension")
    return [*made, dimensions, classes]


run.table("table-1", recorded, table_1)


# %%
def networks_in_words(units):
    """Which reading of Table 2 the networks of each data set follow."""
    told = {}
    for dataset, name in DATASETS.items():
        found = {experiments.reading(u.get("architecture", "")) for u in parts_of(units, dataset)}
        for reading in sorted(found):
            told.setdefault(experiments.READINGS[reading].name, []).append(name)
    rule = (" {ref}`A rule <which-network>` chose the reading on GTSRB by its attackable shares, which are "
            "therefore *fitted*." if chosen(units, "gtsrb") else "")
    each = "; ".join(f"*{reading}* on {' and '.join(names)}" for reading, names in told.items())
    return f"The networks follow these readings of the paper's Table 2: {each}.{rule}" if told else ""


run.tell(recorded, networks_in_words)


# %% [markdown]
# A median hides how much the problems differ, so the next table gives the range as well. A training fails if the network classifies hardly
# more training images correctly than a constant prediction of the larger class. No image of such a problem can be attacked. Table 1
# includes failed trainings, except in the rows of random perturbations, where they have no value. The last but one column leaves them out.
# A value of Table 1 without a mark is not compared: it is a median over a part of the problems.

# %%
def spread(units):
    """A row a data set and quantity, on test images: how many problems, smallest, median and largest."""
    made = []
    for dataset, name in DATASETS.items():
        for quantity, delta, of in READ:
            found = values_of(units, dataset, of, "test")
            if not found:
                continue
            at = "" if delta is None else f", δ = {delta}"
            without = values_of(units, dataset, of, "test", failures(units, dataset))
            made.append({"data": name, "quantity": quantity.replace("_", " ") + at, "problems": len(found),
                         "failed": len(found) - len(without),
                         **{key: float(f(found)) for key, f in (
                             ("smallest", np.min), ("median", np.median), ("largest", np.max))},
                         "without": float(np.median(without)) if without else None,
                         "printed": printed_median(dataset, quantity, delta, "test")})
    return made


run.extra("sutton-paradox-spread", recorded, spread,
          "Test images, %: the measured problems of each data set",
          header={key: key for key in ("data", "quantity", "problems", "smallest", "median", "largest")}
          | {"failed": "of these failed", "without": "median without these", "printed": "published median"})


# %%
def other_sets(units):
    """Mean attackable shares of the other small data sets, as the boxes of their pages give them."""
    told = []
    for dataset, item in (("fashion_mnist", "table-20"), ("gtsrb", "table-23")):
        mine = units[units.run.isin(PROBLEMS[dataset])] if len(units) else units
        if not len(mine):
            continue
        good = figures.learned(mine, figures.LARGER_SIGN if dataset == "gtsrb" else None)
        printed = {"attack": tables.printed(paper[item], quantity="adversarial_susceptibility"),
                   **{delta: {} for delta in DELTAS}}
        ours, theirs = figures.mean_shares(good, printed)
        lost = len(mine) - len(good)
        without = f", without {figures.counted(lost, 'network')} whose training failed" if lost else ""
        why = "; the network was chosen by this share" if chosen(mine, dataset) else ""
        told.append(f"{ours['attack']} on {DATASETS[dataset]} ({figures.counted(len(good), 'pair')}"
                    f"{without}; paper, same pairs: {theirs['attack']}{why})")
    return f"On other data sets, the attackable share is {' and '.join(told)}." if told else ""


run.tell(recorded, other_sets)

# %% [markdown]
# ## What the paper leaves open
#
# | choice | ours | why |
# |---|---|---|
# | what Table 1 summarises | medians over the problems of a class and the next one | its caption is lost; the printed tables have these medians |
# | which $\delta$ its rows have | 2, 5, 10 | the symbols are lost; 5 is said in the text, 10 for ImageNet; which row has which is inferred from the medians |
# | number of traffic signs | six | Table 22 lists seven, of which no experiment uses the last |
# | what Figure 1 draws | shares over the norm of the attack; bars over the norm of random perturbations | its axes are lost |

# %% [markdown]
# ## Try it
#
# - `images=1000`: with more training images the test accuracy of the small networks rises; their adversarial susceptibility should hardly change.
# - `draws=200` in a quick run, which has 20: more random perturbations flip the label of more images. Of ten times as many?
# - The same figure for other pairs of classes is on the page on {ref}`CIFAR-10 <sutton-7-2-1>`.

# %%
if unit is not None:
    d = paradox_data(shown)["test"]
    samples = f"{unit['draws']:,} noise samples" if unit.get("draws") else "the noise samples"
    attack = tables.attacked(unit["test"])
    run.minute(
        "How many correctly classified test images of aeroplanes and cats (CIFAR-10) can be attacked, and of "
        f"how many does random noise flip the label? A step along the loss gradient flips the label of "
        f"{words(d['attacked_pct'])} of these images (n = {attack['of']:,}; 95% interval "
        f"{words(attack['low'], '')} to {words(attack['high'])}; paper: {printed_for('table-5')}). "
        f"Of {d['perturbed']:,} attackable images, at least one of {samples} flips the label for "
        f"{turned(unit, 10)[:-1]}; paper: {printed_for('table-12')}) at ten times the norm of the "
        f"image's own attack, and for {turned(unit, 5)[:-1]}; paper: {printed_for('table-11')}) at five "
        f"times. {other_sets(run.best(recorded))}",
        picture=draw_paradox(shown), alt=ALT, sets=(example,))

# %%
run.stamp()
