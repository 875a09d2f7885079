/* SPDX-License-Identifier: MIT
 *
 * F1: a filter that no hook sees: the program asks for it by an instruction of its own, as static runtimes do. From
 * then on each call that the program does not make itself kills. It goes on for long: buffers are full, threads and
 * descriptors are new to the library. argv[1]: one thread or all of them; argv[2]: kill, or refuse with ENOSYS.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define READS 100000

static int has_started, gate, is_done, zero;

static long call(long number, long a, long b, long c, long d, long e)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

static void read_bytes(void)
{
    char byte;
    for (int i = 0; i < READS; i++)
        if (pread(zero, &byte, 1, i) != 1)
            abort();
    const int other = dup(zero);
    MUST(read(other, &byte, 1) == 1);
    close(other);
}

static void *late(void *unused)
{
    __atomic_store_n(&has_started, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
        ;
    read_bytes();
    __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
    for (;;) /* its end would need more calls */
        ;
    return unused;
}

#define DENY(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, deny)

int main(int argc, char **argv)
{
    const int is_for_all = argc > 1 && !strcmp(argv[1], "all");
    const unsigned deny =
        argc > 2 && !strcmp(argv[2], "refuse") ? SECCOMP_RET_ERRNO | ENOSYS : SECCOMP_RET_KILL_PROCESS;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        DENY(SYS_open),
        DENY(SYS_openat),
        DENY(SYS_clone),
        DENY(SYS_memfd_create),
        DENY(SYS_fallocate),
        DENY(SYS_fstatfs),
        DENY(SYS_getrusage),
        DENY(SYS_rt_sigprocmask),
        DENY(SYS_getpid),
        DENY(SYS_gettid),
        DENY(SYS_tgkill),
        DENY(SYS_readlink),
        DENY(SYS_prlimit64),
        DENY(SYS_wait4),
        DENY(SYS_mmap),
        DENY(SYS_munmap),
        DENY(SYS_madvise),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    pthread_t thread;
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    pthread_create(&thread, NULL, late, NULL);
    while (!__atomic_load_n(&has_started, __ATOMIC_ACQUIRE))
        ;
    printf("trace: lost >= 0\n");
    printf("trace: lost <= %d\n", 3 * READS);
    fflush(stdout);
    call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    MUST(call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, is_for_all ? SECCOMP_FILTER_FLAG_TSYNC : 0, (long)&program, 0, 0) ==
         0);
    read_bytes();
    alloc_pairs(1000, 600);
    if (is_for_all) {
        __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
            ;
    }
    puts("alive");
    fflush(stdout);
    call(SYS_exit_group, host_broken, 0, 0, 0, 0);
}
