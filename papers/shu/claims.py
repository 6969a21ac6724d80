"""How each printed claim of Shu et al. is judged; see `report.claims`."""
import pandas as pd

from papers.shu.experiments import INTERVALS, PAPER
from report.claims import Claims, over_cases
from report.prose import short

claim = Claims()
WIDELY = {"NF": (0.62, 1), "MI": (0.62, 1), "PW": (0.01, 0.55)}     # bounds that the claim itself prints


# ---- what several sections use ---------------------------------------------------------------------------
def over_rows(judge, view=lambda rows: rows, *, key="attack", reads=""):
    """A predicate: `over_cases` of the rows that `view` makes of a table, called by a column."""
    return lambda *tables: over_cases({str(row[key]): row for row in view(*tables).to_dict("records")}, judge,
                                      reads=reads)


def rates(rows, attacked=False):
    """The rows, with the least and most rate of the networks.

    attacked  the attacked one counts, too, else those that were not attacked; of these, which differ in
              their seed only, `second` is the second largest rate
    """
    of = rows.filter(regex=r"^M\d+$" if attacked else r"^M([2-9]|\d\d)$").astype(float)
    return rows.assign(least=of.min(axis=1), most=of.max(axis=1),
                       second=[sorted(row)[-2] if len(row) > 1 else None for row in of.to_numpy()])


def networks(c):
    """The rates of a row of `rates` in words."""
    return f"attacked network {short(c.M1)}, others from {short(c.least)} to {short(c.most)}"


def some(passes, reads):
    """A predicate: whether some row passes, and which do.

    passes  row -> whether it does;  reads: how words of the claim are read that name no bound
    """
    def predicate(rows):
        measured = [row for row in rates(rows).itertuples() if row.M1 >= 0]
        passing = [row for row in measured if passes(row)]
        words = "; ".join(f"{row.attack}: {networks(row)}" for row in passing)
        return (bool(passing) if measured else None,
                f"{words or f'in none of the {len(measured)} boxes'} ({reads})")
    return predicate


def similar(least, most, word):
    """A predicate that decides nothing: the range of a table's errors beside the printed one.

    word  of the claim, which names no bound
    """
    def predicate(rows):
        errors = rows.filter(regex=r"^M\d+$").stack().dropna().astype(float)
        low, high = round(errors.min(), 6), round(errors.max(), 6)
        return None, (f"“{word}” names no bound; errors from {short(low)} to {short(high)}, a span of "
                      f"{short(high - low)} (paper: {least} to {most}, a span of {short(most - least)})")
    return predicate


def saving(word):
    """A predicate on Table 4 or 10 that decides nothing: what share of the distance each box saves.

    word  of the claim, which names no bound
    """
    def predicate(rows):
        saved = 1 - rows.sampled_l2_mean / rows.attack_l2_mean
        names = rows.attack + (" " + rows.source_class.astype(str) if rows.attack.duplicated().any() else "")
        words = ", ".join(f"{name} {share:.1%}" for name, share in zip(names, saved) if share == share)
        return None, f"“{word}” names no bound; saved: {words or 'not measured'}"
    return predicate


# ---- Section 2: uncertainty regions ----------------------------------------------------------------------
@claim("equation-ball-volume", "goes to 0")
def volume_falls(data):
    """Whether the volume falls from each of the last dimensions to the next, far below any bound."""
    large = {d: v for d, v in zip(data["dimensions"], data["log10_volume"]) if d >= 100}
    words = "; ".join(f"{d:,} dimensions: 10 to the power {v:,.0f}" for d, v in large.items())
    volumes = list(large.values())
    return all(a > b for a, b in zip(volumes, volumes[1:])), (
        f"{words}; the second half of the claim is not tested")


claim("figure-1", "single-curve picture")(
    "“misleading” and “fractured” name no measure; the right panel of Figure 1 shows the areas")


@claim("figure-2", "Several separate")
def regions_are_separate(data):
    return False if data["with_any"] == 0 else None, (
        f"in {data['with_any']} of {data['planes']} planes some networks disagree inside the ball, in "
        f"{data['with_several']} of these in several pieces (at most {data['most']}), which are connected "
        f"outside the ball in {data['joined']}. Planes alone do not decide the claim: areas may be connected "
        "outside a plane, and other planes may have separate ones")


