#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Small C programs that know what they do, call by call: what they say about themselves through proftrace.h, what they print and
read through every function of stdio that takes a va_list, and in which environment they start that must not have the library."""
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["PROFTRACE_BUILD"])
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"

ANNOTATED = r"""
#include <proftrace/proftrace.h>
static void step(unsigned long long number)
{
    PROFTRACE_RANGE("inner");
    proftrace_step(number);
    proftrace_counter("loss", 0.5 / (double)number);
}
int main(void)
{
    proftrace_stage("known");
    proftrace_epoch(3);
    proftrace_range_push("outer");
    for (unsigned long long i = 1; i <= 2; i++)
        step(i);
    proftrace_mark("half");
    proftrace_range_pop();
    return proftrace_active() ? 0 : 7;
}
"""
SAID = ['stage name="known"', "epoch number=3", 'range_begin name="outer"',
        'range_begin name="inner"', "step number=1", 'counter name="loss" value=0.5', "range_end",
        'range_begin name="inner"', "step number=2", 'counter name="loss" value=0.25', "range_end",
        'mark name="half"', "range_end"]

# Each function moves a number of bytes that no other one does.
FORMATS = r"""
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
int _IO_vfprintf(FILE *, const char *, va_list), __vprintf_chk(int, const char *, va_list);
int __vfprintf_chk(FILE *, int, const char *, va_list), __vdprintf_chk(int, int, const char *, va_list);
int __vfscanf(FILE *, const char *, va_list);
enum what { VPRINTF, VFPRINTF, IO_VFPRINTF, VDPRINTF, VPRINTF_CHK, VFPRINTF_CHK, VDPRINTF_CHK, VSCANF, VFSCANF, UNDERSCORED };
static int call(enum what what, FILE *stream, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    switch (what) {
    case VPRINTF: return vprintf(format, values);
    case VFPRINTF: return vfprintf(stream, format, values);
    case IO_VFPRINTF: return _IO_vfprintf(stream, format, values);
    case VDPRINTF: return vdprintf(fileno(stream), format, values);
    case VPRINTF_CHK: return __vprintf_chk(1, format, values);
    case VFPRINTF_CHK: return __vfprintf_chk(stream, 1, format, values);
    case VDPRINTF_CHK: return __vdprintf_chk(fileno(stream), 1, format, values);
    case VSCANF: return vscanf(format, values);
    case VFSCANF: return vfscanf(stream, format, values);
    case UNDERSCORED: return __vfscanf(stream, format, values);
    }
    return -1;
}
int main(int argc, char **argv)
{
    int number = 0, sum = 0;
    FILE *file = fopen(argv[1], "w");
    for (enum what what = VPRINTF; what <= VDPRINTF_CHK; what++)
        if (call(what, file, "%0*d", 11 + (int)what, 5) != 11 + (int)what)
            return 1;
    fprintf(file, "\n1 2\n");
    if (fclose(file) || !(file = fopen(argv[1], "r")))
        return 2;
    for (enum what what = VSCANF; what <= UNDERSCORED; what++, sum += number)
        if (call(what, file, what == VFSCANF ? "%*s %d" : "%d", &number) != 1)
            return 3;
    return fclose(file) || sum != 9 + 1 + 2 ? 4 : argc - 2;
}
"""

# Each way to move says where ftello() finds the stream; then the file is read, to its end or not.
SEEKS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <wchar.h>
enum { SIZE = 300000 };
static char text[SIZE];
static void say(FILE *stream) { fprintf(stderr, "%ld\n", (long)ftello(stream) + 1); }
static void pass(FILE *stream, size_t bytes) { if (fread(text, 1, bytes, stream) != bytes) fputs("short\n", stderr); }
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "w+");
    fpos_t position;
    fwrite(text, 1, SIZE, file);
    rewind(file); say(file); pass(file, 100);
    fseek(file, 5000, SEEK_SET); say(file); pass(file, 10); getc(file);
    fseek(file, 7, SEEK_CUR); say(file); fgetpos(file, &position); pass(file, 50000);
    fseeko(file, -22, SEEK_END); say(file); pass(file, 22);
    fsetpos(file, &position); say(file); pass(file, 1000);
    fseek(file, 3, SEEK_SET); say(file); fputs("written", file);
    fseek(file, 0, SEEK_CUR); say(file);
    for (int i = 0; i < 9; i++) { fseeko64(file, 0, SEEK_SET); say(file); pass(file, SIZE); }
    fclose(file);
    if (!(file = fmemopen(text, SIZE, "r")) || fseek(file, 10, SEEK_SET)) return 1;  /* no file */
    fputs("0\n", stderr);
    fclose(file);
    return argc - 2;
}
"""

