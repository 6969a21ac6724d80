"""What the pages on Shu et al. share: the box behind each printed row, rows of tables, figures, facts."""
from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import torch
from scipy import stats

from shared import reference, runtime
from shared.data.archives import SPECS
from shared.pages import display
from shared.pages.sums import mean
from shared.records import prose
from shared.regions import boxes, setting
from shared.regions.boxes import Box
from shared.stability.susceptibility import percentage

PAPER = reference.paper("shu")
METHODS = {"nf": "NF", "fgsm": "FGSM", "cw2": "CW2", "bim-linf": "BIM Linf", "pw": "PW", "mi": "MI",
           "bim-l2": "BIM L2", "bim-l1": "BIM L1", "mlp": "CW2 MLP"}     # as the tables call the attacks
SIZES = {"table-3": "table-2", "table-4": "table-2", "table-7": "table-6", "table-9": "table-10"}
CIFAR10 = SPECS["cifar10"].classes
KINDS = {"own": "attacked network's boundary", "foreign": "other networks' errors",
         "transferable": "transferable", None: "none of these"}
ENDS = ("min", "max", "mean")       # of distances, as the tables order them

# The sweeps of `smoke` and `quick`.
_FEWER = dict(step=0.1, iterations=5, growths=8, halvings=3)
SHORT = {name: replace(setting.SWEEPS[name], **fewer) for name, fewer in {
    "nf": dict(eta=(0.01, 0.02, 0.03, 0.05, 0.08, 0.1), steps=20),
    "fgsm": dict(count=50),
    "cw2": dict(rate=0.3, searches=2, iterations=50, c=(0.5, 3.0, 20.0, 100.0, 700.0)),
    "bim-l1": _FEWER, "bim-l2": _FEWER, "bim-linf": _FEWER, "mi": _FEWER,
    "pw": dict(levels=20, repetitions=1, halvings=3, rounds=1)}.items()}


ERRORS = {k: v for row in PAPER["table-1"].rows for k, v in row.items() if k.startswith("M")}    # as printed


def errors(units, trained="seeds"):
    """The test errors `{M1: ...}` of one family of networks, in their order."""
    mine = units[units.trained == trained] if len(units) else units
    return dict(zip(mine.network.str.upper(), mine.test_error)) if len(mine) else {}


def order(units):
    """Kendall's tau of the networks' numbers and their errors, in print and here, and the errors' ends."""
    found = {"print": ERRORS, "own": errors(units), "epochs": errors(units, "epochs")}
    if {len(each) for each in found.values()} != {len(ERRORS)}:
        return {}
    tau = {name: stats.kendalltau(range(len(each)), list(each.values()), alternative="less")
           for name, each in found.items()}
    return {name: each.statistic for name, each in tau.items()} | {
        f"{which}_{name}": end(each.values()) for name, each in found.items()
        for which, end in (("least", min), ("most", max))} | {
        "networks": len(ERRORS), "chance": tau["print"].pvalue}


def called(method):
    """An attack's name in text."""
    return METHODS[method].replace("Linf", "L∞")


def printed(item, **keys):
    """The printed row of a table with these keys; empty where there is none."""
    return next((row for row in PAPER[item].rows if all(row[k] == v for k, v in keys.items())), {})


# ---- the box of a printed row ----------------------------------------------------------------------------
@dataclass(frozen=True)
class Region:
    """The box of one attack on one image towards one class, as a unit of `setting.measure_image` has it."""
    unit: dict          # a row of the frame of units
    target: int         # the class of the examples
    held: dict          # what the unit holds of that class
    whole: bool         # intervals [0, 1], as the paper takes for the pointwise attack
    rule: str           # which values are kept, of `setting.RULES`
    b: int              # intervals

    @property
    def curve(self):
        """`boxes.curve` of this rule: lists over the sizes of boxes."""
        return self.held["whole" if self.whole else "boxes"][self.rule]

    def at(self, name):
        """A value of the curve at the size of this box."""
        return self.curve[name][self.curve["sizes"].index(self.b)]

    @property
    def kept(self):
        """How many values the rule keeps."""
        return self.held["changed_values"][self.rule]

    @property
    def box(self):
        """The `Box` of all values that the rule keeps."""
        clean = torch.as_tensor(self.unit["clean"])[None].float() / 255
        values, low, high, changed = (torch.as_tensor(self.held[k])
                                      for k in ("values", "low", "high", "changed"))
        made = Box(clean, values.long(), low, high, changed.long())
        made = made.kept(setting.RULES[self.rule], self.held["examples"])
        return made.whole() if self.whole else made

    @property
    def name(self):
        """The attack and the two classes: "CW2 1 → 6"."""
        return f"{called(self.unit['method'])} {self.classes}"

    @property
    def classes(self):
        """From the true class to the examples' class: "1 → 6"."""
        return f"{self.unit['label']} → {self.reached}"

    @property
    def reached(self):
        """The examples' class, by its name where the true one has a name."""
        return CIFAR10[self.target] if self.unit["label"] in CIFAR10 else self.target