# ---- Section 2.1: LeNets ---------------------------------------------------------------------------------
claim("table-1", "perform similarly")(similar(0.012, 0.035, "similarly"))
claim("table-1", "close to 99%")("“close” names no bound; the table shows the errors")
claim("figure-3", "Ten clusters are visible")("clusters and overlap are judged by eye in the figure")


@claim("table-2", "far fewer pixels")
def fewer_intervals(rows):
    """Whether each box has fewer intervals than its examples change pixels."""
    known = rows.dropna(subset="n_intervals")
    words = "; ".join(f"{row.attack}: {row.n_intervals:.0f} of {row.perturbed:.0f}"
                      for row in known.itertuples())
    holds = bool((known.n_intervals < known.perturbed).all()) if len(known) == len(rows) else None
    return holds, words or "no box"


claim("table-2", "fool the attacked M_1 while")(some(
    lambda row: row.M1 > 0.5 and row.least == 0, "“fool” is read as more than half"))
claim("table-2", "leave M_1 right while")(some(
    lambda row: row.M1 == 0 and row.most > 0.5, "“most” is read as more than half"))
claim("table-2", "not universal")(some(
    lambda row: row.M1 > 0.5 > row.least, "some network is right on most samples, $M_1$ is wrong on most"))


@claim("table-2", "PW rectangle is transferable")
def pw_transfers(rows):
    box, = rates(rows[rows.attack == "PW"], attacked=True).to_dict("records") or [{}]
    return over_cases({"": box}, lambda c: (c.least >= 0.48, f"from {short(c.least)} to {short(c.most)}"))


claim("table-2", "Except for PW")(over_rows(
    lambda c: (c.smallest_interval <= 0.032, short(c.smallest_interval)),
    lambda rows: rows[rows.attack != "PW"]))
claim("table-3", "M_1 is wrong on every")(over_rows(
    lambda c: (c.M1 > 0.99, short(c.M1)),
    reads="up to 1% of the images may lie on the boundary, where rounding decides the label in another "
          "batch"))
claim("table-3", "do not transfer")(over_rows(
    lambda c: (c.most == 0, f"at most {short(c.most)}"),
    lambda rows: rates(rows[rows.attack.isin(("FGSM", "CW2", "BIM Linf"))])))
claim("table-3", "NF and MI images transfer")(over_rows(
    lambda c: (c.least >= WIDELY[c.attack][0] and c.most <= WIDELY[c.attack][1],
               f"from {short(c.least)} to {short(c.most)}"),
    lambda rows: rates(rows[rows.attack.isin(WIDELY)])))


def with_intervals(rows, boxes):
    """The rows with the intervals of each attack's box in Table 2."""
    intervals = dict(zip(boxes.attack, boxes.get("n_intervals", boxes.attack)))
    return rows.assign(intervals=rows.attack.map(intervals))


claim("table-3", "perturbs more pixels", "table-2")(over_rows(
    lambda c: (c.n_perturbed_pixels > c.intervals,
               f"{short(c.n_perturbed_pixels)} pixels, {short(c.intervals)} intervals"), with_intervals))


def closer(key):
    """Whether the samples of each box are nearer to the clean image than the attack's images."""
    def judge(c):
        return (c.sampled_l2_mean < c.attack_l2_mean,
                f"samples {short(c.sampled_l2_mean)}, attack {short(c.attack_l2_mean)}")
    return over_rows(judge, key=key)


claim("table-4", "mean L2 is lower")(closer("attack"))
claim("table-4", "only minor for FGSM")(saving("minor"))
claim("table-4", "saving for NF")(saving("minor"))
claim("figure-4", "nearly constant offsets")(
    "“nearly constant” names no bound; column s₍ᵢ₎ of Table 2 has the widths")

# ---- Section 2.2: perceptrons ----------------------------------------------------------------------------
def digits(rows, *classes):
    """Rows of these digits with `rates`, and what they are called."""
    rows = rows[rows.source_class.isin(classes)]
    return rates(rows).assign(digit="digit " + rows.source_class.astype(str))


claim("table-5", "perform alike")(similar(0.0176, 0.0183, "alike"))


claim("table-6", "uncertainty region")(over_rows(
    lambda c: (c.M1 > 0.5 and c.most > 0.5 and c.second == 0, networks(c)), lambda rows: digits(rows, 7),
    key="digit", reads="“wrong” is read as more than half, of the attacked network and of one other"))
