"""The numbers of the home page's findings, from the records; the page has the sentences.

A function returns the bars of the picture of its finding, {label: `Cell` with its 95% interval}, and the
numbers that the sentences name.
"""
import numpy as np

from papers.chen import audit
from papers.he.experiments import STEP, TOP
from papers.sutton.theory.ball import tail
from report import record
from report.cell import Cell
from shared.runtime import UserError
from shared.susceptibility import percentage


def kept(paper, item):
    """The rows of an item's record, or a figure's data."""
    whole = record.read(paper, item)
    if whole is None:
        raise UserError(f"{paper} {item}: no record; `make records` makes it from the recorded runs")
    return whole.get("rows") or whole["data"]


def row(rows, **wanted):
    """The first row with these values."""
    return next(r for r in rows if wanted.items() <= r.items())


def share(hits, of):
    """The bar of a share in percent."""
    facts = percentage(hits, of)
    return Cell(facts["percent"], low=facts["low"], high=facts["high"])


# ---- the findings, in the order of the page ---------------------------------------------------------------
def few_directions():
    digits = kept("he", "figure-2")["mnist-normal"]["benign"]
    attack = row(kept("he", "table-1"), examples="OptBrittle")
    bar = share(digits["beyond"], digits["images"])
    return {"random directions": bar}, {
        "kept": bar, "digits": digits["images"], "top": TOP["mnist"], "step": STEP["mnist"],
        "directions": kept("he", "figure-1")["mnist-normal"]["benign"]["directions"],
        "norm": attack["mnist_normal_rms"].value, "attacked": attack["mnist_normal_successful"]}


def noise_and_theory():
    images = kept("sutton", "figure-1")["test"]
    draws, _ = record.read("sutton", "figure-1")["scale"]["parts"]["draws"]
    low, high = images["turned_10_interval"]
    network = Cell(images["turned_10_pct"], low=low, high=high)
    flat = 100 * draws * float(tail(3072, 0.1))
    return {"network": network, "flat boundary": Cell(flat, low=flat, high=flat)}, {
        "network": network, "images": images["perturbed"], "draws": draws, "flat": flat}


def one_vote():
    votes = {name: row(kept("he", "table-2"), examples=name)["mnist_region_normal_accuracy_pct"]
             for name in ("OptBrittle", "OptMargin")}
    bars = {name: share(round(vote.value * vote.of / 100), vote.of) for name, vote in votes.items()}
    settings = kept("he", "extra-optimiser-settings")
    restored = [setting["region, %"] for setting in settings]
    return bars, {**bars, "of": votes["OptMargin"].of, "least": min(restored), "most": max(restored),
                  "few": settings[0]["n"]}


def disagreement():
    data = kept("shu", "procedure-robust-classification")
    clean = Cell(data["false"]["percent"], low=data["false"]["low"], high=data["false"]["high"])
    adversarial, noise = (100 * data[f"alarm_{k}"] for k in ("adversarial", "random_noise"))
    return {"adversarial": Cell(adversarial, low=adversarial, high=adversarial),
            "noise": Cell(noise, low=noise, high=noise), "clean": clean}, {
        "adversarial": adversarial, "noise": noise, "clean": clean, "networks": data["networks"],
        "examples": data["examples"], "digits": data["false"]["of"]}


def roby():
    data = kept("chen", "property-1")
    free, equal = (data["arrangements"][k] for k in ("separation differs up to fourfold", "equal separation"))
    scaled, centres = free["roby"], free["overlap"]
    return {"ROBY": scaled, "overlap by centres": centres}, {
        "arrangements": data["n"], "scaled": scaled, "centres": centres, "equal": equal["overlap"],
        "equal_roby": equal["roby"]}


def one_threshold():
    learnt = row(kept("he", "table-3"), dataset="MNIST", model_training="normal", training_attack="OptMargin")
    alone = next(r for r in kept("he", "extra-one-number") if r["number"].startswith("nearest boundary")
                 and (r["network"], r["attack"]) == ("MNIST, normal", "OptMargin"))
    of = learnt["false_pos_benign_pct"].of
    threshold, classifier = (share(round(percent * of / 100), of) for percent in (
        100 - max(alone["flagged"], alone["margin"]), learnt["worst_case_pct"]))
    return {"one threshold": threshold, "trained classifier": classifier}, {
        "threshold": threshold, "classifier": classifier, "of": of}


def sorted_lists():
    pairs = audit.sorted_uniform_correlations(np.random.default_rng(0), size=10, pairs=200_000)
    low, median, high = np.quantile(pairs, (0.05, 0.5, 0.95))
    bar = Cell(median, low=low, high=high)
    return {"sorted lists": bar}, {"correlation": bar, "pairs": len(pairs)}


FINDINGS = {function.__name__: function for function in (
    few_directions, noise_and_theory, one_vote, disagreement, roby, one_threshold, sorted_lists)}
