"""Figures with sliders: their tables, that they need nothing from outside, and their sliders in a browser."""
import json
import re
import shutil
import subprocess

import numpy as np

from papers.sutton.explorer import Explorer

AXES = {"n": [1, 10, 100], "delta": [0.5, 2.0], "model": ["round", "flat"]}
VALUES = -np.arange(12.0).reshape(3, 2, 2)


def explorer():
    other = VALUES.copy()
    other[0, 0, 0], other[1, 1, 1] = np.nan, -np.inf
    return Explorer("trial", "A trial", AXES, {"first": VALUES, "second": other})


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


def shown_after(tmp_path, html, moves):
    """What a script leaves in `document.body.dataset.result` of a page; None where there is no Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None  # .ci/run installs one; there the tests have their say
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{html}<script>{moves}</script>")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"--user-data-dir={tmp_path}/profile", page.as_uri()],
                          capture_output=True, text=True, timeout=60)
    return re.search(r'data-result="([^"]*)"', done.stdout)[1].split("|")


SET = """const set = (id, v) => {
  const e = document.getElementById(id);
  e[e.type === "range" ? "value" : "selectedIndex"] = v;
  e.dispatchEvent(new Event('input'));
};"""


def test_sliders_move_the_values_in_a_browser(tmp_path):
    told = shown_after(tmp_path, explorer()._repr_html_(), SET + """
      const said = () => document.querySelector('.values').textContent;
      const before = said();
      for (const [k, v] of [[0, 2], [1, 0], [2, 0]]) set('explore-trial-' + k, v);
      const labels = document.querySelectorAll('label').length;
      document.body.dataset.result = [before, said(), labels].join('|');""")
    if told:
        before, after, labels = told
        # in the middle of all axes: entry [1, 1, 1] = -7, "never" in the second; then entry [2, 0, 0] = -8
        assert "first: 1.00 · 10-7" in before and "second: 0" in before
        assert after.count("1.00 · 10-8") == 2 and labels == "3"
