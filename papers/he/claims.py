"""How each printed claim of He et al. is judged; see `report.claims`."""
from functools import partial

import pandas as pd

from papers.he import boundary, figures
from papers.he.experiments import COLUMNS
from report.claims import Claims
from report.every import every as in_every
from shared.susceptibility import percentage

claim = Claims()
# A claim on every network, of rows as in Tables 1 and 2.
every = partial(in_every, "network", view=figures.by_network, named=figures.NAMED,
                proxies=tuple(figures.PROXIES))


# ---- Section 3: OptMargin --------------------------------------------------------------------------------
def with_normal(table):
    """Cells of the adversarially trained networks, each network beside its data set's `normal` one."""
    cells = figures.by_network(table)
    return {net: cells[net] | {"normal": cells[net.replace("adv", "normal")]}
            for net in COLUMNS if net.endswith("adv")}


claim("table-1", "in all four settings")(every(
    lambda c: round(c.margin.success_pct) == 100 and c.margin.rms > c.brittle.rms, of_all=True,
    says="{network}: success {margin.success_pct:%} (n = {margin.correct}), mean distance {margin.rms} "
         "(OptBrittle {brittle.rms}, n = {brittle.successful}; OptStrong {strong.rms}, "
         "n = {strong.successful})",
    leaves="“below OptStrong” depends on OptStrong's unpublished settings"))
claim("table-1", "leaves the original class readable")(
    "“visible” and “readable” are judged by eye, in Figure 5")
claim("table-1", "OptStrong drops")(every(
    lambda c: c.strong.success_pct < c.normal.strong.success_pct, view=with_normal,
    says="{network}: {normal.strong.success_pct:%} to {strong.success_pct:%}"))
claim("table-1", "FGSM is weaker")(every(
    lambda c: c.fgsm.success_pct < c.normal.fgsm.success_pct, view=with_normal,
    says="{network}: {normal.fgsm.success_pct:%} to {fgsm.success_pct:%}"))


def with_lowest(table):
    """Cells of Table 2, with the lower accuracy of region classification of the two other attacks."""
    return {net: kinds | {"lowest": pd.Series([kinds[kind]["region"] for kind in ("brittle", "fgsm")],
                                              dtype=float).min(skipna=False)}
            for net, kinds in figures.by_network(table).items()}


claim("table-2", "restores OptBrittle")(every(
    lambda c: c.brittle.region > 50 > c.margin.region, of_all=True,
    reads="“restores” is read as more than half, “fails” as less",
    says="{network}: OptBrittle {brittle.region:%} (n = {brittle.images}), OptMargin {margin.region:%} "
         "(n = {margin.images})"))
claim("table-2", "lowest accuracy of all attacks")(every(
    lambda c: c.margin.region <= c.lowest, view=with_lowest, of_all=True,
    says="{network}: OptMargin {margin.region:%} (n = {margin.images}), the lowest other {lowest:%}"))
claim("table-2", "0% on OptBrittle everywhere")(every(    # the claim itself names the exception
    lambda c: round(c.brittle.point) == 0 and (round(c.margin.point) == 0 or c.network == "cifar10-adv"),
    says="{network}: {brittle.point:%} (n = {brittle.images}) and {margin.point:%} (n = {margin.images})",
    of_all=True))
claim("table-2", "evades both")(every(
    lambda c: c.margin.region < 50 and c.margin.point < 50, reads="“evades” is read as less than half",
    says="{network}: region {margin.region:%}, point {margin.point:%} (n = {margin.images})"))

claim("figure-5", "visibly altered but readable")("“readable” is judged by eye: the images stand above")

SLOWEST = "the slowest case is w32-10 on a graphics card, a GeForce GTX 1080"
claim("procedure-optmargin", "Slowest case")(f"not measured: {SLOWEST}")
claim("procedure-optmargin", "20 model evaluations")(
    "the claim states settings; both run with these, and the cost is judged below")
claim("procedure-cost-optmargin", "ensemble of 20 models")(every(
    lambda c: c.members < c.samples and c.slowdown < c.samples, view=lambda data: {"mnist-normal": data},
    says="slowdown of the attacker: {members} models a step instead of one, {slowdown:,.0f} times the "
         "passes of OptBrittle in whole searches, with our settings of both; of the defender: {samples}"))
claim("remark-cao-gong-amplified", "similar distortion increases")(
    "“high” and “similar” name no bound; the table shows both quantities")

# ---- Section 4: boundary distances -----------------------------------------------------------------------
claim("procedure-boundary-distance", "Slowest case")(
    "the wide ResNet w32-10, the slowest case, needs a GPU: not measured")


