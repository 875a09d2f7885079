#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wheel on systems that hold nothing else: Debian 11, 12 and 13 as debootstrap makes them, each command in a chroot without a network. It is
installed, traces a training and a C program, whose stacks it knows, and is removed; nothing stays behind. auditwheel says how old a libc may be.

The wheel is PROFTRACE_TEST_WHEEL, or what scripts/build-wheel left in dist/. The systems are kept in PROFTRACE_TEST_CACHE. Needs root,
Debian's mirror for the systems and PyPI for auditwheel: scripts/test-slow wheel. What could not be done here is named last, and the exit code is 77."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("PROFTRACE_TEST_CACHE", "/var/tmp/proftrace-roots"))
MIRROR = "http://deb.debian.org/debian"
PACKAGES = "python3,python3-venv,python3-pip,gcc,libc6-dev"
# It computes as well, so that the samples of a CPU have something to find.
LOOP = """#include <stdio.h>
volatile unsigned sum;
__attribute__((noinline)) static void first_of_file(void)
{
    FILE *file = fopen("/etc/passwd", "r");
    sum += fgetc(file);
    fclose(file);
    for (int i = 0; i < 200000; i++)
        sum += i;
}
int main(void)
{
    for (int i = 0; i < 3000; i++)
        first_of_file();
    return 0;
}
"""
# Before glibc 2.34 neither has libpthread, and the first has no libdl: threads and plugins must be as absent, or come as late, as without us.
ALONE = """#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#pragma weak pthread_cancel
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int main(void)
{
    FILE *file = fopen("/etc/passwd", "r");
    printf("%d %d\\n", pthread_cancel != 0, pthread_mutex_lock(&mutex) + pthread_mutex_unlock(&mutex));
    printf("%d %d\\n", pthread_cond_signal(&condition), pthread_cond_broadcast(&condition));
    printf("%d %d\\n", fgetc(file), fclose(file));
    return 0;
}
"""
LATE = """#include <dlfcn.h>
#include <stdio.h>
static void *run(void *argument)
{
    puts("a thread");
    return argument;
}
int main(void)
{
    unsigned long thread;
    void *library = dlopen("libpthread.so.0", RTLD_NOW), *returned = 0;
    int (*create)(unsigned long *, void *, void *(*)(void *), void *) = dlsym(library, "pthread_create");
    int (*join)(unsigned long, void **) = dlsym(library, "pthread_join");
    const int made = create(&thread, 0, run, &thread), joined = join(thread, &returned);
    printf("%d %d %d\\n", made, joined, returned == &thread);
    return dlerror() != 0;
}
"""
# It is linked with libpthread, which the program that loads it is not.
PLUGIN = """#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static void *run(void *argument)
{
    return sem_post(&semaphore) ? 0 : argument;
}
void play(void)
{
    pthread_t thread;
    void *returned = 0;
    printf("%d ", sem_init(&semaphore, 0, 0));
    printf("%d ", pthread_create(&thread, 0, run, &thread));
    printf("%d ", sem_wait(&semaphore));
    printf("%d %d ", pthread_join(thread, &returned), returned == &thread);
    printf("%d %d %d ", pthread_mutex_trylock(&mutex), pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex));
    printf("%d %d %d\\n", pthread_rwlock_rdlock(&rwlock), pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_unlock(&rwlock));
}
"""
LOADER = """#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    void (*play)(void) = plugin ? (void (*)(void))dlsym(plugin, "play") : 0;
    if (!play)
        puts(dlerror());
    else
        play();
    return !play;
}
"""
# It asks for functions that older libcs do not have, and goes another way where there are none, as OpenJDK does.
ASKER = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int own(const char *path, struct stat *out)
{
    return (int)syscall(SYS_stat, path, out);
}
static int own_range(unsigned first, unsigned last, int flags)
{
    return (int)first < 0 || last < first || flags || close((int)first);
}
int main(void)
{
    static const char *const names[] = {"stat", "stat64", "lstat", "lstat64"};
    struct stat status = {0};
    for (int i = 0; i < 4; i++) {
        int (*found)(const char *, struct stat *) = dlsym(RTLD_DEFAULT, names[i]);
        const int result = (found ? found : own)("/etc/passwd", &status);
        printf("%s %d %d\\n", names[i], result, (int)status.st_size);
    }
    int (*at)(int, const char *, struct stat *, int) = dlsym(RTLD_DEFAULT, "fstatat64");
    printf("fstatat64 %d\\n", at ? at(AT_FDCWD, "/etc/passwd", &status, 0) : own("/etc/passwd", &status));
    int (*range)(unsigned, unsigned, int) = dlsym(RTLD_DEFAULT, "close_range");
    const int fd = open("/etc/passwd", O_RDONLY), result = (range ? range : own_range)((unsigned)fd, (unsigned)fd, 0);
    return printf("%d %d\\n", result, fcntl(fd, F_GETFD)) < 0;
}
"""
# One fork, though libutil's function of older libcs calls libc's.
TERMINAL = """#include <pty.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int terminal, status = 0;
    const pid_t child = forkpty(&terminal, 0, 0, 0);
    if (child == 0)
        _exit(3);
    const int is_child = waitpid(child, &status, 0) == child;
    return printf("%d %d\\n", is_child, WEXITSTATUS(status)) < 0;
}
"""
PROGRAMS = ("./alone", "./late", "./loader", "./asker", "exec ./terminal", "ls -l /etc", "sort /etc/passwd", "tar cf - /etc/passwd | sha256sum", "sed -n 1,3p /etc/passwd; ! false",
            "perl -e 'my $p = fork; exit 3 if !$p; waitpid $p, 0; print $?'", "gcc -c alone.c -o alone.o && sha256sum alone.o",
            "for i in 1 2 3; do (echo $i) | cat; done", "dpkg -l gcc",
            "python3 -c 'import threading; t = threading.Thread(target=print, args=(3,)); t.start(); t.join(); print(t.name)'")
FIRST_FINDING_S = 60  # of a person's time, from pip install on
# Folders that every package shares: pip makes them and never removes them, though nothing is in them any more.
SHARED = {"venv/share", "venv/share/doc", "venv/share/man"}


def wheel_of_tests():
    named = os.environ.get("PROFTRACE_TEST_WHEEL")
    found = [pathlib.Path(named)] if named else sorted((HERE.parent.parent / "dist").glob("proftrace-*.whl"))
    if not found:
        raise unittest.SkipTest("no wheel: scripts/build-wheel makes one in dist/")
    return found[-1].resolve()


def play(*command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PROFTRACE_", "LD_PRELOAD", "PIP_"))}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, check=False, env=environment)
    if done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


class Stopwatch:
    """What commands took: by the clock, and of CPUs. A person has a machine that does little else, where both are nearly the same, for none of
    the commands waits for anything: there is no network, and the disk's files are small. Where more programs want CPUs than there are, the
    clock also measures these, and the CPU time is the fairer figure."""

    def __init__(self):
        self.begin, self.before = time.monotonic(), self.cpu_of_children()
        self.is_crowded = os.getloadavg()[0] > len(os.sched_getaffinity(0))

    @staticmethod
    def cpu_of_children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def read(self):
        """(what a person waits, in words)"""
        wall_s, cpu_s = time.monotonic() - self.begin, self.cpu_of_children() - self.before
        return cpu_s if self.is_crowded else wall_s, f"{wall_s:.1f} s, {cpu_s:.1f} s of CPUs"


class Root:
    """A copy of a clean system. Every command has a /proc, processes and mounts of its own, which end with it: nothing needs to be unmounted."""

    def __init__(self, release, folder):
        self.path = folder / release
        play("cp", "-a", kept(release), self.path)

    def play(self, command):
        home = "env", "-i", "HOME=/root", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK=1"
        return play("unshare", "--mount", "--pid", "--net", "--fork", f"--mount-proc={self.path}/proc", "chroot", self.path, *home, "sh", "-ec", command)

    def files(self):
        """What there is, but for what Python compiles and pip keeps for itself, and the work of the test."""
        names = (path.relative_to(self.path) for path in self.path.rglob("*"))
        return {str(name) for name in names if "__pycache__" not in name.parts and name.parts[0] not in ("proc", "work") and ".cache/pip" not in str(name)}


def kept(release):
    root = CACHE / release
    if not root.exists():
        made = CACHE / f"{release}.new"
        shutil.rmtree(made, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", release, made, MIRROR],
                              capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            raise unittest.SkipTest(f"debootstrap of {release} failed, is {MIRROR} within reach? {done.stdout[-300:]}")
        made.rename(root)
    return root


class Roots(unittest.TestCase):
    def setUp(self):
        self.wheel = wheel_of_tests()
        if os.geteuid() != 0:
            self.skipTest("not root: no chroot")
        for program in "debootstrap", "unshare":
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
        folder = tempfile.TemporaryDirectory(prefix="roots-", dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def use(self, release):
        root = Root(release, self.folder)
        work = root.path / "work"
        work.mkdir()
        shutil.copy(self.wheel, work)
        shutil.copy(HERE / "small_reads.py", work / "train.py")
        (work / "loop.c").write_text(LOOP, encoding="ascii")
        root.play("python3 -m venv /venv; cd /work; gcc -O1 -g loop.c -o loop")
        before = root.files()
        watch = Stopwatch()
        root.play("cd /work; /venv/bin/pip install -q --no-index --find-links /work proftrace")
        said = root.play("cd /work; . /venv/bin/activate; proftrace run -o of_python -- python3 train.py")
        seconds, in_words = watch.read()
        print(f"{release}: {in_words} from pip install to the first finding", flush=True)
        self.assertLess(seconds, FIRST_FINDING_S, in_words)
        self.assertIn("trained\n", said)
        self.assertRegex(said, r"\n +1\. up to .*Files are read in pieces of less than 4 KiB\n")
        self.assertRegex(root.play("/venv/bin/proftrace report /work/of_python"), r"where +train\.py:\d+ load")
        root.play("cd /work; /venv/bin/proftrace run -o of_c -- ./loop")
        self.assertIn("3,000", root.play("/venv/bin/proftrace stats /work/of_c --by file"))
        said = root.play("cd /work; COLUMNS=400 /venv/bin/proftrace stats of_c --by stack")
        self.assertRegex(said.partition("Off-CPU")[0], r"first_of_file \(loop\.c:\d+\) < main \(loop\.c:\d+\)")
        self.compare(root, work)
        root.play("/venv/bin/pip uninstall -q -y proftrace")
        self.assertEqual(root.files() - before - SHARED, set())
        self.assertEqual(before - root.files(), set())

    def compare(self, root, work):
        """Programs of the system say the same with the library."""
        (work / "alone.c").write_text(ALONE, encoding="ascii")
        (work / "late.c").write_text(LATE, encoding="ascii")
        (work / "plugin.c").write_text(PLUGIN, encoding="ascii")
        (work / "loader.c").write_text(LOADER, encoding="ascii")
        (work / "asker.c").write_text(ASKER, encoding="ascii")
        (work / "terminal.c").write_text(TERMINAL, encoding="ascii")
        root.play("cd /work; gcc alone.c -o alone; gcc late.c -o late -ldl; gcc -shared -fPIC plugin.c -o plugin.so -lpthread; gcc loader.c -o loader -ldl; gcc asker.c -o asker -ldl; gcc terminal.c -o terminal -lutil")
        for program in PROGRAMS:
            (work / "program").write_text(program, encoding="ascii")
            root.play("cd /work; rm -rf of_it; sh program >bare 2>&1; /venv/bin/proftrace run --no-report -o of_it -- sh -c 'exec sh program >recorded 2>&1'")
            self.assertEqual((work / "recorded").read_text(), (work / "bare").read_text(), program)
            if program == "./alone":
                self.assertIn("/etc/passwd", root.play("/venv/bin/proftrace stats /work/of_it --by file"))
            if program == "exec ./terminal":
                self.assertRegex(root.play("/venv/bin/proftrace stats /work/of_it --by call"), r"\n\W*proc_fork +1 ")

    def test_debian_11(self):
        self.use("bullseye")

    def test_debian_12(self):
        self.use("bookworm")

    def test_debian_13(self):
        self.use("trixie")


class Audit(unittest.TestCase):
    def test_auditwheel(self):
        wheel = wheel_of_tests()
        with tempfile.TemporaryDirectory(prefix="audit-") as folder:
            play("/usr/bin/python3", "-m", "venv", folder)
            done = subprocess.run([f"{folder}/bin/pip", "install", "-q", "auditwheel==6.8.2"], capture_output=True, text=True, timeout=600, check=False)
            if done.returncode:
                self.skipTest(f"auditwheel cannot be had from PyPI: {done.stderr[-300:]}")
            said = play(f"{folder}/bin/auditwheel", "show", wheel)
        found = re.search(r'following platform tag:\s+"manylinux_2_(\d+)_x86_64"', said)
        self.assertIsNotNone(found, said)
        self.assertLessEqual(int(found.group(1)), 28, said)


def main():
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().rpartition('.')[2]}: {reason}", flush=True)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)


if __name__ == "__main__":
    main()
