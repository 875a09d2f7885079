/* SPDX-License-Identifier: MIT
 *
 * F1: a thread that has done nothing yet when the sandbox closes. The filter kills at any system call but those that
 * the thread itself makes: what the library cannot record it must leave, without a system call.
 */
#include "host.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int gate, arrived;

static void *late(void *unused)
{
    (void)unused;
    __atomic_store_n(&arrived, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        ;
    void *blocks[64];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 64; i++)
            blocks[i] = malloc(100 + i);
        for (int i = 0; i < 64; i++)
            free(blocks[i]);
    }
    write(1, "alive\n", 6);
    syscall(SYS_exit_group, 0);
    return NULL;
}

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_futex),
        ALLOW(SYS_mmap), /* malloc's: a heap for the thread */
        ALLOW(SYS_munmap),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_brk),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_madvise),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_rseq),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    pthread_t thread;
    pthread_create(&thread, NULL, late, NULL);
    while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE))
        ;
    printf("trace: lost >= 0\n");
    fflush(stdout);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        return 1;
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    for (;;)
        ;
}
