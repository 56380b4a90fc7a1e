#!/usr/bin/env python3
"""Finds sentences that break the rule of prose: the subject is code or data, the verb is plain, the sentence is whole.

    git ls-files | tests/build/prose.py [--by-folder]

Reads names of files from its input; looks at the comments and string literals of C++, CUDA and Python, at Markdown
outside of code, and at all of scripts, BUILD files and configurations. Prints `file:line: rule: text`, or with
--by-folder how many lines each folder has, and ends with 1 if there are any.
"""
import collections
import io
import os
import re
import sys
import tokenize

PERSONS = "who whoever nobody somebody everybody anyone".split()
RULES = [
    (re.compile(r"\b(%s)\b" % "|".join(PERSONS), re.I), "a person as the subject; name the code or the data"),
    (re.compile(r"\btells\b", re.I), "'tells'; expected a plain verb, such as reports, prints, gives or says"),
    (re.compile(r"\bdear\b", re.I), "'dear'; expected costly, or the quantity"),
    (re.compile(r"\blikewise\b", re.I), "'likewise'; expected what is meant"),
    (
        re.compile(r"\bdo(es)? not do\b(?! (any|that|this|so|it|what)\b)"),
        "'does not do'; expected \"invalid value 'x'; expected ...\"",
    ),
    (re.compile(r"(?<![\w$}.])/work/"), "a path of one machine"),
]
# A sentence that begins with "Of" and has none of these is a fragment.
VERBS = re.compile(
    r"\b(is|are|was|were|be|been|has|have|had|do|does|did|can|cannot|may|might|must|shall|will|would|should|could|"
    r"say|says|said|"
    r"needs?|takes?|took|gives?|gave|counts?|holds?|held|stands?|lies?|makes?|made|runs?|ran|names?|named|means?|"
    r"shows?|"
    r"keeps?|kept|knows?|wins?|won|remains?|stays?|comes?|goes|reads?|writes?|becomes?|follows?|belongs?|decides?|"
    r"differs?)\b", re.I)
OF_FRAGMENT = "a sentence that begins with 'Of' and has no verb"
SELF = {"tests/build/prose.py", "tests/build/docs_test.py", "LICENSE"}
CPP = (".hpp", ".cc", ".cu", ".inc", ".tpl")
WHOLE = (
    ".sh", ".cmake", ".in", "Makefile", "Dockerfile", ".bzl", ".awk", ".yaml", ".txt", "BUILD", "WORKSPACE", ".bazelrc",
    ".BUILD", ".ci/run", "third_party/bazel",
)
# Recorded data.
NOT_PROSE = re.compile(r"^benches/corpus/.*\.txt$")

CPP_TOKEN = re.compile(
    r'R"(?P<delimiter>[^()\\ ]*)\((?P<raw>.*?)\)(?P=delimiter)"|"(?P<string>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'|'
    r"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/", re.S)
DIGIT_SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")


def cpp_prose(text):
    """(line number, kind, text) of each line of comments and string literals."""
    text = DIGIT_SEPARATOR.sub(" ", text)
    for match in CPP_TOKEN.finditer(text):
        for name in ("raw", "string", "line", "block"):
            if match[name] is None:
                continue
            line_start = text.rfind("\n", 0, match.start()) + 1
            if text[line_start:match.start()].lstrip().startswith("#include"):
                continue
            first = text.count("\n", 0, match.start(name)) + 1
            for offset, line in enumerate(match[name].split("\n")):
                yield first + offset, "comment" if name in ("line", "block") else "string", line


def python_prose(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for offset, line in enumerate(token.string.split("\n")):
                yield token.start[0] + offset, "comment", line


def markdown_prose(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, "text", line


def prose_of(name, text):
    if name.endswith(CPP):
        return cpp_prose(text)
    if name.endswith(".py"):
        return python_prose(text)
    if name.endswith(".md"):
        return markdown_prose(text)
    if name.endswith(WHOLE):
        return ((number, "text", line) for number, line in enumerate(text.split("\n"), 1))
    return ()


def of_fragments(lines):
    """(line number, sentence) of each sentence in comments that begins with "Of" and has no verb."""
    paragraph, first, last = [], 0, 0

    def sentences():
        text = " ".join(paragraph)
        for sentence in re.split(r"(?<=[.;:!?])\s+", text):
            if sentence.startswith("Of ") and not VERBS.search(sentence):
                yield first, sentence

    for number, kind, line in lines:
        if kind == "string":
            continue
        line = line.strip().lstrip("/#*<!").strip()
        if paragraph and number != last + 1 or not line:
            yield from sentences()
            paragraph = []
        if line:
            if not paragraph:
                first = number
            paragraph.append(line)
        last = number
    yield from sentences()


def broken_rules(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        lines = list(prose_of(name, file.read()))
    for number, _, line in lines:
        for pattern, rule in RULES:
            if pattern.search(line):
                yield number, rule, line.strip()
    for number, sentence in of_fragments(lines):
        yield number, OF_FRAGMENT, sentence


def main(arguments):
    found = []
    for name in sorted(sys.stdin.read().split("\n")):
        if name and name not in SELF and not NOT_PROSE.match(name) and os.path.isfile(name):
            found.extend((name, *problem) for problem in sorted(broken_rules(name)))
    if arguments == ["--by-folder"]:
        counts = collections.Counter(os.path.dirname(name) or "." for name, _, _, _ in found)
        for folder, count in sorted(counts.items()):
            print("%5d  %s" % (count, folder))
        for rule, count in collections.Counter(rule for _, _, rule, _ in found).most_common():
            print("%5d  %s" % (count, rule))
    else:
        for name, number, rule, text in found:
            print("%s:%d: %s: %s" % (name, number, rule, text[:160]))
    print("%d places break the rule of prose" % len(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
