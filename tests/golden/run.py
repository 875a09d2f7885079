#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden reports: each story is a trace as text, what its report.json must be, and which rules it must fire; of a few
stories that differ most in what people see, the forms for people, too.

  run.py PROFTRACE [STORY...]            compare
  run.py --update PROFTRACE [STORY...]   write what is now: look at the difference before you commit it

<story>.pt.txt is assembled into trace files; its line "# fires: RULE..." ("-" = none) names the findings that it must have,
no more and no fewer. A line "# shows: TABLE {"COLUMN": VALUE, ...}" says that a row of a stage's table, or an object of it such as
"time", has these values; the TABLE "stage" is the stage itself: enough for a story whose report would be too long to review. Each line "# silent: OLD => NEW" says that
with NEW in place of OLD, wherever it stands, it has none of them.
<story>.run.json, where there is one, is what the launcher would have written. A story may consist of that alone; then it must
say that nothing was captured. Every report.json is validated against docs/report.schema.json; <story>.report.json, where there
is one, is what it must be, byte for byte. --update makes one for each STORY that it is told, and renews those that there are.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from possible import impossible  # noqa: E402
SCHEMA = os.path.join(HERE, "..", "..", "docs", "report.schema.json")
FORMS = {"json": "report.json"}
# For people, of the stories named: the screen, everything as text, Markdown, and the page without its style sheet.
FORMS_FOR_PEOPLE = {"text": "report.txt", "full": "report.full.txt", "md": "report.md", "html": "report.html"}
FOR_PEOPLE = {"training_killed_in_epoch_3", "gpu_idle_causes", "gpu_phases_of_training", "heap_growth", "hostile_names", "killed_training", "mostly_untraced",
              "static_program", "waits_through_processes"}
OPTIONS = {"full": ["--full"]}
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100", TZ="UTC")


