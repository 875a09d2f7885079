# SPDX-License-Identifier: MIT
"""Each command has a manual page that names all its options, no page is without a command, libproftrace(7) names every
variable of include/proftrace/options.def, proftrace.json(5) every key of analyzer/pipeline/config_keys.def, and
proftrace-export(1) every format of analyzer/export/exporters.def. Pages are run through scdoc where it is installed."""
import pathlib
import re
import shutil
import subprocess
import sys

def commands(source):
    text = (source / "analyzer/cmd/commands.def").read_text(encoding="utf-8")
    return re.findall(r"^COMMAND\((\w+),", text, re.M)


def options(build, command):
    """As the command itself tells them."""
    text = subprocess.run([build / "proftrace", command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  --([a-z-]+)", text, re.M)) - {"help"}


def variables(source):
    text = (source / "include/proftrace/options.def").read_text(encoding="utf-8")
    return ["PROFTRACE_" + name.upper() for name in re.findall(r"^OPTION\((\w+),", text, re.M)]


def keys(source):
    text = (source / "analyzer/pipeline/config_keys.def").read_text(encoding="utf-8")
    return re.findall(r"^KEY\(\w+, (\w+),", text, re.M)


def formats(source):
    text = (source / "analyzer/export/exporters.def").read_text(encoding="utf-8")
    return re.findall(r"^EXPORTER\w*\((\w+),", text, re.M)


def check_command(pages, build, command):
    if f"*{command}*" not in pages["proftrace.1"]:
        yield f"proftrace(1) does not list the command {command}"
    page = pages.get(f"proftrace-{command}.1")
    if page is None:
        yield f"docs/man/proftrace-{command}.1.scd is missing"
        return
    for option in sorted(options(build, command)):
        if f"*--{option}*" not in page:
            yield f"proftrace-{command}(1) does not describe --{option}"


def check_syntax(folder):
    if not shutil.which("scdoc"):
        return
    for path in sorted(folder.glob("*.scd")):
        made = subprocess.run(["scdoc"], input=path.read_bytes(), capture_output=True, check=False)
        if made.returncode:
            yield f"{path.name}: {made.stderr.decode().strip()}"


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else source / "build").absolute()
    folder = source / "docs/man"
    pages = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.scd")}
    names = commands(source)
    problems = list(check_syntax(folder))
    for command in names:
        problems += check_command(pages, build, command)
    known = {"proftrace.1", "libproftrace.7", "proftrace.json.5"} | {f"proftrace-{name}.1" for name in names}
    problems += [f"docs/man/{page}.scd: there is no such command" for page in sorted(set(pages) - known)]
    problems += [f"libproftrace(7) does not describe {name}" for name in variables(source)
                 if f"*{name}*" not in pages.get("libproftrace.7", "")]
    problems += [f"proftrace.json(5) does not describe {name}" for name in keys(source)
                 if f"*{name}*" not in pages.get("proftrace.json.5", "")]
    problems += [f"proftrace-export(1) does not describe the format {name}" for name in formats(source)
                 if f"_{name}_" not in pages.get("proftrace-export.1", "")]
    print("\n".join(problems) or f"{len(pages)} pages, {len(names)} commands")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
