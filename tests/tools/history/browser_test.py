"""The history's page in a browser: its points are the database's, no network, no script, hostile names.

browser_test.sh runs it, with a Python that has Selenium. `--pictures FOLDER` saves pictures of the page.
"""

import importlib.util
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import unittest

from selenium.webdriver.common.by import By

_HERE = pathlib.Path(__file__).resolve().parent


def _module(name, path):
    """Both folders have a module of made-up files."""
    made = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


sys.path.insert(0, str(_HERE.parent / "report"))
browser_test = _module("browser_test", _HERE.parent / "report/browser_test.py")
files = _module("files_of_history", _HERE / "made_up.py")
HISTORY = os.path.abspath("tools/history/history")


class HistoryPage(browser_test.BrowserCase):
    def make(self, days=40, name="layer_norm/8"):
        draw = random.Random(1)
        folder = str(self.folder)
        paths = []
        for day in range(days):
            machine = {"cpu": "new"} if day >= 20 else {}
            slow = 1.5 if day >= 20 else 1.0
            noise = [draw.lognormvariate(0, 0.004) for _ in range(2)]
            result = files.result(name, 1e6 * slow * noise[0], 5e5 * slow * noise[1] * (1.06 if day >= 30 else 1))
            paths.append(files.write(folder, f"{day}.json", files.header(day, **machine), result))
        database = str(self.folder / "pace.db")
        self.output = self.folder / "history.html"
        for words in (["add", *paths], ["report", "--output", str(self.output)]):
            ended = subprocess.run([HISTORY, *words, "--database", database], stdout=subprocess.PIPE, text=True)
            self.assertEqual(ended.returncode, 0, ended.stdout)
        self.show()

    def marks(self, key):
        return self.js(
            "return document.querySelectorAll("
            "`.chart[data-from='${arguments[0]}'] .mark-symbol.role-mark path`).length",
            key,
        )

    def test_points_and_changes_are_drawn_and_nothing_is_asked_of_a_network(self):
        self.make()
        self.scroll()
        self.assertEqual((self.marks("0-speedup"), self.marks("0-time")), (40, 80))
        data = json.loads(self.js("return document.getElementById('data-0-speedup').textContent"))
        self.assertEqual([each["date"][:10] for each in data["changes"]], ["2026-01-31"])
        # The line of a time breaks where the machine changes; the line of a ratio goes on.
        lines = (
            "return document.querySelectorAll(`.chart[data-from='${arguments[0]}'] .mark-line.role-mark path`).length"
        )
        self.assertEqual((self.js(lines, "0-speedup"), self.js(lines, "0-time")), (1, 4))
        last = self.js("return document.querySelector('data.last').value")
        self.assertTrue(math.isclose(float(last), data["values"][-1]["value"], rel_tol=1e-12))
        for scheme in ("light", "dark"):
            self.media(scheme)
            for width in (1280, 400):
                self.size(width)
                self.assert_fits(f"{width} pixels, {scheme}")
        self.assertEqual(self.requests(), [])
        self.assert_silent()

    def test_without_scripts_changes_and_trends_are_read(self):
        self.command("Emulation.setScriptExecutionDisabled", value=True)
        self.make()
        text = self.browser.find_element(By.TAG_NAME, "body").text
        for words in ("slower", "layer_norm/8", "001daaaa (2026-01-30)", "001eaaaa (2026-01-31)", "speed-up"):
            self.assertIn(words, text)
        pictures = self.browser.find_elements(By.CSS_SELECTOR, "table svg.picture")
        self.assertEqual(len(pictures), 3)
        self.command("Emulation.setScriptExecutionDisabled", value=False)

    def test_hostile_names_run_nothing(self):
        name = "</script><img src=x onerror=\"document.title='ran'\">"
        self.make(days=3, name=name)
        self.scroll()
        self.assertEqual(self.browser.title, "History")
        self.assertIn(name, self.browser.find_element(By.TAG_NAME, "body").text)
        self.assertEqual(self.requests(), [])
        self.assert_silent()

    def test_pictures(self):
        if not PICTURES:
            self.skipTest("--pictures FOLDER saves them")
        self.make()
        self.scroll()
        for scheme in ("light", "dark"):
            self.media(scheme)
            self.scroll()
            self.js("window.scrollTo(0, 0)")
            self.browser.save_screenshot(os.path.join(PICTURES, f"history-{scheme}.png"))


PICTURES = ""
if __name__ == "__main__":
    if sys.argv[1:2] == ["--pictures"]:
        PICTURES = sys.argv[2]
        del sys.argv[1:3]
    unittest.main()
