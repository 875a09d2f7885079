/* SPDX-License-Identifier: MIT
 *
 * raw_syscall.c - the hook of syscall(), for the system calls of files.
 *
 * Entered by any thread. A program that makes a file call by number (libuv: close and statx; Rust: copy_file_range,
 * statx) means the same call as by name, so it is the same event, and a descriptor that it closed must not keep the
 * name of its old file. seccomp is seen before it takes effect, and so is what takes the trace file out of reach; an
 * end by number is an end. Never delays other numbers by more than a look into a table: memory allocators use some when
 * they start.
 */
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "hooks/hook.h"
#include "hooks/process/credentials.h"
#include "hooks/process/exec.h"
#include "file_io.h"
#include "metadata.h"
#include "sandbox.h"

PT_REAL(long, syscall, (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))

#define NUMBERS 512
enum { LANDLOCK_RESTRICT_SELF = 446 }; /* Linux 5.13: older headers do not have it */
enum { PASSES, IS_RECORDED, LEAVES_FILES, ENDS, BECOMES };
__attribute__((used)) static const pt_u8 what_to_do[NUMBERS] = {
    [SYS_close] = IS_RECORDED,
    [SYS_seccomp] = IS_RECORDED,
    [SYS_prctl] = IS_RECORDED,
    [SYS_setuid] = LEAVES_FILES,
    [SYS_setreuid] = LEAVES_FILES,
    [SYS_setresuid] = LEAVES_FILES,
    [SYS_chroot] = LEAVES_FILES,
    [SYS_pivot_root] = LEAVES_FILES, /* libc has no function for it */
    [SYS_mount] = LEAVES_FILES,
    [SYS_move_mount] = LEAVES_FILES,
    [SYS_setns] = LEAVES_FILES,
    [SYS_setfsuid] = LEAVES_FILES,
    [LANDLOCK_RESTRICT_SELF] = LEAVES_FILES,
    [SYS_exit_group] = ENDS,
    [SYS_exit] = ENDS,
    [SYS_execve] = BECOMES,
    [SYS_execveat] = BECOMES,
#define RAW(number, record) [SYS_##number] = IS_RECORDED,
#include "file_io_raw.def"
#include "metadata_raw.def"
#undef RAW
};

/* The names of streams depend on these, also where only streams are recorded. */
static const pt_u8 changes_names[NUMBERS] = {
    [SYS_close] = 1, [SYS_close_range] = 1, [SYS_dup] = 1, [SYS_dup2] = 1, [SYS_dup3] = 1,
};

static int is_followed(long number)
{
    return pt_switches.io || (pt_switches.stdio && changes_names[number]);
}

static long recorded_close(long number, long fd)
{
    const pt_u32 path = pt_fd_forget((int)fd);
    const pt_u64 start = pt_clock();
    const long ret = real_syscall(number, fd, 0, 0, 0, 0, 0);
    if (pt_switches.io)
        pt_spent(PT_EV_io_close, start, pt_clock(), (pt_i32)fd, pt_result_and(ret, path), 0);
    return ret;
}

static long recorded_seccomp(long operation, long flags, long argument, long d, long e, long f)
{
    const struct pt_sandbox sandbox = pt_sandbox_seccomp(operation);
    const long ret = real_syscall(SYS_seccomp, operation, flags, argument, d, e, f);
    const int is_descriptor = operation == SECCOMP_SET_MODE_FILTER && flags & SECCOMP_FILTER_FLAG_NEW_LISTENER;
    /* Refused; or, with TSYNC, the id of a thread that could not be included. */
    pt_sandbox_answered(&sandbox, is_descriptor ? ret < 0 : ret != 0);
    return ret;
}

static long recorded_prctl(long option, long a, long b, long c, long d, long e)
{
    const struct pt_sandbox sandbox = pt_sandbox_prctl((int)option, a);
    const long ret = real_syscall(SYS_prctl, option, a, b, c, d, e);
    pt_sandbox_answered(&sandbox, ret != 0);
    return ret;
}

__attribute__((used)) static long watched_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_seccomp)
        return recorded_seccomp(a, b, c, d, e, f);
    if (number == SYS_prctl)
        return recorded_prctl(a, b, c, d, e, f);
    if (what_to_do[number] == ENDS) {
        pt_exiting_by_number(number == SYS_exit_group, (int)a);
        return real_syscall(number, a, b, c, d, e, f);
    }
    if (what_to_do[number] == BECOMES)
        pt_becoming_by_number();
    if (what_to_do[number] == LEAVES_FILES)
        pt_leaving_files();
    if (what_to_do[number] == BECOMES || what_to_do[number] == LEAVES_FILES || !is_followed(number))
        return real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_close)
        return recorded_close(number, a);
    struct pt_raw_call call = {.number = number, .arguments = {a, b, c, d, e, f}, .start = pt_clock()};
    call.ret = real_syscall(number, a, b, c, d, e, f);
    call.end = pt_clock();
    pt_io_made(&call);
    pt_meta_made(&call);
    return call.ret;
}

/* syscall() itself must not have a frame: fork and clone made through it return twice, and the child of clone may
 * have another stack. Comparisons and a jump leave registers and stack unchanged; any function may use r11. */
PT_EXPORT long hook_syscall(void) __asm__("syscall");
_Static_assert(NUMBERS == 512, "named in the assembly below");
__attribute__((naked)) long hook_syscall(void)
{
    __asm__("cmpq $511, %rdi\n\t"
            "ja 1f\n\t"
            "leaq what_to_do(%rip), %r11\n\t"
            "cmpb $0, (%r11, %rdi)\n\t"
            "jne watched_syscall\n"
            "1:\tjmp *real_syscall(%rip)");
}

/* After the core's constructor (101): the stub that finds a function has a frame, too. */
__attribute__((constructor(102))) static void find_syscall(void)
{
    PT_RESOLVE(syscall);
}
