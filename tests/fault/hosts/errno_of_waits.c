/* SPDX-License-Identifier: MIT
 *
 * T15 for waits and sockets: errno after success is what it was before; errno after failure is the kernel's. Addresses
 * that nobody can read are the kernel's to refuse. Thousands of rounds, so that the slow paths come by too.
 */
#include "host.h"

#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define KEEPS(call)                                                                                                    \
    do {                                                                                                               \
        errno = 77;                                                                                                    \
        MUST((call) && errno == 77);                                                                                   \
    } while (0)
#define FAILS(call, code)                                                                                              \
    do {                                                                                                               \
        errno = 77;                                                                                                    \
        MUST((call) && errno == (code));                                                                               \
    } while (0)

static struct sockaddr_in there = {.sin_family = AF_INET};
static int listener;
static void *volatile nowhere = (void *)8; /* volatile: the compiler would warn */
enum { ROUNDS = 1500 };

static int made_set, made_queue;

static void remove_between(void)
{
    semctl(made_set, 0, IPC_RMID);
    msgctl(made_queue, IPC_RMID, NULL);
}

static void waits(void)
{
    int ends[2], status;
    struct timespec nothing = {0, 0}, wrong = {0, -1};
    struct timeval never = {0, 0};
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t set;
    sigemptyset(&set);
    KEEPS(pipe(ends) == 0);
    struct pollfd one = {ends[1], POLLOUT, 0}, closed = {1000000, POLLIN, 0};
    const int epoll = epoll_create1(0);
    MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    KEEPS(poll(&one, 1, -1) == 1);
    KEEPS(poll(&closed, 1, -1) == 1 && closed.revents == POLLNVAL);
    KEEPS(poll(NULL, 0, 0) == 0);
    KEEPS(ppoll(&one, 1, &nothing, &set) == 1);
    KEEPS(select(0, NULL, NULL, NULL, &never) == 0);
    KEEPS(epoll_wait(epoll, &event, 1, 0) == 0);
    KEEPS(nanosleep(&nothing, NULL) == 0);
    KEEPS(clock_nanosleep(CLOCK_MONOTONIC, 0, &nothing, NULL) == 0);
    KEEPS(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) == EINVAL);
    FAILS(poll(nowhere, 1, 0) < 0, EFAULT);
    FAILS(select(1, nowhere, NULL, NULL, &never) < 0, EFAULT);
    FAILS(select(-1, NULL, NULL, NULL, &never) < 0, EINVAL);
    FAILS(epoll_wait(ends[0], &event, 1, 0) < 0, EINVAL);
    FAILS(epoll_wait(-1, &event, 1, 0) < 0, EBADF);
    FAILS(nanosleep(&wrong, NULL) < 0, EINVAL);
    FAILS(nanosleep(nowhere, NULL) < 0, EFAULT);
    FAILS(sigtimedwait(&set, NULL, &nothing) < 0, EAGAIN);
    FAILS(sigtimedwait(nowhere, NULL, &nothing) < 0, EFAULT);
    FAILS(wait(&status) < 0, ECHILD);
    FAILS(waitpid(-1, nowhere, WNOHANG) < 0, ECHILD);
    FAILS(wait4(1, NULL, 0, NULL) < 0, ECHILD);
    FAILS(waitid(P_ALL, 0, NULL, WEXITED) < 0, ECHILD);
    KEEPS(close(ends[0]) == 0 && close(ends[1]) == 0 && close(epoll) == 0);
}

/* Queues, semaphores and locks of the kernel; arguments that nobody can read are not looked at. */
static void between_processes(void)
{
    static int set = -1, queue = -1;
    struct sembuf give = {0, 1, 0}, take = {0, -1, IPC_NOWAIT};
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[16] = "";
    eventfd_t value = 1;
    if (set < 0) {
        MUST((set = semget(IPC_PRIVATE, 1, 0600)) >= 0 && (queue = msgget(IPC_PRIVATE, 0600)) >= 0);
        MUST(atexit(remove_between) == 0);
        made_set = set;
        made_queue = queue;
    }
    const int counter = eventfd(0, EFD_NONBLOCK);
    KEEPS(semop(set, &give, 1) == 0);
    KEEPS(semtimedop(set, &take, 1, NULL) == 0);
    FAILS(semop(set, &take, 1) < 0, EAGAIN);
    FAILS(semop(set, nowhere, 1) < 0, EFAULT);
    FAILS(semop(-1, &give, 1) < 0, EINVAL);
    FAILS(msgrcv(queue, text, 8, 0, IPC_NOWAIT) < 0, ENOMSG);
    FAILS(msgsnd(queue, nowhere, 8, 0) < 0, EFAULT);
    FAILS(mq_receive(-1, text, 8, NULL) < 0, EBADF);
    FAILS(mq_send(-1, nowhere, 8, 0) < 0, EBADF);
    KEEPS(eventfd_write(counter, 3) == 0);
    KEEPS(eventfd_read(counter, &value) == 0 && value == 3);
    FAILS(eventfd_read(counter, &value) < 0, EAGAIN);
    FAILS(fcntl(counter, F_SETLK, nowhere) < 0, EFAULT);
    FAILS(fcntl(-1, F_SETLKW, &lock) < 0, EBADF);
    FAILS(flock(-1, LOCK_EX) < 0, EBADF);
    KEEPS(close(counter) == 0);
}

