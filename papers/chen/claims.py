"""How each printed claim of Chen et al. is judged; see `report.claims`."""
import pandas as pd

from papers.chen import figures, ranking
from papers.chen.experiments import PAPER
from report import prose
from report.cell import as_cell, bare
from report.claims import Claims, NoValue, over_cases
from shared.statistics import share_interval

claim = Claims()


def stated(facts):
    """Values of a row or of a dict, with `status`: why it is a proxy, or why a value is missing.

    That is its own `status` or that of one of its `Cell`s, a proxy's first.
    """
    whys = [why for why in (facts.get("status"), *(as_cell(cell).status for cell in facts.values()))
            if isinstance(why, str) and why.startswith(("proxy", "not measured"))]
    return bare(facts) | {"status": max(whys, key=lambda why: why.startswith("proxy"), default=None)}


def with_status(holds, *, says, view=None, case="dataset", reads="", what="cases", printed=None):
    """A predicate on every case of the rows, or of the dict that `view` makes of them; see `over_cases`.

    A claim that another length of training of the cheapest networks would flip is open.

    says     a template of what a case shows;  case: the columns of the rows that name a case
    printed  the published rows or data, where the claim does not hold on all of their cases
    """
    def cases(rows):
        if isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame([stated(row) for row in rows.to_dict("records")])
        rows = view(rows) if view else rows
        if isinstance(rows, pd.DataFrame):
            rows = {" ".join(str(row[k]) for k in case.split()): row for row in rows.to_dict("records")}
        return {name: stated(facts) for name, facts in rows.items()}

    published = None if printed is None else {
        name: bool(holds(prose.Facts(facts))) for name, facts in cases(printed).items()}

    def judged(rows):
        return over_cases(cases(rows), lambda c: (holds(c), says), what=what, reads=reads, printed=published)

    def predicate(rows):
        rows, lengths = figures.at_lengths(rows)
        holds, evidence = judged(rows)
        for length, flipped in lengths.items():
            if holds is not None and (other := judged(flipped)[0]) not in (holds, None):
                return None, (f"{evidence}; with {figures.LENGTHS[length]} the epochs for the cheapest "
                              f"networks it {'holds' if other else 'fails'}, so that this is not tested")
        return holds, evidence
    return predicate


def printed(item):
    """The published rows of a table."""
    return pd.DataFrame(PAPER[item].rows)


# ---- Section I: Figure 1 ---------------------------------------------------------------------------------
def grouping(holds, says):
    """A claim on the shares of neighbours."""
    return with_status(
        holds, says=says, view=lambda data: {"": data["neighbours_pct"] | {"status": data["status"]}},
        reads="grouping is measured by the share of images whose nearest neighbour in the map has their "
              "class")


claim("figure-1", "loses the grouping", leaves="“clearly” names no bound")(grouping(
    lambda c: c.natural_clean > c.natural_adversarial,
    "{natural_clean:%} on clean and {natural_adversarial:%} on adversarial images"))
claim("figure-1", "even on adversarial samples", leaves="“clearly” names no bound")(grouping(
    lambda c: c.robust_adversarial > c.natural_adversarial,
    "{robust_adversarial:%} of the robust and {natural_adversarial:%} of the natural network"))


# ---- Section III: Algorithm 1 ----------------------------------------------------------------------------
@claim("algorithm-1", "O(n^2)")
def at_most_quadratic(data):
    """Of the distances that the algorithm computes: samples + K (K - 1) / 2 of K classes."""
    counts = data["counts"]
    holds = all(c["distances"] == c["samples"] + c["classes"] * (c["classes"] - 1) / 2 for c in counts)
    words = "; ".join(prose.fill("{distances} for {samples} samples of {classes} classes", c) for c in counts)
    return holds, (f"as an upper bound: samples + K(K − 1)/2 distances for K classes ({words}); the paper "
                   "does not define n")


# ---- Section IV.C: ROBY beside attack success ------------------------------------------------------------
@claim("table-1", "Accuracies are approximately", open="“approximately” names no bound")
@claim("table-6", "approximately 97%", open="“approximately” names no bound")
@claim("table-7", "approximately 96%", open="“approximately” names no bound")
@claim("table-9", "Accuracies of the four CNNs", open="“similar” names no bound")
def accuracies(rows):
    return "; ".join(f"{data}: {figures.between(100 * networks.acc)} (n = {len(networks)})"
                     for data, networks in rows.groupby("dataset", sort=False))


