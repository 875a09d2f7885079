# SPDX-License-Identifier: MIT
"""The result as Markdown: first the promises, then every configuration of every workload."""
from measure import Failed
from targets import TARGETS

HEAD = ("", "CPU per {}", "x CPU", "x wall", "x all CPU", "x all wall", "RSS MiB", "trace bytes/event")


def rows_of(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n"


def measured(target, series, figures):
    """(median, text) of what was measured for a target, or None."""
    if target.measure is None:
        figure = figures.get(target.workload)
        return figure and (figure.value, f"{figure.value:,.{target.digits}f}")
    one = series.get(target.workload, {}).get(target.tracer)
    spread = one and target.measure(one)
    return spread and (spread.median, spread.text(target.digits))


def verdicts(series, figures):
    body = []
    for target in TARGETS:
        found = measured(target, series, figures)
        if not found:
            continue
        shown = round(found[0], target.digits)  # "1.03, at most 1.03: missed" would be read as a mistake
        met = shown >= target.limit if target.at_least else shown <= target.limit
        sign = "at least" if target.at_least else "at most"
        body.append((target.what, f"{sign} {target.limit:g}", f"{found[1]} {target.unit}", "met" if met else "**missed**"))
    return rows_of(("what", "target", "measured", ""), body)


def per_operation(ns):
    """Nanoseconds per operation in the unit a reader would choose."""
    for unit, factor in (("ms", 1e6), ("us", 1e3)):
        if ns.median >= factor * 10:
            return type(ns)(ns.median / factor, ns.low / factor, ns.high / factor).text(2) + f" {unit}"
    return ns.text(1) + " ns"


def workload_table(workload, series):
    body = []
    for one in series.values():
        if isinstance(one, Failed):
            body.append((one.tracer.title, f"the program {one.how}", *[""] * (len(HEAD) - 2)))
            continue
        size = one.bytes_per_event() if one.tracer.key != "bare" else None
        body.append((one.tracer.title, per_operation(one.value("process_ns")), one.ratio("process_ns").text(2),
                     one.ratio("wall_ns").text(2), one.ratio("total_cpu_s").text(2), one.ratio("total_wall_s").text(2), f"{one.added('rss_mib').median:+.1f}",
                     f"{size.median:.2f}" if size and size.median else ""))
    head = [text.format(workload.operation) for text in HEAD]
    return f"### {workload.key}: {workload.title}\n\n" + rows_of(head, body)


def analysis_table(figures):
    return rows_of(("", "measured", ""), [(f.title, f"{f.value:,.2f} {f.unit}", f.note) for f in figures.values()])


def page(workloads, series, figures, circumstances, quick):
    parts = [circumstances]
    if quick:
        parts.append("This was a trial with tiny sizes: it shows that the benchmark works, its figures mean nothing.\n")
    else:
        parts += ["## Against the targets\n", verdicts(series, figures)]
    if figures:
        parts += ["## The analyzer\n", analysis_table(figures)]
    parts += ["## Every configuration\n", "Median [smallest..largest] over the rounds; ratios are taken within a round, against the "
              "untraced run of that round. *CPU* is the measured loop of the process and its children, *all CPU* the whole tree "
              "with start, end and the tracer's own processes, *all wall* the time until the prompt is back.\n"]
    parts += [workload_table(w, series[w.key]) for w in workloads if w.key in series]
    return "\n".join(parts)
