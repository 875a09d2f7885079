# SPDX-License-Identifier: MIT
"""What all stages share: where the configuration comes from, how a stage ends, how it reads and writes JSON.

Exit codes of a stage: 0 done, 1 it failed, 2 the configuration is not usable. Either failure is one line on stderr.
"""
import argparse
import json
import os
import signal
import sys

# Looked at in this order when --config is not given; then ./config.json.
ENVIRONMENT = ("PROFTRACE_PIPELINE_CONFIG", "PIPELINE_CONFIG")


class StageError(Exception):
    """The stage cannot go on; the text says why and what to do."""

    code = 1


class ConfigError(StageError):
    code = 2


class Config:
    """The pipeline's config.json. Values are named by their JSON path, such as "train.epochs"."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8") as file:
                self.document = json.load(file)
        except OSError as error:
            raise ConfigError(f"cannot read the configuration {path}: {error.strerror}; name another one with --config FILE "
                              f"or {ENVIRONMENT[0]}") from error
        except ValueError as error:  # not JSON, or not UTF-8
            raise ConfigError(f"{path} is not JSON: {error}") from error

    def value(self, json_path, fits, expected):
        node = self.document
        for key in json_path.split("."):
            if not isinstance(node, dict) or key not in node:
                raise ConfigError(f"{self.path}: {json_path} is missing; expected {expected}")
            node = node[key]
        if not fits(node):
            raise ConfigError(f"{self.path}: {json_path} is {json.dumps(node)}; expected {expected}")
        return node

    def text(self, json_path):
        return self.value(json_path, lambda v: isinstance(v, str) and v, "a text")

    def count(self, json_path):
        return self.value(json_path, lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0, "a whole number above 0")

    def flag(self, json_path):
        return self.value(json_path, lambda v: isinstance(v, bool), "true or false")

    @property
    def dataset(self):
        """The name of the data set, which is also that of its folders."""
        return self.value("run.dataset", lambda v: isinstance(v, str) and v.isidentifier(), "a name such as \"coco128\"")

    # Where each stage leaves its results: one folder per data set, so that a small trial does not destroy a long run.
    def source_folder(self):
        return os.path.join(self.text("paths.dataset"), self.dataset)

    def generated_folder(self):
        return os.path.join(self.text("paths.generated"), self.dataset)

    def run_folder(self):
        return os.path.join(self.text("paths.runs"), self.dataset)


def say(text):
    """One line of progress, written at once: whoever follows a pipe or a log sees it when it happens."""
    print(text, flush=True)


def read_json(path, made_by):
    """A result of an earlier stage."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError as error:
        raise StageError(f"{path} does not exist; run {made_by} first") from error
    except ValueError as error:
        raise StageError(f"{path} is not JSON ({error}); run {made_by} again") from error


def write_json(path, document):
    """Under its name the file is whole or absent, whenever the stage is stopped."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    partial = path + ".partial"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(partial, path)


def stop_once(number, _):
    """Ctrl-C or SIGTERM: leave in an orderly way, workers first. A second signal must not break that off."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(signal.Signals(number))


def leave_signals_to_parent():
    """For worker processes: the terminal sends Ctrl-C to all, and one message about it is enough."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run(work, description):
    """The main program of a stage: find the configuration, do the work, end with the right exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup and shells in the background want it
            signal.signal(number, stop_once)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", metavar="FILE", help=f"default: {', '.join('$' + name for name in ENVIRONMENT)}, config.json")
    chosen = [parser.parse_args().config, *map(os.environ.get, ENVIRONMENT), "config.json"]
    try:
        work(Config(next(path for path in chosen if path)))
    except StageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        sys.exit(error.code)
    except OSError as error:  # a full disk, a folder that is not ours
        where = f"{error.filename}: " if error.filename else ""
        print(f"{parser.prog}: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt as stop:
        print(f"{parser.prog}: stopped by {stop.args[0].name}", file=sys.stderr)
        sys.exit(128 + stop.args[0])
