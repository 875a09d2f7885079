# SPDX-License-Identifier: MIT
"""What came out, by cause: which first findings were right, how far the bounds were from the gains, what was named that is none."""
import collections
import dataclasses
import statistics

import page
import truth_of_place

NOISE = ("noisy_neighbour", "stolen_cpus", "reference_blas", "cpu_above_threshold", "memory_above_threshold", "disk_above_threshold")
GENERAL = ("one_thread_computes", "cpu_saturated")  # true of healthy programs, too: they compute
ABOVE = 0.05  # of the run
CLOCKS_S, CLOCKS_PART = 0.03, 0.03  # what two runs of the same program differ by


def all_findings(report):
    """Findings, and below them what is no problem."""
    observations = [{**o, "gain_upper_s": 0} for o in report["observations"]]
    return [f for f in report["findings"] + observations if f["rule"] not in NOISE]


@dataclasses.dataclass
class Place:
    """What the first finding names."""
    cause: str
    seed: int
    label: str
    rule: str
    verdict: str
    confidence: str
    told: str

    @classmethod
    def of(cls, pipeline, report, spots):
        first = (all_findings(report) or [{"rule": "nothing", "place": {}, "confidence": "-"}])[0]
        return cls(pipeline.cause.name, pipeline.seed, pipeline.label, first["rule"], truth_of_place.verdict(spots, first["place"]),
                   first["confidence"], truth_of_place.told(first["place"]))

    @property
    def is_named(self):
        return self.verdict in (truth_of_place.LINE, truth_of_place.FUNCTION)

    def __str__(self):
        return f"{self.verdict:8} {self.seed} {self.label}: {self.rule} ({self.confidence}): {self.told}"


@dataclasses.dataclass
class Row:
    seed: int
    label: str
    cause: str
    rules: tuple
    first: str
    bound: float
    gain: tuple  # seconds: least and most
    others: list
    in_fixed: list
    duration: float
    in_seconds: bool
    others_percent: float
    place: Place  # None: it is not planted in Python

    @classmethod
    def of(cls, pipeline, bad, bad_clocks, fixed, fixed_clocks, others_percent, spots):
        findings = all_findings(bad)
        if findings and findings[0]["stage"] not in ("stage", None) and pipeline.cause.rules:
            findings.insert(0, {"rule": f"{findings[0]['rule']} of the stage {findings[0]['stage']}", "gain_upper_s": 0})
        rules = pipeline.cause.rules
        place = Place.of(pipeline, bad, spots) if spots else None
        if pipeline.cause.known:
            clocks = {"wall": bad_clocks[0], "cpu": bad_clocks[2], "run": next(s for s in bad["stages"] if s["stage"] == "stage")["time"]["wall_s"]}
            known = eval(pipeline.cause.known, {}, clocks)  # pylint: disable=eval-used
            gains = list(known) if isinstance(known, tuple) else [known]
        else:
            gains = [bad_clocks[0] - fixed_clocks[0], bad_clocks[0] - bad_clocks[1] - fixed_clocks[0] + fixed_clocks[1]]
        return cls(pipeline.seed, pipeline.label, pipeline.cause.name, rules, findings[0]["rule"] if findings else None,
                   (findings[0]["gain_upper_s"] or 0) if findings else 0, (min(gains), max(gains)),
                   [(f["rule"], f["gain_upper_s"]) for f in findings[1:]],
                   [(f["rule"], f["gain_upper_s"]) for f in (large(fixed) if fixed else large(bad) if not rules else [])],
                   bad["total_duration_s"], is_gain_known(pipeline.cause, others_percent),
                   others_percent, place)

    @property
    def is_shown(self):
        """Whether the machine shows the cause: with threads beyond the CPUs some kernels and libraries lose nothing."""
        return not (self.rules and self.in_seconds) or self.gain[1] > ABOVE * self.duration

    @property
    def is_right(self):
        return self.first in self.rules if self.rules else not self.in_fixed

    @property
    def is_bound(self):
        """Whether the bound is between the gain and 1.3 times it; None where nothing is gained in seconds."""
        if not (self.rules and self.in_seconds and self.is_right):
            return None
        slack = CLOCKS_S + CLOCKS_PART * self.gain[1]
        return self.gain[0] - slack <= self.bound <= 1.3 * self.gain[1] + slack

    @property
    def ratio(self):
        return self.bound / max(self.gain[1], 0.001)

    @property
    def false_alarms(self):
        return [f for f in self.in_fixed if f[0] not in GENERAL]

    def __str__(self):
        verdict = "ok  " if self.is_right and self.is_bound is not False else "gain" if self.is_right else "MISS"
        others = " ".join(f"{rule} {gain:.2f}" for rule, gain in self.others if gain)
        place = f"; place {self.place.verdict}" if self.place else ""
        place += f" ({self.place.confidence}): {self.place.told}" if self.place and not self.place.is_named else ""
        return (f"{verdict} {self.seed} {self.label}: {self.duration:.2f} s, first {self.first} {self.bound:.2f} s, real "
                f"{self.gain[0]:.2f} to {self.gain[1]:.2f} s" + place + (f"; also {others}" if others else "") +
                (f"; FALSE {self.false_alarms}" if self.false_alarms else "") +
                (f"; others {self.others_percent:.0f} %" if self.others_percent > 10 else ""))