def regions(unit):
    """The `Region` of each class that a unit (a row of the frame) has boxes of, with all values kept."""
    found = {}
    for t, held in unit["classes"].items():
        if curves := held.get("whole") or held.get("boxes"):
            whole = "whole" in held
            rule = "any" if whole or "all" not in curves else "all"
            found[int(t)] = Region(unit, int(t), held, whole, rule, held["changed_values"][rule])
    return found


def region(unit, target=None, b=None):
    """The `Region` of a unit that stands for a printed row; None where it has none.

    Where the printed class has too few examples, that of most; where fewer values are kept than `b`, all.
    """
    found = regions(unit)
    if not found:
        return None
    target = target if target in found else max(found, key=lambda t: found[t].held["examples"])
    mine = found[target]
    return replace(mine, b=b if b in mine.curve["sizes"] else mine.kept)


def of_rows(units, item):
    """`[(printed row, Region)]` of the rows of a table whose units are there and have a box.

    The boxes are those of Table 2, in Section 2.2 those of Table 6, in Section 2.3 those of Table 10.
    """
    return [(row, mine) for row, mine in _with_units(units, item) if mine]


def _with_units(units, item):
    sizes, found = PAPER[SIZES.get(item, item)].rows, []
    for row in PAPER[item].rows:
        for unit in units.to_dict("records"):
            if (METHODS[unit["method"]], unit["label"]) == (row["attack"], row["source_class"]):
                b, = (each["n_intervals"] for each in sizes
                      if (each["attack"], each["source_class"]) == (row["attack"], row["source_class"]))
                target = row["target_class"]
                found.append((row, region(unit, CIFAR10.index(target) if target in CIFAR10 else target, b)))
    return found


# ---- rows of tables --------------------------------------------------------------------------------------
def _rates(rates):
    """Columns M1 ... of misclassification rates."""
    return {f"M{k}": rate for k, rate in enumerate(rates, start=1)}


def _rows(units, item, of):
    """A row for each printed one whose unit is there: what `of` makes of its `Region`, or why it has none."""
    none = {"status": "not run: too few different examples of any one class"}
    return [{"attack": row["attack"], "source_class": row["source_class"]} | (
        none if mine is None else
        {"target_class": mine.reached, "examples": mine.held["examples"]} | of(mine))
        for row, mine in _with_units(units, item)]


def _size(mine):
    """The number of intervals: where as many values are kept, that of the print."""
    return {"n_intervals": mine.b, "kept": mine.kept, "n_intervals_status":
            None if mine.b == mine.kept else "fitted: the printed number is taken"}


def inside(units, item):
    """Rows of Table 2 or 6: rates in the boxes."""
    return _rows(units, item, lambda mine: _rates(mine.at("rates")) | {
        **_size(mine), "smallest_interval": float(mine.box.widths[mine.b - 1])})


def attacked(units, item, counted="n_perturbed_pixels"):
    """Rows of Table 3, 7 or 9: rates on the examples themselves, and how many values they change."""
    return _rows(units, item, lambda mine: _rates(mine.held["attack"]["rates"]) | {counted: mine.kept})


def distances(units, item, norm="squared"):
    """Rows of Table 4 or 10: distances from the clean image, of samples of the box and of the examples."""
    def of(mine):
        sides = {"sampled": mine.at(norm), "attack": mine.held[norm]}
        return _size(mine) | {f"{side}_l2_{end}": value for side, values in sides.items()
                                          for end, value in zip(("min", "mean", "max"), values)}
    return _rows(units, item, of)


