"""The program of tools/report as tests run it, and its page as tests read it."""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

REPORT = os.path.abspath("tools/report/report")

# Elements without an end.
_VOID = {"meta", "link", "br", "input"}


class Page(html.parser.HTMLParser):
    """A page's elements as a browser without scripts would have them: tags, attributes, texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.size = len(text.encode("utf-8"))
        self.elements, self.unclosed, self._pieces = [], [], []
        self.feed(text)
        self.close()
        for element in self.elements:
            element["text"] = "".join(element["text"])
        # As it is read: a browser makes one space of several, and of line ends.
        self.text = re.sub(r"[ \n]+", " ", "".join(self._pieces))

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": [], **dict(attributes)}
        self.elements.append(element)
        if tag not in _VOID:
            self.unclosed.append(element)

    def handle_startendtag(self, tag, attributes):
        self.elements.append({"tag": tag, "text": [], **dict(attributes)})

    def handle_endtag(self, tag):
        if not self.unclosed or self.unclosed[-1]["tag"] != tag:
            raise AssertionError(f"</{tag}> ends nothing: {[each['tag'] for each in self.unclosed]}")
        self.unclosed.pop()

    def handle_data(self, data):
        for element in self.unclosed:
            element["text"].append(data)
        if not any(each["tag"] in ("script", "style") for each in self.unclosed):
            self._pieces.append(data)

    def all(self, tag, **attributes):
        """Elements of a tag with these attributes; `css` is one of its classes."""
        css = attributes.pop("css", None)
        return [
            each
            for each in self.elements
            if each["tag"] == tag
            and all(each.get(key) == value for key, value in attributes.items())
            and (css is None or css in (each.get("class") or "").split())
        ]

    def data(self, key):
        (element,) = self.all("script", id=key)
        return json.loads(element["text"])


class ReportCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "report.html"

    def run_report(self, *words, environment=None):
        return subprocess.run(
            [REPORT, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"], **(environment or {})},
        )

    def page_of(self, *files, code=0):
        """The page of files, and the program's standard error."""
        ended = self.run_report(*files, "--output", self.output)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return Page(self.output.read_text("utf-8")), ended.stderr
