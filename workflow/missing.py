"""What is recorded below full scale, or not at all, and what the rest would cost: python -m workflow.missing"""
from shared import reference
from shared.records import records
from workflow import catalogue


def rows():
    """(title, state, estimated seconds or None) of every result that is not at full scale."""
    homes = catalogue.pages()
    for item, record in records.everything():
        home = homes.get((item.paper, item.id))
        if record and record["scale"]["fraction"] < 1:
            share, spent = record["scale"]["fraction"], record["provenance"]["seconds"]
            parts = ", ".join(f"{k} {a} of {f}" for k, (a, f) in record["scale"]["parts"].items() if a < f)
            yield item.title, f"{home}: {parts}", spent * (1 / share - 1)
        elif home and not record:
            yield item.title, f"{home}: not recorded", None
        elif not record and item.kind in reference.RESULT_KINDS:
            yield item.title, "planned: no notebook yet", None


def main():
    found = list(rows())
    for title, state, seconds in found:
        print(f"{title:32} {state}" + (f", about {seconds:,.0f} s" if seconds is not None else ""))
    print(f"{len(found)} results below full scale")


if __name__ == "__main__":
    main()
