/* SPDX-License-Identifier: MIT
 * The names of signals and errors are those that glibc has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>

#include "util/text/posix_names.h"

static void test_names_are_those_of_libc(void **state)
{
    (void)state;
    for (int number = -1; number < 5000; number++) {
        const char *const signal_name = number > 0 && number < __SIGRTMIN ? sigabbrev_np(number) : NULL;
        const char *const error_name = number > 0 ? strerrorname_np(number) : NULL;
        assert_int_equal(!signal_name, !pt_signal_name(number));
        assert_int_equal(!error_name, !pt_error_name(number));
        if (signal_name)
            assert_string_equal(signal_name, pt_signal_name(number));
        if (error_name)
            assert_string_equal(error_name, pt_error_name(number));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names_are_those_of_libc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
