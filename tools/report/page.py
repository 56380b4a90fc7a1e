"""The page as text."""

import json
import pathlib

import jinja2
from markupsafe import Markup

from report import charts, figures
from report.view import View

_HERE = pathlib.Path(__file__).parent


def embedded(value):
    """Returns JSON for a script element: no text in it can end the element, or begin a comment."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _program(text):
    """Returns a program for a script element. A string or an expression of it may hold text that would end the
    element."""
    return Markup(text.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def templates(folder):
    """Returns Jinja's environment for the templates of a folder: every text is escaped, and a name must exist."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def surroundings(specifications, datasets, vega):
    """Returns the values that a template of any page needs around its own content. `specifications`: by the kind of
    picture; `datasets`: by the name of a picture; `vega`: see render()."""
    return {
        "css": Markup((_HERE / "page.css").read_text("utf-8")),
        "script": _program((_HERE / "page.js").read_text("utf-8")) if vega else "",
        "vega": _program(vega) if vega else "",
        "licences": (_HERE / "licences.txt").read_text("utf-8") if vega else "",
        "specifications": embedded(specifications),
        "datasets": {key: embedded(each) for key, each in datasets.items()},
    }


def render(inputs, paths, vega):
    """Returns the page. `vega` is the program that draws pictures; without it the page has tables alone."""
    environment = templates(_HERE)
    environment.filters["time"] = figures.time
    environment.filters["bytes"] = figures.bytes_
    view = View(inputs, paths)
    return environment.get_template("page.html.j2").render(
        view=view,
        **surroundings(
            {key: each["specification"] for key, each in charts.SPECIFICATIONS.items()}, view.datasets, vega
        ),
    )
