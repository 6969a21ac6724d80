"""How each printed claim of Shu et al. is judged; see `report.claims`."""
from report.claims import Claims, NoValue, over_cases
from report.prose import NO_VALUE, short
from shared.regions import MOSTLY, RIGHT

claim = Claims()
ONE_IMAGE = ("said of one image, without its index: another image changes the values, so that neither "
             "agreement nor difference shows anything (of many the paper reports “similar results”)")
BY_SIZE = f"{ONE_IMAGE}; over fifty images the answer depends on the size of the box, which is chosen by eye"
FEWER = ("true by construction: a box takes some of the values that its examples change, as many as printed "
         "where there are enough")
BY_THRESHOLDS = (f"types 1 and 3 imply an alarm on at least {MOSTLY - RIGHT:.0%} of their samples by their "
                 "thresholds, so that the order alone is judged")


# ---- what several sections use ---------------------------------------------------------------------------
def similar(least, most):
    """Evidence: the range of a table's errors beside the printed one."""
    def errors(rows):
        errors = rows.filter(regex=r"^M\d+$").stack().dropna().astype(float)
        if errors.empty:
            raise NoValue
        low, high = round(errors.min(), 6), round(errors.max(), 6)
        return (f"errors from {short(low)} to {short(high)}, a span of {short(high - low)} (paper: {least} "
                f"to {most}, a span of {short(most - least)})")
    return errors


def in_transfer(rows, boxes):
    """Evidence: how often the other networks err on the images of each attack, over fifty digits."""
    known = boxes.dropna(subset="others_pct")
    return "over up to five digits of each class, the other networks misclassify on average " + ", ".join(
        f"{row.others_pct:.0f}% of the images of {row.attack}" for row in known.itertuples()
    ) if len(known) else NO_VALUE


# ---- Section 2: uncertainty regions ----------------------------------------------------------------------
@claim("equation-ball-volume", "goes to 0", leaves="the page has a bound from which the second "
                                                     "half follows; the code does not test it")
def volume_falls(data):
    """Whether the volume falls from each of the last dimensions to the next, far below any bound."""
    large = {d: v for d, v in zip(data["dimensions"], data["log10_volume"]) if d >= 100}
    words = "; ".join(f"{d:,} dimensions: 10 to the power {v:,.0f}" for d, v in large.items())
    volumes = list(large.values())
    return all(a > b for a, b in zip(volumes, volumes[1:])), words


claim("figure-1", "single-curve picture")(
    "“misleading” and “fractured” name no measure; the right panel of Figure 1 shows the areas")


@claim("figure-2", "Several separate", open="planes alone do not decide it: areas may be connected outside a "
                                            "plane, and other planes may have separate ones")
def regions_in_planes(data):
    return (f"in {data['with_any']} of {data['planes']} planes some networks disagree inside the ball, in "
            f"{data['with_several']} of these in several pieces (at most {data['most']}), which are "
            f"connected outside the ball in {data['joined']}")


# ---- Section 2.1: LeNets ---------------------------------------------------------------------------------
claim("table-1", "perform similarly", open="“similarly” names no bound")(similar(0.012, 0.035))
claim("table-1", "close to 99%")("“close” names no bound; the table shows the errors")
claim("figure-3", "Ten clusters are visible")("clusters and overlap are judged by eye in the figure")

claim("table-2", "far fewer pixels")(f"{FEWER}; “far” names no bound")
claim("table-2", "fool the attacked M_1 while")(ONE_IMAGE)
claim("table-2", "leave M_1 right while")(ONE_IMAGE)
claim("table-2", "PW rectangle is transferable")(ONE_IMAGE)
claim("table-2", "Except for PW")(ONE_IMAGE)


@claim("table-2", "not universal")
def not_universal(rows):
    """Of fifty digits, on the images of each attack of the paper."""
    cases = {row["attack"]: row for row in rows.to_dict("records")}
    return over_cases(cases, lambda c: (
        c.others_pct < c.own_pct, "{own_pct:%} and {others_pct:%} (n = {digits} digits)"), what="attacks",
        reads="share of the attack's images misclassified by the attacked and by the other networks; means "
              "over up to five digits of each class, the paper has one")


claim("table-3", "M_1 is wrong on every")("true by construction: an example is an image that $M_1$ "
                                          "misclassifies; rates below 1 come from rounding")
claim("table-3", "do not transfer", "table-2", open=ONE_IMAGE)(in_transfer)
claim("table-3", "NF and MI images transfer", "table-2", open=ONE_IMAGE)(in_transfer)
claim("table-3", "perturbs more pixels")(FEWER)
claim("table-4", "mean L2 is lower")(BY_SIZE)
claim("table-4", "only minor for FGSM")(ONE_IMAGE)
claim("table-4", "saving for NF")(ONE_IMAGE)
claim("figure-4", "nearly constant offsets")(
    "“nearly constant” names no bound; column s₍ᵢ₎ of Table 2 has the widths")

# ---- Section 2.2: perceptrons ----------------------------------------------------------------------------
claim("table-5", "perform alike", open="“alike” names no bound")(similar(0.0176, 0.0183))
claim("table-6", "uncertainty region")(ONE_IMAGE)
claim("table-6", "fools only the attacked model")(ONE_IMAGE)
claim("table-7", "always fools M_1")(ONE_IMAGE)

# ---- Section 2.3: MobileNets -----------------------------------------------------------------------------
claim("table-8", "similar clean error", open="“similar” names no bound")(similar(0.0727, 0.0767))
claim("table-9", "always fools M_1")(ONE_IMAGE)
claim("figure-7", "M_1 errs on all")(ONE_IMAGE)
claim("figure-7", "M_5 is right")(ONE_IMAGE)
claim("figure-7", "first rises")(ONE_IMAGE)
claim("figure-7", "lies in an uncertainty region")(ONE_IMAGE)
claim("table-10", "less perturbation")(BY_SIZE)
claim("table-10", "reduction is large")(ONE_IMAGE)

# ---- Section 2.4: alarm ----------------------------------------------------------------------------------
claim("figure-10", "belong to M_1")(
    "it holds by definition: the attacked network is wrong at types 1 and 2 alone")
claim("figure-10", "Types 1 and 3")(
    "a definition: one network is right and another wrong at types 1 and 3, all are wrong at type 2")
claim("figure-10", "larger perturbation than delta")(
    "a choice of the paper for its drawing")


@claim("procedure-robust-classification", "Helps in uncertainty")
def alarm_helps(data):
    """Whether the alarm is raised more often in boxes of types 1 and 3 than in those of type 2."""
    return over_cases({"": data["fifty"]}, lambda c: (
        min(c.type_1.alarm, c.type_3.alarm) > c.type_2.alarm,
        "mean share of samples with an alarm: {type_1.alarm:.1%} in boxes of type 1 (the attacked network "
        "errs, another is right; n = {type_1.boxes}), {type_2.alarm:.1%} of type 2 (all err; "
        "n = {type_2.boxes}), {type_3.alarm:.1%} of type 3 (only another errs; n = {type_3.boxes})"),
        reads=f"boxes around five digits of each class; {BY_THRESHOLDS}")