# Seven bytes are looked at five times and received once; three lie at the position of the file, four at an offset.
MOVES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char text[100];
    int ends[2];
    struct iovec vector = {text, sizeof text};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    struct mmsghdr several = {.msg_hdr = message};
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    send(ends[0], "seventy", 7, 0);
    int looked = recv(ends[1], text, 100, MSG_PEEK) + recvfrom(ends[1], text, 100, MSG_PEEK, 0, 0) + recvmsg(ends[1], &message, MSG_PEEK);
    looked += recvmmsg(ends[1], &several, 1, MSG_PEEK, 0) + recv(ends[1], 0, 0, MSG_PEEK | MSG_TRUNC);
    if (looked != 22 || recv(ends[1], text, 100, 0) != 7)
        return 1;
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    vector.iov_len = 3;
    if (pwritev2(file, &vector, 1, -1, 0) != 3 || lseek(file, 0, SEEK_SET) || preadv2(file, &vector, 1, -1, 0) != 3)
        return 2;
    vector.iov_len = 4;
    return pwritev2(file, &vector, 1, 50, 0) != 4 || preadv2(file, &vector, 1, 50, 0) != 4 ? 3 : argc - 2;
}
"""

# A child that changes more of its descriptors than its parent's list of changes has room for, and ends in three ways.
BORROWS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static int file, other, many[300], way;
    file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    other = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 300; i++)
        many[i] = dup(other);
    for (; way < 3; way++) {
        if (write(file, "way", 1 + way) != 1 + way)
            return 1;
        if (vfork() == 0) {
            dup2(other, file);
            for (int i = 0; i < 300 * (way == 0); i++)
                close(many[i]);
            if (way == 0)
                execl("/bin/true", "true", (char *)0);
            syscall(way == 1 ? SYS_exit_group : SYS_exit, 0);
        }
        wait(0);
    }
    if (write(file, "last", 4) != 4)
        return 2;
    syscall(SYS_exit_group, argc - 2);
}
"""

