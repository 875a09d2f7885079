/* SPDX-License-Identifier: MIT
 *
 * T39b for names: numbers that are closed and taken again, copied over, handed to another process, or changed by a
 * vfork child never carry the name of what they were.
 */
#include "host.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un there = {.sun_family = AF_UNIX, .sun_path = "server"};

static void hand_over(int through, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0}, byte = 'f';
    struct iovec vector = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    MUST(sendmsg(through, &message, 0) == 1);
}

static int take_over(int through)
{
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int fd = -1;
    if (recvmsg(through, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* The child of vfork opens and connects in its own table of numbers, but in our memory. */
static void borrow(int listener)
{
    const int before = dup(1);
    close(before);
    const pid_t child = vfork();
    if (child == 0) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        int ends[2];
        _exit(fd != before || connect(fd, (struct sockaddr *)&there, sizeof there) || pipe(ends) != 0);
    }
    MUST(wait_for(child) == 0);
    close(accept(listener, NULL, NULL));
    const int null = open("/dev/null", O_RDWR);
    MUST(null == before && write(null, "12", 2) == 2);
    close(null);
}

int main(void)
{
    int pair[2], ends[2];
    char bytes[4];
    unlink("server");
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    MUST(bind(listener, (struct sockaddr *)&there, sizeof there) == 0 && listen(listener, 5) == 0);
    for (int i = 0; i < 50; i++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        MUST(connect(fd, (struct sockaddr *)&there, sizeof there) == 0);
        const int other = accept(listener, NULL, NULL);
        MUST(send(fd, "1", 1, 0) == 1 && read(other, bytes, 1) == 1);
        const int null = open("/dev/null", O_RDWR);
        MUST(dup2(null, fd) == fd && write(fd, "1", 1) == 1); /* the connection is gone from this number */
        MUST(dup2(other, null) == null && read(null, bytes, 1) == 0);
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        hand_over(pair[0], other);
        const int taken = take_over(pair[1]);
        MUST(taken >= 0 && recv(taken, bytes, 1, 0) == 0);
        MUST(pipe(ends) == 0 && write(ends[1], "1", 1) == 1);
        const int all[] = {fd, other, null, pair[0], pair[1], taken, ends[0], ends[1]};
        for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
            MUST(close(all[k]) == 0);
        borrow(listener);
    }
    unlink("server");
    trace_must("fd_path:unix server:net_send", "==", 50);
    trace_must("fd_path:/dev/null:io_write", "==", 100);
    trace_must("fd_path:):io_read", "==", 100);
    trace_must("fd_path:):net_receive", "==", 50);
    return host_broken;
}
