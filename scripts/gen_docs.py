#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Fill the generated blocks of docs/ from the .def tables, so that no list is written twice.

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`, in the manual pages (*.scd) between `; generated: NAME`
and `; end`; what surrounds it is written by hand. A command without a manual page gets one with its synopsis and options.

    gen_docs.py           rewrite the blocks that differ
    gen_docs.py --check   change nothing; exit 1 and name the files that differ
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "lib"))
import deftable  # noqa: E402

CATEGORIES = {
    "HEAP": "Heap", "MAP": "Anonymous memory", "IO": "File I/O through descriptors", "META": "Metadata and directories",
    "STDIO": "stdio", "PROC": "Processes and threads", "USER": "What the program says about itself",
    "WAIT": "Waiting", "NET": "Network and pipes", "CUDA": "CUDA calls of the host", "GPU": "What GPUs did",
    "CLOCK": "Clocks of threads", "PYTHON": "Python",
}


def rows(path, *names):
    full = os.path.join(ROOT, path)
    return [r for r in deftable.rows(full) if r.name in names] if os.path.exists(full) else []


def table(head, body):
    cell = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cell(c) for c in row) + " |" for row in body])


def event_fields(row):
    """[(where, name, unit, doc)] of the stored fields; padding is left out."""
    found = []
    for field in deftable.rows_in_text(" ".join(row.args[5:])):
        where = field.args.pop(0) if field.name == "FIELD" else field.name.lower()
        if field.args[1] != "PAD":
            found.append((where, *field.args))
    return found


def events():
    out = []
    all_rows = rows("include/proftrace/events.def", "EVENT")
    for category, title in CATEGORIES.items():
        of_category = [r for r in all_rows if r.args[2] == category]
        if not of_category:
            continue
        out.append(f"### {title} ({category})\n")
        for r in of_category:
            out.append(f"**`{r.args[1]}`** ({r.args[0]}, {r.args[3]}): {r.args[4]}.\n")
            fields = event_fields(r)
            if fields:
                out.append(table(("stored as", "field", "unit", "meaning"),
                                 [(f"`{w}`", f"`{n}`", u, d) for w, n, u, d in fields]) + "\n")
    unknown = {r.args[2] for r in all_rows} - set(CATEGORIES)
    if unknown:
        sys.exit(f"gen_docs.py: give {', '.join(sorted(unknown))} a title in CATEGORIES")
    return "\n".join(out).rstrip()


def units():
    return table(("unit", "class", "meaning"), [(f"`{r.args[0]}`", r.args[1], r.args[2])
                                                for r in rows("include/proftrace/units.def", "UNIT_KIND")])


def drops():
    return table(("reason", "why"), [(f"`{r.args[0]}`", r.args[1]) for r in rows("include/proftrace/drops.def", "DROP")])


def number_range(row):
    """"1024 to 4294967296" of RANGE(1024, 1ull << 32); "" of what is no number."""
    ends = re.fullmatch(r"RANGE\((.*), (.*)\)", row.args[3]) if row.args[1] == "NUMBER" else None
    value = lambda text: int(text.split("<<")[0].strip(" ul")) << int((text.split("<<") + ["0"])[1])
    return " to ".join(str(value(end)) for end in ends.groups()) if ends else ""


def options():
    return table(("variable", "type", "default", "meaning"),
                 [(f"`PROFTRACE_{r.args[0].upper()}`", ", ".join(filter(None, (r.args[1].lower(), number_range(r)))), f"`{r.args[2]}`" if r.args[2] else "", r.args[4])
                  for r in rows("include/proftrace/options.def", "OPTION")])


def window_keys():
    given = {"NUMBER": lambda r: (f"`{r.args[0]}=N`", r.args[2]), "LIST": lambda r: (f"`{r.args[0]}=N,N`", ""), "FLAG": lambda r: (f"`{r.args[0]}`", "")}
    return table(("key", "default", "meaning"), [(*given[r.name](r), r.args[-1]) for r in rows("include/proftrace/window.def", *given)])


def commands():
    found = rows("analyzer/cmd/commands.def", "COMMAND")
    return table(("command", "what it does"), [(f"`proftrace {r.args[0]} {r.args[1]}`".replace(" `", "`"), r.args[2]) for r in found])


def exporters():
    return table(("format", "file in the run directory", "for"),
                 [(f"`--to {r.args[0]}`", f"`{r.args[1]}`", r.args[-1]) for r in rows("analyzer/export/exporters.def", "EXPORTER", "EXPORTER_STACKS", "EXPORTER_FIGURES", "EXPORTER_FOLDER")])


def clickhouse():
    types = {"INTEGER": "Int64", "REAL": "Float64", "TEXT": "String"}
    made = []
    for r in rows("analyzer/export/table/tables.def", "TABLE"):
        columns = [f'"{c.args[0]}" Nullable({types[c.args[1]]})' for c in deftable.rows_in_text(" ".join(r.args[2:])) if c.args[1] in types]
        made.append(f"CREATE TABLE {r.args[0]} ({', '.join(columns)}) ENGINE = Log;")
    return "\n".join(["```sql clickhouse", *made, "```"])


def families():
    return table(("metric", "what it is"), [(f"`proftrace_{r.args[0]}`", r.args[3]) for r in rows("analyzer/export/figures/families.def", "FAMILY")])


def tables():
    """Of tables.def: each table with its columns."""
    out = []
    for r in rows("analyzer/export/table/tables.def", "TABLE"):
        columns = [(f"`{c.args[0]}`", c.args[1], c.args[2]) for c in deftable.rows_in_text(" ".join(r.args[2:]))]
        out.append(f"**`{r.args[0]}`**: {r.args[1]}.\n\n" + table(("column", "type", "meaning"), columns))
    return "\n\n".join(out)


def rules():
    return "\n\n".join(rule_text(r) for r in rows("analyzer/rules/rules.def", "RULE", "RULE_CUSTOM"))


def titles_of_rules():
    """As reports name them, by the part of the time account."""
    parts = {r.args[0]: r.args[1] for r in rows("analyzer/facts/time_parts.def", "PART")} | {"none": "Of none: trainings, memory, GPUs, the capture"}
    lines = {part: [] for part in parts.values()}
    for r in rows("analyzer/rules/rules.def", "RULE", "RULE_CUSTOM"):
        title = r.args[11] if r.name == "RULE" else r.args[5]
        lines[parts[r.args[3]]].append(f"[{title}](#{r.args[0]})")
    return "\n".join(f"- {part}: " + "; ".join(titles) for part, titles in lines.items() if titles)


GENERAL_KINDS = {"COST": "a finding: costs at most what is left", "NEUTRAL": "an observation, without a gain",
                 "FOLLOWED": "a finding where whom it waits for waits for files, else an observation"}


def generals():
    return table(("id", "part of the account", "is", "says", "do"),
                 [(f"`{r.args[0]}`", r.args[2], GENERAL_KINDS[r.args[1]], r.args[6], r.args[7])
                  for r in rows("analyzer/rules/general.def", "GENERAL")])


def file_of_rule(name):
    for path in sorted(glob.glob(os.path.join(ROOT, "analyzer", "rules", "**", "custom*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            if f"bool pt_rule_{name}(" in file.read():
                return os.path.relpath(path, os.path.join(ROOT, "analyzer", "rules"))
    raise SystemExit(f"rules.def: no custom*.c defines pt_rule_{name}")


def rule_text(row):
    if row.name == "RULE":
        name, severity, confidence, _, _, metric, comparison, threshold, cost, evidence, source, title, remedy, advice = row.args
        costly = ", or where it costs a tenth of the stage" if comparison.endswith("or costly") else ""
        when = [f"- fires when `{metric}` {comparison.split()[0]} {threshold}{costly}", f"- costs at most `{cost}`",
                "- shows " + ", ".join(f"`{e.split(':')[0]}`" for e in evidence.split()) + (
                    f", and the rows of `{source.split('/')[0]}` with the most `{source.split('/')[-1]}`" if source else "")]
    else:
        name, severity, confidence, _, _, title, remedy, advice = row.args
        file = file_of_rule(name)
        when = [f"- judged by code: `pt_rule_{name}` in [{file}](../analyzer/rules/{file})"]
    return "\n".join([f"### {name}", "", f"**{title}.** ({severity.lower()}, confidence {confidence.lower()})", "", *when,
                      f"- do: {remedy}", *remedies_of(name), f"- or: {advice}"])


def shown():
    """Where each rule was shown to be right and to be silent. A tree without its tests does not say."""
    names = [r.args[0] for r in rows("analyzer/rules/rules.def", "RULE", "RULE_CUSTOM")]
    folder = os.path.join(ROOT, "tests", "planted")
    found = [(name, "", "") for name in names]
    if os.path.isdir(folder):
        sys.path.insert(0, folder)
        import shown as of_tests
        found = of_tests.rows(names)
    return table(("rule", "programs that take its advice: what that gained, or why there is none", "silent at"), [(f"`{rule}`", *rest) for rule, *rest in found])


SEEN = {"STACK": "in its stacks", "CPU": "in a third of the CPU time", "LOADED": "loaded", "OBJECT": "in the name of what it is about",
        "MOSTLY": "at least 50 %", "DATA_SET": "as the data set whose samples `default_collate` joins"}


def seen_of(remedy):
    if remedy.args[0] == "REREAD":
        return "a file that its function reads again and again"
    return f"{' or '.join(f'`{p}`' for p in remedy.args[1].split('|'))} {SEEN[remedy.args[0]]}"


def remedies_of(rule):
    return [f"- do, with {seen_of(r)}: {r.args[3]}"
            for r in rows("analyzer/rules/remedies.def", "REMEDY") if rule in r.args[2].split()] + (slow_calls() if rule == "slow_calls" else [])


def slow_calls():
    return [f"- {r.args[3]} (`{r.args[1] or '*'}` of `{r.args[0]}`, {100 - int(r.args[2])} % of its time): {r.args[4]}"
            for r in rows("analyzer/rules/lines/slow_calls.def", "SLOW_CALL") if r.args[4]]


KEY_TYPES = {"TEXT": "string", "PATH": "string (path)", "SWITCH": "true, false", "COUNT": "whole number", "NUMBER": "number",
             "HEAP": "string", "TEXTS": "list of strings", "PAIRS": "object of strings", "NUMBERS": "object of numbers"}
KEY_SECTIONS = {"PROFILE": "profile", "STAGE": "profile.stages[]", "QUALITY": "profile.quality", "THRESHOLDS": "profile.thresholds"}


def key_type(row):
    name, kind, low, high = row.args[1], row.args[2], row.args[4], row.args[5]
    if kind == "OTHER":
        return "list of objects" if name == "stages" else "object"
    limits = f", {float(low):.15g} to {float(high):.15g}" if kind in ("COUNT", "NUMBER") else ""
    return KEY_TYPES[kind] + limits


def configuration():
    found = rows("analyzer/pipeline/config_keys.def", "KEY")
    return "\n\n".join(f"### `{path}`\n\n" + table(("key", "type", "default", "meaning"), [
        (f"`{r.args[1]}`", key_type(r), f"`{r.args[6]}`" if r.args[6] else "", r.args[7]) for r in found if r.args[0] == section])
        for section, path in KEY_SECTIONS.items())


def man(text):
    """As scdoc takes it: an underscore would begin an underlined word."""
    return re.sub(r"([_*\\])", r"\\\1", text)


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def man_list(found):
    """[(title in scdoc's marks, text)]"""
    return "\n".join(f"{title}\n\t{man(text)}\n" for title, text in found).rstrip()


def man_options():
    return man_list((f"*PROFTRACE_{r.args[0].upper()}*" + (f" ({man('; '.join(filter(None, (r.args[2], number_range(r)))))})" if r.args[2] else ""), sentence(r.args[4]))
                    for r in rows("include/proftrace/options.def", "OPTION"))


def man_commands():
    return man_list((f"*{r.args[0]}*", f"{sentence(r.args[2])} See proftrace-{r.args[0]}(1).")
                    for r in rows("analyzer/cmd/commands.def", "COMMAND"))


def man_formats():
    return man_list((f"_{r.args[0]}_", sentence(r.args[-1])) for r in rows("analyzer/export/exporters.def", "EXPORTER", "EXPORTER_STACKS", "EXPORTER_FIGURES", "EXPORTER_FOLDER"))


def command_options(name):
    """(name, letter, value, summary) of each row of the command's table of options."""
    [path] = glob.glob(os.path.join(ROOT, "analyzer", "cmd", "**", name + ".c"), recursive=True)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for row in deftable.rows_in_text(" ".join(re.findall(r"(?s)PT_OPT_(?!END)[A-Z]+\(.*?\),?\n", text))):
        kind, args = row.name.removeprefix("PT_OPT_"), row.args
        yield args[0], args[1].strip("'"), "" if kind == "FLAG" else args[3], args[-1]


def man_page(row):
    """The manual page that a command begins with."""
    name, arguments, summary = row.args
    options = [("*--" + option + "*" + (f", *-{letter}*" if letter != "0" else "") + (f" _{man(value)}_" if value else ""), sentence(text))
               for option, letter, value, text in command_options(name)]
    return "\n".join([f"proftrace-{name}(1)", "", "# NAME", "", f"proftrace-{name} - {man(summary)}", "", "# SYNOPSIS", "",
                      " ".join(filter(None, (f"*proftrace {name}*", man(arguments), "[_OPTIONS_]" if options else ""))), "",
                      "# DESCRIPTION", "", sentence(man(summary)), "", *(["# OPTIONS", "", man_list(options), ""] if options else []),
                      "# SEE ALSO", "", "*proftrace*(1)", ""])


def missing_pages():
    for row in rows("analyzer/cmd/commands.def", "COMMAND"):
        path = os.path.join(ROOT, "docs", "man", f"proftrace-{row.args[0]}.1.scd")
        if not os.path.exists(path):
            yield path, man_page(row)


BLOCKS = {"events": events, "units": units, "drops": drops, "options": options, "window_keys": window_keys, "commands": commands,
          "exporters": exporters, "tables": tables, "clickhouse": clickhouse, "families": families, "rules": rules, "titles_of_rules": titles_of_rules, "generals": generals, "shown": shown, "configuration": configuration,
          "man_options": man_options, "man_commands": man_commands, "man_formats": man_formats}
MARKS = {".md": ("<!-- generated: ", " -->", "<!-- end -->"), ".scd": ("; generated: ", "", "; end")}


def refreshed(text, path, seen):
    before, after, end = MARKS[os.path.splitext(path)[1]]

    def fill(m):
        if m.group(1) not in BLOCKS:
            sys.exit(f"{path}: no generator for '{m.group(1)}'; there are: {', '.join(BLOCKS)}")
        seen.add(m.group(1))
        return f"{before}{m.group(1)}{after}\n{BLOCKS[m.group(1)]()}\n{end}"
    return re.sub(rf"(?ms)^{before}(\w+){after}\n.*?^{end}$", fill, text)


def pages():
    """(path, what is there, what should be); None = nothing is there."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*"), recursive=True)):
        if path.endswith(tuple(MARKS)):
            with open(path, encoding="utf-8") as f:
                yield path, f.read()
    for path, _ in missing_pages():
        yield path, None


def main():
    check, stale, seen, begun = "--check" in sys.argv[1:], [], set(), dict(missing_pages())
    for path, text in list(pages()):
        new = begun[path] if text is None else refreshed(text, path, seen)
        if new == text:
            continue
        stale.append(os.path.relpath(path, ROOT))
        if not check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
    for name in sorted(set(BLOCKS) - seen):
        stale.append(f"(no page shows the block '{name}')")
    for path in stale:
        print(f"{path}: {'differs from the tables; run scripts/gen_docs.py' if check else 'rewritten'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
