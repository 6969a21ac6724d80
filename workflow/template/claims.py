"""How each printed claim of Doe et al. is judged; see `report.claims`."""
from report.claims import Claims

claim = Claims()


@claim("table-1", "B is more accurate")
def b_is_more_accurate(rows):
    accuracy = dict(zip(rows.classifier, rows.accuracy))
    return accuracy["B"] > accuracy["A"], f"A {accuracy['A']:.1f}%, B {accuracy['B']:.1f}%"