def beside(data):
    """All kinds of each network, and of the normal and the MNIST network beside it."""
    full = {net: dict.fromkeys(figures.COLOURS) | {"no_fgsm": "fgsm" not in kinds} | kinds
            for net, kinds in data.items()}
    return {net: kinds | {"normal": full.get(net.replace("adv", "normal")),
                          "mnist": full.get(net.replace("cifar10", "mnist"))} for net, kinds in full.items()}


def medians(data):
    """The same of Figures 1 and 2, with the median in words, and a rank: by `never` beyond the last step."""
    def in_words(median, scale, images=None, never=None, **_):
        none = "" if never is None or median < 1 else f"; no boundary in {never:.0%} of directions"
        return (f"{scale * median:.3g}{' of 255' if scale > 1 else ''}" if median < 1 else
                "beyond the largest distance tried") + (f" (n = {images}{none})" if images else "")

    def with_words(f):
        return f | {"words": in_words(**f), "rank": f["median"] + f.get("never", 0) * (f["median"] == 1)} | (
            {"of_line": f["median"] / f["line"]} if f.get("line") else {}) | (
            {"images_above": f["above"] * f["images"]} if "above" in f else {})

    return beside({net: {kind: with_words(f) for kind, f in kinds.items()} for net, kinds in data.items()})


every_median = partial(every, view=medians)
claim("figure-1", "very close to zero")(every_median(
    lambda c: c.brittle.median < c.brittle.line / 2 and c.brittle.home > 0.5,
    says="{network}: median {brittle.of_line:.2g} of the black line, {brittle.home:.0%} of directions lead "
         "to the true class",
    reads="“very close to zero” is read as less than half of the black line"))
claim("figure-1", "OptMargin curves lie higher")(every_median(
    lambda c: c.margin.median > c.brittle.median and (
        c.margin.home < c.brittle.home or c.margin.scale > 1),
    says="{network}: median {brittle.words} for OptBrittle and {margin.words} for OptMargin; "
         "{brittle.home:.0%} and {margin.home:.0%} of directions lead to the true class"))
claim("figure-1", "A small random step")(every_median(
    lambda c: c.brittle.back > 0.9, says="{network}: {brittle.back:.0%} of directions",
    reads="“nearly every” is read as nine in ten, “small” as within the black line"))

claim("figure-2", "more robust to random noise")(every_median(
    lambda c: c.brittle.rank < c.margin.rank < c.benign.rank and (
        c.no_fgsm or c.brittle.rank < c.fgsm.rank < c.benign.rank),
    says="{network}: benign {benign.words}, OptBrittle {brittle.words}, OptMargin {margin.words}, FGSM "
         "{fgsm.words}",
    reads="medians beyond that: by the share of directions without a boundary"))
claim("figure-2", "black line lies below")(every_median(
    lambda c: c.margin.above > 0.5, says="{network}: {margin.images_above:.0f} of {margin.images} images",
    reads="“below” is read as a median distance above the line for more than half of the images"))

# The larger of the two errors of the paper's classifier that was trained on OptMargin (Table 3), in percent.
ERRORS = {f"mnist-{'normal' if row['model_training'] == 'normal' else 'adv'}": max(
    row["false_pos_benign_pct"], row["false_neg_optmargin_pct"]) for row in figures.PAPER["table-3"].rows
    if row["dataset"] == "MNIST" and row["training_attack"] == "OptMargin"}
ERROR = {k: f"{{{k}.percent:.0f}}% (95% interval {{{k}.low:.0f}} to {{{k}.high:.0f}}%)"
         for k in boundary.STATISTICS}


def thresholds(data):
    """On MNIST: the error of the best threshold on each statistic, its interval as if fixed in advance."""
    return {net: {"images": margin["images"], "paper": ERRORS[net]} | {
        k: percentage(round(margin[f"{k}_threshold"] * margin[f"{k}_of"]), margin[f"{k}_of"])
        for k in boundary.STATISTICS} for net, kinds in data.items() if net in ERRORS
        for margin in [kinds.get("margin", {})] if "median_of" in margin}


claim("figure-2", "no single threshold")(every(
    lambda c: c.paper <= c.median.high and c.paper <= c.least.high, view=thresholds, of_all=True,
    says=f"{{network}}: the threshold best on these {{images}} images misclassifies {ERROR['median']} of "
         f"benign or of OptMargin images by the median and {ERROR['least']} by the nearest distance; the "
         "paper's classifier {paper:.1f}%, on its network",
    reads="“separates” is read as an interval below the error of that classifier; Section 5 trains a "
          "classifier on the images of this page"))
