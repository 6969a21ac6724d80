"""Recorded units as runs of experiments: python -m workflow.migrate FACTS

FACTS is a JSON file {notebook: {set: [names of its units that were by the present code]}}, told by the code
that computed them. Such a unit becomes a run of version 1; another one keeps its place with version 0, which
is out of date. Numbers, arguments and array files stay as they are. Run again, it does nothing.
"""
import json
import sys
from pathlib import Path

from report import store
from shared import runtime
from shared.data import content

# Every set of units, and the experiment that it is now.
EXPERIMENTS = {
    "chen/iv_c_benchmark": {name: f"chen/{name}" for name in (
        "natural", "robust", "dense", "convolutional", "suspects")},
    "he/3_optmargin": {"nets": "he/networks", "attacks": "he/attacks", "settings": "he/settings",
                       "leads": "he/wrong-class", "noises": "he/noise"},
    "he/4_boundary": {"walks": "he/distances", "cuts": "he/planes", "comparisons": "he/line-searches"},
    "he/5_classifier": {"surroundings": "he/surroundings", "classifiers": "he/classifiers",
                        "fewer": "he/fewer-images"},
    "he/d_imagenet": {"examples": "he/imagenet-examples", "classifiers": "he/imagenet-classifiers",
                      "noises": "he/imagenet-noise"},
    "ren/ii_networks": {"networks": "ren/networks", "ruler": "ren/ssim"},
    "ren/iii_borderline": {"steps": "ren/algorithm-1", "searches": "ren/checked-searches",
                           "path": "ren/path", "mixtures": "ren/mixtures"},
    "ren/iv_simulation": {"searches": "ren/searches", "pictures": "ren/pairs", "variants": "ren/variants",
                          "sweeps": "ren/thresholds"},
    "ren/v_pruning": {"searches": "ren/pruned-searches", "trade-off": "ren/trade-off",
                      "pictures": "ren/pruned-digits"},
    "shu/2_1_lenet": {"networks": "shu/lenet-networks", "clean": "shu/lenet-clean",
                      "projection": "shu/projection", "sweeps": "shu/lenet-sweeps",
                      "others": "shu/other-lenets", "images": "shu/lenet-fifty", "planes": "shu/planes"},
    "shu/2_2_mlp": {"networks": "shu/mlp-networks", "clean": "shu/mlp-clean", "sweeps": "shu/mlp-sweeps",
                    "images": "shu/mlp-fifty"},
    "shu/2_3_mobilenet": {"networks": "shu/mobilenet-networks", "clean": "shu/mobilenet-clean",
                          "sweeps": "shu/mobilenet-sweeps", "images": "shu/mobilenet-fifty",
                          "balls": "shu/mobilenet-balls"},
    "sutton/7_1_1_network": {"networks": "sutton/network-study"},
    "sutton/7_2_1_cifar10": {"pairs": "sutton/cifar10", "printed": "sutton/cifar10-as-printed"},
    "sutton/7_2_1_noise": {"noise": "sutton/training-noise", "again": "sutton/training-noise-again"},
    "sutton/7_2_2_fashion_mnist": {"pairs": "sutton/fashion-mnist",
                                   "printed": "sutton/fashion-mnist-as-printed"},
    "sutton/7_2_3_gtsrb": {"pairs": "sutton/gtsrb", "printed": "sutton/gtsrb-as-printed",
                           "tracks": "sutton/gtsrb-tracks", "others": "sutton/gtsrb-readings"},
    "sutton/7_2_4_imagenet": {"tested": "sutton/imagenet"},
}
# Runs that rest on those of another experiment found them by a name among their arguments.
AFTER = {"he/classifiers": "he/surroundings", "he/fewer-images": "he/surroundings",
         "he/imagenet-classifiers": "he/imagenet-examples", "shu/planes": "shu/lenet-sweeps"}


def moved(path, experiment, present):
    """Turn one unit file into a run file; its array file is renamed."""
    raw = json.loads(path.read_text())
    check = raw.pop("check")
    if content.of_json(raw)[:12] != check:
        raise runtime.UserError(f"{path}: damaged; {store.REMEDY}")
    arguments = {k: v for k, v in raw["arguments"].items() if not (experiment in AFTER and k == "given")}
    run = {"name": raw["name"], "arguments": arguments, "sizes": raw["parts"], "result": raw["result"],
           "version": int(present), "after": {AFTER[experiment]: 1} if experiment in AFTER else {},
           "provenance": raw["provenance"], "arrays": raw["arrays"]}
    folder = runtime.results_folder() / "runs" / experiment
    folder.mkdir(parents=True, exist_ok=True)
    if run["arrays"]:
        path.with_name(run["arrays"]).rename(folder / run["arrays"])
    text = store.text_of(run)
    runtime.write_atomically(folder / path.name, lambda part: part.write_text(text))
    path.unlink()


def main(facts):
    present_of = json.loads(Path(facts).read_text())
    units = runtime.results_folder() / "units"
    for notebook, sets in EXPERIMENTS.items():
        for name, experiment in sets.items():
            files = sorted((units / notebook / name).glob("[!.]*.json"))
            present = present_of.get(notebook, {}).get(name, [])
            for path in files:
                moved(path, experiment, path.stem in present)
            if files:
                old = [path.stem for path in files if path.stem not in present]
                names = f"; out of date: {', '.join(old)}" if old else ""
                print(f"{notebook} {name}: {len(files)} runs of {experiment}, {len(files) - len(old)} of "
                      f"version 1{names}")
    for left in sorted(units.rglob("*.json")):
        print(f"left: {left}")


if __name__ == "__main__":
    runtime.prepare(computes=False)
    if len(sys.argv) != 2:
        raise runtime.UserError("usage: python -m workflow.migrate FACTS")
    main(sys.argv[1])
