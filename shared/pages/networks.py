"""How the pages of `he` tell of its networks: columns of tables, stand-ins, who decides a claim."""
from shared.pages import display
from shared.pages.sums import mean
from shared.records.claims import Decided

NOT_RUN = "not run: nothing of it is recorded yet"
COLUMNS = ("mnist-normal", "mnist-adv", "cifar10-normal", "cifar10-adv")    # of Tables 1 and 2
SMALL = "substitute: a small ResNet of the same units in place of w32-10"
STAND_INS = {"mnist-adv": "substitute: adversarially trained for a twelfth of the steps, on shorter attacks",
             "cifar10-normal": SMALL, "cifar10-adv": SMALL}
# Of the kinds of example, as the paper colours them.
COLOURS = dict(zip(("benign", "brittle", "margin", "fgsm"), display.PALETTE))
STYLES = dict(zip(COLOURS, display.LINES))
NAMED = {"mnist-normal": "MNIST, normal", "mnist-adv": "MNIST, adv.", "cifar10-normal": "CIFAR-10, normal",
         "cifar10-adv": "CIFAR-10, adv."}


def status(net, value):
    """The status of a cell of a network's column: not run, measured on a stand-in, or None."""
    return NOT_RUN if value is None else STAND_INS.get(net)


def without_stand_ins(judge, *, of_all=False):
    """The predicate of a claim on several networks: a stand-in is told of, and decides nothing.

    So it waits for the units of the others alone.

    judge   (looks, networks, *others) -> (holds, evidence) on those of the networks that have values;
            (None, "") where none has
    of_all  the claim speaks of networks that have only stand-ins here: on the others it may fail, not hold
    """
    own = [net for net in COLUMNS if net not in STAND_INS]

    def predicate(looks, *others):
        (holds, mine), (_, told) = (judge(looks, nets, *others) for nets in (own, COLUMNS))
        named = " and ".join(NAMED[net] for net in own)
        if holds and of_all:
            return None, f"{told} (it holds for {named}; the other networks are stand-ins)"
        if told == mine:
            return holds, told or "no value"
        if holds is None:
            return None, f"{told} ({'' if mine else 'not judged: '}stand-ins are among these networks)"
        return holds, f"{told} (judged for {named} alone; the other networks are stand-ins)"

    return Decided(predicate, by=tuple(f"{net}-" for net in own))


# ---- results ---------------------------------------------------------------------------------------------
def distances(found):
    """How far examples are moved, of a unit's images that the network reads correctly as they are."""
    return [d for d, s, c in zip(found["rms"], found["success"], found["correct"]) if s and c]


def mean_purity(found):
    """Mean purities of the top k classes over the images around which another class was found; [] of none.

    Where no direction ends in another class there is nothing to be pure.
    """
    return [mean(column) for column in zip(*(each for each in found["purity"] if each[0] > 0))]


# What `setting.under_noise` counts, as the heads of a table.
NOISES = {"own": "the attack's own noises, %", "others": "other noises, %", "cube": "region's cube, %",
          "clean": "images as they are, other noises, %"}


def misread_under_noise(units):
    """A row for each network with units of `under_noise`: mean shares in percent over the examples."""
    together = {}
    for u in units.to_dict("records"):
        mine = together.setdefault(u["unit"].split("-margin-")[0], {k: [] for k in NOISES})
        for k in NOISES:
            mine[k] += [share for share, counts in zip(u[k], u["counts"]) if counts]
    return [{"network": net, "images": len(found["own"])}
            | {k: 100 * mean(v) if v else None for k, v in found.items()}
            for net, found in sorted(together.items(), key=lambda each: [*COLUMNS, each[0]].index(each[0]))]