claim("table-1", "equals ranking by L2")(with_status(
    lambda c: round(c.attacks, 6) == 1, view=ranking.ranks,
    says="Spearman's rank correlation of the two is {attacks}"))
claim("table-1", "The lower the attack success rate")(with_status(
    lambda c: round(max(c.fsa_inf, c.fsd_inf, c.fsa_2, c.fsd_2), 6) == -1 and
    round(min(c.roby_inf, c.roby_2), 6) == 1, view=ranking.ranks, reads="the order is taken literally",
    says="Spearman's rank correlation with this table's attack success is {fsa_inf}, {fsd_inf} and "
         "{roby_inf} for FSA, FSD and ROBY in the L∞ form, {fsa_2}, {fsd_2} and {roby_2} in the L2 form"))
claim("table-1", "weaker than to the Linf")(with_status(
    lambda c: c.asr_2 > c.asr_inf, case="dataset model", what="networks", printed=printed("table-1"),
    reads="taken literally, the L2 ball lies inside the L∞ ball, so that a perfect L∞ attack excludes "
          "the claim",
    view=lambda rows: rows.assign(**{name: 100 * rows[name].astype(float) for name in ("asr_2", "asr_inf")}),
    says="the L2 attack flips {asr_2:%}, the L∞ attack {asr_inf:%}"))


def of_norm(norm):
    """Rows with the metrics of one norm under their own names."""
    return lambda rows: rows.rename(columns=lambda name: name.removesuffix(f"_{norm}"))


METRICS = "FSA {fsa}, FSD {fsd}, ROBY {roby}"
for item, norm, highest, strength in (
        ("table-2", "inf", "highest absolute", {}),
        ("table-3", "2", "said to have the highest", {"printed": printed("table-3"), "what": "data sets"})):
    claim(item, "correlate negatively", cells=True)(with_status(
        lambda c: max(c.fsa, c.fsd) < 0 < c.roby, view=of_norm(norm), says=METRICS))
    claim(item, highest, cells=True)(with_status(
        lambda c: abs(c.roby) > max(abs(c.fsa), abs(c.fsd)), view=of_norm(norm), says=METRICS,
        reads="“highest” is taken of absolute values", **strength))


def by_attack(rows):
    """`{attack in words: its row}` of Table IV."""
    words = {"asr_2": "L2 attack", "asr_inf": "L∞ attack"}
    return {words[row["attack_success"]]: row for row in rows.to_dict("records")}


FORMS = "L2 form {roby_2}, L∞ form {roby_inf}"
claim("table-4", "at least 0.94", cells=True)(with_status(
    lambda c: min(c.roby_2, c.roby_inf) >= 0.94, view=by_attack, says=FORMS))
claim("table-4", "better with Linf", cells=True)(with_status(
    lambda c: c.roby_2 > c.roby_inf, says=FORMS,
    view=lambda rows: {"L∞ attack": by_attack(rows)["L∞ attack"]}))


def followed(norm):
    """The claim of Figures 2 and 3."""
    roby, fsa, fsd = (f"asr_{norm}_{name}_{norm}" for name in ("roby", "fsa", "fsd"))
    return with_status(lambda c: getattr(c, roby) > 0 > max(getattr(c, fsa), getattr(c, fsd)),
                       view=lambda data: data["ranks"], says="rank correlations "
                       f"{{{roby}}} of ROBY, {{{fsa}}} of FSA and {{{fsd}}} of FSD")


claim("figure-2", "ROBY rises", cells=True)(followed("inf"))
claim("figure-3", "ROBY rises", cells=True)(followed("2"))


def least(data):
    """The smallest rank correlation of each data set, where it has all."""
    smallest = {}
    for name, ranks in data["ranks"].items():
        numbers = [rank for key, rank in bare(ranks).items() if key != "status"]
        smallest[name] = ranks | {"least": None if None in numbers else min(numbers)}
    return smallest


positive = claim("figure-4", "positively correlated", cells=True)(with_status(
    lambda c: c.least > 0, view=least, says="the smallest rank correlation is {least}"))


# ---- Section IV.D: natural and robust networks -----------------------------------------------------------
def smaller(**more):
    """The claim that robust networks have a smaller ROBY than natural ones, for each network."""
    return with_status(lambda c: c.robust < c.natural, says="natural {natural}, robust {robust}", **more)


TABLE_5 = printed("table-5")


def on(samples):
    """What `smaller` takes of Table V, on one kind of its images."""
    return {"view": lambda rows: rows.rename(columns=lambda name: name.removeprefix(f"roby_{samples}_")),
            "case": "dataset model", "what": "networks"}


