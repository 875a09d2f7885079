/* SPDX-License-Identifier: MIT
 *
 * F1: a program sets up a filter that kills at any call but those that it makes itself. argv[1]: listener (the kernel
 * gives a descriptor for it, which is no refusal), by-number (through syscall()), or by-name; argv[2]: late = after
 * many events. With NO_COUNTER the
 * library hears that the processor has no invariant counter: then it has no clock that needs no call.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define WRITES 20000
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#ifdef NO_COUNTER
const void *__x86_get_cpuid_feature_leaf(unsigned leaf);
const void *__x86_get_cpuid_feature_leaf(unsigned leaf)
{
    static const unsigned none[16];
    (void)leaf;
    return none;
}
#endif

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    const char *way = argc > 1 ? argv[1] : "by-name";
    const int fd = open("/dev/null", O_WRONLY);
    MUST(write(fd, "12345678", 8) == 8);
    printf("trace: lost >= 0\ntrace: io_write >= 1\n");
    fflush(stdout);
    for (int i = 0; argc > 2 && i < 20 * WRITES; i++)
        if (write(fd, "12345678", 8) != 8)
            return 1;
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    const long done = !strcmp(way, "listener")
                          ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)
                      : !strcmp(way, "by-number") ? syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                                                  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    if (done < 0)
        return 77;
    for (int i = 0; i < WRITES; i++)
        if (write(fd, "12345678", 8) != 8)
            return 1;
    _exit(0);
}
