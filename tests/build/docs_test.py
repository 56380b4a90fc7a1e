#!/usr/bin/env python3
"""Looks up in the tree what the documentation names: links and their anchors, paths, Bazel targets, options, variables
and C++ names. Each option that a program describes must be in its section of docs/command-line.md, and each one there
must be described. The counts of docs/coverage.md are its rows. Lines of prose have at most 120 columns.

    tests/build/docs_test.py        prints `page:line: problem`, a line each, and ends with 1 if there is any
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Plans and histories name things that are not there.
LINKS_ALONE = {"docs/architecture.md", "CHANGELOG.md"}
# Options of Bazel and of Catch2; those with an underscore are Bazel's.
OTHERS_OPTIONS = {"--config", "--jobs", "--list-tests", "--reporter"}
# PyTorch's programs, after which pace's are made.
OTHERS_FILES = {"operatorbench.py", "torchbench.py"}
# Where options are described (see include/pace/args/command_line.hpp), and the section of docs/command-line.md that
# lists them.
DESCRIBED = {
    "Common options": ["include/pace/runner/session_options-inl.hpp"],
    "operators": ["benches/operators/command_line.hpp"],
    "rnn": ["benches/rnn/command_line.hpp"],
    "models": ["benches/models/options.hpp"],
    "kernels": ["benches/kernels/command_line.hpp"],
    "files": ["benches/files/command_line.hpp"],
    "compare_results": ["tools/compare_results/compare_program.hpp"],
    "collectives": ["benches/collectives/command_line.hpp"],
    "selftest": ["benches/selftest/main.cc"],
}
# The same for programs in Python, by argparse.
DESCRIBED_IN_PYTHON = {
    "export": ["tools/export.py"],
    "fleet": ["tools/fleet/%s.py" % name for name in ("keep", "pool", "replicates", "simulate")],
    "history": ["tools/history/__main__.py"],
    "report": ["tools/report/__main__.py"],
}
COLUMNS = 120
SUFFIXES = "hpp cc cu py sh md txt yaml bzl svg inc awk".split()


def tracked():
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
    return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def anchors_of(text):
    found, fenced = set(), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            found.add(re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-"))
    return found


class Tree:
    def __init__(self):
        self.files = set(tracked())
        own = "tests/build/docs_test.py"
        code = [name for name in self.files if not name.endswith((".md", ".svg")) and name != own]
        self.code = "\n".join(read(name) for name in code)
        self.words = set(re.findall(r"\w+", self.code))
        self.options = set(re.findall(r"--[a-z0-9][\w-]*", self.code))

    def has_path(self, path):
        path = path.rstrip("/")
        places = [path, "include/" + path, "include/pace/" + path]
        return any(place in self.files or os.path.isdir(os.path.join(ROOT, place)) for place in places) or any(
            name.endswith("/" + path) for name in self.files)

    def has_target(self, label, workspace=""):
        """`workspace`: the folder whose targets begin with //. Targets of @pace// are the tree's."""
        package, _, target = label.split("//", 1)[1].partition(":")
        if not label.startswith("@"):
            package = os.path.join(workspace, package).rstrip("/")
        if package.endswith("..."):
            return os.path.isdir(os.path.join(ROOT, package[:-3]))
        build = (package + "/BUILD").lstrip("/")
        if build not in self.files:
            return False
        text = re.sub(r"[/:]", "_", read(build))
        name = re.sub(r"[/:]", "_", target or package.rsplit("/", 1)[-1])
        parts = {name, re.sub(r"_test$", "", name)}
        if name == "all" or any('"%s' % part in text or '%s"' % part in text for part in parts):
            return True
        # A list of names, each put into one pattern: "driver_%s_test" % name.
        for before, after in re.findall(r'"(\w+)%s(\w*)" %', text):
            if name.startswith(before) and name.endswith(after):
                return '"%s"' % name[len(before) : len(name) - len(after)] in text
        # The same by a sum, of a list that is loaded: "pool_" + pool.
        loads = re.findall(r'load\("//([\w/]+):([\w.]+)"', read(build))
        loaded = "".join(read(folder + "/" + file) for folder, file in loads)
        for before in re.findall(r'"(\w+)" \+', text):
            if name.startswith(before) and '"%s"' % name[len(before) :] in loaded:
                return True
        return False


def problems_of_link(page, target):
    if re.match(r"https?:|mailto:", target):
        return None
    path, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(os.path.join(ROOT, file)):
        return "link to a file that is not there: " + target
    if anchor and anchor not in anchors_of(read(file)):
        return "link to a heading that is not there: " + target
    return None


def problem_of_width(line):
    """The parts of a line of prose that are too wide. Tables and indented code, a link and a piece of code stay
    whole."""
    if len(line) <= COLUMNS or line.startswith(("|", "    ")):
        return None
    whole = re.sub(r"`[^`]+`|!?\[[^\]]*\]\([^)]*\)", lambda match: match[0].replace(" ", "-"), line)
    if len(re.sub(r"^\s*(-|\d+\.) ", "", whole).split()) < 2:
        return None
    return "%d columns; expected at most %d" % (len(line), COLUMNS)