claim("table-6", "fools only the attacked model")(over_rows(
    lambda c: (c.M1 > 0.5 and c.most == 0, f"attacked {short(c.M1)}, others at most {short(c.most)}"),
    lambda rows: digits(rows, 5), key="digit", reads="“fools” is read as more than half"))


def with_printed(rows):
    """The digits 5 and 7 with the largest published rate of a network that was not attacked."""
    printed = rates(pd.DataFrame(PAPER["table-7"].rows)).set_index("source_class").most
    return digits(rows, 5, 7).assign(printed=rows.source_class.map(printed))


claim("table-7", "always fools M_1")(over_rows(
    lambda c: (c.M1 == 1 and c.second == 0 and c.most <= c.printed,
               f"{networks(c)} (paper: at most {short(c.printed)})"), with_printed, key="digit",
    reads="judged by the printed rates; that some other network is always right holds if the least rate is "
          "0"))


# ---- Section 2.3: MobileNets -----------------------------------------------------------------------------
claim("table-8", "similar clean error")(similar(0.0727, 0.0767, "similar"))


@claim("table-9", "always fools M_1")
def attack_fools_another(rows):
    row, = rates(rows).to_dict("records") or [{}]
    return over_cases({"": row}, lambda c: (
        c.M1 == 1 and c.most > 0.5 and c.second == 0,
        f"rates: attacked network {short(c.M1)}, the most often fooled of the others {short(c.most)}, the "
        f"next {short(c.second)}"),
        reads="“often” is read as more than half, of one network; “never” holds for the others")


@claim("figure-7", "M_1 errs on all")
def saturates(data):
    """Whether the attacked network is wrong on all samples from a size on that rounds to 200, or before."""
    b = data["m1_saturation_dims"]
    return b is not None and b < 250, (
        f"from {b} values on, by the sizes that were tried" if b else "at no size")


@claim("figure-7", "M_5 is right")
def always_right(data):
    """Whether a network that was not attacked is right on all samples of all boxes."""
    least = min(data["most_of_each"][1:])
    return least == 0, ("one of the others errs on no sample at any size" if least == 0 else
                        f"each of the others errs at some size, the least often one on {least:.3g}")


@claim("figure-7", "first rises")
def rises_and_falls(data):
    """Whether the rate of a network that was not attacked is higher at some size than at the last."""
    pairs = zip(data["most_of_each"][1:], data["last_of_each"][1:])
    falling = [f"{most:.3g} at most, {last:.3g} at last" for most, last in pairs if most > last]
    return bool(falling), "; ".join(falling) or "no network"


@claim("figure-7", "lies in an uncertainty region")
def networks_disagree(data):
    """Whether networks disagree on the samples of the box: some wrong on most, some right on most."""
    low, high = min(data["in_the_box"]), max(data["in_the_box"])
    b = min(data["sizes"][-1], INTERVALS)
    text = f"rates from {low:.3g} to {high:.3g} in our box of {b:,} values"
    return (high > 0.5 > low, text) if b == INTERVALS else (None, f"{text}; the claim is on {INTERVALS:,}")


claim("table-10", "less perturbation")(closer("source_class"))
claim("table-10", "reduction is large")(saving("large"))

# ---- Section 2.4: alarm ----------------------------------------------------------------------------------
claim("figure-10", "belong to M_1")(
    "it holds by definition: the attacked network is wrong at types 1 and 2 alone")
claim("figure-10", "Types 1 and 3")(
    "a definition: one network is right and another wrong at types 1 and 3, all are wrong at type 2")
claim("figure-10", "larger perturbation than delta")(
    "a choice of the paper for its drawing; the paper's Section 2.4 names the boxes outside the ball")


@claim("procedure-robust-classification", "Helps in uncertainty")
def alarm_helps(data):
    """Whether the alarm is raised more often in boxes of types 1 and 3 than in those of type 2."""
    alarm = {kind: rate for kind in (1, 2, 3) if (rate := data.get(f"alarm_type_{kind}")) is not None}
    words = "; ".join(f"type {kind}: {rate:.1%} (n = {data[f'boxes_type_{kind}']})"
                      for kind, rate in alarm.items())
    apart = [rate for kind, rate in alarm.items() if kind != 2]
    if not apart or 2 not in alarm:
        return None, f"{words or 'no box of any type'} (not boxes of both sorts)"
    return min(apart) > alarm[2], f"mean share of samples with an alarm over n boxes, {words}"
