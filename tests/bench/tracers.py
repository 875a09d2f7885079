# SPDX-License-Identifier: MIT
"""How each tracer is put around a command. A tracer that is not installed is left out."""
import glob
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from typing import Callable, Dict, List


@dataclass
class Tracer:
    key: str
    title: str
    available: Callable[[], bool] = lambda: True
    preload: str = ""
    env: Dict[str, str] = field(default_factory=dict)
    prefix: List[str] = field(default_factory=list)
    before: List[List[str]] = field(default_factory=list)
    after: List[List[str]] = field(default_factory=list)
    daemon: str = ""        # name of the process that does part of its work
    short: bool = False     # very slow: takes the workload's short size
    takes_script: bool = False  # it is an interpreter itself: the workload's is left out

    @property
    def is_ours(self):
        return self.key in ("bare", "off", "sampled", "full", "wheel", "wheel-full", "run", "outside", "window")


def library(pattern):
    found = sorted(glob.glob(f"/usr/lib/x86_64-linux-gnu/{pattern}") + glob.glob(f"/usr/lib/{pattern}"))
    return found[0] if found else ""


def has(program):
    return lambda: shutil.which(program) is not None


def python_with(module, *pythons):
    """The first of them that has it, or ""."""
    return next((p for p in pythons if os.path.exists(p) and not subprocess.run([p, "-c", f"import {module}"], capture_output=True,
                                                                                check=False).returncode), "")


def tracers(proftrace_library, proftrace, out):
    ours = {"PROFTRACE_DIR": f"{out}/proftrace"}
    memray = python_with("memray", "/usr/bin/python3", os.path.join(os.path.dirname(proftrace), "peers-venv/bin/python"))
    je, tc = library("libjemalloc.so.2"), library("libtcmalloc.so.4")
    lttng = [library("liblttng-ust-libc-wrapper.so*"), library("liblttng-ust-fork.so*")]
    of_wheel = os.path.join(os.path.dirname(proftrace), "../build-wheel/stage/lib/libproftrace.so")  # when scripts/build-wheel ran
    has_wheel = lambda: os.path.exists(of_wheel)  # noqa: E731
    rows = [
        Tracer("bare", "untraced"),
        Tracer("off", "proftrace, PROFTRACE_DISABLE=1", preload=proftrace_library, env={**ours, "PROFTRACE_DISABLE": "1"}),
        Tracer("sampled", "**proftrace, defaults**", preload=proftrace_library, env=ours),
        Tracer("full", "**proftrace, full heap**", preload=proftrace_library,
               env={**ours, "PROFTRACE_HEAP": "full", "PROFTRACE_STACKS": "0"}),
        Tracer("wheel", "**proftrace of the wheel, defaults**", has_wheel, of_wheel, ours),
        Tracer("wheel-full", "**proftrace of the wheel, full heap**", has_wheel, of_wheel, {**ours, "PROFTRACE_HEAP": "full", "PROFTRACE_STACKS": "0"}),
        Tracer("outside", "**proftrace, outside of its profiler windows**", preload=proftrace_library,
               env={**ours, "PROFTRACE_WINDOW": "skip_first=99999999"}),
        Tracer("window", "**proftrace, all steps in a profiler window**", preload=proftrace_library,
               env={**ours, "PROFTRACE_WINDOW": "warmup=0,active=99999999"}),
        Tracer("run", "**proftrace run, with its report**", prefix=[proftrace, "run", "-o", f"{out}/run", "--"]),
        Tracer("memray", "memray run", lambda: bool(memray), takes_script=True,
               prefix=[memray, "-m", "memray", "run", "-q", "-f", "-o", f"{out}/memray.bin"]),
        Tracer("jemalloc-sampling", "jemalloc, sampling 512 KiB (another allocator)", lambda: bool(je), je,
               {"MALLOC_CONF": f"prof:true,lg_prof_sample:19,prof_final:true,prof_prefix:{out}/je"}),
        Tracer("tcmalloc-sampling", "tcmalloc, sampling 512 KiB (another allocator)", lambda: bool(tc), tc,
               {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
        Tracer("heaptrack", "heaptrack", has("heaptrack"), prefix=["heaptrack", "-o", f"{out}/heaptrack"]),
        Tracer("uftrace", "uftrace --force", has("uftrace"),
               prefix=["uftrace", "record", "--force", "--no-event", "-d", f"{out}/uftrace"]),
        Tracer("strace", "strace -f -c", has("strace"), prefix=["strace", "-f", "-c", "-o", f"{out}/strace"], short=True),
        Tracer("lttng", "LTTng-UST, libc", lambda: has("lttng")() and all(lttng), ":".join(lttng), daemon="lttng-consumerd",
               before=[["lttng", "destroy", "proftrace-bench"], ["lttng", "create", "proftrace-bench", f"--output={out}/lttng"],
                       ["lttng", "enable-channel", "-u", "--subbuf-size=1M", "--num-subbuf=8", "c1"],
                       ["lttng", "enable-event", "-u", "lttng_ust_libc:*", "-c", "c1"], ["lttng", "start"]],
               after=[["lttng", "stop"], ["lttng", "destroy", "proftrace-bench"]]),
    ]
    return {t.key: t for t in rows if t.available()}


def pids_of(name):
    """Processes whose command name is exactly `name` (the kernel keeps 15 characters)."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/comm", encoding="ascii") as f:
                if f.read().strip() == name[:15]:
                    found.append(int(entry))
        except OSError:
            pass
    return found


class SessionDaemon:
    """lttng starts a session daemon on demand; end the one that came up while we measured."""

    def __enter__(self):
        self.before = set(pids_of("lttng-sessiond"))

    def __exit__(self, *_):
        for pid in set(pids_of("lttng-sessiond")) - self.before:
            os.kill(pid, signal.SIGTERM)


def run_quietly(command):
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
