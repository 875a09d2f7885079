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
    for (int i = 0; i < 400 && state_of(pid) != 'D'; i++)
        sleep_ms(1);
    struct pt_look_process process = {.pid = (pt_u32)pid, .seen_by = (pt_u32)pid};
    struct pt_look_thread thread = {.tid = (pt_u32)pid, .process = &process};
    struct pt_registers registers = {.stack = stack};
    pt_u64 stopped_ns;
    assert_false(pt_registers_of_stopped(&thread, &registers, nothing, NULL, &stopped_ns));
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lets_go_of_what_does_not_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