# Relative names of a file in another folder than where the program began: below a descriptor, in two walks, and of a daemon.
FOLDERS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void use(const char *name)
{
    int fd = open(name, O_RDWR);
    if (write(fd, "x", 1) == 1)
        close(fd);
}
static int see(const char *path, const struct stat *status, int type, struct FTW *at)
{
    if (type == FTW_F)
        use(path + at->base);
    return 0;
}
int main(int argc, char **argv)
{
    char *paths[] = {"tree", 0};
    if (chdir(argv[1]) || mkdir("tree", 0755) || mkdir("tree/below", 0755))
        return 1;
    int dir = open("tree/below", O_RDONLY | O_DIRECTORY);
    if (dir < 0 || mknodat(dir, "new", S_IFREG | 0600, 0) || linkat(dir, "new", dir, "other", 0) || renameat(dir, "other", dir, "file"))
        return 2;
    if (open("", O_RDONLY) >= 0 || linkat(dir, "", dir, "no", 0) == 0)
        return 4;
    if (unlinkat(dir, "new", 0) || fchmodat(dir, "file", 0600, 0) || symlinkat("file", dir, "link") || unlinkat(dir, "link", 0))
        return 3;
    nftw("tree", see, 5, FTW_CHDIR);
    FTS *walk = fts_open(paths, FTS_PHYSICAL, 0);
    for (FTSENT *entry; (entry = fts_read(walk));)
        if (entry->fts_info == FTS_F)
            use(entry->fts_accpath);
    fts_close(walk);
    if (daemon(0, 1)) /* whose output our caller waits for */
        return 5;
    use(argv[2] + 1);
    return 0;
}
"""

# One item of 4 MiB is asked for where the file has 3,000,000 bytes, of which 10 were read before; two of 2 MiB; and none is left.
ITEMS = r"""
#include <stdio.h>
static char text[4 << 20];
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "w+");
    if (fwrite(text, 1, 3000000, file) != 3000000 || fseek(file, 0, SEEK_SET) || fread(text, 1, 10, file) != 10)
        return 1;
    if (fread(text, sizeof text, 1, file) != 0 || fread(text, sizeof text, 1, file) != 0)
        return 2;
    fclose(file);
    file = fopen(argv[1], "r");
    return fread(text, 2 << 20, 2, file) != 1 || fclose(file) ? 3 : argc - 2;
}
"""

# A disk that is full, a folder that is read as a file, a stream that cannot be written to; then its one byte, and its end.
FAILURES = r"""
#include <stdio.h>
static char text[10];
int main(int argc, char **argv)
{
    FILE *full = fopen("/dev/full", "w"), *folder = fopen(".", "r"), *file = fopen(argv[1], "r");
    setbuf(full, 0);
    size_t moved = fwrite(text, 1, 5, full) + fwrite(text, 5, 0, full) + fread(text, 2, 5, folder) + fwrite(text, 1, 7, file);
    moved += 10 * fread(text, 1, 10, file) + fread(text, 1, 10, file) + fread(text, 0, 10, file);
    return moved != 10 ? 1 : argc - 2;
}
"""

# Folders and shared memory by functions that make several system calls; what does not exist, and what libc refuses.
SEVERAL_CALLS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int is_file(const struct dirent *entry) { return entry->d_name[0] != '.'; }
int main(int argc, char **argv)
{
    char made[] = "made-XXXXXX", wrong[] = "made-XXX";
    struct dirent **list;
    int shared = shm_open(argv[2], O_CREAT | O_RDWR | O_EXCL, 0600);
    if (chdir(argv[1]) || write(shared, "12345", 5) != 5 || shm_unlink(argv[2]) || shm_unlink(argv[2]) != -1 || shm_open("a/b", O_RDWR, 0) != -1 || errno != EINVAL)
        return 1;
    if (!mkdtemp(made) || mkdtemp(wrong) || errno != EINVAL)
        return 2;
    int dir = open(made, O_RDONLY | O_DIRECTORY);
    fputs(made, stderr);
    if (mkdirat(dir, "a", 0700) || mkdirat(dir, "b", 0700))
        return 3;
    if (scandir(made, &list, is_file, alphasort) != 2 || strcmp(list[1]->d_name, "b") || scandir("none", &list, 0, 0) != -1 || errno != ENOENT)
        return 4;
    return scandirat(dir, ".", &list, 0, 0) != 4 || scandirat64(dir, "a", (struct dirent64 ***)&list, is_file == 0 ? 0 : (int (*)(const struct dirent64 *))is_file, 0) ? 5 : 0;
}
"""

