/* SPDX-License-Identifier: MIT
 *
 * What the library finds behind itself by reading symbol tables is what dlsym(RTLD_NEXT) finds:
 * preload/core/real/next.h.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../preload/core/real/next.c"
#include "../../preload/core/real/symbol_table.c"

static void functions_are_those_of_dlsym(void **state_of_test)
{
    static const char *const names[] = {"malloc",
                                        "free",
                                        "read",
                                        "write",
                                        "open64",
                                        "__open64_2",
                                        "close",
                                        "execve",
                                        "posix_spawn",
                                        "fork",
                                        "_Fork",
                                        "pthread_mutex_lock",
                                        "memcpy",
                                        "strlen",
                                        "gettimeofday",
                                        "time",
                                        "clock_nanosleep",
                                        "pthread_cond_wait",
                                        "fopen",
                                        "fclose",
                                        "realpath",
                                        "regexec",
                                        "sched_getaffinity",
                                        "posix_memalign",
                                        "_exit",
                                        "syscall",
                                        "clone",
                                        "dlsym",
                                        "dlopen",
                                        "getaddrinfo",
                                        "_dl_find_object",
                                        "__tls_get_addr",
                                        "no_such_function",
                                        "",
                                        "main"};
    (void)state_of_test;
    assert_int_equal(pt_next_prepare(), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pt_next_find(names[i], 0) != dlsym(RTLD_NEXT, names[i]))
            fail_msg("%s: %p, dlsym: %p", names[i], pt_next_find(names[i], 0), dlsym(RTLD_NEXT, names[i]));
}

static void data_is_no_function(void **state_of_test)
{
    (void)state_of_test;
    assert_int_equal(pt_next_prepare(), 0);
    assert_null(pt_next_find("environ", 0));
    assert_null(pt_next_find("errno", 0));
}

static void versions_are_those_of_dlvsym(void **state_of_test)
{
    static const struct {
        const char *name, *version;
    } rows[] = {
        {"pthread_cond_wait", "GLIBC_2.2.5"},
        {"pthread_cond_wait", "GLIBC_2.3.2"},
        {"realpath", "GLIBC_2.2.5"},
        {"realpath", "GLIBC_2.3"},
        {"regexec", "GLIBC_2.2.5"},
        {"regexec", "GLIBC_2.3.4"},
        {"__pthread_mutex_lock", "GLIBC_2.2.5"},
        {"memcpy", "GLIBC_2.2.5"},
        {"memcpy", "GLIBC_2.14"},
        {"read", "GLIBC_2.2.5"},
        {"read", "GLIBC_2.3"},
        {"read", "NO_SUCH_1.0"},
    };
    (void)state_of_test;
    assert_int_equal(pt_next_prepare(), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pt_next_find(rows[i].name, rows[i].version) != dlvsym(RTLD_NEXT, rows[i].name, rows[i].version))
            fail_msg("%s@%s", rows[i].name, rows[i].version);
}

/* Variables, too, and what the program has a copy of. */
static void names_of_libc_are_bound_as_its_own(void **state_of_test)
{
    static const char *const names[] = {"__libc_single_threaded", "__x86_get_cpuid_feature_leaf", "stdout", "fclose",
                                        "no_such_function"};
    (void)state_of_test;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pt_next_find_of_libc(names[i]) != dlsym(RTLD_DEFAULT, names[i]))
            fail_msg("%s: %p, dlsym: %p", names[i], pt_next_find_of_libc(names[i]), dlsym(RTLD_DEFAULT, names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_dlsym), cmocka_unit_test(data_is_no_function),
        cmocka_unit_test(versions_are_those_of_dlvsym), cmocka_unit_test(names_of_libc_are_bound_as_its_own)};
    return cmocka_run_group_tests(tests, 0, 0);
}
