"""The figure with sliders: its table, that it needs nothing from outside, and its sliders in a browser."""
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from shared.pages.explorer import Explorer

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
    assert table["curves"][1]["values"][0] is None and table["curves"][1]["values"][7] == "never"


def test_needs_nothing_from_outside():
    html = explorer()._repr_html_()
    assert not re.search(r"https?:|//[a-z]|src=|import |fetch|@import", html)
    assert "$" not in re.sub(r"\$\{", "", html)  # every placeholder is filled
    assert "A trial" in repr(explorer()) and "\n" not in repr(explorer())


def test_refuses_what_it_cannot_show():
    with pytest.raises(ValueError, match=r"curve 'a' has shape \(2,\); the axes make \(3, 2, 2\)"):
        Explorer("t", "t", AXES, {"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="4 curves"):
        Explorer("t", "t", AXES, dict.fromkeys("abcd", VALUES))


def test_sliders_move_the_values_in_a_browser(tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return  # .ci/run installs one; there the test has its say
    moves = """<script>
      const said = () => document.querySelector('.values').textContent;
      const set = (k, v) => {
        const e = document.getElementById('explore-trial-' + k);
        e.value = v;
        e.dispatchEvent(new Event('input'));
      };
      const before = said(); set(0, 2); set(1, 0); set(2, 0);
      document.body.dataset.result = [before, said(), document.querySelectorAll('label').length].join('|');
    </script>"""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{explorer()._repr_html_()}{moves}")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"--user-data-dir={tmp_path}/profile", page.as_uri()],
                          capture_output=True, text=True, timeout=60)
    before, after, labels = re.search(r'data-result="([^"]*)"', done.stdout)[1].split("|")
    # in the middle of all axes: entry [1, 1, 1] = -7, "never" in the second curve; then entry [2, 0, 0] = -8
    assert "first: 1.00 · 10-7" in before and "second: 0" in before
    assert after.count("1.00 · 10-8") == 2 and labels == "3"
