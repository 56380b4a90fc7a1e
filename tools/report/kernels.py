"""The page's view of a report of kernels."""

from report import figures, svg, words

UNLISTED = "not in any listed kernel"


def view(report):
    """Returns the values that the template reads."""
    kinds = list(dict.fromkeys(kernel["category"] for kernel in report["kernels"]))
    shares = _shares(report)
    parts = [
        (words.short(kernel["name"]), share, kinds.index(kernel["category"]))
        for kernel, share in zip(report["kernels"], shares)
        if share
    ]
    return {
        "path": report["path"],
        "call": words.short(report["call"]),
        "device": report["device"],
        "whole": figures.time(report["whole_ns"]),
        "explained": figures.percent(report["explained"]),
        "peak": figures.significant(report["peak_bytes_per_s"] / 1e9) + " GB/s" if report["peak_bytes_per_s"] else "",
        "picture": svg.kernels_bar(parts + _rest(report, parts)),
        "kinds": [{"name": kind, "colour": svg.kind_colour(i)} for i, kind in enumerate(kinds)],
        "rows": [
            _row(kernel, share, kinds.index(kernel["category"]), report["peak_bytes_per_s"])
            for kernel, share in zip(report["kernels"], shares)
        ],
        "unlisted": {
            "name": UNLISTED,
            "time": figures.time(report["unlisted_ns"]) if report["unlisted_share"] else "",
            "share": figures.percent(report["unlisted_share"]) if report["unlisted_share"] else "",
        },
        "notes": report["notes"],
        "has_alone": any(kernel["hot"] or kernel["cold"] for kernel in report["kernels"]),
    }


def _shares(report):
    """The share of the whole call that each kernel takes; None where it is not known."""
    times = [kernel["in_place"] for kernel in report["kernels"]]
    total = sum(time["median_ns"] * (kernel["runs"] or 1) for kernel, time in zip(report["kernels"], times) if time)
    whole = report["whole_ns"] or total or 1.0
    return [
        kernel["share"] if kernel["share"] is not None else time["median_ns"] / whole if time else None
        for kernel, time in zip(report["kernels"], times)
    ]


def _rest(report, parts):
    """The parts of the picture behind the kernels."""
    rest = [(UNLISTED, report["unlisted_share"], None)] if report["unlisted_share"] else []
    covered = sum(share for _, share, _ in parts + rest)
    if covered < 0.995:
        # Of kernels on the CPU, --kernel may have left out some.
        on_cpu = report["unlisted_share"] is not None
        rest.append(("other kernels" if on_cpu else "between kernels", 1 - covered, None))
    return rest


def _row(kernel, share, kind, peak):
    time = kernel["in_place"]
    unit = figures.time_unit(time["median_ns"]) if time else None
    of_peak = kernel["bytes_per_s"] / peak if kernel["bytes_per_s"] and peak else None
    extremes = ""
    if time and time["least_ns"] is not None and time["most_ns"] is not None:
        ends = (figures.significant(time[key] / unit[0]) for key in ("least_ns", "most_ns"))
        extremes = f"[{', '.join(ends)}]"
    return {
        "name": words.short(kernel["name"]),
        "symbol": words.short(kernel["symbol"]) if kernel["symbol"] != kernel["name"] else "",
        "category": kernel["category"],
        "colour": svg.kind_colour(kind),
        "runs": figures.significant(kernel["runs"]) if kernel["runs"] is not None else "–",
        "time": figures.time(time["median_ns"], unit) if time else "–",
        "value": time["median_ns"] if time else "",
        "extremes": extremes,
        "hot": figures.time(kernel["hot"]["median_ns"]) if kernel["hot"] else "–",
        "cold": figures.time(kernel["cold"]["median_ns"]) if kernel["cold"] else "–",
        "share": figures.percent(share),
        "bytes": figures.bytes_(kernel["bytes"]),
        "gb_per_s": figures.significant(kernel["bytes_per_s"] / 1e9) if kernel["bytes_per_s"] else "–",
        "of_peak": figures.percent(of_peak) if of_peak else "–",
        "of_peak_picture": svg.share_bar(of_peak) if of_peak else "",
        "why": kernel["why_not_alone"],
    }
