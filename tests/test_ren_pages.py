"""The pages of `ren`: facts of their boxes."""
import pandas as pd

from papers.ren import figures


def test_an_architecture_stands_apart_if_all_of_its_trainings_do():
    means = {("a", "white"): (0.2, 0.4), ("b", "white"): (0.2, 0.3), ("c", "white"): (0.3, 0.4),
             ("a", "black"): (0.5, 0.7), ("b", "black"): (0.5, 0.6), ("c", "black"): (0.8, 0.9)}
    searches = pd.DataFrame([{"architecture": name, "background": b, "robustness_mean": mean}
                             for (name, b), some in means.items() for mean in some])
    facts = figures.spread(searches)
    assert facts["apart"] == "earlier" and facts["architectures"] == 3 and facts["widest"]
    assert figures.spread(searches.replace({0.8: 0.1, 0.9: 0.15}))["apart"] == "later"
    assert facts["more"] and not facts["as_much"]       # variances: 0.01 of trainings, of means 0.0025
    farther = searches.assign(robustness_mean=searches.robustness_mean + 0.2 * (searches.architecture == "c"))
    assert figures.spread(farther)["as_much"] and not figures.spread(farther)["more"]
    assert not figures.spread(searches.replace(0.8, 0.65))["apart"]
    assert not figures.spread(searches[searches.background == "white"])["apart"]
    assert figures.spread(searches[::2]) == {}
