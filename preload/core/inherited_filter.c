/* SPDX-License-Identifier: MIT
 *
 * inherited_filter.c - looks for a seccomp filter that was there before the program, and tries what it allows.
 *
 * Entered by the constructor only, while the process has one thread. A filter cannot be read, only met: so a
 * short-lived child makes each call that the library makes anywhere, and ends in our place. Nothing is done that was
 * not seen to work: ld.so has just opened, read and mapped files; that a child can be made is known where the parent
 * lives under the same filters (it made us), and of containers, whose runtime is outside. Elsewhere nothing is tried.
 * What is left: a filter that kills clone() and lets vfork() or clone3() through ends a program that was made by these.
 */
#include "inherited_filter.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "options.h"
#include "sys.h"
#include "text.h"

pt_u64 pt_n_filters;

/* ---- what /proc/<pid>/status says ---- */

struct status {
    pt_u64 pid;
    pt_u64 parent;
    pt_u64 mode;
    pt_u64 filters;
    int is_whole; /* the rest need not be read */
};

static pt_u64 number_behind(const char *line, const char *name)
{
    pt_u64 value = 0;
    for (line += pt_text_length(name); *line == '\t' || *line == ' '; line++)
        ;
    for (; *line >= '0' && *line <= '9'; line++)
        value = value * 10 + (pt_u64)(*line - '0');
    return value;
}

static void take_line(const char *line, struct status *status)
{
    if (pt_text_starts(line, "Pid:"))
        status->pid = number_behind(line, "Pid:");
    else if (pt_text_starts(line, "PPid:"))
        status->parent = number_behind(line, "PPid:");
    else if (pt_text_starts(line, "Seccomp:"))
        status->mode = number_behind(line, "Seccomp:");
    else if (pt_text_starts(line, "Seccomp_filters:")) /* Linux 5.9 */
        status->filters = number_behind(line, "Seccomp_filters:");
    else if (pt_text_starts(line, "Speculation_Store_Bypass:")) /* the next line, with or without that one */
        status->is_whole = 1;
}

static int read_status(const char *path, struct status *ret)
{
    char bytes[512], line[40];
    struct pt_text text = {line, 0, sizeof line};
    const long fd = pt_syscall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long got = -1;
    *ret = (struct status){0};
    *line = 0;
    while (fd >= 0 && !ret->is_whole && (got = pt_syscall3(SYS_read, fd, bytes, sizeof bytes)) > 0)
        for (long i = 0; i < got; i++) {
            pt_text_byte(&text, bytes[i]);
            if (bytes[i] != '\n')
                continue;
            take_line(line, ret);
            text.length = 0;
        }
    if (fd >= 0)
        pt_syscall1(SYS_close, fd);
    return (ret->is_whole || got == 0) && ret->pid ? 0 : -1;
}

/* Before Linux 5.9 nobody tells the number, and a parent with any filter has to do: containers of such machines would
 * not be recorded otherwise. */
static int may_make_child(const struct status *own)
{
    char path[48];
    struct pt_text text = {path, 0, sizeof path};
    struct status parent;
    if (own->pid == 1 || !own->parent)
        return 1;
    pt_text_add(&text, "/proc/");
    pt_text_number(&text, own->parent, 0);
    pt_text_add(&text, "/status");
    return read_status(path, &parent) == 0 && parent.mode == own->mode && parent.filters == own->filters;
}

/* ---- the trial ---- */

/* Each call of the library with arguments that make it fail or do nothing. Pointers are NULL, descriptors -1. The first
 * are those that the trial itself needs. */