def declines(rows):
    """The rows with the decline of ROBY, natural minus robust, on both kinds of images."""
    return rows.assign(**{
        samples: rows[f"roby_{samples}_natural"].astype(float) - rows[f"roby_{samples}_robust"].astype(float)
        for samples in ("original", "adversarial")})


def as_data(rows):
    """Table V as the data of Figure 5."""
    return {"networks": {f"{row.dataset} {row.model}": {
        kind: getattr(row, f"roby_original_{kind}") for kind in ("natural", "robust")}
        for row in rows.itertuples()}}


claim("table-5", "On original samples", cells=True)(smaller(**on("original"), printed=TABLE_5))
claim("table-5", "On adversarial samples robust", cells=True)(smaller(**on("adversarial")))
claim("table-5", "decline is larger", cells=True)(with_status(
    lambda c: c.adversarial > c.original, view=declines, case="dataset model", what="networks",
    says="natural minus robust is {adversarial} on adversarial and {original} on clean images",
    printed=TABLE_5))

NETWORKS = {"view": lambda data: data["networks"], "what": "networks"}
claim("figure-5", "smaller ROBY", cells=True)(smaller(**NETWORKS, printed=as_data(TABLE_5)))
claim("figure-6", "smaller ROBY", cells=True)(smaller(**NETWORKS))


@claim("figure-7", "show different", open="left to the eye")
@claim("figure-8", "less clear", open="left to the eye")
def by_eye(data):
    return (f"for {figures.between(data['neighbours_pct'].values())} of the images of a network (at most "
            f"{data['images']:,}) the nearest neighbour in the map has their class")


@claim("figure-9", "more complicated and clear", "figure-8",
       leaves="“more complicated and clear” is left to the eye")
def more_compact(robust, natural):
    """By the share of neighbours, of each network in both figures."""
    both = {name: {"robust": share, "natural": natural["neighbours_pct"][name],
                   "status": robust["status"][name] or natural["status"][name]}
            for name, share in robust["neighbours_pct"].items() if name in natural["neighbours_pct"]}
    if not both:
        raise NoValue("no network in both figures")
    return over_cases(
        both, lambda c: (c.robust > c.natural, "{robust:.0f}% robust, {natural:.0f}% natural"),
        what="networks", reads="“more compact and more distinct” is measured by the share of neighbours of "
                               "the same class in one map each; maps may hold different numbers of images")


# ---- Section IV.E: width, depth, pooling and dropout -----------------------------------------------------
def falls(asked, name):
    """The claim that attack success and ROBY fall from each of the networks `asked` to the next."""
    def steps(rows):
        values = rows.set_index("model").reindex(asked)[["asr", "roby"]].astype(float) * [100, 1]
        down, whole = (values.diff().iloc[1:] < 0).sum(), values.notna().all(axis=None)
        return {name: {"steps": len(asked) - 1, "fewest": int(down.min()) if whole else None, **dict(down),
                       "first": dict(values.iloc[0]), "last": dict(values.iloc[-1]),
                       "status": figures.shortest(rows.status) if whole else
                       f"not measured: {ranking.FEWER.format(asked=len(asked))}"}}

    return with_status(lambda c: c.fewest == c.steps, view=steps, says=(
        "from the first to the last, attack success goes from {first.asr:%} to "
        "{last.asr:%} (it falls in {asr} of {steps} steps) and ROBY from {first.roby} to {last.roby} "
        "(it falls in {roby} of {steps} steps); the claim needs all"))


claim("table-6", "More neurons")(falls(figures.WIDER, "wider networks"))
claim("table-7", "More layers")(falls(figures.DEEPER, "deeper networks"))


def panels(data):
    """Rank correlations of each panel; attack success does not fall where it is the same on all networks."""
    panels = {}
    for side, asked in (("neurons", figures.WIDER), ("layers", figures.DEEPER)):
        ranks = data[side]
        whole = ranks["networks"] == len(asked)
        flat = whole and ranks["asr_text"] is None
        panels[side] = ranks | {
            "asr_words": "undefined" if flat else ranks["asr_text"],
            "why": ", which is the same on all networks," if flat else "",
            "asr_text": 0.0 if flat else ranks["asr_text"],
            "status": ranks["status"] if whole else f"not measured: {ranking.FEWER.format(asked=len(asked))}"}
    return panels


