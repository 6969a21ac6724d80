"""How each printed claim of He et al. is judged; see `report.claims`."""
from functools import partial

import pandas as pd

from papers.he import boundary, figures
from report import prose
from report.claims import Claims, over_cases
from shared.susceptibility import percentage

claim = Claims()
# Decorator of a claim that only runs on the paper's own networks decide.
networks_claim = partial(claim, counts=lambda labels: labels.get("network") not in figures.PROXIES)


def of_kinds(data):
    """`{network: {kind: values}}` with every kind of example; None of one without an example."""
    return {net: dict.fromkeys(figures.KINDS) | kinds for net, kinds in data.items()}


def over_networks(judge, view=of_kinds, *, names=figures.NAMED, reads=""):
    """A predicate: `over_cases` of the {network: its values} that `view` makes of rows or data."""
    return lambda *results: over_cases(
        {names[net]: {"network": net, "status": figures.PROXIES.get(net)} | facts
         for net, facts in view(*results).items()}, judge, what="networks", reads=reads)


def adversarial(cells):
    """Values of the adversarially trained networks, each beside those of its data set's `normal` one."""
    return {net: cells[net] | {"normal": cells.get(net.replace("adv", "normal"))}
            for net in cells if net.endswith("adv")}


# ---- Section 3: OptMargin --------------------------------------------------------------------------------
UNPUBLISHED = "that OptMargin stays below OptStrong was not judged: OptStrong's settings are not published"
networks_claim("table-1", "in all four settings", leaves=UNPUBLISHED)(over_networks(lambda c: (
    round(c.margin.success_pct) == 100 and c.margin.rms > c.brittle.rms,
    "success {margin.success_pct:%} (n = {margin.correct}), mean distance {margin.rms} (OptBrittle "
    "{brittle.rms}, n = {brittle.successful}; OptStrong {strong.rms}, n = {strong.successful})"),
    figures.by_network))
claim("table-1", "leaves the original class distinctly")("“distinctly visible” is judged by eye, in Figure 5")


def drops(kind):
    """Whether an attack succeeds less often on adversarially trained networks."""
    return over_networks(lambda c: (
        getattr(c, kind).success_pct < getattr(c.normal, kind).success_pct,
        f"{{normal.{kind}.success_pct:%}} to {{{kind}.success_pct:%}}"),
        lambda rows: adversarial(figures.by_network(rows)))


networks_claim("table-1", "OptStrong drops")(drops("strong"))
networks_claim("table-1", "FGSM is weaker")(drops("fgsm"))
networks_claim("table-2", "restores OptBrittle")(over_networks(lambda c: (
    c.brittle.region > max(c.brittle.point, c.margin.region),
    "OptBrittle {brittle.region:%} (n = {brittle.images}; point classification {brittle.point:%}), OptMargin "
    "{margin.region:%} (n = {margin.images})"),
    figures.by_network, reads="“restores” is read as more correct labels than by point classification, and "
                              "than of OptMargin images"))
networks_claim("table-2", "lowest accuracy of all attacks")(over_networks(lambda c: (
    c.margin.region <= min(c.brittle.region, c.fgsm.region),
    "OptMargin {margin.region:%} (n = {margin.images}), the lowest other "
    f"{prose.short(min(c.brittle.region, c.fgsm.region))}%"), figures.by_network))
networks_claim("table-2", "0% on OptBrittle everywhere")(over_networks(lambda c: (
    # the claim itself names the exception
    (c.network == "cifar10-adv" or round(c.margin.point) == 0) and round(c.brittle.point) == 0,
    "{brittle.point:%} (n = {brittle.images}) and {margin.point:%} (n = {margin.images})"),
    figures.by_network))
networks_claim("table-2", "evades both")(over_networks(lambda c: (
    c.margin.region < c.benign.region and c.margin.point < c.benign.point,
    "region {margin.region:%}, point {margin.point:%} (n = {margin.images}; benign {benign.region:%} and "
    "{benign.point:%})"),
    figures.by_network, reads="“evades” is read as fewer correct labels than of benign images"))
claim("figure-5", "visibly altered")("“distinctly visible” is judged by eye: the images stand above")

SLOWEST = "the slowest case is w32-10 on a graphics card, a GeForce GTX 1080"
claim("procedure-optmargin", "Slowest case")(f"not measured: {SLOWEST}")
claim("procedure-optmargin", "20 model evaluations")(
    "the claim states settings; both run with these, and the cost is judged below")


