"""Figures with sliders: their tables, that they need nothing from outside, and their sliders in a browser."""
import json
import re
import subprocess

import numpy as np
from conftest import CHROMIUM, in_a_browser

from papers.sutton.explorer import Explorer

AXES = {"n": [1, 10, 100], "delta": [0.5, 2.0], "model": ["round", "flat"]}
VALUES = -np.arange(12.0).reshape(3, 2, 2)


def explorer():
    with_gaps = VALUES.copy()
    with_gaps[0, 0, 0], with_gaps[1, 1, 1] = np.nan, -np.inf
    return Explorer("trial", "A trial", AXES, {"first": VALUES, "second": with_gaps})


def test_table_holds_the_values():
    table = json.loads(re.search(r"const table = (.*);\n", explorer()._repr_html_())[1])
    assert [axis["values"] for axis in table["axes"]] == list(AXES.values())
    assert table["curves"][0]["values"] == VALUES.ravel().tolist()
    np.testing.assert_equal(table["curves"][1]["values"][:8], [np.nan, *VALUES.ravel()[1:7], -np.inf])


def test_needs_nothing_from_outside():
    html = explorer()._repr_html_()
    assert not re.search(r"https?:|//[a-z]|src=|import |fetch|@import", html)
    assert "$" not in re.sub(r"\$\{", "", html)  # every placeholder is filled
    assert "A trial" in repr(explorer()) and "\n" not in repr(explorer())


MOVES = """<script>
  const set = (id, v) => {
    const e = document.getElementById(id);
    e[e.type === "range" ? "value" : "selectedIndex"] = v;
    e.dispatchEvent(new Event('input'));
  };
  const values = () => document.querySelector('.values').textContent;
  const before = values();
  for (const [k, v] of [[0, 2], [1, 0], [2, 0]]) set('explore-trial-' + k, v);
  const labels = document.querySelectorAll('label').length;
  document.body.dataset.result = [before, values(), labels].join('|');
</script>"""


@in_a_browser
def test_sliders_move_the_values_in_a_browser(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{explorer()._repr_html_()}{MOVES}")
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"--user-data-dir={tmp_path}/profile", page.as_uri()],
                          capture_output=True, text=True, timeout=60)
    before, after, labels = re.search(r'data-result="([^"]*)"', done.stdout)[1].split("|")
    # in the middle of all axes: entry [1, 1, 1] = -7, "never" in the second; then entry [2, 0, 0] = -8
    assert "first: 1.00 · 10-7" in before and "second: 0" in before
    assert after.count("1.00 · 10-8") == 2 and labels == "3"