def problems_of_code(tree, page, code):
    """The parts of a piece of inline code that are not in the tree."""
    workspace = os.path.dirname(page) if page.startswith("examples/") else ""
    for word in code.split():
        word = word.strip("(),;\"'")
        label = re.fullmatch(r"(?:@pace)?//[\w./-]*(?::[\w./-]+)?", word)
        option = re.match(r"--[a-z0-9][\w-]*", word)
        if label and word != "//..." and not tree.has_target(word, workspace):
            yield "no Bazel target " + word
        elif option and "_" not in option[0] and option[0] not in OTHERS_OPTIONS and option[0] not in tree.options:
            yield "no option " + option[0]
        elif re.fullmatch(r"(?!/|~)[\w.-]+(/[\w.-]+)*\.(%s)" % "|".join(SUFFIXES), word) and not re.search(
            r"[A-Z]{3,}(?!\w*\.md)", word
        ):
            if not tree.has_path(word) and word not in OTHERS_FILES and not word.startswith(("model.", "recorded/")):
                yield "no file " + word
        elif re.match(r"PACE_[A-Z_]+", word):
            if re.match(r"PACE_[A-Z_]+", word)[0] not in tree.words:
                yield "no variable or macro " + word
        elif re.match(r"(?:pace|timing|gpu|check|report|runner|gate|stats)::", word):
            name = re.findall(r"\w+", word.split("(")[0].split("<")[0])[-1]
            if name not in tree.words:
                yield "no name " + word


def problems_of_command(tree, line):
    """The targets of a command that are not in the tree; one of a workspace beside it has its own."""
    command = re.match(r"(?: {4}|\$ )?(?:PACE_\w+=\S+ )*third_party/bazel (.*)", line)
    for word in re.findall(r"(?<!\S)//[\w./-]*(?::[\w./-]+)?(?!\S)", command[1] if command else ""):
        if not tree.has_target(word):
            yield "no Bazel target " + word


def described_options(source):
    """The names of options in a C++ file; not those that the help hides."""
    names = set()
    described = r'(?:\{|Option\()\s*"((?:-\w,)?--[a-z][\w,-]*)",((?:(?!(?:\{|Option\()\s*"-).)*)'
    for entry in re.findall(described, source, re.S):
        if ".hidden()" not in entry[1]:
            names.update(name for name in entry[0].split(",") if name.startswith("--"))
    return names


def problems_of_options(page):
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    for title, files in {**DESCRIBED, **DESCRIBED_IN_PYTHON}.items():
        described = set()
        for source in map(read, files):
            if title in DESCRIBED_IN_PYTHON:
                described.update(re.findall(r'\badd(?:_argument)?\(\s*"(--[a-z][\w-]*)"', source))
            else:
                # A list of names may stand before the first function that describes options.
                described |= described_options(source[re.search(r"args::Groups? \w+\(", source).start():])
        rows = [line for line in sections[title].splitlines() if line.startswith("|")]
        rows = rows if title == "models" else [line.split("|")[1] for line in rows]
        listed = set(re.findall(r"`(--[a-z][\w-]*)`", "".join(rows)))
        for name in sorted(described - listed):
            yield "section '%s' lacks %s, which %s describes" % (title, name, files[0])
        for name in sorted(listed - described):
            yield "section '%s' lists %s, which %s does not describe" % (title, name, files[0])


def problems_of_coverage(page):
    """Features, and those that are whole: nothing stands in the last column of their rows."""
    rows = re.findall(r"^\| ([A-Z]\d+) \|.*\| ([^|]*) \|$", page, re.M)
    for name in sorted({name for name, _ in rows if [each for each, _ in rows].count(name) > 1}):
        yield "two rows are called " + name
    whole = sum(missing == "–" for _, missing in rows)
    stated = re.search(r"\bOf\s+(\d+)\s+features\s+(\d+)\s+are\s+whole\b", page)
    if not stated or (int(stated[1]), int(stated[2])) != (len(rows), whole):
        yield "expected 'Of %d features %d are whole', which are its rows, found %s" % (
            len(rows), whole, "'%s'" % " ".join(stated[0].split()) if stated else "no such sentence")


def main():
    tree = Tree()
    found = ["docs/command-line.md: " + problem for problem in problems_of_options(read("docs/command-line.md"))]
    found += ["docs/coverage.md: " + problem for problem in problems_of_coverage(read("docs/coverage.md"))]
    pages = re.compile(r"[A-Z]+\.md|docs/[\w-]+\.md|examples/\w+/README\.md")
    for page in sorted(name for name in tree.files if pages.fullmatch(name)):
        fenced = False
        for number, line in enumerate(read(page).splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            if page not in LINKS_ALONE:
                found.extend("%s:%d: %s" % (page, number, problem) for problem in problems_of_command(tree, line))
            if fenced or line.startswith("```"):
                continue
            bad = [problems_of_link(page, target) for target in re.findall(r"\]\(([^)\s]+)\)", line)]
            bad.append(problem_of_width(line))
            if page not in LINKS_ALONE:
                for code in re.findall(r"`([^`]+)`", line):
                    bad.extend(problems_of_code(tree, page, code))
            found.extend("%s:%d: %s" % (page, number, problem) for problem in bad if problem)
    print("\n".join(found) or "what the documentation names is there, in lines of %d columns" % COLUMNS)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
