/* SPDX-License-Identifier: MIT
 *
 * t_process_tree.c - whose memory a process runs in: its parent's between vfork and exec, its own after;
 * and what the kernel's line about it says.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clone */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/process_tree.h"
#include "util/process_stat.h"

#define LARGE_BYTES (32u << 20)

struct scene {
    struct pt_tree tree;
    int go[2];   /* the child becomes another program when this is closed */
    int gone[2]; /* end of file = it has become one */
    pid_t parent, child;
};

struct child_start {
    const struct scene *scene;
    int answer; /* its process id goes here */
};

/* In its parent's memory, as between vfork and exec, for as long as the test wants. */
static int lie_in_wait(void *of_start)
{
    const struct child_start *start = of_start;
    const pid_t own = getpid();
    char byte;
    if (write(start->answer, &own, sizeof own) == sizeof own && read(start->scene->go[0], &byte, 1) == 0)
        execl("/bin/sleep", "sleep", "100", (char *)NULL);
    _exit(127);
}

/* The parent: large, with a child in its memory. It stands still until the child is another program: two that ran in
 * one memory with one thread's data ended each other under ThreadSanitizer. Both end with the test. */
static _Noreturn void be_large(struct scene *scene, int answer)
{
    const struct child_start start = {.scene = scene, .answer = answer};
    char *stack = malloc(65536);
    /* Not malloc and memset, which a compiler takes out: then `sleep` was as large as this, now and then. */
    if (!stack || mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) ==
                      MAP_FAILED)
        _exit(1);
    close(scene->go[1]);
    clone(lie_in_wait, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)&start);
    close(scene->gone[1]);
    pause();
    _exit(1);
}

static int scene_begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct pt_error err;
    int answer[2];
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!scene || pt_tree_open(&scene->tree, &err) != 0 || pipe2(answer, O_CLOEXEC) || pipe2(scene->go, O_CLOEXEC) ||
        pipe2(scene->gone, O_CLOEXEC)) {
        free(scene);
        return -1;
    }
    pt_tree_scan(&scene->tree); /* whoever is there now is not of the stage */
    scene->parent = fork();
    if (scene->parent == 0)
        be_large(scene, answer[1]);
    close(answer[1]);
    close(scene->gone[1]);
    const bool has_child = read(answer[0], &scene->child, sizeof scene->child) == sizeof scene->child;
    close(answer[0]);
    *state = scene;
    return has_child && scene->child > 0 ? 0 : -1;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    kill(scene->child, SIGKILL);
    kill(scene->parent, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    pt_tree_close(&scene->tree);
    close(scene->go[0]);
    close(scene->gone[0]);
    free(scene);
    return 0;
}

static bool shares_memory(const struct scene *scene)
{
    const struct pt_tree_entry *entry = pt_tree_find(&scene->tree, scene->child);
    assert_non_null(entry);
    assert_int_equal(entry->ownership, PT_PROCESS_OURS);
    return pt_tree_shares_memory_of_parent(&scene->tree, entry);
}

static void let_it_become_another_program(struct scene *scene)
{
    char byte;
    close(scene->go[1]);
    assert_int_equal(read(scene->gone[0], &byte, 1), 0);
}

/* A busy machine let a child that one scan saw for the first time exec before it was asked about: its parent's memory
 * was counted twice. */
static void test_memory_read_before_exec_was_the_parents(void **state)
{
    struct scene *scene = *state;
    pt_tree_scan(&scene->tree);
    assert_true(shares_memory(scene));
    let_it_become_another_program(scene);
    assert_true(shares_memory(scene));
    pt_tree_scan(&scene->tree);
    assert_false(shares_memory(scene));
}

static void test_memory_read_before_the_end_was_the_parents(void **state)
{
    struct scene *scene = *state;
    pt_tree_scan(&scene->tree);
    pt_tree_scan(&scene->tree); /* its file is kept open now */
    assert_true(shares_memory(scene));
    kill(scene->child, SIGKILL);
    close(scene->go[1]);
    char byte;
    assert_int_equal(read(scene->gone[0], &byte, 1), 0);
    assert_true(shares_memory(scene));
}

static void test_a_name_may_hold_what_ends_it(void **state)
{
    (void)state;
    static const char line[] = "71 (a) R (1\n 2) S 70 71 69 0 -1 4194304 10 20 30 40 5 6 7 8 20 0 3 0 9000 1000000 25 "
                               "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 11 0 0 0 0 0 0 0 0 0 0 0 0 256\n";
    struct pt_process_stat stat;
    assert_true(pt_process_stat_parse(line, &stat));
    assert_string_equal(stat.name, "a) R (1\n 2");
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.ppid, 70);
    assert_int_equal(stat.session, 69);
    assert_int_equal(stat.own_ticks, 5 + 6);
    assert_int_equal(stat.children_ticks, 7 + 8);
    assert_int_equal(stat.own_major_faults, 30);
    assert_int_equal(stat.minor_faults, 10 + 20);
    assert_int_equal(stat.major_faults, 30 + 40);
    assert_int_equal(stat.threads, 3);
    assert_int_equal(stat.start_ticks, 9000);
    assert_int_equal(stat.rss_bytes, 25 * sysconf(_SC_PAGESIZE));
    assert_int_equal(stat.last_cpu, 11);
    assert_int_equal(stat.exit_code, 256);
}

static void test_a_line_that_is_cut_says_nothing_or_less(void **state)
{
    (void)state;
    struct pt_process_stat stat;
    assert_true(pt_process_stat_parse("1 (a) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22", &stat));
    assert_int_equal(stat.last_cpu, PT_UNKNOWN_CPU);
    assert_false(pt_process_stat_parse("1 (a) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", &stat));
    assert_int_equal(stat.state, 0);
    assert_false(pt_process_stat_parse("1 (a) ", &stat));
    assert_false(pt_process_stat_parse("1 )a( S 2", &stat));
    assert_false(pt_process_stat_parse("1 (a", &stat));
    assert_false(pt_process_stat_parse("", &stat));
}

static void test_what_the_kernel_says_of_us(void **state)
{
    (void)state;
    struct pt_process_stat stat;
    prctl(PR_SET_NAME, "of) (us");
    assert_true(pt_process_stat_of(getpid(), &stat));
    assert_string_equal(stat.name, "of) (us");
    assert_int_equal(stat.state, 'R');
    assert_int_equal(stat.ppid, getppid());
    assert_int_equal(stat.session, getsid(0));
    assert_true(stat.rss_bytes > 0);
    assert_true(stat.threads >= 1); /* a sanitizer may have one of its own */
    assert_true(stat.last_cpu != PT_UNKNOWN_CPU);
    assert_true(pt_process_stat_of_thread(getpid(), getpid(), &stat));
    assert_false(pt_process_stat_of(0, &stat));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory_read_before_exec_was_the_parents, scene_begin, scene_end),
        cmocka_unit_test_setup_teardown(test_memory_read_before_the_end_was_the_parents, scene_begin, scene_end),
        cmocka_unit_test(test_a_name_may_hold_what_ends_it),
        cmocka_unit_test(test_a_line_that_is_cut_says_nothing_or_less),
        cmocka_unit_test(test_what_the_kernel_says_of_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
