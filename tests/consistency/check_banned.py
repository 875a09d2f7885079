#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the injected half must never call: it may not end, block, allocate in or print from its host; and a few functions that
no file of ours may use. Looks at the source, so that a call which the compiler inlined or dropped is found as well.
usage: check_banned.py SOURCE BUILD"""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1])
sys.path.insert(0, f"{ROOT}/scripts/lib")
import csource  # noqa: E402

# What it would do to the host: functions
IN_PRELOAD = {
    "ends the host": "exit _exit _Exit quick_exit abort assert raise kill",
    "allocates from the host's heap, which may be the caller": "malloc calloc realloc free strdup strndup asprintf "
    "vasprintf getline getdelim memalign posix_memalign aligned_alloc",
    "prints, or allocates to format": "printf fprintf vprintf vfprintf dprintf puts fputs fputc putchar perror syslog "
    "sprintf vsprintf snprintf vsnprintf",
    "opens a stream of the host's stdio": "fopen fdopen freopen fclose fread fwrite opendir fdopendir readdir closedir popen",
    "waits, or leaves a lock held in a forked child": "pthread_mutex_lock pthread_mutex_trylock pthread_rwlock_rdlock "
    "pthread_rwlock_wrlock pthread_cond_wait pthread_once call_once sem_wait sleep usleep nanosleep",
    "makes a thread or process of its own": "pthread_create fork vfork system posix_spawn posix_spawnp thrd_create",
    "changes what a signal does": "signal sigaction sigprocmask pthread_sigmask setitimer timer_create",
    "runs at an uncertain time, or keeps the program from ending": "atexit on_exit at_quick_exit pthread_key_create",
    "breaks the caller's RUNPATH or takes the loader's lock": "dlopen dlclose dl_iterate_phdr dlsym dlvsym",
    "changes the host's environment": "setenv unsetenv putenv clearenv",
    "may be the host's own, with a lock (Firefox)": "getenv secure_getenv",
    "may be the host's own, which calls what is recorded; or a faked clock": "clock_gettime gettimeofday time",
}
ANYWHERE = {"cannot be bounded": "gets strcpy strcat sprintf vsprintf alloca strtok tmpnam mktemp"}

# (file, function): why it is right there
ALLOWED = {
    ("preload/core/real/real.c", "dlsym"): "the one place that resolves the real functions, in the constructor",
    ("preload/core/real/real.c", "dlvsym"): "the same, where libc has several functions of one name",
    ("preload/hooks/heap/heap.c", "dlsym"): "the heap family resolves itself: dlsym allocates, so it must answer meanwhile",
    ("preload/core/names/module.c", "dlsym"): "asks once, in the constructor, whether this glibc has _dl_find_object",
    ("preload/core/init.c", "setenv"): "the constructor adds the session's name once (README, exceptions)",
    ("preload/core/injection.c", "setenv"): "the constructor names us to CUDA, NVTX and ITT, once (README, exceptions)",
    ("preload/core/injection.c", "unsetenv"): "the constructor takes our own name back under Nsight Compute (README, exceptions)",
    ("preload/core/injection.c", "dlopen"): "the handle of the program itself, and only where we were dlopened ourselves",
    ("preload/core/injection.c", "dlsym"): "asks once, in the constructor, whether another copy of us was preloaded",
    ("preload/cuda/cupti/library.c", "dlopen"): "loads CUPTI while the driver loads its own libraries: in no program without CUDA",
    ("preload/cuda/cupti/library.c", "dlclose"): "gives back a reference to what is mapped anyway",
    ("preload/cuda/cupti/library.c", "dlsym"): "the functions of CUPTI",
    ("preload/cuda/runtime.c", "dlopen"): "RTLD_NOLOAD: a handle of the libcudart that its caller was linked with",
    ("preload/cuda/runtime.c", "dlsym"): "all functions of it at once, at the first call of a module",
    ("preload/cuda/runtime.c", "dl_iterate_phdr"): "looks for it where its caller does not say which; then, once",
    ("preload/python/api.c", "dlopen"): "RTLD_NOLOAD: keeps a libpython that the program loaded itself, once, where Python would load, too",
    ("preload/python/api.c", "dl_iterate_phdr"): "looks for CPython: in the constructor, and in a program without it when it meets a new name",
    ("preload/cuda/cupti/recording.c", "clock_gettime"): "only with CUPTI; what the program's own one calls is recorded, and does not come back here",
    ("preload/core/process.c", "on_exit"): "notes the exit status, nothing depends on its being called; and while the driver comes up, so that CUPTI delivers before the driver goes down",
}


def calls(text):
    """(line, function) of every name( that is not a member, a declaration or a definition."""
    plain = csource.blanked(text)
    for m in re.finditer(r"(?<![\w.>])([a-zA-Z_]\w*)\s*\(", plain):
        before = plain[max(0, m.start() - 120):m.start()]
        statement = re.split(r"[;{}]", before)[-1]
        # "void free(void *p)" and "PT_EXPORT void *malloc(size_t)" declare; "return free(p)" and "= malloc(" call.
        declares = re.search(r"(?:\b(?!return\b|else\b|case\b)[A-Za-z_]\w*[\s*]+|\*\s*)$", statement)
        if not declares:
            yield plain.count("\n", 0, m.start()) + 1, m.group(1)


def check(path, banned, problems):
    for line, function in calls(csource.read(ROOT, path)):
        reason = banned.get(function)
        if reason and (path, function) not in ALLOWED:
            problems.append(f"{path}:{line}: {function}() {reason}")


def main():
    flat = lambda table: {name: reason for reason, names in table.items() for name in names.split()}
    anywhere, problems = flat(ANYWHERE), []
    in_preload = {**anywhere, **flat(IN_PRELOAD)}
    for path in csource.own_files(ROOT, ["include", "preload", "analyzer"], (".c", ".h")):
        inside = path.startswith("preload/")
        check(path, in_preload if inside else anywhere, problems)
    print("\n".join(problems + [f"{len(problems)} banned calls"]))
    return 1 if problems else 0


sys.exit(main())
