"""Pages of tools/report in a browser: drawn figures, no script, a strict policy, no network, hostile names, print.

browser_test.sh runs it, with a Python that has Selenium. `--pictures FOLDER` saves a picture of each kind of page. """

import functools
import http.server
import json
import math
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import made_up
import program
import report_test

# The default policy of Jenkins for the files of a build.
JENKINS = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self';"

# No limit of a measurement: a browser that takes longer hangs.
PATIENCE_S = 120


def _browser():
    options = Options()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(
        options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    )
    browser.set_page_load_timeout(PATIENCE_S)
    browser.set_script_timeout(PATIENCE_S)
    return browser


class BrowserCase(program.ReportCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = _browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        super().setUp()
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.size(1280)
        self.media()

    def command(self, name, **arguments):
        return self.browser.execute_cdp_cmd(name, arguments)

    def size(self, width, height=900):
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def media(self, scheme="light", kind=""):
        self.command(
            "Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def js(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def open(self, *results, first=None, name="results.json"):
        self.page_of(made_up.write(self.folder / name, results, first))
        return self.show()

    def show(self):
        begin = time.monotonic()
        self.browser.get(self.output.as_uri())
        return time.monotonic() - begin

    def draw(self, place=0):
        """Opens a comparison, and waits until its pictures are drawn."""
        self.js("document.getElementById('c' + arguments[0]).open = true", place)
        self.scroll()

    def scroll(self):
        """Pictures are drawn where they are seen."""
        WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.1).until(
            lambda _: self.js(
                "const open = [...document.querySelectorAll('.chart')]"
                ".filter((e) => !e.closest('details:not([open])'));"
                "const left = open.filter((e) => !e.dataset.drawn && !e.dataset.failed);"
                "if (left.length > 0) left[0].scrollIntoView();"
                "return left.length === 0"
            )
        )
        self.assertEqual(
            self.js("return [...document.querySelectorAll('[data-failed]')].map((e) => e.dataset.failed)"), []
        )

    def requests(self):
        """Addresses that the page asked for, other than itself and the addresses that it made up."""
        found = []
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [
            each
            for each in found
            if not each.startswith(("data:", "blob:", "about:")) and each != self.output.as_uri()
        ]

    def assert_silent(self):
        self.assertEqual(self.browser.get_log("browser"), [])

    def assert_fits(self, what=""):
        """Nothing is wider than the window. Pictures follow a change of its size or its scheme a little later."""
        beyond = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        wait = WebDriverWait(self.browser, PATIENCE_S)
        wait.until(lambda _: self.js(beyond) <= 0, f"wider than the window: {what}")


class Drawn(BrowserCase):
    def test_figures_agree_with_the_file_and_nothing_asks_a_network(self):
        result = made_up.comparison("op/64x64", 1.5, "passed", count=40)
        self.open(result)
        self.draw()
        shown = self.js("return [...document.querySelectorAll('data.median')].map((e) => [e.value, e.innerText])")
        for row, (value, text) in zip(result["implementations"], shown, strict=True):
            self.assertEqual(float(value), row["time"]["median_ns"])
            self.assertEqual(text, f"{row['time']['median_ns'] / 1000:#.3g}\u202fµs")
        # A mark for each sample and each cycle; of ECDFs and evidence a line for each side.
        kinds = self.js(
            "return [...document.querySelectorAll('#c0 .chart')].map((e) => [e.dataset.kind, +e.dataset.drawn])"
        )
        self.assertEqual(dict(kinds), {"rounds": 80, "strip": 80, "ecdf": 80, "ratios": 20, "evidence": 40})
        marks = self.js(
            "return document.querySelectorAll('.chart[data-kind=rounds] svg .mark-symbol.role-mark path').length"
        )
        self.assertEqual(marks, 80)
        # The pixels of a mark are at its value, by the ticks of the axis.
        places = (
            "const place = (e) => +e.getAttribute('transform').match(/translate\\(.*,(.*)\\)/)[1];"
            "const within = (selector) => [...document.querySelectorAll('.chart[data-kind=rounds] svg ' + selector)];"
        )
        drawn = self.js(places + "return within('.mark-symbol.role-mark path').map(place)")
        ticks = self.js(places + "return within('[aria-label^=\"Y-axis\"] .role-axis-tick line').map(place)")
        labels = self.js(
            places + "return within('[aria-label^=\"Y-axis\"] .role-axis-label text').map((e) => +e.textContent)"
        )
        first, last = (labels[0], ticks[0]), (labels[-1], ticks[-1])
        data = json.loads(self.js("return document.getElementById('data-c0').textContent"))
        low, high = data["times"]
        values = [min(max(each / 1000, low), high) for row in result["implementations"] for each in row["samples_ns"]]
        for value, y in zip(values, drawn, strict=True):
            expected = first[1] + (value - first[0]) / (last[0] - first[0]) * (last[1] - first[1])
            self.assertAlmostEqual(y, expected, delta=1.5)
        self.assertEqual(self.requests(), [])
        self.assert_silent()

    def test_every_kind_of_page_draws_in_silence(self):
        for name, make in PAGES.items():
            with self.subTest(name):
                make(self)
                self.show()
                self.js("document.querySelectorAll('details.comparison').forEach((e, i) => { e.open = i < 3 })")
                self.scroll()
                self.assert_silent()
                for scheme in ("light", "dark"):
                    self.media(scheme)
                    for width in (1280, 400):
                        self.size(width)
                        self.assert_fits(f"{name}, {width} pixels, {scheme}")
                self.size(1280)
                self.assertEqual(self.requests(), [])

    def test_0_1_and_20000_samples(self):
        none = made_up.comparison("none", 1)
        for row in none["implementations"]:
            row.update(samples_ns=[], log_ratios=[], time=None, speedup=None)
        self.open(
            none,
            made_up.result("one", [made_up.row("only", [1000.0])]),
            made_up.comparison("many", 1.2, "passed", count=10000),
        )
        for place in (0, 1, 2):
            self.draw(place)
        drawn = self.js(
            "return [...document.querySelectorAll('.chart[data-kind=rounds]')].map((e) => +e.dataset.drawn)"
        )
        self.assertEqual(drawn, [1, 20000])
        self.assert_silent()

    def test_a_specification_draws_the_same_in_a_notebook(self):
        self.open(made_up.comparison("op/64x64", 1.5, "passed", count=40))
        self.draw()
        self.js(
            "window.saved = []; const make = URL.createObjectURL;"
            "URL.createObjectURL = (blob) => { window.saved.push(blob); return make.call(URL, blob); };"
            "HTMLAnchorElement.prototype.click = () => {};"
            "document.querySelectorAll('.links button:first-child').forEach((e) => e.click())"
        )
        saved = self.browser.execute_async_script(
            "const done = arguments[0]; Promise.all(window.saved.map((each) => each.text())).then(done)"
        )
        self.assertEqual(len(saved), 5)
        draw = "import sys, vl_convert; print(vl_convert.vegalite_to_svg(sys.stdin.read()))"
        for text in saved:
            specification = json.loads(text)
            self.assertEqual(specification["$schema"], "https://vega.github.io/schema/vega-lite/v6.json")
            ended = subprocess.run(
                [os.environ["PAGE_PYTHON"], "-c", draw], input=text, capture_output=True, text=True, check=False
            )
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(specification["title"], ended.stdout)
            self.assertGreaterEqual(ended.stdout.count("<path"), 4)

    def test_a_suite_of_100_draws_when_a_comparison_is_opened(self):
        seconds = self.open(*[made_up.comparison(f"op{i}/64x64", 1 + i / 100, "passed", seed=i) for i in range(100)])
        ready = self.js("const [t] = performance.getEntriesByType('navigation'); return t.loadEventEnd / 1000")
        print(
            f"100 comparisons, {self.output.stat().st_size / 1e6:.2f} MB: loaded in {ready:.2f} s "
            f"({seconds:.2f} s with the driver)"
        )
        self.assertEqual(self.js("return document.querySelectorAll('[data-drawn]').length"), 0)
        self.draw(70)
        self.assertEqual(self.js("return document.querySelectorAll('[data-drawn]').length"), 5)
        self.assert_silent()


class Used(BrowserCase):
    def listed(self):
        return self.js(
            "return [...document.querySelectorAll('details.comparison')]"
            ".filter((e) => !e.hidden).map((e) => e.dataset.name)"
        )

    def choose(self, element, value):
        self.js(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1]; "
            "e.dispatchEvent(new Event('input'))",
            element,
            value,
        )

    def test_search_filter_and_sort(self):
        self.open(
            made_up.comparison("gelu/10", 1.5, "passed"),
            made_up.comparison("gelu/9", 0.8, "failed"),
            made_up.comparison("softmax/9", 1.1, "undecided", device="NVIDIA H200"),
        )
        self.assertEqual(self.listed(), ["gelu/10", "gelu/9", "softmax/9"])
        self.choose("sort", "name")
        self.assertEqual(self.listed(), ["gelu/9", "gelu/10", "softmax/9"])
        self.choose("sort", "speedup")
        self.assertEqual(self.listed(), ["gelu/9", "softmax/9", "gelu/10"])
        self.choose("sort", "verdict")
        self.assertEqual(self.listed()[0], "gelu/9")
        self.choose("search", "h200")
        self.assertEqual(self.listed(), ["softmax/9"])
        self.choose("search", "gelu")
        self.choose("filter", "failed")
        self.assertEqual(self.listed(), ["gelu/9"])
        self.assertEqual(self.js("return document.getElementById('found').innerText"), "1 of 3")

    def test_a_link_opens_its_comparison(self):
        self.open(made_up.comparison("a", 1.5, "passed"), made_up.comparison("b", 0.8, "failed"))
        link = next(e for e in self.browser.find_elements(By.CSS_SELECTOR, "#attention a"))
        link.click()
        WebDriverWait(self.browser, PATIENCE_S).until(lambda _: self.js("return document.getElementById('c1').open"))