def run(*argv):
    return subprocess.run(argv, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def stories():
    names = {f.split(".")[0] for f in os.listdir(HERE) if f.endswith((".pt.txt", ".run.json"))}
    return sorted(names)


def text_of(story):
    """None = it has no trace."""
    path = os.path.join(HERE, story + ".pt.txt")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def must_fire(story):
    text = text_of(story)
    if text is None:
        return {"nothing_captured"}
    found = re.search(r"^# fires:(.*)$", text, re.M)
    if not found:
        raise SystemExit(f"{story}.pt.txt: no line '# fires: ...'")
    return set(found.group(1).split()) - {"-"}


def not_shown(story, report):
    """The lines "# shows:" of a story that no row of the report is as they say."""
    for table, values in re.findall(r"^# shows: (\S+) (\{.*\})$", text_of(story) or "", re.M):
        tables = [stage if table == "stage" else stage.get(table, []) for stage in report["stages"]]
        rows = [row for rows in tables for row in ([rows] if isinstance(rows, dict) else rows)]
        if not any(json.loads(values).items() <= {k: v for k, v in row.items() if not isinstance(v, (list, dict))}.items() for row in rows):
            yield f"no row of {table} has {values}"


def silent_variants(story):
    """The story's text with the change that one of its lines "# silent:" names, for each of them."""
    text = text_of(story) or ""
    rest = re.sub(r"^# silent: .*\n", "", text, flags=re.M)
    for line in re.findall(r"^# silent: (.*)\n", text, re.M):
        old, _, new = line.partition(" => ")
        if old not in rest:
            raise SystemExit(f"{story}.pt.txt: '{old}' of its line '# silent:' stands nowhere")
        yield rest.replace(old, new)


def prepare(proftrace, story, folder, text):
    os.mkdir(folder)
    if text is not None:
        path = folder + ".pt.txt"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = run(proftrace, "assemble", path, "-o", folder)
        if done.returncode:
            raise SystemExit(f"{story}: assemble failed: {done.stderr.decode()}")
    launcher = os.path.join(HERE, story + ".run.json")
    if os.path.exists(launcher):
        shutil.copy(launcher, os.path.join(folder, "run.json"))
    if text is None:  # assemble makes one, too
        with open(os.path.join(folder, "session.bin"), "wb") as file:
            file.write(b"PROFTSES".ljust(4096, b"\0"))


def validate(report):
    import jsonschema

    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.Draft7Validator(schema)
    return [f"{'/'.join(map(str, e.path))}: {e.message[:200]}" for e in validator.iter_errors(report)]


# Nothing is missing there: a stage that is fine has no reason, a thread may have no name, a row may be of many processes (pid).
WITHOUT_REASON = {"stages.reason", "stages.gpu.reason", "stages.threads.thread", "stages.threads.tid", "processes.host"}


def bare_nulls(node, path=""):
    """Where a null has no reason beside it."""
    if isinstance(node, list):
        for child in node:
            yield from bare_nulls(child, path)
    elif isinstance(node, dict):
        for key, child in node.items():
            where = f"{path}.{key}".lstrip(".")
            if child is None and f"{key}_reason" not in node and not key.endswith("_reason") and key != "pid" \
                    and where not in WITHOUT_REASON:
                yield where
            yield from bare_nulls(child, where)


def parts_of(account, *wholes):
    """The sum of an account's parts. Python and native are what computing was, where that is known."""
    of_computing = [account["python_s"], account["native_s"]]
    if None not in of_computing and abs(sum(of_computing) - account["computing_s"]) > 1e-8:
        return float("nan")
    return sum(v for k, v in account.items() if k.endswith("_s") and k not in (*wholes, "python_s", "native_s") and v is not None)


def judge(story, report):
    problems = validate(report) + [f"{where} is null without a reason" for where in bare_nulls(report)] + impossible(report)
    problems += not_shown(story, report)
    fired = {finding["rule"] for finding in report["findings"]}
    if fired != must_fire(story):
        problems.append(f"fires {sorted(fired)}, must fire {sorted(must_fire(story))}")
    for finding in report["findings"]:
        if finding["gain_upper_s"] > (report["total_duration_s"] or 0):
            problems.append(f"{finding['rule']} gains more than the wall time")
    for stage in report["stages"]:
        parts = parts_of(stage["time"], "wall_s")
        wall_s = stage["time"]["wall_s"] or 0  # unknown: then all parts are
        if not abs(parts - wall_s) <= 0.02 * wall_s + 1e-6:
            problems.append(f"the time account of {stage['stage']} adds up to {parts}, not {wall_s}")
        for thread in stage.get("threads", []):
            parts = parts_of(thread, "lived_s", "lives_s")
            if not abs(parts - thread["lives_s"]) <= 1e-8:
                problems.append(f"the account of thread {thread['tid']} adds up to {parts}, not {thread['lives_s']}")
        for wait in stage.get("waits", []):
            parts = parts_of(wait, "total_s")
            if not abs(parts - wait["total_s"]) <= 1e-8:
                problems.append(f"what {wait['waited_for']} did adds up to {parts}, not {wait['total_s']}")
        for device in stage.get("gpu", {}).get("devices", []):
            causes = sum(cause["seconds"] for cause in device["idle_causes"])
            if abs(causes - device["idle_s"]) > 1e-8 * len(device["idle_causes"]) + 1e-9:
                problems.append(f"the causes of GPU {device['id']} add up to {causes}, not {device['idle_s']}")
    return problems


def judge_silent(proftrace, story, root):
    """What is wrong with the variants in which the story's findings must not be."""
    problems = []
    for number, text in enumerate(silent_variants(story), 1):
        folder = os.path.join(root, f"{story}-silent{number}")
        prepare(proftrace, story, folder, text)
        report = json.loads(run(proftrace, "report", folder, "--format", "json").stdout)
        fired = {finding["rule"] for finding in report["findings"]} & must_fire(story)
        problems += validate(report) + [f"fires {rule} in its silent variant {number}, too" for rule in sorted(fired)]
    return problems


def compare(story, file_name, got, update):
    """`update` is "" to compare, "renew" to write files that there are, "make" to write them all."""
    path = os.path.join(HERE, f"{story}.{file_name}")
    want = None
    if os.path.exists(path):
        with open(path, "rb") as file:
            want = file.read()
    if got == want or (want is None and update != "make"):
        return []
    if update:
        with open(path, "wb") as file:
            file.write(got)
        return []
    lines = difflib.unified_diff(want.decode("utf-8", "replace").splitlines(), got.decode("utf-8", "replace").splitlines(),
                                 os.path.basename(path), "now", lineterm="", n=1)
    return ["differs:\n    " + "\n    ".join(list(lines)[:40])]


def tell(proftrace, story, update):
    problems = []
    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, story)
        prepare(proftrace, story, folder, text_of(story))
        problems += judge_silent(proftrace, story, root)
        for form, file_name in {**FORMS, **(FORMS_FOR_PEOPLE if story in FOR_PEOPLE else {})}.items():
            options = ["--format", "text" if form == "full" else form, *OPTIONS.get(form, [])]
            first, second = (run(proftrace, "report", folder, *options) for _ in range(2))
            if first.returncode:
                return [f"report {' '.join(options)} exits {first.returncode}: {first.stderr.decode()}"]
            if first.stdout != second.stdout:
                problems.append(f"{form}: the same input gives different bytes")
            if form == "json":
                problems += judge(story, json.loads(first.stdout))
            if b"\x1b" in first.stdout:
                problems.append(f"{form}: an escape character came through")
            shown = first.stdout.replace(root.encode(), b"RUNS")
            if form == "html":
                shown = re.sub(rb"<style>.*?</style>|sha256-[^']*", b"", shown, flags=re.DOTALL)
            problems += compare(story, file_name, shown, update)
    return problems


def main(arguments):
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    update = ("make" if arguments[1:] else "renew") if update else ""
    proftrace, wanted, failed = os.path.abspath(arguments[0]), arguments[1:] or stories(), 0
    for story in wanted:
        problems = tell(proftrace, story, update)
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {story}")
        for problem in problems:
            print("  ", problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