static void refusals(int fd)
{
    char bytes[8];
    struct mmsghdr none = {0};
    FAILS(socket(-1, 0, 0) < 0, EAFNOSUPPORT);
    FAILS(pipe(nowhere) < 0, EFAULT);
    FAILS(pipe2(nowhere, -1) < 0, EINVAL);
    FAILS(socketpair(AF_INET, SOCK_STREAM, 0, (int *)bytes) < 0, EOPNOTSUPP);
    FAILS(connect(fd, nowhere, sizeof there) < 0, EFAULT);
    FAILS(connect(fd, (struct sockaddr *)&there, 1) < 0, EINVAL);
    FAILS(connect(-1, nowhere, sizeof there) < 0, EBADF);
    FAILS(bind(fd, nowhere, sizeof there) < 0, EFAULT);
    FAILS(accept(fd, NULL, NULL) < 0, EINVAL);
    FAILS(accept4(listener, NULL, NULL, -1) < 0, EINVAL);
    FAILS(recv(fd, bytes, 8, MSG_DONTWAIT) < 0, ENOTCONN);
    FAILS(send(-1, bytes, 8, 0) < 0, EBADF);
    FAILS(send(0, bytes, 8, 0) < 0, ENOTSOCK);
    FAILS(sendmsg(fd, nowhere, 0) < 0, EFAULT);
    FAILS(recvmmsg(-1, &none, 1, 0, NULL) < 0, EBADF);
    FAILS(shutdown(-1, SHUT_RD) < 0, EBADF);
}

static void sockets(void)
{
    char bytes[8] = "message";
    struct iovec vector = {bytes, sizeof bytes};
    struct mmsghdr two[2] = {{{.msg_iov = &vector, .msg_iovlen = 1}, 0}, {{.msg_iov = &vector, .msg_iovlen = 1}, 0}};
    int fd, other, pair[2];
    KEEPS((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0);
    refusals(fd);
    KEEPS(connect(fd, (struct sockaddr *)&there, sizeof there) == 0);
    KEEPS((other = accept(listener, NULL, NULL)) >= 0);
    FAILS(recv(fd, bytes, 8, MSG_DONTWAIT) < 0, EAGAIN);
    KEEPS(send(fd, bytes, 8, 0) == 8);
    KEEPS(recv(other, bytes, 8, MSG_WAITALL) == 8);
    KEEPS(shutdown(other, SHUT_WR) == 0);
    KEEPS(recv(fd, bytes, 8, 0) == 0);
    KEEPS(close(fd) == 0 && close(other) == 0);
    KEEPS(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    KEEPS(sendmmsg(pair[0], two, 2, 0) == 2);
    KEEPS(recvmmsg(pair[1], two, 2, 0, NULL) == 2);
    KEEPS(close(pair[0]) == 0 && close(pair[1]) == 0);
}

int main(void)
{
    socklen_t bytes = sizeof there;
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    MUST(bind(listener, (struct sockaddr *)&there, sizeof there) == 0 && listen(listener, 5) == 0);
    MUST(getsockname(listener, (struct sockaddr *)&there, &bytes) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        waits();
        between_processes();
        sockets();
    }
    struct addrinfo *found;
    MUST(getaddrinfo("no.such.name.invalid", NULL, NULL, &found) != 0);
    MUST(getaddrinfo("127.0.0.1", "80", NULL, &found) == 0);
    freeaddrinfo(found);
    trace_must("wait_poll", "==", ROUNDS * 11);
    trace_must("wait_poll.errors", "==", ROUNDS * 5);
    trace_must("wait_child.errors", "==", ROUNDS * 4);
    trace_must("net_send.bytes", "==", ROUNDS * 24);
    trace_must("net_receive.bytes", "==", ROUNDS * 24);
    trace_must("net_connect.errors", "==", ROUNDS * 3);
    trace_must("net_accept.errors", "==", ROUNDS * 2);
    trace_must("net_resolve.errors", "==", 1);
    return host_broken;
}
