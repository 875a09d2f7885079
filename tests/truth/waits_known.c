/* SPDX-License-Identifier: MIT
 *
 * waits_known.c - waits of a tenth of a second, each timed by the program itself. Prints "EVENT nanoseconds" for each,
 * in the order in which they end.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 100 };
static int failures;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

#define TIMED(event, call)                                                                                             \
    do {                                                                                                               \
        const int64_t before_ns = now_ns();                                                                            \
        const int good = (call);                                                                                       \
        printf("%s %lld\n", event, (long long)(now_ns() - before_ns));                                                 \
        failures += !good;                                                                                             \
    } while (0)

/* A child that waits a tenth of a second, then answers on its connection and ends. */
static pid_t slow_client(const struct sockaddr_in *address)
{
    const pid_t child = fork();
    if (child)
        return child;
    const struct timespec tenth = {0, MS * 1000000};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    nanosleep(&tenth, NULL);
    if (connect(fd, (const struct sockaddr *)address, sizeof *address))
        _exit(1);
    nanosleep(&tenth, NULL);
    if (send(fd, "late", 4, 0) != 4)
        _exit(2);
    nanosleep(&tenth, NULL);
    _exit(3);
}

static void network(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    failures += bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 1) ||
                getsockname(listener, (struct sockaddr *)&address, &bytes);
    const pid_t child = slow_client(&address);
    char text[8];
    int fd, status = 0;
    TIMED("net_accept", (fd = accept(listener, NULL, NULL)) >= 0);
    TIMED("net_receive", recv(fd, text, sizeof text, 0) == 4);
    TIMED("wait_child", waitpid(child, &status, 0) == child);
    failures += WEXITSTATUS(status) != 3;
}

/* Queues and semaphores of the kernel, to which a child gives after a tenth of a second. */
static mqd_t queue;
static int messages, set, counter, file;
static struct {
    long type;
    char text[8];
} message = {1, "late"};

static int give(int which)
{
    switch (which) {
    case 0:
        return mq_send(queue, "late", 4, 0);
    case 1:
        return msgsnd(messages, &message, 4, 0);
    case 2:
        return semop(set, &(struct sembuf){0, 1, 0}, 1);
    case 3:
        return eventfd_write(counter, 1);
    default:
        return 0;
    }
}

static void give_later(int which)
{
    const struct timespec tenth = {0, MS * 1000000};
    int ready[2];
    char byte;
    failures += pipe(ready);
    if (fork()) {
        failures += read(ready[0], &byte, 1) != 1;
        close(ready[0]);
        close(ready[1]);
        return;
    }
    const int own_file = open("locked", O_CREAT | O_RDWR, 0600);
    if (which == 4 && flock(own_file, LOCK_EX))
        _exit(1);
    if (write(ready[1], "x", 1) != 1)
        _exit(1);
    nanosleep(&tenth, NULL);
    _exit(give(which) != 0);
}

static void other_processes(void)
{
    struct mq_attr sizes = {.mq_maxmsg = 4, .mq_msgsize = 8};
    char name[32], text[8];
    eventfd_t value;
    snprintf(name, sizeof name, "/waits_known.%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &sizes);
    mq_unlink(name);
    messages = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    counter = eventfd(0, 0);
    file = open("locked", O_CREAT | O_RDWR, 0600);
    give_later(0);
    TIMED("wait_message", mq_receive(queue, text, sizeof text, NULL) == 4);
    give_later(1);
    TIMED("wait_message", msgrcv(messages, &message, sizeof message.text, 0, 0) == 4);
    give_later(2);
    TIMED("lock_semop", semop(set, &(struct sembuf){0, -1, 0}, 1) == 0);
    give_later(3);
    TIMED("io_read", eventfd_read(counter, &value) == 0);
    give_later(4);
    TIMED("io_lock", flock(file, LOCK_EX) == 0);
    FILE *command = popen("sleep 0.1", "r");
    TIMED("wait_child", pclose(command) == 0);
    msgctl(messages, IPC_RMID, NULL);
    semctl(set, 0, IPC_RMID);
}

int main(void)
{
    const struct timespec tenth = {0, MS * 1000000};
    struct timeval same = {0, MS * 1000};
    struct epoll_event events[1];
    sigset_t signals;
    int ends[2];
    sigemptyset(&signals);
    failures += pipe(ends);
    struct pollfd never = {ends[0], POLLIN, 0};
    const int epoll = epoll_create1(0);
    TIMED("wait_poll", poll(&never, 1, MS) == 0);
    TIMED("wait_poll", select(0, NULL, NULL, NULL, &same) == 0);
    fd_set watched;
    FD_ZERO(&watched);
    FD_SET(ends[0], &watched);
    same.tv_usec = MS * 1000;
    TIMED("wait_poll", select(ends[0] + 1, &watched, NULL, NULL, &same) == 0);
    FD_SET(ends[0], &watched);
    TIMED("wait_poll", pselect(ends[0] + 1, &watched, NULL, NULL, &tenth, NULL) == 0);
    FD_SET(ends[0], &watched); /* more than it has to: which one it waits for is not known */
    TIMED("wait_poll", pselect(FD_SETSIZE, &watched, NULL, NULL, &tenth, NULL) == 0);
    TIMED("wait_poll", epoll_wait(epoll, events, 1, MS) == 0);
    TIMED("wait_sleep", nanosleep(&tenth, NULL) == 0);
    TIMED("wait_sleep", usleep(MS * 1000) == 0);
    TIMED("wait_sleep", sleep(1) == 0);
    TIMED("wait_signal", sigtimedwait(&signals, NULL, &tenth) < 0);
    network();
    other_processes();
    return failures;
}
