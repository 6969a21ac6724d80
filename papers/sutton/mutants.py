"""Checks of a page: the paper's own form of an item must fit the code in use; mutants of it must not."""
from report import display, reference
from report.evidence import equality


class Checks:
    """The checks of one page, published one by one; `show` ends them with all mutants."""

    def __init__(self, run):
        self.run, self.caught = run, {}

    def check(self, item, fits, own, mutants, *, exact=True, noticed=False, **data):
        """Publish a derived item.

        fits      form -> whether it gives what the code in use gives; `own` must, none of `mutants` may
        mutants   {what is wrong with it: form}
        exact     whether a further check of the item succeeds
        noticed   whether `data` counts the mutants that were detected, too
        """
        caught = self.caught[item] = {error: not fits(form) for error, form in mutants.items()}
        self.run.statement(item, evidence=equality(fits(own) and exact, changed=caught.values()),
                           data=data | ({"changes_noticed": sum(caught.values())} if noticed else {}))

    def show(self):
        """Show all mutants in a folded table and a sentence; returns the sentence's numbers."""
        printed = reference.paper(self.run.paper_key)
        display.table(["definition", "errors", "detected"],
                      [[printed[item].label, "; ".join(caught), f"{sum(caught.values())} of {len(caught)}"]
                       for item, caught in self.caught.items()],
                      "Errors built into steps or formulas, and how many of them the comparison detects",
                      sentences=True, fold="Mutants of all definitions")
        seen = [each for caught in self.caught.values() for each in caught.values()]
        display.say(f"Over all definitions of this page, {sum(seen)} of {len(seen)} mutants are detected.")
        return {"caught": sum(seen), "mutants": len(seen)}