claim("figure-2", "Adversarial training brings")(every(
    lambda c: (c.benign.median < c.normal.benign.median if c.network == "mnist-adv" else
               c.benign.median > c.normal.benign.median),
    view=lambda data: {net: kinds for net, kinds in medians(data).items() if net.endswith("adv")},
    says="{network}: {benign.words}, normal {normal.benign.words}"))


def highest(data):
    """Figure 3, with the highest purity of a network."""
    return {net: kinds | {"highest": max(data[net].values())} for net, kinds in beside(data).items()}


claim("figure-3", "especially high purity")(every(
    lambda c: c.brittle == c.highest and c.mnist.brittle - c.mnist.benign >= c.brittle - c.benign,
    view=highest, of_all=True, says="{network}: OptBrittle {brittle:.2f}, benign {benign:.2f}"))
claim("figure-3", "much harder to tell")(every(
    lambda c: abs(c.margin - c.benign) < abs(c.brittle - c.benign) / 2 and (
        c.no_fgsm or abs(c.fgsm - c.benign) < abs(c.brittle - c.benign) / 2), view=beside,
    says="{network}: benign {benign:.2f}, OptBrittle {brittle:.2f}, OptMargin {margin:.2f}, FGSM {fgsm:.2f}",
    reads="“much harder” is read as a difference to benign of less than half of OptBrittle's"))


# ---- Section 5: classifiers of boundary distances --------------------------------------------------------
def by_attack(rows):
    """`{network: {training attack: its row of Table 3}}`."""
    nets = {names: net for net, names in figures.NETWORKS.items()}
    found = {net: {} for net in nets.values()}
    for row in rows.to_dict("records"):
        ours = {"worst_case_pct": None} | {f"{name}_of": None for name in row}  # the printed rows have none
        found[nets[row["dataset"], row["model_training"]]][row["training_attack"]] = ours | row
    return found


def best(rows, table_2=None):
    """`{network: best worst-case accuracy there and on its normal network, OptMargin cells of Table 2}`."""
    most = {net: pd.Series([row["worst_case_pct"] for row in attacks.values()], dtype=float).max()
            for net, attacks in by_attack(rows).items()}
    return {net: {"best": value, "normal": most[net.replace("adv", "normal")],
                  **({} if table_2 is None else figures.by_network(table_2)[net]["margin"])}
            for net, value in most.items()}


claim("table-3", "also recognises OptBrittle")(every(
    lambda c: c.OptMargin.false_neg_optbrittle_pct < c.OptBrittle.false_neg_optmargin_pct, view=by_attack,
    says="{network}: false negatives of OptBrittle {OptMargin.false_neg_optbrittle_pct:%} when trained on "
         "OptMargin (n = {OptMargin.false_neg_optbrittle_pct_of}), of OptMargin "
         "{OptBrittle.false_neg_optmargin_pct:%} when trained on OptBrittle (n = "
         "{OptBrittle.false_neg_optmargin_pct_of})", of_all=True))
claim("table-3", "Best worst-case accuracy", "table-2")(every(
    lambda c: c.best > c.region, view=best, of_all=True,
    says="{network}: best classifier {best:%}, region classification of OptMargin examples {region:%}"))
claim("table-3", "the normally trained model gives better")(every(
    lambda c: (c.normal > c.best) == (c.network == "mnist-adv"),
    named={"mnist-adv": "MNIST", "cifar10-adv": "CIFAR-10"},
    view=lambda rows: {net: values for net, values in best(rows).items() if net.endswith("adv")},
    says="{network}: best worst-case accuracy {normal:%} on the normal, {best:%} on the adversarially "
         "trained network"))
claim("table-3", "does not mimic")(every(
    lambda c: c.OptMargin.worst_case_pct > 50, view=by_attack,
    reads="“does not mimic” is read as better than chance",
    says="{network}: worst-case accuracy {OptMargin.worst_case_pct:%} when trained on OptMargin"))


def beside_margin(rows, table_3):
    """`{network: false negatives of FGSM and OptMargin, classifiers trained on each; those on MNIST}`."""
    fgsm = {row["dataset"]: row["false_neg_pct"] for row in rows.to_dict("records")}
    both = {net: {"fgsm": fgsm[figures.NETWORKS[net][0]],
                  "margin": by_attack(table_3)[net]["OptMargin"]["false_neg_optmargin_pct"]}
            for net in ("mnist-normal", "cifar10-normal")}
    return {net: errors | {"mnist": both["mnist-normal"]} for net, errors in both.items()}


