"""pytest: the fixture `pace`, files of results, verdicts as outcomes.

    def test_softmax(pace):
        result = (pace.compare("softmax", torch.randn(64, 4096))
                  .baseline("eager", lambda x: x.softmax(-1))
                  .candidate("mine", softmax)
                  .expect(pace.no_slower_than(1.02))
                  .run())
        assert result.as_expected(), result.message

A test that passes fails all the same if a result is not as expected. A guard that is let through undecided is reported;
with --pace-undecided fail it fails its test, with skip it skips it.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("pace", "benchmarks with verdicts")
    group.addoption("--pace-json", metavar="FILE", help="write all results to FILE, as pace's tools read them")
    group.addoption("--pace-tables", action="store_true", help="print the table of each result")
    group.addoption("--pace-undecided", choices=["pass", "fail", "skip"], default="pass",
                    help="outcome of a test whose guard was let through undecided (default: %(default)s)")
    group.addoption("--pace-budget", type=float, metavar="SECONDS", help="time of the rounds of each comparison")
    group.addoption("--pace-audit", choices=["off", "standard", "strict"], help="how far candidates are distrusted")
    group.addoption("--no-pace", action="store_true", help="skip the tests that use the fixture `pace`")


def pytest_configure(config):
    config.addinivalue_line("markers", "pace(**options): options of the comparisons of a test, as Comparison.options()")
    config.stash[_all] = []
    if config.getoption("--pace-json") and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--pace-json: the processes of pytest-xdist keep their results; expected -n 0, which "
                                "also leaves the machine to one comparison at a time")


_all = pytest.StashKey[list]()
_fixture = pytest.StashKey["Fixture"]()
_unwritten = pytest.StashKey[str]()


class Fixture:
    """The module pace, with options of the command line and of the test's marker. It keeps the results of run()."""

    def __init__(self, options):
        import pace

        self._pace, self._options, self.results = pace, options, []

    def __getattr__(self, name):
        return getattr(self._pace, name)

    def compare(self, name, /, *args, **kwargs):
        comparison = self._pace.compare(name, *args, **kwargs)
        if self._options:
            comparison.options(**self._options)
        run = comparison.run

        def run_and_keep():
            self.results.append(run())
            return self.results[-1]

        comparison.run = run_and_keep
        return comparison


@pytest.fixture(name="pace")
def pace_fixture(request):
    config = request.config
    if config.getoption("--no-pace"):
        pytest.skip("--no-pace")
    options = {}
    for key, option in (("budget", "--pace-budget"), ("audit", "--pace-audit")):
        if config.getoption(option) is not None:
            options[key] = config.getoption(option)
    for marker in request.node.iter_markers("pace"):
        if marker.args:
            pytest.fail(f"pytest.mark.pace{marker.args!r}; expected options by name, such as budget=0.5", pytrace=False)
        options = {**marker.kwargs, **options}
    fixture = request.node.stash[_fixture] = Fixture(options)
    yield fixture
    config.stash[_all] += fixture.results
    if config.getoption("--pace-tables"):
        for result in fixture.results:
            print(result.table())


def _with_phases(results):
    return [each for result in results for each in (result, *result.phases)]


def _take_undecided(outcome, results):
    open_gates = [each.message for result in _with_phases(results) for row in result.rows for each in row.judgements
                  if each.unresolved]
    if not open_gates or outcome == "pass":
        return
    text = "undecided: " + "; ".join(open_gates)
    if outcome == "skip":
        pytest.skip(text)
    pytest.fail(text, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    # Another fixture may have asked for it.
    fixture = pyfuncitem.stash.get(_fixture, None)
    if fixture is not None:
        for result in fixture.results:
            if not result.as_expected():
                pytest.fail(f"the test passed, and a result is not as expected: {result.message}\n"
                            "try: assert result.as_expected(), result.message", pytrace=False)
        _take_undecided(pyfuncitem.config.getoption("--pace-undecided"), fixture.results)
    return outcome


def pytest_sessionfinish(session):
    file = session.config.getoption("--pace-json")
    results = session.config.stash[_all]
    if not file or not results:
        return
    import pace

    try:
        pace.write_results(file, *results)
    except pace.Error as error:
        session.config.stash[_unwritten] = str(error)
        session.exitstatus = session.exitstatus or 1


def pytest_terminal_summary(terminalreporter, config):
    results = config.stash[_all]
    if not results:
        return
    terminalreporter.section("pace")
    for result in _with_phases(results):
        for row in result.rows:
            if row.speedup is None:
                continue
            low_high = f" [{row.interval[0]:.3g}x, {row.interval[1]:.3g}x]" if row.interval else ""
            verdicts = ", ".join(each.verdict for each in row.judgements)
            terminalreporter.write_line(f"{result.name}: {row.name} {row.speedup:.3g}x{low_high} {verdicts}".rstrip())
    file = config.getoption("--pace-json")
    if file and _unwritten in config.stash:
        terminalreporter.write_line(f"--pace-json: {config.stash[_unwritten]}", red=True)
    elif file:
        terminalreporter.write_line(f"results in {file}")