def is_gain_known(cause, others_percent):
    """What needs a second CPU, or is known from CPU time alone, is not the gain on a machine that others keep busy."""
    return cause.in_seconds and not (cause.cpus > 1 and others_percent > 20) and not (cause.known and others_percent > 50)


def large(report):
    """Findings that promise more than a twentieth of the run."""
    return [f for f in report["findings"] if f["rule"] not in NOISE and f["rule"] not in GENERAL and
            (f["gain_upper_s"] or 0) > ABOVE * report["total_duration_s"]]


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def of_places(places):
    """"3 of 4 (2 by line), 1 wrong": how the first findings name the places of Python code."""
    if not places:
        return "-"
    lines, wrong = (sum(p.verdict == kind for p in places) for kind in (truth_of_place.LINE, truth_of_place.WRONG))
    return f"{sum(p.is_named for p in places)} of {len(places)} ({lines} by line)" + (f", {wrong} wrong" if wrong else "")


class Places:
    """Only what first findings name, by cause."""

    def __init__(self, places, seeds, beside):
        self.places, self.seeds, self.beside = places, seeds, beside

    def holds(self):
        return truth_of_place.holds([(p.verdict, p.confidence) for p in self.places])

    def text(self):
        groups = collections.defaultdict(list)
        for place in self.places:
            groups[place.cause].append(place)
        lines = ["| cause | pipelines | line named | only its function | unknown | wrong | wrong, confidence high |", "|---|---|---|---|---|---|---|"]
        for name, places in [*sorted(groups.items()), ("**all**", self.places)]:
            counts = [sum(p.verdict == kind for p in places) for kind in truth_of_place.KINDS]
            high = sum(p.verdict == truth_of_place.WRONG and p.confidence == "high" for p in places)
            lines.append(f"| {name} | {' | '.join(map(str, [len(places), *counts, high]))} |")
        return "\n".join([*lines, "", *(f"- {p}" for p in self.places if not p.is_named)]).rstrip()

    def write(self, path):
        others = f"beside {self.beside} busy loops" if self.beside else "nothing started beside them"
        page.put(path, "places", [f"Seeds {self.seeds}, {others}; {page.when_and_where()}.", "", self.text()])


