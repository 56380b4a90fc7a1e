"""The files that programs write: the rows that each holds, and what is wrong with it."""

import csv
import io
import json
import os
import shutil
import sqlite3
import tempfile
import xml.etree.ElementTree
import zipfile


class Broken(Exception):
    """The file is neither whole nor the old one."""


def _text(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"is no UTF-8: {error}") from None


def _whole_lines(data):
    """Returns the lines that have an end, and whether another one was cut off."""
    lines = _text(data).split("\n")
    return lines[:-1], bool(lines[-1])


class Results:
    """JSON Lines of `--json`. A kill may have cut its last line off, see docs/results.md."""

    may_be_cut = True

    def __call__(self, path):
        with open(path, "rb") as file:
            lines, is_cut = _whole_lines(file.read())
        rows = []
        for number, line in enumerate(lines, 1):
            try:
                value = json.loads(line)
                if number == 1:
                    value["schema_version"]
                else:
                    rows += [(value["name"], each["name"]) for each in value["implementations"]]
            except (ValueError, KeyError, TypeError) as error:
                raise Broken(f"line {number} cannot be read: {error!r}") from None
        return rows, is_cut


class Baseline(Results):
    """`--save-baseline` replaces the file as a whole."""

    may_be_cut = False


class Json:
    """One value."""

    may_be_cut = False

    def __call__(self, path):
        with open(path, "rb") as file:
            try:
                json.loads(file.read())
            except ValueError as error:
                raise Broken(f"cannot be read: {error}") from None
        return [("all",)], False


class Csv:
    def __init__(self, columns, may_be_cut=True):
        self.columns, self.may_be_cut = columns, may_be_cut

    def __call__(self, path):
        with open(path, "rb") as file:
            lines, is_cut = _whole_lines(file.read())
        table = list(csv.reader(io.StringIO("".join(line + "\n" for line in lines))))
        for number, row in enumerate(table, 1):
            if len(row) != len(table[0]):
                raise Broken(f"row {number} has {len(row)} fields, and the first one {len(table[0])}")
        try:
            places = [table[0].index(each) for each in self.columns] if table else []
        except ValueError as error:
            raise Broken(f"its first row is none of names: {error}") from None
        return [tuple(row[place] for place in places) for row in table[1:]], is_cut


# Expat's codes of a document that ends too early.
_NO_ELEMENTS, _UNCLOSED_TOKEN = 3, 5


class JUnit:
    """Is complete after every write. A kill in the middle of one cuts it off."""

    may_be_cut = True

    def __call__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if not data:
            return [], False
        try:
            root = xml.etree.ElementTree.fromstring(data)
        except xml.etree.ElementTree.ParseError as error:
            if error.code in (_NO_ELEMENTS, _UNCLOSED_TOKEN):
                return [], True
            raise Broken(f"cannot be read: {error}") from None
        return [(each.get("classname"), each.get("name")) for each in root.iter("testcase")], False


class Page:
    may_be_cut = False

    def __call__(self, path):
        with open(path, "rb") as file:
            text = _text(file.read())
        if not text.rstrip().endswith("</html>"):
            raise Broken("is cut off")
        return [("all",)], False


class Lines:
    """A text of whole lines."""

    may_be_cut = False

    def __call__(self, path):
        with open(path, "rb") as file:
            lines, is_cut = _whole_lines(file.read())
        return [(each,) for each in lines], is_cut


class Records:
    """JSON Lines of models: one for each figure, as many as a row has. Each row has a status."""

    may_be_cut = True

    def __call__(self, path):
        with open(path, "rb") as file:
            lines, is_cut = _whole_lines(file.read())
        try:
            records = [json.loads(line) for line in lines]
            return [(each["model"]["name"],) for each in records if each["metric"]["name"] == "status"], is_cut
        except (ValueError, KeyError, TypeError) as error:
            raise Broken(f"cannot be read: {error!r}") from None


class Archive:
    may_be_cut = False

    def __call__(self, path):
        try:
            with zipfile.ZipFile(path) as archive:
                if archive.testzip():
                    raise Broken("has a broken member")
                return [(name,) for name in archive.namelist()], False
        except zipfile.BadZipFile as error:
            raise Broken(f"cannot be read: {error}") from None


class Database:
    """The comparisons of a history, with what SQLite keeps beside the file."""

    may_be_cut = False

    def __call__(self, path):
        with tempfile.TemporaryDirectory() as folder:
            # Reading a database changes it after a kill.
            copy = os.path.join(folder, "copy")
            for end in ("", "-wal", "-journal"):
                if os.path.exists(path + end):
                    shutil.copyfile(path + end, copy + end)
            try:
                connection = sqlite3.connect(copy)
                try:
                    return self._rows(connection), False
                finally:
                    connection.close()
            except sqlite3.Error as error:
                raise Broken(f"cannot be read: {error}") from None

    def _rows(self, connection):
        found = connection.execute("pragma integrity_check").fetchone()[0]
        if found != "ok":
            raise Broken(found)
        if connection.execute("pragma user_version").fetchone()[0] == 0:
            return []
        return connection.execute(
            "select run.date_utc, comparison.name from comparison join run on run.id = run_id order by 1, 2"
        ).fetchall()
