# SPDX-License-Identifier: MIT
"""Tables that stand between marks of docs/findings.md."""
import datetime
import os
import subprocess

BEGIN, END = "<!-- measured: {} -->", "<!-- end -->"


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    return subprocess.run(["git", "-C", here, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()


def cpu_model():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        facts = {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in file if ":" in line)}
    if facts.get("model name", "unknown") != "unknown":
        return facts["model name"]
    return f"{facts.get('vendor_id', '?')} family {facts.get('cpu family', '?')} model {facts.get('model', '?')}"


def when_and_where():
    return f"{datetime.date.today()}, commit {commit()}, {os.cpu_count()} CPUs ({cpu_model()}), load average {os.getloadavg()[2]:.1f}"


def put(path, name, lines):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    mark = BEGIN.format(name)
    if mark not in page:
        raise SystemExit(f"{path} has no mark {mark}")
    begin = page.index(mark)
    end = page.index(END, begin) + len(END)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page[:begin] + "\n".join([mark, *lines, END]) + page[end:])
