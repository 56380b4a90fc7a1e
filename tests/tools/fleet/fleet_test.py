"""tools/fleet: a simulated suite takes the time that one works out by hand, and its figures are the files' figures."""

import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import made_up
from fleet import simulation

FLEET = os.path.abspath("tools/fleet/fleet")


def fleet(**changes):
    return simulation.Fleet(
        **{"machines": 1, "per_shard": 10, "start_seconds": 2.0, "spread": 0.0, "losses_per_hour": 0.0, **changes}
    )


class Simulation(unittest.TestCase):
    second = [simulation.Comparison(1.0, 100)]

    def test_shards_one_after_the_other_and_side_by_side(self):
        for machines, makespan, busy in ((1, 24.0, 1.0), (2, 12.0, 1.0), (4, 12.0, 0.5)):
            found = simulation.run(self.second, 20, fleet(machines=machines), 3, 1)
            self.assertAlmostEqual(found.makespan, makespan)
            self.assertAlmostEqual(found.busy, busy)
            self.assertEqual(found.lost, 0)
            self.assertEqual(found.bytes, 2000)

    def test_the_last_shard_may_be_a_part(self):
        self.assertAlmostEqual(simulation.run(self.second, 11, fleet(), 1, 1).makespan, 12.0 + 3.0)

    def test_a_machine_that_is_slower_holds_the_suite_up(self):
        even = simulation.run(self.second, 1000, fleet(machines=10), 20, 1)
        uneven = simulation.run(self.second, 1000, fleet(machines=10, spread=0.3), 20, 1)
        self.assertGreater(uneven.makespan, even.makespan)
        self.assertLess(uneven.busy, even.busy)
        self.assertGreaterEqual(uneven.makespan_q95, uneven.makespan)

    def test_lost_shards_are_begun_again(self):
        # A shard of 12 s outlives a machine that is lost every 12 s in mean with probability 1/e: it is begun e times.
        found = simulation.run(self.second, 1000, fleet(machines=10, losses_per_hour=300.0), 100, 1)
        self.assertAlmostEqual(found.lost / 100, 2.718 - 1, delta=0.1)

    def test_shards_that_outlive_no_machine(self):
        # A shard of 12 s, of machines that are lost every 2 s in mean, is begun e^6 = 403 times; every second, e^12.
        self.assertGreater(simulation.run(self.second, 10, fleet(losses_per_hour=1800.0), 1, 1).lost, 0)
        with self.assertRaises(simulation.Endless) as raised:
            simulation.run(self.second, 10, fleet(losses_per_hour=3600.0), 1, 1)
        self.assertAlmostEqual(raised.exception.seconds, 12.0)
        self.assertAlmostEqual(math.log(raised.exception.times), 12.0)
        # Such a short shard as no double counts.
        with self.assertRaises(simulation.Endless):
            simulation.run(self.second, 10, fleet(losses_per_hour=3.6e6), 1, 1)

    def test_equal_seeds_give_equal_figures(self):
        several = [simulation.Comparison(seconds, 1) for seconds in (0.5, 1.0, 4.0)]
        one, same, other = (simulation.run(several, 100, fleet(), 3, seed).makespan for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_false_alarms(self):
        self.assertAlmostEqual(simulation.any_false_alarm(0.1, 2), 0.19)
        self.assertEqual(simulation.any_false_alarm(0.1, 0), 0)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        comparisons = [made_up.comparison(f"c{i}", 1.2, "passed", seed=i) for i in range(4)]
        for i, each in enumerate(comparisons):
            each["elapsed_ns"] = 1e9 * (i + 1)
        self.good = made_up.write(self.folder / "good.json", comparisons)

    def run_fleet(self, *words, code=0, stdin=None):
        ended = subprocess.run(
            [FLEET, "simulate", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            stdin=stdin,
            env={"PATH": os.environ["PATH"]},
        )
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended

    def test_figures_agree_with_the_file(self):
        figures = self.folder / "figures.json"
        words = ("--wall", 20, "--comparisons", 400, "--machines", 1, "--spread", 0, "--start", 0, "--json", figures)
        shown = self.run_fleet(self.good, *words).stdout
        self.assertIn("4 comparisons of 2 s to 8 s", shown)
        found = json.loads(figures.read_text("utf-8"))
        # The rounds took 10 of 20 s, 2.5 s in mean.
        self.assertAlmostEqual(found["makespan_seconds"], 400 * 5, delta=60)
        self.assertEqual(found["shards"], 20)
        lines = pathlib.Path(self.good).read_bytes().splitlines()[1:]
        self.assertAlmostEqual(found["results_bytes"], 100 * sum(len(line) + 1 for line in lines), delta=0.02 * 4e6)
        self.assertLess(found["packed_results_bytes"], found["results_bytes"])
        self.assertGreater(found["database_bytes"], 0)
        self.assertAlmostEqual(found["expected_false_alarms"], 0.4)
        self.assertAlmostEqual(400 * found["alpha_for_one_in_twenty"], 0.0513, delta=1e-4)

    def test_the_figures_replace_no_file_that_is_read(self):
        before = pathlib.Path(self.good).read_bytes()
        link = self.folder / "link.json"
        link.symlink_to(self.good)
        for name in (self.good, link):
            ended = self.run_fleet(self.good, "--wall", 20, "--json", name, code=1)
            self.assertEqual(ended.stdout, "")
            self.assertIn(f"--json {name}: is one of the files that are read; expected another name", ended.stderr)
        self.assertEqual(pathlib.Path(self.good).read_bytes(), before)

    def test_figures_are_written_whole_or_not_at_all(self):
        figures = self.folder / "figures.json"
        figures.write_text("older ones")
        number = figures.stat().st_ino
        self.run_fleet(self.good, "--wall", 20, "--runs", 2, "--json", figures)
        self.assertIn("makespan_seconds", json.loads(figures.read_text("utf-8")))
        # Another file has taken the place of the older one.
        self.assertNotEqual(figures.stat().st_ino, number)
        self.assertEqual(sorted(os.listdir(self.folder)), ["figures.json", "good.json"])

    def test_a_last_line_that_was_cut_off_is_noted_and_left_out(self):
        text = pathlib.Path(self.good).read_text("utf-8")
        cut = self.folder / "cut.json"
        for end in (-1, -30):
            cut.write_text(text[:end], "utf-8")
            ended = self.run_fleet(cut, "--wall", 20, "--runs", 2)
            self.assertIn("3 comparisons of", ended.stdout)
            self.assertIn(f"fleet: {cut}:5: the last line was cut off", ended.stderr)

    def test_a_pipe_is_read(self):
        words = ("--wall", 20, "--runs", 2)
        expected = self.run_fleet(self.good, *words).stdout
        with subprocess.Popen(["cat", self.good], stdout=subprocess.PIPE) as cat:
            found = self.run_fleet("/dev/stdin", *words, stdin=cat.stdout).stdout
        self.assertEqual(found, expected)

    def test_a_fleet_that_loses_more_than_it_measures_is_refused(self):
        words = ("--wall", 10, "--losses", 1000, "--machines", 1, "--comparisons", 100, "--runs", 2, "--start", 100)
        ended = self.run_fleet(self.good, *words, code=1)
        self.assertEqual(ended.stdout, "")
        # A shard of 20 comparisons takes 100 s and 20 times 2.5 s, and a machine is lost every 3.6 s.
        self.assertRegex(
            ended.stderr,
            r"--losses 1000: a shard of [\d.]+ min would be begun [\d.]+e\+\d+ times .* once in 3\.6 s; expected at "
            r"most 1000 times: fewer losses, .*--per-shard",
        )
        self.run_fleet(self.good, *words[:2], "--losses", 30, *words[4:])

    def test_bad_input(self):
        self.assertIn("the rounds alone took 10 s", self.run_fleet(self.good, "--wall", 5, code=1).stderr)
        self.assertIn("nowhere", self.run_fleet(self.folder / "nowhere", "--wall", 5, code=1).stderr)
        empty = made_up.write(self.folder / "empty.json", [])
        self.assertIn("holds no results", self.run_fleet(empty, "--wall", 5, code=1).stderr)
        untimed = made_up.comparison("untimed", 1.2)
        untimed["elapsed_ns"] = 0
        untimed = made_up.write(self.folder / "untimed.json", [untimed])
        self.assertIn("no comparison has timed rounds", self.run_fleet(untimed, "--wall", 5, code=1).stderr)
        for words in (("--machines", 0), ("--machines", 1.5), ("--spread", "nan"), ("--alpha", 1), ("--runs", 0)):
            errors = self.run_fleet(self.good, "--wall", 20, *words, code=2).stderr
            self.assertIn(f"argument {words[0]}: '{words[1]}': expected", errors)
        self.assertIn("--wall", self.run_fleet(self.good, code=2).stderr)
        self.assertIn("given twice", self.run_fleet(self.good, "--wall", 20, "--wall", 30, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
