"""Results of made-up machines: a file for each process, with the log ratios that a test wants."""

import contextlib
import io
import math
import random
import sys
from unittest import mock

import made_up
from fleet import __main__ as program

COMMIT = "b99b64a2b5fea05d08a4e098771ab3f8cfdce13d"


def header(machine, process=1, **environment):
    first = made_up.header(
        **{"hostname": machine, "date_utc": f"2026-11-26T02:{process:02}:00Z", "commit": COMMIT, **environment}
    )
    first["options"] |= {"seed": process, "check_seed": 100 + process, "budget_ns": 2e9}
    return first


def comparison(
    name,
    centre,
    limits=(1.02,),
    verdict="undecided",
    scatter=0.001,
    time=8000.0,
    seed=1,
    guard=True,
    disturbed="",
    excess_in_rounds=1,
    **objections,
):
    """A comparison whose median log ratio is `centre`, and whose log ratios have this deviation. `objections`
    are why no gate may rest on them, such as `unproven`."""
    random_ = random.Random(f"{name} {centre} {seed}")
    half = [random_.gauss(0, scatter) for _ in range(20)]
    baseline = made_up.row("by_steps", [time] * 82)
    # Symmetric around the centre, which thereby is the median.
    ratios = [centre + sign * each for each in half for sign in (1, -1)] + [centre]
    own = made_up.row("fused", [time * math.exp(-each) for each in ratios for _ in (1, 2)], baseline)
    own["log_ratios"] = ratios
    own["expectations"] = [made_up.expectation(verdict, limit, guard) for limit in limits]
    own["context"]["excess_in_rounds"] = excess_in_rounds
    own["context"]["objections"] = [made_up.objection(*each) for each in objections.items() if each[1]]
    found = made_up.result(name, [baseline, own], check_seed=seed, stop_reason="budget")
    found["conditions"]["disturbances"] = [disturbed] if disturbed else []
    return found


def run(*words):
    """The program's output, its errors and its exit code."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), mock.patch.object(sys, "argv", ["fleet"]):
        try:
            code = program.main([str(each) for each in words])
        except SystemExit as end:
            code = end.code
    return out.getvalue(), errors.getvalue(), code