# A sanitizer must be the first library of a program, so this one is started without ours, and with all else.
SANITIZED = r"""
#include <stdio.h>
#include <string.h>
extern char **environ;
int main(void)
{
    for (char **at = environ; *at; at++)
        if (!strncmp(*at, "LD_PRELOAD", 10) || !strncmp(*at, "PROFTRACE", 9) || !strncmp(*at, "KEPT", 4) || strstr(*at, "INJECTION"))
            puts(*at);
    return 0;
}
"""
# Below a folder with a descriptor that the table has no room for (where a process may have as many), and below none.
HIGH_DESCRIPTORS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 70000;
    limit.rlim_max = limit.rlim_max < 70000 ? 70000 : limit.rlim_max; /* root may */
    const int least = setrlimit(RLIMIT_NOFILE, &limit) ? 10 : 65600;
    int dir = fcntl(open(argv[1], O_RDONLY | O_DIRECTORY), F_DUPFD, least), fd = openat(dir, "data", O_CREAT | O_WRONLY, 0600);
    return dir < 0 || write(fd, "12345", 5) != 5 || mkdirat(dir, "made", 0700) || openat(999, "none", O_RDONLY) >= 0;
}
"""
# A stream whose descriptor becomes another file in each way that there is; then one that takes a number that was closed.
BECOMES_ANOTHER = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static void put(FILE *stream) { fputs("1", stream); fflush(stream); }
int main(int argc, char **argv)
{
    FILE *stream = fopen("/dev/null", "w");
    int fd = fileno(stream), zero = open("/dev/zero", O_RDWR), full = open("/dev/full", O_RDWR);
    put(stream);
    dup2(zero, fd), put(stream);
    dup3(full, fd, O_CLOEXEC), put(stream);
    close(fd), fcntl(zero, F_DUPFD, fd), put(stream);
    close_range(fd, fd, 0), dup(full), put(stream);
    syscall(SYS_dup2, zero, fd), put(stream);
    syscall(SYS_close, fd), open(argv[1], O_CREAT | O_WRONLY, 0600), put(stream);
    return 0;
}
"""
# A message through one queue and through another one, which has the number of the first.
QUEUES = r"""
#include <fcntl.h>
#include <mqueue.h>
int main(int argc, char **argv)
{
    char text[8];
    struct mq_attr sizes = {.mq_maxmsg = 4, .mq_msgsize = sizeof text};
    for (int i = 1; i < argc; i++) {
        mqd_t queue = mq_open(argv[i], O_CREAT | O_RDWR, 0600, &sizes);
        if (queue < 0)
            return 0;
        if (mq_send(queue, "text", 4, 0) || mq_receive(queue, text, sizeof text, 0) != 4 || mq_close(queue) || mq_unlink(argv[i]))
            return 1;
    }
    return 0;
}
"""
# From memory into a pipe, and from the pipe into memory; by the function and by its number.
SPLICES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int ends[2];
    char text[5] = "text";
    struct iovec vector = {text, sizeof text};
    if (pipe(ends) || vmsplice(ends[1], &vector, 1, 0) != 5 || vmsplice(ends[0], &vector, 1, 0) != 5)
        return 1;
    vector.iov_len = 4;
    return syscall(SYS_vmsplice, ends[1], &vector, 1, 0) != 4 || syscall(SYS_vmsplice, ends[0], &vector, 1, 0) != 4;
}
"""
# The folder is the root of absolute names and of links in it; one is not there, one is the folder itself.
ROOTS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int dir = open(argv[1], O_RDONLY | O_DIRECTORY);
    struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 0600, .resolve = RESOLVE_IN_ROOT};
    if (mkdirat(dir, "etc", 0700) || symlinkat("/etc", dir, "link"))
        return 1;
    int file = syscall(SYS_openat2, dir, "/etc/hosts", &how, sizeof how), linked = syscall(SYS_openat2, dir, "//link/other", &how, sizeof how);
    if (file < 0 && errno == ENOSYS)
        return 0;
    how.flags = O_RDONLY, how.mode = 0;
    if (syscall(SYS_openat2, dir, "/etc/passwd", &how, sizeof how) != -1 || syscall(SYS_openat2, dir, "/", &how, sizeof how) < 0)
        return 2;
    return write(file, "1", 1) != 1 || write(linked, "2", 1) != 1;
}
"""
# Files without a name, in a folder: by open, with and without a directory to begin at.
NAMELESS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int folder = open(argv[1], O_DIRECTORY | O_RDONLY);
    int files[] = {open(argv[1], O_TMPFILE | O_RDWR, 0600), openat(folder, ".", O_TMPFILE | O_RDWR, 0600), openat(-1, argv[1], O_TMPFILE | O_WRONLY | O_EXCL, 0600)};
    for (int i = 0; i < 3; i++)
        if (write(files[i], "12345", 5) != 5)
            return 1;
    return 0;
}
"""
# Where the first library was unloaded, the second is loaded; says where they lay.
PLUGINS = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW);
        void (*work)(void) = (void (*)(void))dlsym(plugin, (char[]){argv[i][strlen(argv[i]) - 4], 0});
        work();
        fprintf(stderr, "%p\\n", dlsym(plugin, "kept"));
        dlclose(plugin);
    }
    return 0;
}
"""
# 200 MB of C++, in blocks that nothing but operator new is asked for.
NEWS = """
char *volatile blocks[20000];
int main()
{
    for (auto &block : blocks)
        for (int i = 0; i < 10000; i += 1000)
            (i ? block : block = new char[10000])[i] = 1;
    return 0;
}
"""
STARTERS = {"execve": "os.execve(p, [p], e)", "posix_spawn": "os.waitpid(os.posix_spawn(p, [p], e), 0)",
            "posix_spawnp": "os.waitpid(os.posix_spawnp(p, [p], e), 0)"}