struct call {
    int number;
    long a, b, c, d, e, f;
};
static const struct call calls[] = {
    {SYS_wait4, -1, 0, WNOHANG, 0, 0, 0},
    {SYS_mmap, 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED, -1, 0},
    {SYS_mmap, 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0},
    {SYS_munmap, 0, 0, 0, 0, 0, 0},
    {SYS_mremap, 1 /* in no page */, 0, 0, 0, 0, 0},
    {SYS_madvise, 0, 0, MADV_DONTDUMP, 0, 0, 0},
    {SYS_madvise, 0, 0, MADV_WIPEONFORK, 0, 0, 0},
    {SYS_madvise, 0, 0, MADV_DONTNEED, 0, 0, 0},
    {SYS_madvise, 0, 0, MADV_DONTFORK, 0, 0, 0},
    {SYS_madvise, 0, 0, 22 /* MADV_POPULATE_READ */, 0, 0, 0},
    {SYS_madvise, 0, 0, 23 /* MADV_POPULATE_WRITE */, 0, 0, 0},
    {SYS_open, 0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0, 0},
    {SYS_openat, AT_FDCWD, 0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0},
    {SYS_openat, AT_FDCWD, 0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0},
    {SYS_read, -1, 0, 0, 0, 0, 0},
    {SYS_pread64, -1, 0, 0, 0, 0, 0},
    {SYS_write, -1, 0, 0, 0, 0, 0},
    {SYS_writev, -1, 0, 0, 0, 0, 0},
    {SYS_pwrite64, -1, 0, 0, 0, 0, 0},
    {SYS_lseek, -1, 0, SEEK_CUR, 0, 0, 0},
    {SYS_close, -1, 0, 0, 0, 0, 0},
    {SYS_fcntl, -1, F_GETFD, 0, 0, 0, 0},
    {SYS_fstat, -1, 0, 0, 0, 0, 0},
    {SYS_stat, 0, 0, 0, 0, 0, 0},
    {SYS_newfstatat, -1, 0, 0, 0, 0, 0},
    {SYS_statfs, 0, 0, 0, 0, 0, 0},
    {SYS_fstatfs, -1, 0, 0, 0, 0, 0},
    {SYS_fallocate, -1, 0, 0, 4096, 0, 0},
    {SYS_ftruncate, -1, 0, 0, 0, 0, 0},
    {SYS_faccessat, AT_FDCWD, 0, 4, 0, 0, 0},
    {SYS_fgetxattr, -1, 0, 0, 0, 0, 0},
    {SYS_readlink, 0, 0, 0, 0, 0, 0},
    {SYS_mkdir, 0, 0700, 0, 0, 0, 0},
    {SYS_rename, 0, 0, 0, 0, 0, 0},
    {SYS_symlink, 0, 0, 0, 0, 0, 0},
    {SYS_link, 0, 0, 0, 0, 0, 0},
    {SYS_unlink, 0, 0, 0, 0, 0, 0},
    {SYS_getcwd, 0, 0, 0, 0, 0, 0},
    {SYS_getdents64, -1, 0, 0, 0, 0, 0},
    {SYS_clock_gettime, CLOCK_MONOTONIC, 0, 0, 0, 0, 0},
    {SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, 0, 0, 0, 0, 0},
    {SYS_nanosleep, 0, 0, 0, 0, 0, 0},
    {SYS_sched_yield, 0, 0, 0, 0, 0, 0},
    {SYS_getrandom, 0, 0, 1, 0, 0, 0},
    {SYS_getrusage, RUSAGE_SELF, 0, 0, 0, 0, 0},
    {SYS_getrusage, 1 /* RUSAGE_THREAD */, 0, 0, 0, 0, 0},
    {SYS_prlimit64, 0, RLIMIT_FSIZE, 0, 0, 0, 0},
    {SYS_uname, 0, 0, 0, 0, 0, 0},
    {SYS_getpid, 0, 0, 0, 0, 0, 0},
    {SYS_getppid, 0, 0, 0, 0, 0, 0},
    {SYS_gettid, 0, 0, 0, 0, 0, 0},
    {SYS_getuid, 0, 0, 0, 0, 0, 0},
    {SYS_geteuid, 0, 0, 0, 0, 0, 0},
    {SYS_getegid, 0, 0, 0, 0, 0, 0},
    {SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0},
    {SYS_prctl, PR_GET_TSC, 0, 0, 0, 0, 0},
    {SYS_prctl, PR_GET_NAME, 0, 0, 0, 0, 0},
    {SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0},
    {SYS_rt_sigprocmask, 0, 0, 0, 8, 0, 0},
    {SYS_rt_sigprocmask, 2, 0, 0, 8, 0, 0},
    {SYS_rt_sigprocmask, -1, 0, 0, 8, 0, 0},
    {SYS_tgkill, -1, -1, 0, 0, 0, 0},
    {SYS_futex, 0, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, 0, 0},
    {SYS_process_vm_readv, -1, 0, 0, 0, 0, 0},
    {SYS_getsockname, -1, 0, 0, 0, 0, 0},
    {SYS_getpeername, -1, 0, 0, 0, 0, 0},
    {SYS_getsockopt, -1, SOL_SOCKET, SO_DOMAIN, 0, 0, 0},
    {SYS_clone, CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | CLONE_THREAD /* not without CLONE_SIGHAND */, 0, 0, 0, 0, 0},
};
#define N_CALLS (sizeof calls / sizeof *calls)

/* Shared with the child. */
struct trial {
    volatile pt_u32 n_made;
};

/* What ends here is not to leave a core file, nor a report of the system's. */
static void make_calls(struct trial *trial)
{
    static const struct rlimit none;
    pt_syscall4(SYS_prlimit64, 0, RLIMIT_CORE, &none, 0);
    pt_syscall6(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
    for (pt_u32 i = 0; i < N_CALLS; i++) {
        const struct call *call = &calls[i];
        pt_syscall6(call->number, call->a, call->b, call->c, call->d, call->e, call->f);
        trial->n_made = i + 1;
    }
    for (;;)
        pt_syscall1(SYS_exit_group, 0);
}

/* The parent waits until the child has ended (CLONE_VFORK), without a call; where it must not collect it, it stays a
 * zombie that no wait() of the program sees. */
static int is_all_allowed(void)
{
    struct trial *trial = pt_sys_map(4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!trial)
        return 0;
    const long pid = pt_syscall6(SYS_clone, CLONE_VFORK | CLONE_UNTRACED, 0, 0, 0, 0, 0);
    if (pid == 0)
        make_calls(trial);
    const pt_u32 n_made = trial->n_made;
    if (pid > 0 && n_made)
        pt_syscall4(SYS_wait4, pid, 0, __WALL, 0);
    pt_syscall2(SYS_munmap, trial, 4096);
    return n_made == N_CALLS;
}

enum pt_filtered pt_inherited_filter(void)
{
    struct status own;
    if (read_status("/proc/self/status", &own) < 0) /* there is no other way to ask */
        return pt_syscall6(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) > 0 ? PT_FILTERED : PT_FILTERED_NOT;
    if (own.mode == SECCOMP_MODE_DISABLED)
        return PT_FILTERED_NOT;
    pt_n_filters = own.filters;
    if (own.filters && pt_options.filters == own.filters) /* a parent, under the same filters, has tried them */
        return PT_FILTERED_BUT_MAY;
    return may_make_child(&own) && is_all_allowed() ? PT_FILTERED_BUT_MAY : PT_FILTERED;
}
