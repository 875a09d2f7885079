/* SPDX-License-Identifier: MIT
 *
 * A thread that is stopped to read its registers goes on, also one that does not stop in time: a parent of vfork waits
 * where no stop reaches it, for as long as its child likes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stacks/registers.h"
#include "util/small_file.h"

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static char state_of(pid_t pid)
{
    char text[512] = "";
    pt_small_file_peek(text, sizeof text, "/proc/%d/stat", pid);
    const char *end = strrchr(text, ')');
    return end ? end[2] : '?';
}

static void nothing(void *context)
{
    (void)context;
}

static void lets_go_of_what_does_not_stop(void **state)
{
    (void)state;
    static pt_u8 stack[PT_STACK_BYTES];
    const pid_t pid = fork();
    if (!pid) {
        const pid_t child = vfork();
        if (!child) {
            sleep_ms(2000);
            _exit(0);
        }
        _exit(7);
    }
    for (int i = 0; i < 4000 && state_of(pid) != 'D'; i++)
        sleep_ms(1);
    if (state_of(pid) != 'D') { /* ThreadSanitizer makes fork of vfork */
        waitpid(pid, NULL, 0);
        skip();
    }
    struct pt_look_process process = {.pid = (pt_u32)pid, .seen_by = (pt_u32)pid};
    struct pt_look_thread thread = {.tid = (pt_u32)pid, .process = &process};
    struct pt_registers registers = {.stack = stack};
    struct pt_stop_times times;
    assert_false(pt_registers_of_stopped(&thread, &registers, nothing, NULL, &times));
    assert_int_equal(errno, ETIMEDOUT);
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 10000 && !ended; i++, sleep_ms(1))
        ended = waitpid(pid, &status, WNOHANG);
    if (!ended)
        kill(pid, SIGKILL);
    assert_int_equal(ended, pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

/* How a child that reads from `fd` ends when it was stopped: 0 = it reads on until it has a byte, else errno. */
static int read_when_stopped(const int fds[2], bool *ret_is_disturbed)
{
    static pt_u8 stack[PT_STACK_BYTES];
    const pid_t pid = fork();
    if (!pid) {
        char byte;
        _exit(read(fds[0], &byte, 1) == 1 ? 0 : errno);
    }
    struct pt_look_process process = {.pid = (pt_u32)pid, .seen_by = (pt_u32)pid};
    struct pt_look_thread thread = {.tid = (pt_u32)pid, .process = &process, .call = -1};
    struct pt_registers registers = {.stack = stack};
    struct pt_stop_times times;
    for (int i = 0; i < 4000 && thread.call != SYS_read; i++, sleep_ms(1))
        (void)pt_registers_of_waiting(&thread, &registers);
    *ret_is_disturbed = pt_is_disturbed_by_stops(&thread);
    /* Beside others it may not be given a CPU in time. One that a late stop disturbs ends before the next try. */
    bool is_stopped = false;
    for (int i = 0; i < 50 && !is_stopped && state_of(pid) != 'Z'; i++)
        is_stopped = pt_registers_of_stopped(&thread, &registers, nothing, NULL, &times);
    assert_true(is_stopped || state_of(pid) == 'Z');
    sleep_ms(50);
    int status = 0;
    assert_int_equal(write(fds[1], "", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_socket_with_a_timeout_is_not_read_on(void **state)
{
    (void)state;
    const struct timeval minute = {.tv_sec = 60};
    int socket[2], ends[2];
    bool is_disturbed;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socket), 0);
    assert_int_equal(setsockopt(socket[0], SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute), 0);
    assert_int_equal(read_when_stopped(socket, &is_disturbed), EINTR);
    assert_true(is_disturbed);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(read_when_stopped(ends, &is_disturbed), 0);
    assert_false(is_disturbed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lets_go_of_what_does_not_stop),
                                       cmocka_unit_test(a_socket_with_a_timeout_is_not_read_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
