#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""No check of a sanitizer is switched off, neither for a file nor for a function nor by an option, but those listed here with
the reason. In a build with sanitizers, every compilation of the analyzer and of its tests has them all, and undefined
behaviour ends the process instead of printing a line that nobody reads.
usage: check_sanitizers.py SOURCE BUILD"""
import json
import os
import re
import subprocess
import sys

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# What would switch a check off; "-fno-sanitize-recover" does not, it makes the first fault the last.
OFF = re.compile(r"-fno-sanitize(?!-recover)[\w=,-]*|-fsanitize-recover[\w=,-]*|-fsanitize-(?:ignorelist|blacklist)\S*|\bno_sanitize\w*|\bdisable_sanitizer_instrumentation\b"
                 r"|__lsan_(?:disable|ignore_object|default_suppressions)\w*|__(?:asan|ubsan|tsan)_default_suppressions"
                 r"|detect_leaks=0|halt_on_error=0|verify_asan_link_order=0|report_bugs=0|exitcode=0|LSAN_OPTIONS=suppressions")
# (file, what): why it is right there
ALLOWED = {
    ("tests/pipeline/test_interrupt.py", "detect_leaks=0"): "strace holds the process: LeakSanitizer cannot trace it, too",
    ("tests/truth/test_known_programs.py", "verify_asan_link_order=0"): "our library comes before ASan's in a program of the test, not of ours",
    ("tests/truth/test_known_programs.py", "detect_leaks=0"): "the same program, which leaks on purpose",
    ("scripts/lib/common.sh", "LSAN_OPTIONS=suppressions"): "the file with the leaks of other people's libraries, see SUPPRESSED",
}
# Lines of the file of suppressions.
SUPPRESSED = {"leak:libdw.so": "libdw 0.188 forgets what it had read of a file that turns out to be damaged"}
FILE_OF_SUPPRESSIONS = "scripts/cmake/lsan.txt"
# Compiled in a build with sanitizers, but not looked at by them.
PLAIN = {
    "preload/": "the injected half: a sanitizer in the host would be a tracer of its own",
}


def own_files():
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE, universal_newlines=True)
    names = done.stdout.split("\n") if not done.returncode else [
        os.path.relpath(os.path.join(at, name), ROOT) for at, _, names in os.walk(ROOT) for name in names]
    code = re.compile(r"(\.(c|h|cc|cpp|cmake|sh|py|def)|CMakeLists\.txt|justfile|^scripts/[\w-]+)$")
    return [name for name in names if code.search(name) and os.path.isfile(f"{ROOT}/{name}") and os.path.basename(name) != os.path.basename(__file__)]


def switched_off():
    """What stands in the tree, but not in the table; and what stands in the table, but not in the tree."""
    found = set()
    for name in own_files():
        with open(f"{ROOT}/{name}", encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                for what in OFF.findall(line):
                    found.add((name, what))
                    if (name, what) not in ALLOWED:
                        yield f"{name}:{number}: {what} switches a check off; say why in tests/consistency/check_sanitizers.py"
    for name, what in set(ALLOWED) - found:
        yield f"check_sanitizers.py: {name} no longer has {what}"
    with open(f"{ROOT}/{FILE_OF_SUPPRESSIONS}", encoding="utf-8") as file:
        lines = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    for line in lines ^ set(SUPPRESSED):
        yield f"{FILE_OF_SUPPRESSIONS}: '{line}' is not in both this file and check_sanitizers.py"


def option(name):
    with open(f"{BUILD}/CMakeCache.txt", encoding="utf-8") as file:
        found = re.search(rf"^{name}:\w+=(.*)$", file.read(), re.M)
    return found.group(1) if found else ""


def incomplete():
    """Compilations of a build with sanitizers that have fewer of them than the others."""
    wanted = {"address", "undefined"} if option("PROFTRACE_FUZZ") == "ON" else set(option("PROFTRACE_SANITIZE").split(",")) - {""}
    if not wanted or not os.path.exists(f"{BUILD}/compile_commands.json"):
        return
    with open(f"{BUILD}/compile_commands.json", encoding="utf-8") as file:
        commands = json.load(file)
    looked_at = 0
    for command in commands:
        name = os.path.relpath(os.path.join(command["directory"], command["file"]), ROOT)
        is_ours = name.startswith("analyzer/") or name.startswith(("tests/fuzz/", "tests/unit/"))
        if not is_ours or name.startswith(tuple(PLAIN)) or "/libproftrace" in command["command"]:
            continue
        looked_at += 1
        has = {one for group in re.findall(r"-fsanitize=(\S+)", command["command"]) for one in group.split(",")}
        if not wanted <= has:
            yield f"{name}: compiled without {', '.join(sorted(wanted - has))}"
        if "undefined" in wanted and "-fno-sanitize-recover" not in command["command"]:
            yield f"{name}: undefined behaviour only prints a line: -fno-sanitize-recover=undefined is missing"
    if looked_at < 100:
        yield f"{BUILD}: only {looked_at} compilations were found"


def main():
    wrong = list(switched_off()) + list(incomplete())
    print("\n".join(wrong) if wrong else "every sanitizer is complete")
    return bool(wrong)


sys.exit(main())