class Forbidden(BrowserCase):
    def readable(self):
        """The page as a person reads it without a script: verdicts, figures, intervals, and comparisons that open."""
        body = self.browser.find_element(By.TAG_NAME, "body")
        self.assertIn("Exit code 42", body.text)
        self.assertIn("slowed to half", body.text)
        for summary in self.browser.find_elements(By.CSS_SELECTOR, "details.comparison > summary"):
            # The only comparison of a page is open.
            if not summary.find_element(By.XPATH, "..").get_attribute("open"):
                summary.click()
        text = body.text
        self.assertRegex(text, r"8\.\d+\u202fµs")
        self.assertIn("closes the gate", text)
        pictures = self.browser.find_elements(By.CSS_SELECTOR, "details.comparison table svg.picture")
        self.assertGreaterEqual(len(pictures), 3)
        for each in pictures:
            self.assertGreater(each.size["width"], 100)
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "[data-drawn]"), [])

    def result(self):
        return made_up.comparison("slowed to half", 0.5, "failed")

    def test_without_scripts(self):
        self.command("Emulation.setScriptExecutionDisabled", value=True)
        self.open(self.result())
        self.readable()
        self.assertIn("With scripts the pictures", self.browser.find_element(By.TAG_NAME, "body").text)
        self.command("Emulation.setScriptExecutionDisabled", value=False)

    def serve(self, policy):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                self.send_header("Content-Security-Policy", policy)
                super().end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(self.folder))
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.browser.get(f"http://127.0.0.1:{server.server_port}/report.html")

    def test_under_the_policy_of_jenkins(self):
        self.page_of(made_up.write(self.folder / "results.json", [self.result()]))
        self.serve(JENKINS)
        self.readable()
        # Not even the style is there, and the pictures have colours all the same.
        self.assertEqual(
            self.js("return getComputedStyle(document.querySelector('svg .mark')).stroke"), "rgb(192, 39, 31)"
        )

    def test_under_a_policy_that_forbids_evaluation(self):
        self.page_of(made_up.write(self.folder / "results.json", [self.result()]))
        self.serve("default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:")
        self.draw()
        self.assert_silent()