def every_target(units):
    """A row an attack: kinds of the boxes of all kept values towards each wrong class, and rates."""
    made = []
    for unit in units.to_dict("records"):
        found = list(regions(unit).values())
        kinds = [boxes.kind(mine.at("rates")) for mine in found]
        told = {"attack": called(unit["method"]), "label": unit["label"], "classes": len(found)}
        told |= {name: kinds.count(kind) for kind, name in KINDS.items()}
        own = [mean(mine.held["attack"]["rates"][1:]) for mine in found]
        made.append(told | {"others": 100 * mean(own) if own else None})
    return made


def by_rule(units, item):
    """For each printed box, the published row and a row a rule of keeping: values kept, and rates.

    The boxes are of the printed size, or of all kept values where these are fewer.
    """
    def ends(rates):
        return {"attacked": rates[0], "least": min(rates[1:]), "most": max(rates[1:])}

    made = []
    for row, mine in of_rows(units, item):
        made.append({"attack": f"{called(mine.unit['method'])} {row['source_class']} → {row['target_class']}",
                     "changed in": "published", "b": row["n_intervals"],
                     **ends(_in_print(row))})
        for rule in RULES:
            made.append({"attack": mine.name, "changed in": RULES[rule],
                         "kept": mine.held["changed_values"][rule]})
            if curve := mine.held["boxes"].get(rule):
                at = _at(curve, row["n_intervals"])
                made[-1] |= {"b": at["sizes"], "squared": at["squared"][1], **ends(at["rates"])}
    return made


def off_by_rule(units, item):
    """A fact: how far the attacked network's rate lies from the published one on average, by the rule."""
    off = {name: [abs(_at(mine.held["boxes"][rule], row["n_intervals"])["rates"][0] - row["M1"])
                  for row, mine in of_rows(units, item) if rule in mine.held["boxes"]]
           for rule, name in RULES.items()}
    return any(off.values()) and {"told": "; ".join(
        f"{name}, {100 * mean(each):.1f} points (n = {len(each)})" for name, each in off.items() if each)}


OFF_BY_RULE = ("How far the attacked network's rate in these boxes lies from the published one on average, "
               "by the examples that must change a pixel: {told}.")


def box_by_box(units):
    """Facts in words, box by box: rates in the box and in that of the loosest rule, distances, pixels.

    Also the network that the attack's own images fool most often beside the attacked one.
    """
    def beside(value, theirs, more=""):
        return f"{value:.3g}{more} (paper: {theirs:.3g}{more})"

    told, own = {name: [] for name in ("strict", "loose", "another", "far", "pixels")}, []
    for row, mine in of_rows(units, "table-6"):
        printed_rates, kept = _in_print(row), mine.held["changed_values"]["any"]
        keys = {"source_class": row["source_class"], "n_intervals": row["n_intervals"]}
        told["strict"].append(f"{100 * mine.at('rates')[0]:.3g}% of the samples for {mine.classes} "
                              f"(paper: {100 * row['M1']:.3g}%)")
        if "any" in mine.held["boxes"]:
            first, *rest = _at(mine.held["boxes"]["any"], row["n_intervals"])["rates"]
            told["loose"].append(f"{100 * first:.3g}%")
            told["another"].append(beside(100 * max(rest), 100 * max(printed_rates[1:]), "%"))
        told["far"].append(f"{mine.classes}, " + beside(
            mine.at("squared")[1], printed("table-10", **keys)["sampled_l2_mean"]))
        told["pixels"].append(beside(kept, printed("table-7", source_class=row["source_class"])[
            "n_perturbed_pixels"]))
        own.append((mine.classes, mine.held["attack"]["rates"]))
    if not own:
        return {}
    worst = max(range(1, len(own[0][1])), key=lambda k: sum(rates[k] for _, rates in own))
    return {name: " and ".join(each) for name, each in told.items()} | {
        "worst": f"M{worst + 1} (" + ", ".join(
            f"{100 * rates[worst]:.3g}% for {classes}" for classes, rates in own) + ")"}


def between(units):
    """Facts on the rules of keeping: for how many attacks the printed number of pixels lies between ours by
    two of them, and for how many the loosest keeps more than the printed box has intervals."""
    counts = [(mine.held["changed_values"], row["n_perturbed_pixels"],
               printed("table-2", attack=row["attack"])["n_intervals"])
              for row, mine in of_rows(units, "table-3")]
    return counts and {"n": len(counts), "between": sum(
        kept["all"] <= pixels <= kept["any"] for kept, pixels, _ in counts), "enough": sum(
        kept["any"] > b for kept, _, b in counts)}


