"""How each printed claim of Chen et al. is judged; see `report.claims`."""
import pandas as pd

from papers.chen import figures, ranking
from papers.chen.experiments import PAPER
from report import prose
from report.cell import as_cell, values
from report.claims import Claims, over_cases

claim = Claims()


def with_status(holds, *, says, view=None, case="dataset", reads=""):
    """A predicate on every case of the rows, or of the dict that `view` makes of them; see `over_cases`.

    A case without a value says why there is none, as its `status` or that of a `Cell` does. A claim that
    another length of training of the cheapest networks would flip is open.

    says   a template of what a case shows;  case: the columns of the rows that name a case
    """
    def judged(rows):
        rows = view(rows) if view else rows
        if isinstance(rows, pd.DataFrame):
            rows = {" ".join(str(row[k]) for k in case.split()): row for row in rows.to_dict("records")}
        statuses = {name: [row.get("status"), *(as_cell(cell).status for cell in row.values())]
                    for name, row in rows.items()}
        whys = {name: next((why for why in some if isinstance(why, str)), None)
                for name, some in statuses.items()}
        return over_cases({name: values(row) | {"status": whys[name]} for name, row in rows.items()},
                          lambda c: (holds(c), says), reads=reads)

    def predicate(rows, *others):
        rows, lengths = figures.at_lengths(rows)
        holds, evidence = judged(rows)
        for length, flipped in lengths.items():
            if holds is not None and (other := judged(flipped)[0]) not in (holds, None):
                return None, (f"{evidence}; with {figures.LENGTHS[length]} the epochs for the cheapest "
                              f"networks it {'holds' if other else 'fails'}, so the claim is not judged")
        return holds, evidence
    return predicate


# ---- Section I: Figure 1 ---------------------------------------------------------------------------------
def grouping(holds, says):
    """A claim on the shares of neighbours."""
    return with_status(
        holds, says=says, view=lambda data: {"": data["neighbours_pct"]},
        reads="grouping is measured by the share of images whose nearest neighbour in the map has their "
              "class; “clearly” names no bound")


claim("figure-1", "loses the grouping")(grouping(
    lambda c: c.natural_clean > c.natural_adversarial,
    "{natural_clean:%} on clean and {natural_adversarial:%} on adversarial images"))