@networks_claim("procedure-cost-optmargin", "ensemble of 20 models")
def defence_is_slower(data):
    return over_cases({"": data}, lambda c: (
        c.members < c.samples and c.slowdown < c.samples,
        f"slowdown of the attacker: {c.members} models a step instead of one, {c.slowdown:,.0f} times the "
        f"passes of OptBrittle in whole searches, with our settings of both; of the defender: {c.samples}"))


claim("remark-cao-gong-amplified", "similar distortion increases")(
    "“high” and “similar” name no bound; the table shows both quantities")

# ---- Section 4: boundary distances -----------------------------------------------------------------------
claim("procedure-boundary-distance", "Slowest case")(
    "the wide ResNet w32-10, the slowest case, needs a GPU: not measured")


def medians(data):
    """The data of Figures 1 and 2, with the median in words, and a rank: by `never` beyond the last step."""
    def in_words(median, scale, images=None, never=None, **_):
        none = "" if never is None or median < 1 else f"; no boundary in {never:.0%} of directions"
        return (f"{scale * median:.3g}{' of 255' if scale > 1 else ''}" if median < 1 else
                "beyond the largest distance tried") + (f" (n = {images}{none})" if images else "")

    def rank(median, never=0, **_):
        return median + never * (median == 1)

    return of_kinds({net: {kind: values | {"words": in_words(**values), "rank": rank(**values)}
                           for kind, values in kinds.items()} for net, kinds in data.items()})


networks_claim("figure-1", "as close to the", leaves="“as close as possible” names no bound")(over_networks(
    lambda c: (c.brittle.home > 0.5, f"median {c.brittle.median / c.brittle.line:.2g} of the distance of "
                                     "region classification's samples (the black line), {brittle.home:.0%} "
                                     "of directions lead to the true class")))
networks_claim("figure-1", "OptMargin curves lie higher")(over_networks(lambda c: (
    c.margin.median > c.brittle.median and (c.margin.neighbour < c.brittle.neighbour or c.margin.scale > 1),
    "median {brittle.words} for OptBrittle and {margin.words} for OptMargin; of the directions with a "
    "boundary {brittle.neighbour:.0%} and {margin.neighbour:.0%} lead to the true class"), medians))
@claim("figure-1", "A small random step", open="“small” and “nearly every” name no bound")
def returns(data):
    shares = {figures.NAMED[net]: kinds["brittle"]["back"] for net, kinds in of_kinds(data).items()
              if kinds["brittle"]}
    return "; ".join(f"{name}: {share:.0%} of directions lead to the true class nearer than "
                     "region classification's samples (the black line)"
                     for name, share in shares.items()) or prose.NO_VALUE


def beside_margin(c):
    """Values of OptMargin, and of FGSM where it has an example."""
    return [c.margin, *([c.fgsm] if "fgsm" in c else [])]


networks_claim("figure-2", "more robust to random noise")(over_networks(lambda c: (
    all(c.brittle.rank < attack.rank < c.benign.rank for attack in beside_margin(c)),
    "benign {benign.words}, OptBrittle {brittle.words}, OptMargin {margin.words}, FGSM {fgsm.words}"),
    medians, reads="medians beyond that: by the share of directions without a boundary"))
networks_claim("figure-2", "black line lies below")(over_networks(
    lambda c: (c.margin.above > 0.5, f"{c.margin.above * c.margin.images:.0f} of {{margin.images}} images"),
    reads="read as: more than half of the images lie above the line, the distance of region classification's "
          "samples"))


def thresholds(data):
    """On MNIST: the error of the best threshold on each statistic, its interval as if fixed in advance.

    `paper` is the larger of the two errors of the paper's classifier that was trained on OptMargin (Table 3).
    """
    def error(best):
        share = percentage(round(best["error"] * best["images"]), best["images"])
        return share | {"words": prose.fill("{percent:.0f}% (95% interval {low:.0f} to {high:.0f}%)", share)}

    printed = by_attack(pd.DataFrame(figures.PAPER["table-3"].rows))
    margins = {net: kinds["margin"] for net, kinds in data.items()
               if net.startswith("mnist") and "median_threshold" in kinds.get("margin", {})}
    return {net: {statistic: error(margin[f"{statistic}_threshold"]) for statistic in boundary.STATISTICS} | {
        "images": margin["images"], "paper": max(printed[net]["OptMargin"][name] for name in (
            "false_pos_benign_pct", "false_neg_optmargin_pct"))} for net, margin in margins.items()}


@claim("figure-2", "simple threshold", open="“accurately” names no bound; Section 5 has a threshold and our "
                                            "classifier on other digits")