def scarce(units):
    """Facts: attacks whose printed class has too few examples here, how many they are, and what is shown."""
    found = [(row["attack"].replace("Linf", "L∞"), row["target_class"], unit["classes"].get(
        str(row["target_class"]), {}).get("examples", 0), region(unit, row["target_class"]))
             for row in PAPER["table-2"].rows for unit in units.to_dict("records")
             if METHODS[unit["method"]] == row["attack"]]
    lacking = [(name, t, count, mine.target if mine else "none") for name, t, count, mine in found
               if not mine or mine.target != t]
    return lacking and {"n": len(lacking), "of": len(found), "told": "; ".join(
        f"{name}: {count} of class {t}, shown is {shown}" for name, t, count, shown in lacking)}


RULES = {"all": "all examples", "most": "90% of them", "any": "one at least"}


# ---- figures ---------------------------------------------------------------------------------------------
def shown(mine, seed=0):
    """An example of the attack, the nearest to the clean image, and an image sampled from the box."""
    drawn = runtime.generator(seed, "shu", "shown", mine.name)
    sample = mine.box.first(mine.b).sample(1, generator=drawn)[0]
    return torch.as_tensor(mine.held["nearest"]).numpy(), sample.numpy()


def draw_pairs(units, item):
    """Columns of printed rows: the attack's image above one from its box; None without any."""
    pairs = {f"{called(mine.unit['method'])}\n{mine.classes}": shown(mine)
             for _, mine in of_rows(units, item)}
    return display.image_table([{name: pair[n] for name, pair in pairs.items()} for n in (0, 1)]
                               if pairs else [])