class Result:
    def __init__(self, rows, seeds, beside):
        self.rows, self.seeds, self.beside = rows, seeds, beside
        self.planted = [r for r in rows if r.rules and r.is_shown]
        self.not_shown = [r for r in rows if not r.is_shown]
        self.healthy = [r for r in rows if not r.rules]
        self.in_seconds = [r for r in self.planted if r.is_bound is not None]
        self.in_python = [r.place for r in self.planted if r.place]

    def holds(self):
        """What the issue asks for. That no healthy program is complained of holds where nothing else runs; beside others as many may be as
        may have a wrong first finding."""
        first, gain, silent = (0.90, 0.80, 0.90) if self.beside else (0.95, 0.90, 1)
        return (sum(r.is_right for r in self.planted) >= first * len(self.planted) and
                sum(r.is_bound for r in self.in_seconds) >= gain * len(self.in_seconds) and
                sum(not r.false_alarms for r in self.healthy) >= silent * len(self.healthy) and
                truth_of_place.holds([(p.verdict, p.confidence) for p in self.in_python]))

    def by_cause(self):
        groups = collections.defaultdict(list)
        for row in self.planted:
            groups[row.cause].append(row)
        lines = ["| cause | pipelines | first finding right | bound in the gain to 1.3 x | bound / gain, median | place in Python | "
                 "its fixed form has another |", "|---|---|---|---|---|---|---|"]
        for name, rows in sorted(groups.items()):
            bounds = [r for r in rows if r.is_bound is not None]
            lines.append(f"| {name} | {len(rows)} | {sum(r.is_right for r in rows)} | {sum(r.is_bound for r in bounds)} of {len(bounds)} | " +
                         (f"{statistics.median(r.ratio for r in bounds):.2f}" if bounds else "-") +
                         f" | {of_places([r.place for r in rows if r.place])} | {sum(bool(r.false_alarms) for r in rows)} |")
        lines.append(f"| **all** | {len(self.planted)} | {percent(sum(r.is_right for r in self.planted), len(self.planted))} | "
                     f"{percent(sum(r.is_bound for r in self.in_seconds), len(self.in_seconds))} | | "
                     f"{percent(sum(p.is_named for p in self.in_python), len(self.in_python))} | {percent(sum(bool(r.false_alarms) for r in self.planted), len(self.planted))} |")
        return lines

    def by_rule(self):
        """Of the times that a rule stood first: how often it was right."""
        first = collections.Counter(r.first for r in [*self.planted, *self.healthy] if r.first)
        right = collections.Counter(r.first for r in self.planted if r.is_right)
        return ["| rule | stood first | rightly |", "|---|---|---|"] + [f"| {rule} | {n} | {right[rule]} |" for rule, n in sorted(first.items())]

    def of_not_shown(self):
        """They count for nothing: a first finding about them would promise what is not there."""
        counts = collections.Counter(r.cause for r in self.not_shown)
        return ["", f"Left out, because their cause took less than {ABOVE:.0%} of the run on this machine: " +
                ", ".join(f"{cause} {n}" for cause, n in sorted(counts.items())) + "."] if counts else []

    def of_healthy(self):
        if not self.healthy:
            return []
        return ["", f"Look-alikes without a problem: {len(self.healthy)}, with a finding above {ABOVE:.0%}: "
                f"{sum(bool(r.false_alarms) for r in self.healthy)}."]

    def misses(self):
        wrong = [r for r in [*self.planted, *self.healthy] if not r.is_right or (r.place and not r.place.is_named) or r.is_bound is False or (r.false_alarms and not r.rules)]
        return ["", "Misses, by seed:", ""] + [f"- {str(r).strip()}" for r in wrong] if wrong else ["", "No misses."]

    def text(self):
        return "\n".join(self.by_cause() + [""] + self.by_rule() + self.of_not_shown() + self.of_healthy() + self.misses())

    def write(self, path):
        """Its part of the page, between two marks."""
        name, others = (f"beside {self.beside}", f"beside {self.beside} busy loops") if self.beside else ("quiet", "nothing beside them")
        page.put(path, name, [f"Seeds {self.seeds}, {others}; {page.when_and_where()}.", "", self.text()])