claim("figure-10", "both fall")(with_status(
    lambda c: c.asr_text < 0 and c.roby_2 < 0, view=panels,
    says="rank correlations with the size are {asr_words} for attack success{why} and {roby_2:.2f} for "
         "ROBY (n = {networks})"))


claim("table-8", "pooling and dropout only")(
    "true of the table, from which the networks are built; where ours have no pooling, their convolutions "
    "have stride 2 as well")


def told_apart(rows):
    """The rows, with one attack success on data sets where all networks' 95% intervals share a value."""
    same = rows.asr.copy()
    for data, nets in rows.groupby("dataset").asr:
        cells = [as_cell(cell) for cell in nets]
        if all(cell.of and cell.value is not None and 0 <= cell.value <= 1 for cell in cells):
            ends = [share_interval(round(cell.of * cell.value), cell.of) for cell in cells]
            if max(low for low, _ in ends) <= min(high for _, high in ends):
                same[rows.dataset == data] = sum(cell.value for cell in cells) / len(cells)
    return rows.assign(asr=same)


in_order = with_status(
    lambda c: round(c.spearman, 6) == 1, view=ranking.of_cnns,
    reads="attack success counts as the same where the 95% intervals of all networks share a value",
    says=f"Spearman's rank correlation is {{spearman:.2f}} (n = {len(figures.CNNS)})")
claim("table-9", "The lower the attack success", cells=True)(lambda rows: in_order(told_apart(rows)))


@claim("table-9", "similar order", open="“similar” names no bound")
def similar(rows):
    success = [(data, nets.set_index("model").asr[figures.CNNS])
               for data, nets in figures.complete(rows, len(figures.CNNS)).items()]
    ranks = {f"{a} and {b}": ranking.agreement(one, other)
             for n, (a, one) in enumerate(success) for b, other in success[n + 1:]}
    words = "; ".join(f"{names}: Spearman {rank:.2f}" for names, rank in ranks.items() if rank is not None)
    return words or "attack success differs between the networks of fewer than two data sets"


def pairs_of_cnns(rows):
    """Attack success with and without dropout of each pair of networks that are alike but for it."""
    cases = {}
    for data in dict.fromkeys(rows.dataset):
        nets = rows[rows.dataset == data].set_index("model").reindex(figures.CNNS)
        asr, flat = 100 * nets.asr.astype(float), nets.asr.notna().all() and nets.asr.nunique() == 1
        for dropout, none in (("CNN-1", "CNN-3"), ("CNN-2", "CNN-4")):
            cases[f"{data} {none} and {dropout}"] = {
                "with": None if flat else asr[dropout], "without": None if flat else asr[none],
                "status": next(iter(nets.status[[dropout, none]].dropna()), None)
                or ("not measured: attack success is the same on all networks" if flat else None)}
    return cases


claim("table-9", "without dropout")(with_status(
    lambda c: c.without < getattr(c, "with"), view=pairs_of_cnns, printed=printed("table-9"), what="pairs",
    reads="“better robustness” is taken as a smaller attack success",
    says="attack success {without:%} without and {with:%} with dropout"))


@claim("figure-11", "linear relation", cells=True, open="“linear” in a layer type is not defined")
def linear(data):
    cells = {name: as_cell(facts["pearson"]) for name, facts in data["pearson"].items()}
    return "; ".join(
        f"{name}: Pearson's correlation of ROBY and attack success {cell.value:.3f} (n = {len(figures.CNNS)})"
        if cell.value is not None else
        f"{name}: {(cell.status or data['pearson'][name]['status']).removeprefix('not measured: ')}"
        for name, cell in cells.items())


# ---- Section IV.F: cost ----------------------------------------------------------------------------------
# The published time of ROBY, in percent of that of the attack.
PUBLISHED_SHARE = {row["dataset"]: 100 * row["roby_ms"] / row["pgd_ms"] for row in PAPER["table-10"].rows}


def by_dataset(rows, words):
    """`words` of each data set that has values."""
    return "; ".join(words(row) for row in rows.dropna(subset=["roby_ms"]).itertuples()) or "no value"


@claim("table-10", "less than a second", open="the paper does not state its hardware")
def within_a_second(rows):
    return by_dataset(rows, lambda row: f"{row.dataset}: {row.roby_ms:,.0f} ms")


@claim("table-10", "only 1%", open="“only” names no bound")
def about_one_percent(rows):
    return by_dataset(rows, lambda row: f"{row.dataset}: {100 * row.roby_ms / row.pgd_ms:.2f}% "
                      f"(published: {PUBLISHED_SHARE[row.dataset]:.2f}%)")
