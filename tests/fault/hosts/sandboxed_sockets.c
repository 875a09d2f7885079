/* SPDX-License-Identifier: MIT
 *
 * F1: sockets and waits behind a filter that kills at any system call but those that the program itself makes: what
 * the library would like to ask (who is the peer, which inode) it must not.
 */
#include "host.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void close_sandbox(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_socket),
        ALLOW(SYS_connect),
        ALLOW(SYS_accept),
        ALLOW(SYS_pipe),
        ALLOW(SYS_pipe2),
        ALLOW(SYS_socketpair),
        ALLOW(SYS_poll),
        ALLOW(SYS_sendto),
        ALLOW(SYS_recvfrom),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_close),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(void)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof there;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    MUST(bind(listener, (struct sockaddr *)&there, bytes) == 0 && listen(listener, 5) == 0);
    MUST(getsockname(listener, (struct sockaddr *)&there, &bytes) == 0);
    printf("trace: lost >= 0\n");
    fflush(stdout);
    close_sandbox();
    for (int i = 0; i < 3; i++) {
        int pair[2], ends[2];
        char text[8];
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        MUST(connect(fd, (struct sockaddr *)&there, sizeof there) == 0);
        const int other = accept(listener, NULL, NULL);
        struct pollfd one = {other, POLLIN, 0};
        MUST(send(fd, "1234", 4, 0) == 4 && poll(&one, 1, -1) == 1 && recv(other, text, 8, 0) == 4);
        MUST(pipe(ends) == 0 && write(ends[1], "12", 2) == 2 && read(ends[0], text, 8) == 2);
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && send(pair[0], "1", 1, 0) == 1);
        close(fd);
        close(other);
    }
    write(1, "alive\n", 6);
    syscall(SYS_exit_group, host_broken);
}