def simple_threshold(data):
    return "; ".join(prose.fill(
        f"{figures.NAMED[net]}: the threshold best on these {{images}} images errs on the worse of the two "
        "kinds, benign or OptMargin images, at a rate of {median.words} by the median and {least.words} by "
        "the nearest distance; the paper's classifier {paper:.1f}%, on its network", errors)
        for net, errors in thresholds(data).items()) or prose.NO_VALUE


networks_claim("figure-2", "Adversarial training brings")(over_networks(lambda c: (
    (c.normal.benign.median - c.benign.median) * (1 if c.network == "mnist-adv" else -1) > 0,
    "{benign.words}, normal {normal.benign.words}"),
    lambda data: adversarial(medians(data))))


def with_mnist(data):
    """Purities of each network, beside those of its training's network of MNIST and the largest one."""
    whole = of_kinds(data)
    return {net: kinds | {"mnist": whole.get(net.replace("cifar10", "mnist")),
                          "largest": max((v for v in kinds.values() if v is not None), default=None)}
            for net, kinds in whole.items()}


networks_claim("figure-3", "especially high purity")(over_networks(lambda c: (
    c.brittle == c.largest and c.mnist.brittle - c.mnist.benign >= c.brittle - c.benign,
    "OptBrittle {brittle:.2f}, benign {benign:.2f}"), with_mnist))
networks_claim("figure-3", "much harder to tell")(over_networks(lambda c: (
    all(abs(attack - c.benign) < abs(c.brittle - c.benign) for attack in beside_margin(c)),
    "benign {benign:.2f}, OptBrittle {brittle:.2f}, OptMargin {margin:.2f}, FGSM {fgsm:.2f}"),
    reads="“harder” is read as a smaller difference to benign than OptBrittle's; “much” names no bound"))


# ---- Section 5: classifiers of boundary distances --------------------------------------------------------
def by_attack(rows):
    """`{network: {training attack: its row of Table 3}}`; None of one that is not there."""
    nets = {names: net for net, names in figures.NETWORKS.items()}
    attacks = {net: dict.fromkeys(("OptBrittle", "OptMargin")) for net in nets.values()}
    for row in rows.to_dict("records"):
        attacks[nets[row["dataset"], row["model_training"]]][row["training_attack"]] = row
    return attacks


def best(rows):
    """`{network: {"best": its best worst-case accuracy}}`; NaN where none was measured."""
    accuracy = rows.worst_case_pct.astype(float).groupby([rows.dataset, rows.model_training]).max()
    return {net: {"best": accuracy.get(names)} for net, names in figures.NETWORKS.items()}


def beside_the_vote(rows, table_2):
    """`best` beside what Table 2 has of region classification."""
    cells = figures.by_network(table_2)
    return {net: cells[net] | accuracy for net, accuracy in best(rows).items()}


def on_fgsm(rows, table_3):
    """False negatives on FGSM and on OptMargin of the normal networks, beside those of MNIST's."""
    fgsm = {row["dataset"]: row["false_neg_pct"] for row in rows.to_dict("records")}
    margin = {net: attacks["OptMargin"] for net, attacks in by_attack(table_3).items()}
    both = {net: {"fgsm": fgsm.get(figures.NETWORKS[net][0]),
                  "margin": margin[net] and margin[net]["false_neg_optmargin_pct"]}
            for net in ("mnist-normal", "cifar10-normal")}
    return {net: errors | {"mnist": both["mnist-normal"]} for net, errors in both.items()}


networks_claim("table-3", "also recognises OptBrittle", cells=True)(over_networks(lambda c: (
    c.OptMargin.false_neg_optbrittle_pct.value < c.OptBrittle.false_neg_optmargin_pct.value,
    "false negatives of OptBrittle {OptMargin.false_neg_optbrittle_pct.value:%} when trained on OptMargin "
    "(n = {OptMargin.false_neg_optbrittle_pct.of}), of OptMargin "
    "{OptBrittle.false_neg_optmargin_pct.value:%} when trained on OptBrittle "
    "(n = {OptBrittle.false_neg_optmargin_pct.of})"), by_attack))
networks_claim("table-3", "Best worst-case accuracy", "table-2")(over_networks(lambda c: (
    c.best > c.margin.region, "best classifier {best:%}, region classification of OptMargin examples "
    "{margin.region:%}"), beside_the_vote))
networks_claim("table-3", "the normally trained model gives better")(over_networks(lambda c: (
    (c.normal.best > c.best) == (c.network == "mnist-adv"),
    "best worst-case accuracy {normal.best:%} on the normal, {best:%} on the adversarially trained network"),
    lambda rows: adversarial(best(rows)), names={"mnist-adv": "MNIST", "cifar10-adv": "CIFAR-10"}))