class Known(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="known-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def compiled(self, source, *options):
        program = self.folder / "program"
        subprocess.run(["cc", "-x", "c", "-U_FORTIFY_SOURCE", "-w", "-I", INCLUDE, *options, "-", "-o", program], input=source,
                       text=True, check=True)
        return program

    def environment(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_")}
        return environment | {"LD_PRELOAD": str(BUILD / "libproftrace.so"), "PROFTRACE_DIR": str(self.folder / "runs")}

    def events(self, source, *arguments, stdin="", options=(), **variables):
        """What the program's trace holds, a line each without times; it must end with 0."""
        program, environment = self.compiled(source, *options), self.environment() | variables
        ran = subprocess.run([program, *arguments], env=environment, input=stdin, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.stderr = ran.stderr
        dumped = subprocess.run([BUILD / "proftrace", "dump", self.folder / "runs/latest"], capture_output=True, text=True, check=True)
        return re.findall(r"(?m)^\d+\.\d+ (?:\+\d+\.\d+ )?\d+/\d+ (.*)$", dumped.stdout)

    def test_what_the_program_says(self):
        kinds = {line.split()[0] for line in SAID}
        self.assertEqual([line for line in self.events(ANNOTATED) if line.split()[0] in kinds], SAID)

    def test_formats(self):
        lines = self.events(FORMATS, self.folder / "printed", stdin="9\n")
        written = [int(n) for line in lines for n in re.findall(r"^stdio_write fd=\d+ bytes=(\d+)", line)]
        self.assertEqual(written, [*range(11, 18), 5], lines)
        self.assertEqual(sum(line.startswith("stdio_read ") for line in lines), 3, lines)

    def test_bytes_that_are_looked_at_and_positions(self):
        lines = self.events(MOVES, self.folder / "data")
        received = [re.search(r"result=(\d+) .*messages=(\d+)", line).groups() for line in lines if line.startswith("net_receive ")]
        self.assertEqual(received, 5 * [("0", "0")] + [("7", "1")], lines)
        moved = [re.search(r"^(io_\w+) .*result=(\d+) .*(?:offset_bytes|buffers)=(\d+)", line).groups() for line in lines if re.match("io_p?(read|write)v", line)]
        self.assertEqual(moved, [("io_writev", "3", "1"), ("io_readv", "3", "1"), ("io_pwritev", "4", "50"), ("io_preadv", "4", "50")], lines)

    def test_what_a_vfork_child_changes_is_its_own(self):
        lines = self.events(BORROWS, self.folder / "data")
        written = [re.search('result=(\\d+) path="(.*)" ', line).groups() for line in lines if line.startswith("io_write ")]
        self.assertEqual(written, [(str(n), str(self.folder / "data")) for n in range(1, 5)], lines)
        info = subprocess.run([BUILD / "proftrace", "info", "--json", self.folder / "runs/latest"], capture_output=True, check=True)
        self.assertEqual([process["exit"] for process in json.loads(info.stdout)["processes"]], ["exit 0", "exit 0"])

    def test_names_in_other_folders(self):
        below = f"{self.folder.resolve()}/tree/below"
        for way in "chdir", "as it began":
            with self.subTest(way=way):
                shutil.rmtree(self.folder / "tree", ignore_errors=True)
                os.chdir(self.folder)
                lines = self.events(FOLDERS, self.folder if way == "chdir" else ".", f"{below}/file")
                names = {kind: re.findall(rf'(?m)^{kind} .*? path="([^"]*)"(?: to_path="([^"]*)")?', "\n".join(lines)) for kind in
                         ("meta_link", "meta_rename", "meta_set_attr")}
                self.assertEqual(names["meta_link"], [(f"{below}/new", f"{below}/other"), (below, f"{below}/no"), ("file", f"{below}/link")])
                self.assertIn('io_open result=-2 path=""', "\n".join(lines))
                self.assertEqual(names["meta_rename"], [(f"{below}/other", f"{below}/file")])
                self.assertEqual(names["meta_set_attr"], [(f"{below}/file", "")])
                written = [line.split('path="')[1].split('"')[0] for line in lines if line.startswith("io_write ")]
                self.assertEqual(written, 3 * [f"{below}/file"], lines)
                info = subprocess.run([BUILD / "proftrace", "info", "--json", self.folder / "runs/latest"], capture_output=True, check=True)
                self.assertEqual([process["exit"] for process in json.loads(info.stdout)["processes"]], ["exit 0", "exit 0"])

    def test_folders_whose_descriptor_nobody_knows(self):
        lines = self.events(HIGH_DESCRIPTORS, self.folder)
        folder = self.folder.resolve()
        self.assertIn(f'io_write fd=4 result=5 path="{folder}/data" requested_bytes=5', lines)
        opened = [line.split(" path=")[1] for line in lines if re.match("io_open|meta_make", line)]
        self.assertEqual(opened, [f'"{self.folder}" flags=O_RDONLY|O_DIRECTORY', f'"data" flags=O_WRONLY|O_CREAT dir_path="{folder}"',
                                  f'"made" dir_path="{folder}" mode=0x1c0', '"none" flags=O_RDONLY dir_path="?"'], lines)

    def test_streams_without_descriptors(self):
        for options in {}, {"PROFTRACE_IO": "off"}:
            with self.subTest(options=options):
                lines = self.events(BECOMES_ANOTHER, self.folder / "data", **options)
                flushed = [line.split('path="')[1].rstrip('"') for line in lines if line.startswith("stdio_flush ")]
                self.assertEqual(flushed, ["/dev/null", *2 * ["/dev/zero", "/dev/full"], "/dev/zero", str(self.folder / "data")], lines)
                self.assertEqual(any(line.startswith("io_") for line in lines), not options, lines)

    def test_names_of_queues(self):
        names = [f"/known-{os.getpid()}-{i}" for i in range(2)]
        lines = self.events(QUEUES, *names)
        waited = [line for line in lines if line.startswith("wait_message ")]
        if not waited:
            self.skipTest("the kernel has no POSIX queues")
        self.assertEqual([re.search(' path="(.*?)"', line)[1] for line in waited], 2 * [names[0]] + 2 * [names[1]], lines)

    def test_which_way_memory_is_spliced(self):
        lines = [re.sub(r'pipe:\[\d+\]', "pipe", line) for line in self.events(SPLICES) if line.startswith("io_copy ")]
        into, out_of = 'io_copy result={} to_path="pipe" to_fd=4', 'io_copy fd=3 result={} path="pipe" to_fd=-1'
        self.assertEqual(lines, [way.format(n) for n in (5, 4) for way in (into, out_of)])

    def test_files_of_another_root(self):
        lines, folder = self.events(ROOTS, self.folder), self.folder.resolve()
        opened = [line.split(" path=")[1].split(" flags=")[0].strip('"') for line in lines if line.startswith("io_open ") and "dir_path" in line]
        written = [line.split('path="')[1].split('"')[0] for line in lines if line.startswith("io_write ")]
        if not written:
            self.skipTest("the kernel has no openat2")
        self.assertEqual((opened, written), (["etc/hosts", "link/other", "etc/passwd", "."], [f"{folder}/etc/hosts", f"{folder}/etc/other"]), lines)

    def test_files_without_a_name_are_not_their_folder(self):
        lines = self.events(NAMELESS, self.folder)
        written = [line.split('path="')[1].split('"')[0] for line in lines if line.startswith("io_write ")]
        self.assertEqual(len(set(written)), 3, lines)
        for path in written:
            self.assertRegex(path, rf"^{re.escape(str(self.folder.resolve()))}/#\d+")

    def test_an_allocator_that_has_its_own_new(self):
        program, tested = self.folder / "news", 0
        subprocess.run(["c++", "-x", "c++", "-fno-builtin", "-", "-o", program], input=NEWS, text=True, check=True)
        for pattern in "", "libjemalloc.so.*", "libtcmalloc_minimal.so.*", "libmimalloc.so.*":
            for library in sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob(pattern))[:1] if pattern else [""]:
                with self.subTest(allocator=str(library)):
                    environment = self.environment()
                    environment["LD_PRELOAD"] += f":{library}"
                    subprocess.run([program], env=environment, check=True)
                    shown = subprocess.run([BUILD / "proftrace", "report", "--format", "json", self.folder / "runs/latest"], capture_output=True, check=True)
                    report = json.loads(shown.stdout)
                    said = [finding["evidence"]["allocator"] for finding in report["findings"] if finding["rule"] == "nothing_captured"]
                    self.assertEqual(said, [library.name] if library else [], report["findings"])
                    self.assertEqual(report["stages"][0]["heap"]["allocs"] >= 20000, not library)
                    tested += library != ""
        if not tested:
            self.skipTest("no other allocator is installed")

    def test_a_library_that_lies_where_another_one_was(self):
        for name, before in ("a", ""), ("b", "int other(int x) { return x * 3 + x / 7; }"):
            source = f"#include <stdlib.h>\nvoid *volatile kept;\n{before}\nvoid {name}(void) {{ for (int i = 0; i < 50; i++) kept = malloc(70000); }}\n"
            subprocess.run(["cc", "-shared", "-fPIC", "-g", "-x", "c", "-", "-o", self.folder / f"{name}.so"], input=source, text=True, check=True)
        program, environment = self.compiled(PLUGINS), self.environment() | {"PROFTRACE_HEAP_SAMPLE_BYTES": "1024"}
        done = subprocess.run([program, self.folder / "a.so", self.folder / "b.so"], env=environment, capture_output=True, text=True, check=True)
        first, second = done.stderr.split()
        if first != second:
            self.skipTest("the loader put it elsewhere")
        shown = subprocess.run([BUILD / "proftrace", "report", "--format", "json", self.folder / "runs/latest"], capture_output=True, text=True, check=True)
        functions = [site["function"].split()[0] for site in json.loads(shown.stdout)["stages"][0]["heap_sites"]]
        self.assertEqual(sorted(functions[:2]), ["a", "b"], functions)

    def test_items_that_the_file_is_too_small_for(self):
        lines = self.events(ITEMS, self.folder / "data")
        read = [int(n) for line in lines for n in re.findall(r"^stdio_read fd=\d+ bytes=(\d+)", line)]
        self.assertEqual(read, [10, 3000000 - 10, 0, 3000000], lines)

    def test_errors_of_blocks(self):
        (self.folder / "data").write_text("1", encoding="ascii")
        lines = self.events(FAILURES, self.folder / "data")
        moved = re.findall(r"(?m)^stdio_(read|write) fd=\d+ bytes=(-?\d+)", "\n".join(lines))
        self.assertEqual([(kind, int(n)) for kind, n in moved],
                         [("write", -errno.ENOSPC), ("write", 0), ("read", -errno.EISDIR), ("write", -errno.EBADF), ("read", 1), ("read", 0), ("read", 0)], lines)

    def test_functions_that_make_several_calls(self):
        name = f"/proftrace-known-{os.getpid()}"
        lines = self.events(SEVERAL_CALLS, self.folder, name)
        made, shared = f"{self.folder.resolve()}/{self.stderr}", f"/dev/shm{name}"
        seen = [re.match(r'(\w+) (?:fd=\d+ )?result=(-?\d+)(?: path="([^"]*)")?(?:.* (entries=\d))?', line).groups("") for line in lines
                if re.match("io_open|meta_", line) and "dir_path" not in line and "chang" not in line]
        self.assertCountEqual(seen, [("io_open", "3", shared, ""), ("meta_unlink", "0", shared, ""), ("meta_unlink", "-2", shared, ""),
                                     ("io_open", "-22", "", ""), ("meta_make_dir", "0", made, ""), ("meta_make_dir", "-22", "", ""), ("io_open", "4", made, ""),
                                     ("meta_open_dir", "0", made, ""), ("meta_read_dir", "0", made, "entries=2"),
                                     ("meta_open_dir", "-2", f"{self.folder.resolve()}/none", ""), ("meta_open_dir", "0", f"{made}/.", ""),
                                     ("meta_read_dir", "0", f"{made}/.", "entries=4"), ("meta_open_dir", "0", f"{made}/a", "")], lines)
        self.assertIn(f'io_write fd=3 result=5 path="{shared}"', "\n".join(lines))

    def test_where_a_stream_is(self):
        lines = self.events(SEEKS, self.folder / "data")
        told = [int(n) for line in lines for n in re.findall(r"^stdio_seek .*position_plus_1=(\d+)", line)]
        self.assertEqual(told, [int(line) for line in self.stderr.split()], lines)
        report = subprocess.run([BUILD / "proftrace", "report", self.folder / "runs/latest", "--format", "json"], capture_output=True, check=True)
        row, = [row for row in json.loads(report.stdout)["stages"][0]["files"] if row["path"].endswith("/data")]
        self.assertEqual((row["distinct_bytes"], row["stdio_read_bytes"]), (300000, 9 * 300000 + 100 + 10 + 50000 + 22 + 1000), row)
        self.assertEqual(row["read_again_bytes"], row["stdio_read_bytes"] - 300000, row)

    def test_an_environment_without_us(self):
        program = self.compiled(SANITIZED, "-fsanitize=address")
        other = self.folder / "other.so"
        subprocess.run(["cc", "-x", "c", "-shared", "-fPIC", "-", "-o", other], input="int other;", text=True, check=True)
        for name, start in STARTERS.items():
            environment = self.environment() | {"KEPT": "1", "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
            environment["LD_PRELOAD"] += f":{other}"
            script = f"import os; p, e = {str(program)!r}, dict(os.environ); {start}"
            ran = subprocess.run(["/usr/bin/python3", "-c", script], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), name)
            self.assertEqual(sorted(ran.stdout.split()), ["KEPT=1", f"LD_PRELOAD={other}", f"PROFTRACE_DIR={environment['PROFTRACE_DIR']}"], name)
            info = subprocess.run([BUILD / "proftrace", "info", self.folder / "runs/latest"], capture_output=True, text=True, check=True)
            self.assertRegex(" ".join(info.stdout.split()), r"/program: built with a sanitizer that must be the first library", name)


if __name__ == "__main__":
    unittest.main()
