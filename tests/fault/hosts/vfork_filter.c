/* SPDX-License-Identifier: MIT
 *
 * F1: a vfork child locks itself in and starts a program, as service managers do. The filter is the child's alone: all
 * that its parent does afterwards is recorded. The filter kills at what the library would ask in the child.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define READS 300
#define KILL(number)                                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void *read_files(void *unused)
{
    char byte;
    for (int i = 0; i < READS; i++) {
        const int fd = open("/dev/zero", O_RDONLY);
        MUST(read(fd, &byte, 1) == 1);
        close(fd);
    }
    return unused;
}

static volatile int is_in_sandbox, has_ended;

static void *end_by_number(void *unused)
{
    while (!is_in_sandbox)
        ;
    has_ended = 1;
    syscall(SYS_exit, 0);
    return unused;
}

/* Enough descriptors that the library would ask who opens them. */
static void go_on_beside_its_end(void)
{
    is_in_sandbox = 1;
    while (!has_ended)
        ;
    for (volatile long spin = 0; spin < 20000000; spin++)
        ;
    for (int i = 0; i < READS; i++)
        close(open("/dev/null", O_RDONLY));
}

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(SYS_getpid),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    (void)argv;
    const int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_RDONLY);
    char byte;
    pthread_t thread;
    if (argc > 2)
        MUST(pthread_create(&thread, NULL, end_by_number, NULL) == 0 && pthread_detach(thread) == 0);
    const pid_t pid = vfork();
    if (!pid) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(1);
        dup2(null, zero); /* its own: the parent's is as it was */
        if (argc > 2)
            go_on_beside_its_end();
        if (argc == 2) /* its first exec fails */
            execl("/nowhere/true", "true", NULL);
        execl("/bin/true", "true", NULL);
        _exit(2);
    }
    MUST(wait_for(pid) == 0);
    MUST(read(zero, &byte, 1) == 1);
    MUST(pthread_create(&thread, NULL, read_files, NULL) == 0 && pthread_join(thread, NULL) == 0);
    read_files(NULL);
    trace_must("fd_path:/dev/zero:io_read", "==", 2 * READS + 1);
    return host_broken;
}