claim("table-4", "harder to recognise", "table-3")(every(
    lambda c: c.fgsm > c.margin and c.fgsm - c.margin >= c.mnist.fgsm - c.mnist.margin, view=beside_margin,
    of_all=True, says="{network}: false negatives of FGSM {fgsm:%}, of OptMargin {margin:%}"))
claim("table-4", "too few successful")(
    "no classifier is trained there, as in the paper; Table 1 has the success of FGSM")


@claim("procedure-boundary-classifier", "about 1 minute")
def minute(data):
    """The paper's minute is one of its own machine."""
    longest = max((run["seconds"] for run in data.values()), default=0)
    return None, f"at most {longest:.0f} seconds here, on another machine than the paper's"


def passes(data):
    """`{network: {kind: passes}}` of the networks with passes of benign and of OptBrittle images."""
    found = {net: {kind: data["looks"].get(f"{net}_{kind}".replace("-", "_"))
                   for kind in ("benign", "brittle")} for net in figures.NETWORKS}
    return {net: kinds for net, kinds in found.items() if None not in kinds.values()}


claim("procedure-cost-boundary", "varies by image")(in_every(
    "network", lambda c: c.benign > c.brittle, view=passes, named=figures.NAMED,
    says="{network}: benign {benign:,.0f}, OptBrittle {brittle:,.0f} forward passes an image"))

# ---- Appendix D: images of ImageNet's size ---------------------------------------------------------------
NAMES = {kind: figures.KINDS[kind] for kind in ("benign", "brittle", "margin", "fgsm")}


def by_kind(rows):
    """`{network: {kind: its row of Table 5, or its data of a figure}}`: one network."""
    if isinstance(rows, dict):
        return {"SqueezeNet 1.1": rows}
    kinds = {name: kind for kind, name in NAMES.items()}
    return {"SqueezeNet 1.1": {kinds[row["attack"]]: row for row in rows.to_dict("records")}}


on_imagenet = partial(in_every, "network", view=by_kind)
claim("table-5", "lowers region-classification accuracy most")(on_imagenet(
    lambda c: c.margin.region_accuracy_pct < min(c.fgsm.region_accuracy_pct, c.brittle.region_accuracy_pct),
    says="{network}: accuracy of the vote on benign images {benign.region_accuracy_pct:%}, OptBrittle "
         "{brittle.region_accuracy_pct:%}, OptMargin {margin.region_accuracy_pct:%}, FGSM "
         "{fgsm.region_accuracy_pct:%}"))
claim("table-5", "Boundary classification separates")(on_imagenet(
    lambda c: max(c.brittle.false_neg_pct, c.margin.false_neg_pct) < c.fgsm.false_neg_pct,
    says="{network}: false negatives of OptBrittle {brittle.false_neg_pct:%}, OptMargin "
         "{margin.false_neg_pct:%}, FGSM {fgsm.false_neg_pct:%}",
    reads="“well” and “badly” are read as fewer and more false negatives"))
claim("table-5", "far higher distortion")(on_imagenet(
    lambda c: (c.fgsm.distortion_rms > c.margin.distortion_rms and
               c.fgsm.point_accuracy_pct > c.margin.point_accuracy_pct),
    says="{network}: distortion of FGSM {fgsm.distortion_rms}, OptMargin {margin.distortion_rms}; accuracy "
         "{fgsm.point_accuracy_pct:%} and {margin.point_accuracy_pct:%}", reads="“far” names no bound"))
claim("figure-8", "withstand region-classification noise")(on_imagenet(
    lambda c: c.brittle.restored > 50 > c.margin.restored,
    says="{network}: the vote is correct on {brittle.restored:%} of the images after OptBrittle, "
         "{margin.restored:%} after OptMargin, {benign.restored:%} of benign ones",
    reads="“change class” is read as a correct vote on more than half, “withstand” as on less"))
claim("figure-9", "much more robust to random noise")(on_imagenet(
    lambda c: (c.fgsm.median > max(c.brittle.median, c.margin.median) and
               abs(c.fgsm.purity - c.benign.purity) < min(abs(c.brittle.purity - c.benign.purity),
                                                          abs(c.margin.purity - c.benign.purity))),
    says="{network}: median boundary distance (RMS) and top-1 purity of benign images {benign.median} and "
         "{benign.purity}, OptBrittle {brittle.median} and {brittle.purity}, OptMargin {margin.median} and "
         "{margin.purity}, FGSM {fgsm.median} and {fgsm.purity}"))