class Hostile(BrowserCase):
    def test_names_run_nothing(self):
        names = [
            *report_test.Hostile.NAMES,
            "<svg onload=document.title=2>",
            "</title><script>document.title=3</script>",
        ]
        results = []
        for i, name in enumerate(names):
            result = made_up.comparison(name, 1.3, "passed", seed=i, count=12, inputs=name, notes=[name], device=name)
            result["implementations"][1]["name"] = "own " + name
            result["implementations"][1]["expectations"][0].update(message=name, expectation=name, acceptable=False)
            results.append(result)
        self.open(*results, first=made_up.header(command_line=names[0], hostname=names[1], own=names[2]))
        title = self.browser.title
        self.assertEqual(title, f"{len(names)} comparisons · results.json")
        for place in range(len(names)):
            self.draw(place)
        self.assertEqual(self.browser.title, title)
        self.assertEqual(self.js("return document.images.length"), 0)
        self.assertEqual(self.js("return document.querySelectorAll('body script').length"), 3 + len(names) - 0)
        self.assertEqual(self.requests(), [])
        self.assert_silent()
        for width in (1280, 400):
            self.size(width)
            self.assert_fits()


class Looks(BrowserCase):
    def contrast(self, selector):
        """The contrast of a text with its background, by WCAG 2."""
        text, back = self.js(
            """let e = document.querySelector(arguments[0]); const text = getComputedStyle(e).color;
            for (; e; e = e.parentElement) {
              const back = getComputedStyle(e).backgroundColor;
              if (back !== 'rgba(0, 0, 0, 0)') return [text, back];
            }
            return [text, 'rgb(255, 255, 255)'];""",
            selector,
        )

        def luminance(colour):
            parts = [int(each) / 255 for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
            linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        light, dark = sorted((luminance(text), luminance(back)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    def test_texts_are_legible_in_light_and_in_dark(self):
        self.open(
            *[
                made_up.comparison(verdict, factor, verdict)
                for verdict, factor in (("passed", 1.4), ("failed", 0.8), ("undecided", 1.0), ("invalid", 1.1))
            ],
        )
        backs = []
        for scheme in ("light", "dark"):
            self.media(scheme)
            backs.append(self.js("return getComputedStyle(document.body).backgroundColor"))
            for selector in (
                "h1",
                ".about",
                ".ends",
                "summary .name",
                "a",
                *(f".badge.{each}" for each in ("passed", "failed", "undecided", "invalid")),
            ):
                self.assertGreaterEqual(self.contrast(selector), 4.5, f"{selector} in {scheme}")
        self.assertNotEqual(*backs)

    def test_pictures_follow_the_scheme(self):
        self.open(made_up.comparison("a", 1.4, "passed", count=40))
        self.draw()
        label = (
            "return document.querySelector('.chart[data-kind=rounds] svg .role-axis-label text').getAttribute('fill')"
        )
        light = self.js(label)
        self.media("dark")
        WebDriverWait(self.browser, PATIENCE_S).until(lambda _: self.js(label) != light)

    def test_a_printed_page_has_all_comparisons_and_a_light_ground(self):
        self.open(*[made_up.comparison(f"op/{i}", 1.4, "passed", count=40, seed=i) for i in range(3)])
        closed = (
            "return [...document.querySelectorAll('details.comparison .body')]"
            ".map((e) => [e.getBoundingClientRect().height, e.checkVisibility()])"
        )
        self.media("dark", "print")
        self.assertEqual(self.js("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(self.js("return getComputedStyle(document.querySelector('.tools')).display"), "none")
        for height, visible in self.js(closed):
            self.assertGreater(height, 200)
            self.assertTrue(visible)
        self.assertGreater(len(self.command("Page.printToPDF")["data"]), 10000)

    def test_tables_of_a_gpu_fit_a_window_and_a_sheet_of_paper(self):
        _modes(self)
        self.show()
        beyond = (
            "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
            ".map((e) => e.getBoundingClientRect().right - document.body.getBoundingClientRect().right)"
        )
        self.js("document.querySelectorAll('details.comparison').forEach((e) => { e.open = true })")
        # A browser lays tables out in 64ths of a pixel, and rounds.
        self.assertLess(max(self.js(beyond, ".body table")), 0.5)
        # Columns of A4 in portrait.
        self.size(718)
        self.media(kind="print")
        self.assertLess(max(self.js(beyond, ".body table")), 0.5)

    def test_a_picture_that_was_not_drawn_leaves_no_heading_in_print(self):
        self.open(*[made_up.comparison(f"op/{i}", 1.4, "passed", count=40, seed=i) for i in range(2)])
        self.draw(0)
        self.media(kind="print")
        shown = (
            "return [...document.querySelectorAll('#c' + arguments[0] + ' .chart-figure')]"
            ".map((e) => e.checkVisibility())"
        )
        self.assertEqual(self.js(shown, 0), [True] * 5)
        self.assertEqual(self.js(shown, 1), [False] * 5)


def _single(case):
    case.page_of(
        made_up.write(case.folder / "single.json", [made_up.comparison("layer_norm/16x1024", 1.73, "passed")])
    )


def _failed(case):
    result = report_test.failed_gate()
    result["controls"] = [
        {
            "injected": 1.0,
            "speedup": made_up.speedup_of([0.001, -0.002] * 8),
            "proven_slower": False,
            "proven_faster": False,
        },
        {
            "injected": 0.9538,
            "speedup": made_up.speedup_of([-0.047, -0.05] * 8),
            "proven_slower": True,
            "proven_faster": False,
        },
    ]
    case.page_of(made_up.write(case.folder / "failed.json", [result]))


def _sweep(case):
    results = []
    for dtype, factor in (("Float", 1.1), ("Double", 0.98)):
        for n in (16, 64, 256, 1024):
            for m in (64, 256, 1024, 4096):
                speedup = 0.5 * (n * m) ** 0.09 * factor
                results.append(
                    made_up.comparison(
                        f"softmax/{dtype}/{n}x{m}",
                        speedup,
                        "failed" if speedup < 0.94 else "passed",
                        seed=n * m,
                        count=60,
                        median=900 + n * m * 0.4,
                    )
                )
    case.page_of(made_up.write(case.folder / "sweep.json", results))


def _before_and_after(case):
    files = []
    for name, commit, changes in (("before", "a3c9051", {}), ("after", "4235f03", {2: 1.1, 4: 0.9})):
        results = [
            made_up.comparison(
                f"operator_{i}/64x64", (1.2 + i / 10) * changes.get(i, 1), "passed", seed=hash(name) % 99 + i
            )
            for i in range(6)
        ]
        files.append(made_up.write(case.folder / f"{name}.json", results, made_up.header(commit=commit)))
    case.page_of(*files)


def _kernels(case):
    kernels = [
        ("triton_red_fused_native_layer_norm_0", "reduction", 0.31, 2100e9),
        ("triton_poi_fused_gelu_1", "pointwise", 0.22, 3900e9),
        ("cutlass_80_tensorop_s1688gemm_128x128", "matrix product", 0.36, 800e9),
        ("memcpy_d2d", "copy", 0.05, 3600e9),
    ]
    report = {
        "call": "block",
        "device": "NVIDIA H200",
        "whole_ns": 182000.0,
        "explained": 0.94,
        "peak_bytes_per_s": 4.2e12,
        "kernels": [
            {
                "name": name,
                "category": kind,
                "share": share,
                "runs": 1.0,
                "bytes": rate * share * 182e-6,
                "bytes_per_s": rate,
                "in_place": {"median_ns": share * 182000, "least_ns": share * 180000, "most_ns": share * 190000},
                "hot": {"median_ns": share * 170000},
                "cold": {"median_ns": share * 186000},
            }
            for name, kind, share, rate in kernels
        ],
    }
    path = case.folder / "kernels.json"
    path.write_text(json.dumps(report, indent=1))
    case.page_of(path)


def _phases(case):
    results = []
    for name, time_ns, verdict in (
        ("network", 210000, "passed"),
        ("network/forward", 61000, "passed"),
        ("network/backward", 98000, "undecided"),
        ("network/optimizer", 42000, ""),
    ):
        baseline = made_up.row("module", made_up.times(3, 90, time_ns))
        own = made_up.row("function", made_up.times(4, 90, time_ns * 0.985), baseline)
        own["expectations"] = [made_up.expectation(verdict, 1.5)] if verdict else []
        results.append(made_up.result(name, [baseline, own]))
    case.page_of(made_up.write(case.folder / "training.json", results))


def _modes(case):
    modes = {"two passes": (81800, 85300, 81800, 12600), "own": (46900, 49400, 47900, 3690)}
    baseline = made_up.row("two passes", made_up.times(1, 36, 81800, 0.0015))
    own = made_up.row(
        "own", made_up.times(2, 36, 47900, 0.0014), baseline, expectations=[made_up.expectation("passed", 1.5, False)]
    )
    for row in (baseline, own):
        times = modes[row["name"]]
        row["modes"] = [
            {
                "name": name,
                "time": made_up.time_of(made_up.times(i, 20, times[i], 0.002)),
                "missing": "",
                "speedup": (
                    None if row is baseline else made_up.speedup_of([math.log(modes["two passes"][i] / times[i])] * 8)
                ),
            }
            for i, name in enumerate(("cold", "hot", "graph", "host"))
        ]
        row.update(
            bytes=201e6,
            flops=33.5e6,
            gb_per_s=201e6 / times[2],
            gflop_per_s=33.5e6 / times[2],
            share_of_peak=201e6 / times[2] / 4600,
        )
        row["device_memory"] = {
            "peak_bytes": 67108864 if row is baseline else 0,
            "reserved_bytes": 0,
            "allocations": 1,
            "driver_allocations": 0,
        }
        row["device_counts"] = {
            "kernels": 2 if row is baseline else 1,
            "launches": 1,
            "synchronisations": 0,
            "graph_nodes": 1,
        }
    common = {
        "device": "NVIDIA H200",
        "inputs": "Float[16777216], Float[16777216] on cuda:0",
        "check_seed": 7,
    }
    result = made_up.result("axpy/16Mi", [baseline, own], clock="graph", **common)
    result["conditions"]["gpu"] = {
        "readings": 20,
        "lowest_clock_mhz": 1755,
        "highest_clock_mhz": 1980,
        "hottest_celsius": 41,
        "most_power_watts": 402,
        "slowed": 0.0,
        "power_limited": 0.1,
        "suspect_cycles": 2,
    }
    # Gates are about the host's time, too, in rounds of their own.
    host = made_up.row("two passes", made_up.times(5, 90, 12600, 0.03))
    own_host = made_up.row(
        "own", made_up.times(6, 90, 3690, 0.03), host, expectations=[made_up.expectation("passed", 1.05)]
    )
    of_host = made_up.result("axpy/16Mi/host", [host, own_host], clock="host", **common)
    # An operation that waits for the device has no graph, so events time both sides.
    eager = made_up.row("eager", made_up.times(7, 60, 9990, 0.004))
    waiting = made_up.row("copies", made_up.times(8, 60, 9700, 0.004), eager)
    reason = "a call that waits for the device, copies to the host, or leaves work on another stream cannot be captured"
    of_eager = (8990, 9990, 8990, 1000)
    for row, times in ((eager, of_eager), (waiting, (None, 9700, None, 9700))):
        row["modes"] = [
            {
                "name": name,
                "time": made_up.time_of(made_up.times(i, 20, time, 0.002)) if time else None,
                "speedup": None if row is eager or not time else made_up.speedup_of([math.log(of_eager[i] / time)] * 8),
                "missing": "" if time else reason,
            }
            for i, (name, time) in enumerate(zip(("cold", "hot", "graph", "host"), times))
        ]
    uncaptured = made_up.result(
        "nonzero/1Mi",
        [eager, waiting],
        clock="hot",
        notes=[f"Timed by events in the stream, since 'copies' cannot be captured in a CUDA graph: {reason}"],
        **{**common, "check_seed": 8},
    )
    case.page_of(
        made_up.write(
            case.folder / "modes.json",
            [result, of_host, uncaptured],
            made_up.header(gpu="NVIDIA H200", gpu_driver="580.159.04"),
        )
    )


PAGES = {
    "single": _single,
    "failed": _failed,
    "sweep": _sweep,
    "before_and_after": _before_and_after,
    "kernels": _kernels,
    "phases": _phases,
    "modes": _modes,
}


class Pictures(BrowserCase):
    """Saves a picture of each kind of page, to be looked at."""

    folder_of_pictures = None

    def test_pictures(self):
        if not self.folder_of_pictures:
            self.skipTest("only with --pictures FOLDER")
        for name, make in PAGES.items():
            for scheme in ("light", "dark"):
                for width in (1280, 400):
                    self.media(scheme)
                    make(self)
                    self.size(width)
                    self.show()
                    self.js("document.querySelectorAll('details.comparison').forEach((e, i) => { e.open = i < 1 })")
                    self.scroll()
                    self.size(width, min(self.js("return document.documentElement.scrollHeight"), 6000))
                    self.browser.save_screenshot(str(self.folder_of_pictures / f"{name}-{scheme}-{width}.png"))


if __name__ == "__main__":
    if "--pictures" in sys.argv:
        at = sys.argv.index("--pictures")
        Pictures.folder_of_pictures = pathlib.Path(sys.argv[at + 1])
        Pictures.folder_of_pictures.mkdir(parents=True, exist_ok=True)
        del sys.argv[at : at + 2]
    unittest.main()