networks_claim("table-3", "does not mimic")(over_networks(lambda c: (
    c.OptMargin.worst_case_pct > 50,
    "worst-case accuracy {OptMargin.worst_case_pct:%} when trained on OptMargin"),
    by_attack, reads="a copy of benign images would leave chance, one half"))
networks_claim("table-4", "harder to recognise", "table-3")(over_networks(lambda c: (
    c.fgsm > c.margin and c.fgsm - c.margin >= c.mnist.fgsm - c.mnist.margin,
    "false negatives of FGSM {fgsm:%}, of OptMargin {margin:%}"), on_fgsm))
claim("table-4", "too few successful")(
    "no classifier is trained there, as in the paper; Table 1 has the success of FGSM")


@claim("procedure-boundary-classifier", "about 1 minute", open="the paper's minute is one of its machine")
def longest(data):
    return f"at most {max(run['seconds'] for run in data.values()):.0f} seconds on ours"


@claim("procedure-cost-boundary", "varies by image")
def cost_varies(data):
    """Whether the search around a benign image takes more passes than around one of OptBrittle."""
    return over_networks(
        lambda c: (c.benign > c.brittle,
                   f"benign {c.benign:,.0f}, OptBrittle {c.brittle:,.0f} forward passes an image"),
        lambda looks: {net: {kind: looks.get(f"{net}_{kind}".replace("-", "_"))
                             for kind in ("benign", "brittle")} for net in figures.NAMED})(data["looks"])


# ---- Appendix D: images of ImageNet's size ---------------------------------------------------------------
def on_imagenet(judge, reads=""):
    """A predicate: `over_cases` of the one network, by kind of example: Table 5, or a figure's data."""
    def predicate(rows):
        kinds = {name: kind for kind, name in figures.KINDS.items()}
        return over_cases(of_kinds({"SqueezeNet 1.1": rows if isinstance(rows, dict) else {
            kinds[row["attack"]]: row for row in rows.to_dict("records")}}), judge, reads=reads)
    return predicate


claim("table-5", "lowers region-classification accuracy most")(
    on_imagenet(lambda c: (
        c.margin.region_accuracy_pct < min(c.fgsm.region_accuracy_pct, c.brittle.region_accuracy_pct),
        "accuracy of the vote on benign images {benign.region_accuracy_pct:%}, OptBrittle "
        "{brittle.region_accuracy_pct:%}, OptMargin {margin.region_accuracy_pct:%}, FGSM "
        "{fgsm.region_accuracy_pct:%}")))
claim("table-5", "Boundary classification accurately")(on_imagenet(lambda c: (
    max(c.brittle.false_neg_pct, c.margin.false_neg_pct) < c.fgsm.false_neg_pct,
    "false negatives of OptBrittle {brittle.false_neg_pct:%}, OptMargin {margin.false_neg_pct:%}, FGSM "
    "{fgsm.false_neg_pct:%}"),
    reads="read as: fewer false negatives of the first two"))
claim("table-5", "much higher distortion")(on_imagenet(lambda c: (
    c.fgsm.distortion_rms > c.margin.distortion_rms and
    c.fgsm.point_accuracy_pct > c.margin.point_accuracy_pct,
    "distortion of FGSM {fgsm.distortion_rms}, OptMargin {margin.distortion_rms}; accuracy "
    "{fgsm.point_accuracy_pct:%} and {margin.point_accuracy_pct:%}"),
    reads="“much” names no bound"))
claim("figure-8", "withstand region-classification noise")(on_imagenet(lambda c: (
    c.brittle.restored > c.margin.restored,
    "the vote is correct on {brittle.restored:%} of the images after OptBrittle, {margin.restored:%} after "
    "OptMargin, {benign.restored:%} of benign ones"),
    reads="read as: the vote is correct on more images after OptBrittle than after OptMargin"))


@claim("figure-9", "much more robust to random noise")
@on_imagenet
def fgsm_is_robust(c):
    def gap(kind):
        return abs(kind.purity - c.benign.purity)

    return (c.fgsm.median > max(c.brittle.median, c.margin.median) and
            gap(c.fgsm) < min(gap(c.brittle), gap(c.margin)),
            "median boundary distance (RMS) and top-1 purity of benign images {benign.median} and "
            "{benign.purity}, OptBrittle {brittle.median} and {brittle.purity}, "
            "OptMargin {margin.median} and {margin.purity}, FGSM {fgsm.median} and {fgsm.purity}")