claim("figure-1", "even on adversarial samples")(grouping(
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
@claim("table-1", "Accuracies are around")
@claim("table-6", "about 97%")
@claim("table-7", "about 96%")
@claim("table-9", "Accuracies of the four CNNs")
def accuracies(rows):
    words = "; ".join(f"{data}: {figures.between(100 * networks.acc)} (n = {len(networks)})"
                      for data, networks in rows.groupby("dataset", sort=False)) if len(rows) else "none"
    return None, f"{words}; the claim names no bound"


claim("table-1", "equals ranking by L2")(with_status(
    lambda c: round(c.attacks, 6) == 1, view=ranking.ranks,
    says="Spearman's rank correlation of the two is {attacks}"))
claim("table-1", "The lower the attack success rate")(with_status(
    lambda c: round(max(c.fsa_inf, c.fsd_inf, c.fsa_2, c.fsd_2), 6) == -1 and
    round(min(c.roby_inf, c.roby_2), 6) == 1, view=ranking.ranks, reads="the order is read literally",
    says="Spearman's rank correlation with attack success is {fsa_inf}, {fsd_inf} and "
         "{roby_inf} for FSA, FSD and ROBY in the L∞ form, {fsa_2}, {fsd_2} and {roby_2} in the L2 form"))
claim("table-1", "weaker than to the Linf")(with_status(
    lambda c: c.asr_2 > c.asr_inf, case="dataset model",
    reads="in the literal reading the L2 ball lies inside the L∞ ball, so that a perfect L∞ attack excludes "
          "the claim; in the published table it holds for "
          f"{sum(row['asr_2'] > row['asr_inf'] for row in ranking.PRINTED)} of {len(ranking.PRINTED)} "
          "networks",
    view=lambda rows: rows.assign(**{name: 100 * rows[name].astype(float) for name in ("asr_2", "asr_inf")}),
    says="the L2 attack flips {asr_2:%}, the L∞ attack {asr_inf:%}"))


def of_norm(norm):
    """Rows with the metrics of one norm under their own names."""
    return lambda rows: rows.rename(columns=lambda name: name.removesuffix(f"_{norm}"))


METRICS = "FSA {fsa}, FSD {fsd}, ROBY {roby}"
for item, norm, highest in (("table-2", "inf", "highest absolute"),
                            ("table-3", "2", "said to have the highest")):
    claim(item, "correlate negatively", cells=True)(with_status(
        lambda c: max(c.fsa, c.fsd) < 0 < c.roby, view=of_norm(norm), says=METRICS))
    claim(item, highest, cells=True)(with_status(
        lambda c: abs(c.roby) > max(abs(c.fsa), abs(c.fsd)), view=of_norm(norm), says=METRICS,
        reads="“highest” is read of absolute values"))


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
        numbers = [rank for key, rank in values(ranks).items() if key != "status"]
        smallest[name] = ranks | {"least": None if None in numbers else min(numbers)}
    return smallest


positive = claim("figure-4", "positively correlated", cells=True)(with_status(
    lambda c: c.least > 0, view=least, says="the smallest rank correlation is {least}"))


# ---- Section IV.D: natural and robust networks -----------------------------------------------------------
def smaller(view, **more):
    """The claim that robust networks have a smaller ROBY than natural ones."""
    return with_status(lambda c: c.robust < c.natural, view=view, says="natural {natural}, robust {robust}",
                       **more)


def on(samples):
    """`smaller` of Table V, on one kind of its images."""
    return smaller(lambda rows: rows.rename(columns=lambda name: name.removeprefix(f"roby_{samples}_")),
                   case="dataset model", reads="counted for each network")


def declines(rows):
    """The rows with the decline of ROBY, natural minus robust, on both kinds of images."""
    rows = values(rows)
    return rows.assign(**{samples: rows[f"roby_{samples}_natural"] - rows[f"roby_{samples}_robust"]
                          for samples in ("original", "adversarial")})


DECLINES = declines(pd.DataFrame(PAPER["table-5"].rows))
claim("table-5", "On original samples")(on("original"))
claim("table-5", "On adversarial samples robust")(on("adversarial"))
claim("table-5", "decline is larger")(with_status(
    lambda c: c.adversarial > c.original, view=declines, case="dataset model",
    says="natural minus robust is {adversarial} on adversarial and {original} on clean images",
    reads="counted for each network; in the published table it holds for "
          f"{(DECLINES.adversarial > DECLINES.original).sum()} of {len(DECLINES)} networks and for the mean "
          f"decline, {DECLINES.adversarial.mean():.3f} against {DECLINES.original.mean():.3f}"))

for item in ("figure-5", "figure-6"):
    claim(item, "smaller ROBY")(smaller(lambda data: data["networks"]))


@claim("figure-7", "show different")
@claim("figure-8", "Grouping of classes is poor")
def by_eye(data):
    return None, (f"judged by eye; for {figures.between(data['neighbours_pct'].values())} of the "
                  f"{data['images']:,} images the nearest neighbour in the map has their class")


@claim("figure-9", "clearer and more complex", "figure-8")
def more_compact(robust, natural):
    """By neighbours, of networks in both figures: it may fail, not hold."""
    shares, others = dict(robust["neighbours_pct"]), dict(natural["neighbours_pct"]) if len(natural) else {}
    both = [name for name in shares if name in others]
    words = "; ".join(f"{name}: {shares[name]:.0f}% robust, {others[name]:.0f}% natural" for name in both)
    compact = both and all(shares[name] > others[name] for name in both)
    return (None if compact or not both else False,
            f"{words or 'no network in both figures'} ({'it holds for' if compact else 'judged by'} “more "
            f"compact and distinct”, the share of neighbours of the same class among {robust['images']:,} "
            "images of one map each; “clearer and more complex” is left to the eye)")


# ---- Section IV.E: width, depth, pooling and dropout -----------------------------------------------------
def falls(asked, name):
    """The claim that attack success and ROBY fall from each of the networks `asked` to the next."""
    def steps(rows):
        if len(rows) < len(asked):
            return {name: {"status": ranking.FEWER.format(asked=len(asked)), "fewest": None, "steps": None}}
        values = rows.set_index("model").loc[asked, ["asr", "roby"]].astype(float) * (100, 1)
        down = (values.diff().iloc[1:] < 0).sum()
        return {name: {"steps": len(asked) - 1, "fewest": int(down.min()), **dict(down),
                       "first": dict(values.iloc[0]), "last": dict(values.iloc[-1])}}

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
        panels[side] = ranks | {"asr_words": "undefined" if flat else ranks["asr_text"],
                                "why": ", which is the same on all networks," if flat else "",
                                "status": None if whole else ranking.FEWER.format(asked=len(asked))}
        panels[side] |= {"asr_text": 0.0} if flat else {}
    return panels


claim("figure-10", "both fall")(with_status(
    lambda c: c.asr_text < 0 and c.roby_2 < 0, view=panels,
    says="rank correlations with the size are {asr_words} for attack success{why} and {roby_2:.2f} for "
         "ROBY (n = {networks})"))


@claim("table-8", "pooling and dropout only")
def only_pooling_and_dropout(rows):
    """Contradicted if a kind of layer is not in all networks, or two have the same layers."""
    return None if rows.conv.all() and rows.fc.all() and not rows[["pool", "dropout"]].duplicated().any() \
        else False, ("the networks are built from this table; where ours have no pooling, their convolutions "
                     "have stride 2 as well")


claim("table-9", "The lower the attack success")(with_status(
    lambda c: round(c.spearman, 6) == 1, view=ranking.of_cnns,
    says=f"Spearman's rank correlation is {{spearman:.2f}} (n = {len(figures.CNNS)})"))


@claim("table-9", "similar order")
def similar(rows):
    success = [(data, nets.set_index("model").asr[figures.CNNS])
               for data, nets in figures.complete(rows, len(figures.CNNS)).items()]
    ranks = {f"{a} and {b}": ranking.agreement(one, other)
             for n, (a, one) in enumerate(success) for b, other in success[n + 1:]}
    words = "; ".join(f"{names}: Spearman {rank:.2f}" for names, rank in ranks.items() if rank is not None)
    words = words or "attack success differs between the networks of fewer than two data sets"
    return None, f"{words} (“similar” names no bound)"


def published_pairs():
    """In how many pairs of the published table attack success is smaller without dropout, in words."""
    asr = pd.DataFrame(PAPER["table-9"].rows).pivot(index="dataset", columns="model", values="asr")
    less = [*(asr["CNN-3"] < asr["CNN-1"]), *(asr["CNN-4"] < asr["CNN-2"])]
    return f"in the published table that holds for {sum(less)} of {len(less)} pairs of networks"


claim("table-9", "without dropout")(with_status(
    lambda c: c.cnn3 < c.cnn1 and c.cnn4 < c.cnn2, view=ranking.of_cnns,
    reads=f"“more robust” is read as a smaller attack success; {published_pairs()}",
    says="attack success {cnn3:%} without and {cnn1:%} with dropout if there is pooling, "
         "{cnn4:%} and {cnn2:%} if not"))


@claim("figure-11", "relate linearly", cells=True)
def linear(data):
    _, words = with_status(
        lambda c: c.pearson < 2, view=lambda d: d["pearson"],
        says=f"Pearson's correlation is {{pearson:.3f}} (n = {len(figures.CNNS)})")(data)
    return None, f"{words} (“linear” names no bound)"


# ---- Section IV.F: cost ----------------------------------------------------------------------------------
# The published time of ROBY, in percent of that of the attack.
PUBLISHED_SHARE = {row["dataset"]: 100 * row["roby_ms"] / row["pgd_ms"] for row in PAPER["table-10"].rows}


def by_dataset(rows, words):
    """`words` of each data set that has values."""
    return "; ".join(words(row) for row in rows.dropna(subset=["roby_ms"]).itertuples()) or "no value"


@claim("table-10", "less than a second")
def within_a_second(rows):
    times = rows.roby_ms.dropna()
    return (bool((times < 1000).all()) if len(times) == len(rows) else None,
            by_dataset(rows, lambda row: f"{row.dataset}: {row.roby_ms:,.0f} ms"))


@claim("table-10", "about 1%")
def about_one_percent(rows):
    return None, by_dataset(rows, lambda row: f"{row.dataset}: {100 * row.roby_ms / row.pgd_ms:.2f}% "
                            f"(published: {PUBLISHED_SHARE[row.dataset]:.2f}%)") + " (“about” names no bound)"