def draw_curves(units, item):
    """A panel a printed row: the rate of each network against the number of intervals; None without any."""
    found = of_rows(units, item)
    if not found:
        return None
    columns = min(3, len(found))
    figure, axes = plt.subplots(-(-len(found) // columns), columns, sharey=True, squeeze=False,
                                figsize=(display.WIDEST, 0.6 + 1.9 * -(-len(found) // columns)))
    for ax in axes.flat[len(found):]:
        ax.set_axis_off()
    for ax, (_, mine) in zip(axes.flat, found):
        rates = list(zip(*mine.curve["rates"]))
        few = len(rates) <= 1 + len(display.LINES)
        for k, rate in reversed(list(enumerate(rates))):
            other = dict(color=display.PALETTE[(0, 1, 2, 4)[(k - 1) % 4]], ls=display.LINES[k - 1],
                         label=f"$M_{k + 1}$") if few and k else dict(
                color="0.6", label="the other networks" if k == 1 else None)
            ax.plot(mine.curve["sizes"], rate, lw=1.4 if k else 2.2, **other if k else dict(
                color=display.PALETTE[3], label="$M_1$, attacked"))
        ax.axvline(mine.b, color="0.2", ls=":", lw=1)
        ax.set(title=mine.name, ylim=(-0.04, 1.04))
    figure.supxlabel("intervals b")
    figure.supylabel("misclassification rate")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(labels))
    return figure


# ---- claims and facts ------------------------------------------------------------------------------------
def others(*attacks, every=False):
    """A view for claims: rows of these attacks (or all), with the least and most rate of the networks.

    every  the attacked one counts, too, else those that were not attacked
    """
    def view(rows):
        mine = rows[rows.attack.isin(attacks)] if attacks else rows
        rates = mine.filter(regex=r"^M\d+$" if every else r"^M([2-9]|\d\d)$").astype(float)
        return mine.assign(least=rates.min(axis=1), most=rates.max(axis=1))
    return view


def some(passes, *, reads):
    """A predicate: some row passes; the evidence names those that do.

    passes  row -> whether it does;  reads: how words of the claim are read that name no bound
    """
    def predicate(rows):
        measured = [row for row in others()(rows).to_dict("records") if row["M1"] >= 0]
        found = [row for row in measured if passes(row)]
        told = "; ".join(prose.fill("{attack}: attacked network {M1}, others from {least} to {most}", row)
                         for row in found)
        return (bool(found) if measured else None,
                f"{told or f'in none of the {len(measured)} boxes'} ({reads})")
    return predicate


def similar(least, most):
    """A predicate: all errors of a table lie within printed bounds; the evidence has their spans, too."""
    def predicate(rows):
        found = rows.filter(regex=r"^M\d+$").stack().astype(float)
        low, high = round(found.min(), 6), round(found.max(), 6)
        return low >= least and high <= most, prose.fill(
            "errors from {low} to {high}, judged by the printed range; span {span} (paper: {theirs})",
            {"low": low, "high": high, "span": high - low, "theirs": most - least})
    return predicate


def fewer(rows):
    """A predicate on Table 2 or 6: each box has fewer intervals than its examples share changed pixels."""
    known = rows.dropna(subset="n_intervals")
    told = "; ".join(f"{row.attack}: {row.n_intervals:.0f} of {row.kept:.0f}" for row in known.itertuples())
    return bool((known.n_intervals < known.kept).all()) if len(known) == len(rows) else None, told or "no box"


def saving(attack, *, most=False, word="minor"):
    """A predicate on Table 4 or 10: this attack's box saves the least, or most, share of the distance."""
    def predicate(rows):
        saved = 1 - rows.sampled_l2_mean / rows.attack_l2_mean
        mine, rest = saved[rows.attack == attack], saved[rows.attack != attack]
        if saved.isna().any() or not len(mine) or not len(rest):
            return None, "not all attacks have a box"
        bound = rest.max() if most else rest.min()
        extreme = "most" if most else "least"
        return bool(mine.iloc[0] > bound if most else mine.iloc[0] < bound), (
            f"{attack} saves {mine.iloc[0]:.1%}, the {extreme} of the others {bound:.1%} "
            f"(“{word}” is read as the {extreme})")
    return predicate


def suspects(units):
    """A row a printed box: its kind in print and here, and where ours is of the printed one.

    sizes    of boxes, from and to;  classes   others at some size;  rules   others of keeping, at its size
    """
    made = []
    for row, mine in of_rows(units, "table-2"):
        theirs = boxes.kind(_in_print(row))
        every = [(each, [boxes.kind(rates) for rates in each.curve["rates"]])
                 for each in regions(mine.unit).values()]
        sizes = [b for each, kinds in every for b, kind in zip(each.curve["sizes"], kinds)
                 if each.target == mine.target and kind == theirs]
        rules = [RULES[rule] for rule in RULES
                 if rule in mine.held["boxes"] and rule != mine.rule and not mine.whole
                 and boxes.kind(_at(mine.held["boxes"][rule], row["n_intervals"])["rates"]) == theirs]
        made.append({"attack": mine.name, "published": KINDS[theirs],
                     "here": KINDS[boxes.kind(mine.at("rates"))],
                     "sizes": f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(*sizes) or "none",
                     "rules": ", ".join(rules) or "none",
                     "classes": ", ".join(str(each.reached) for each, kinds in every
                                          if each.target != mine.target and theirs in kinds) or "none"})
    return made


def _at(curve, b):
    """A row of a curve: at this size, or at the largest where there is none such."""
    at = curve["sizes"].index(b) if b in curve["sizes"] else -1
    return {name: values[at] for name, values in curve.items()}


def of_suspects(units):
    """Facts on `suspects`: boxes, those of the printed kind, and by what the others can be of it."""
    rows = suspects(units)
    other = [row for row in rows if row["here"] != row["published"]]
    by = {name: sum(row[name] != "none" for row in other) for name in ("sizes", "rules", "classes")}
    left = sum(all(row[name] == "none" for name in by) for row in other)
    return rows and {"n": len(rows), "same": len(rows) - len(other), "other": len(other), "left": left, **by}


def transfers(sweeps, others):
    """A row a printed attack: mean rate (%) of the networks not attacked on its images, of all families."""
    found = [("here", sweeps), *(others.groupby("of", sort=False) if len(others) else ())]
    made = []
    for row in PAPER["table-3"].rows:
        told = {"attack": row["attack"].replace("Linf", "L∞"), "published": 100 * mean(_in_print(row)[1:])}
        for name, units in found:
            mine = [region(unit, row["target_class"]) for unit in units.to_dict("records")
                    if METHODS.get(unit["method"]) == row["attack"]]
            told[name] = mean([100 * mean(each.held["attack"]["rates"][1:]) for each in mine if each])
        made.append(told)
    return made if len(sweeps) else []


TRANSFERS = {"attack": "attack", "published": "published", "here": "our networks",
             "epochs": "3 to 12 epochs", "zero": "test image 1918", "one": "training image 39533"}
SUSPECTS = {"attack": "attack", "published": "published kind", "here": "kind here",
            "sizes": "published kind at b", "rules": "with pixels changed in", "classes": "for classes"}


def _in_print(row):
    """The rates of a printed row, the attacked network's first."""
    return [value for name, value in row.items() if name.startswith("M")]


BY_RULE = {"attack": "attack", "changed in": "kept if changed in", "kept": "kept", "b": "b",
           "attacked": "$M_1$", "least": "least of the others", "most": "most of the others",
           "squared": "mean squared L2 distance"}
EVERY_TARGET = {"attack": "attack", "classes": "wrong classes", **{v: v for v in KINDS.values()},
                "others": "attack's images, others' rate, %"}
OVER_IMAGES = {"attack": "attack", "images": "digits", "boxes": "digits with a box",
               **{name: name for kind, name in KINDS.items() if kind}}


def over_images(units):
    """A row an attack: shares of the images with a box of a kind at some size, with their intervals."""
    made = []
    for method, mine in units.groupby("method", sort=False) if len(units) else ():
        rows = [row for each in mine.rows for row in each]
        kinds = [{boxes.kind(rates) for curve in (row.get("whole") or row["boxes"]).values()
                  for rates in curve["rates"]} for row in rows if row.get("whole") or row.get("boxes")]
        made.append({"attack": called(method), "images": len(rows), "boxes": len(kinds)})
        for kind, name in KINDS.items():
            if kind:
                told = percentage(sum(kind in each for each in kinds), len(rows))
                made[-1][name] = prose.fill("{percent:%} ({low:.0f} to {high:.0f})", told)
    return made


def variants(units):
    """A row an attack and other networks or image: the box of all kept values, of the commonest class."""
    told = {"epochs": "networks of 3 to 12 epochs", "zero": "test image 1918", "one": "training image 39533"}
    made = []
    for unit in units.to_dict("records"):
        if mine := region(unit):
            name = "BIM L1, script's sizes" if unit["method"] == "script" else called(unit["method"])
            rates, own = mine.at("rates"), mine.held["attack"]["rates"]
            made.append({"of": told[unit["of"]], "attack": name,
                         "classes": f"{unit['label']} → {mine.target}", "intervals": mine.b,
                         "attacked network": rates[0], "others, least": min(rates[1:]),
                         "others, most": max(rates[1:]), "kind": KINDS[boxes.kind(rates)],
                         "attack's images, others": mean(own[1:])})
    return made


def over_digits(units):
    """Facts: mean rate of the networks not attacked over digits and attacks, and its 95% interval."""
    rates = {}
    for row in (row for each in units.rows for row in each) if len(units) else ():
        if "attack" in row:
            rates.setdefault(row["number"], []).append(100 * mean(row["attack"]["rates"][1:]))
    means = [mean(each) for each in rates.values()]
    if len(means) < 2:
        return {}
    half = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
    return {"digits": len(means), "pairs": sum(map(len, rates.values())), "percent": mean(means),
            "low": max(mean(means) - half, 0), "high": min(mean(means) + half, 100)}


OVER_DIGITS = ("Over {digits} digits of all classes, with one wrong class each, the other networks are wrong "
               "on {percent:%} of an attack's images (95% interval {low:.0f} to {high:.0f}; {pairs} pairs of "
               "a digit and an attack).")


def minute(units, item="table-2"):
    """Facts for the box of a page: counts of kinds, and the mean rate of the networks not attacked."""
    found = [mine for _, mine in of_rows(units, item)]
    if not found:
        return {}

    def told(in_boxes, of_attacks):
        kinds, others = [boxes.kind(rates) for rates in in_boxes], [mean(rates[1:]) for rates in of_attacks]
        return {"n": len(kinds), **{kind: kinds.count(kind) for kind in KINDS if kind},
                "others": mean(others), "least": min(others), "most": max(others)}

    of_attacks = {"table-2": "table-3", "table-6": "table-7"}[item]
    own, counted = ([mine.held[name] for mine in found] for name in ("attack", "examples"))
    rates = [each["rates"] for each in own]
    return told([mine.at("rates") for mine in found], rates) | {
        "examples": sum(counted), "rest": len(rates[0]) - 1,
        "again": sum(round((1 - each[0]) * n) for each, n in zip(rates, counted)),
        "paper": told(map(_in_print, PAPER[item].rows), map(_in_print, PAPER[of_attacks].rows))}
