/* SPDX-License-Identifier: MIT
 *
 * t_tree_end.c - a whole tree ends, the stubborn and the multiplying too; who is not of it is not touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper_stage.h"
#include "launcher/tree_end.h"

#define MS 1000000ull
#define GRACE_NS (800 * MS)

static pt_u64 monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

struct scene {
    struct pt_tree tree;
    char *folder;
    int logs_fd;
    pid_t bystander; /* started before the stage, as a daemon of an earlier one */
};

static pid_t shell(const struct scene *scene, const char *script)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid)
        return pid;
    if (chdir(scene->folder) == 0)
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    _exit(127);
}

/* Until a script has set itself up, and says so by a file: on a busy machine no nap is long enough. */
static void wait_for_file(const struct scene *scene, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scene->folder, name);
    for (int i = 0; i < 6000 && access(path, F_OK) < 0; i++)
        nap_ms(5);
    assert_int_equal(access(path, F_OK), 0);
}

static int scene_begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct pt_error err;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    scene->folder = folder_make(&scene->logs_fd);
    scene->bystander = shell(
        scene, "sleep 100 & trap 'echo hit >> bystander' INT TERM HUP CONT; : > stands; while :; do sleep 0.1; done");
    wait_for_file(scene, "stands");
    assert_int_equal(pt_tree_open(&scene->tree, &err), 0);
    pt_tree_scan(&scene->tree);
    *state = scene;
    return 0;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    /* Its children are still there too: found by their parent. */
    struct pt_tree_end end;
    struct pt_tree all = {0};
    struct pt_error err;
    assert_int_equal(waitpid(scene->bystander, NULL, WNOHANG), 0);
    assert_null(file_read(scene->folder, "bystander", NULL));
    const struct pt_tree_end_request request = {.known = &all, .first_signal = SIGKILL};
    assert_int_equal(pt_tree_end_begin(&end, &request, monotonic_ns(), &err), 0);
    while (pt_tree_end_step(&end, monotonic_ns()))
        nap_ms(1);
    assert_in_range(end.n_asked, 2, 100); /* the shell, its sleep of 100 s, perhaps the one of its loop */
    pt_tree_end_close(&end);
    while (wait(NULL) > 0)
        ;
    pt_tree_close(&scene->tree);
    folder_remove(scene->folder, scene->logs_fd);
    free(scene);
    return 0;
}

/* As the runner does it. Returns how long it took. */
static pt_u64 end_tree(struct scene *scene, int first_signal, pt_u64 grace_ns, pt_u64 hurry_after_ns,
                       struct pt_tree_end *end)
{
    struct pt_error err;
    const pt_u64 begin = monotonic_ns();
    pt_tree_scan(&scene->tree);
    const struct pt_tree_end_request request = {
        .known = &scene->tree, .first_signal = first_signal, .grace_ns = grace_ns};
    assert_int_equal(pt_tree_end_begin(end, &request, begin, &err), 0);
    for (pt_u64 due; (due = pt_tree_end_step(end, monotonic_ns()));) {
        if (hurry_after_ns && monotonic_ns() - begin > hurry_after_ns)
            pt_tree_end_hurry(end, monotonic_ns());
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        const pt_u64 now = monotonic_ns();
        if (due > now)
            nanosleep(&(struct timespec){0, (long)((due - now) % 1000000000u)}, NULL);
    }
    pt_tree_end_close(end);
    return monotonic_ns() - begin;
}

static void assert_nobody_left(struct scene *scene)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    pt_tree_scan(&scene->tree);
    for (size_t i = 0; i < scene->tree.n; i++)
        assert_int_not_equal(scene->tree.entries[i].ownership, PT_PROCESS_OURS);
}

static void test_a_polite_tree_ends_at_once(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    /* A copy of the shell that is not the other program yet has its traps: the signal is lost there. */
    shell(scene, "trap 'echo clean > clean; exit' TERM; sh -c ': > ready; exec sleep 100' & wait");
    wait_for_file(scene, "ready");
    const pt_u64 took = end_tree(scene, SIGTERM, 5000 * MS, 0, &end);
    assert_true(took < 2000 * MS);
    assert_int_equal(end.n_killed, 0);
    assert_int_equal(end.n_asked, 2);
    char *clean = file_read(scene->folder, "clean", NULL);
    assert_non_null(clean);
    free(clean);
    assert_nobody_left(scene);
}

static void test_fifty_of_them_and_some_stubborn(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    /* Ignores all; is stopped; left its parent and its session; 46 others. */
    shell(scene, "i=0; while [ $i -lt 46 ]; do sleep 100 & i=$((i+1)); done\n"
                 "(trap '' TERM INT HUP; : > stubborn; while :; do sleep 0.2; done) &\n"
                 "(kill -STOP $(exec sh -c 'echo $PPID')) &\n"
                 "(setsid sleep 100 &) ; : > ready; wait");
    wait_for_file(scene, "ready");
    wait_for_file(scene, "stubborn");
    nap_ms(100); /* one of them stops itself */
    const pt_u64 took = end_tree(scene, SIGINT, GRACE_NS, 0, &end);
    assert_true(took >= GRACE_NS);
    assert_true(took < GRACE_NS + 3000 * MS);
    assert_in_range(end.n_asked, 50, 60);
    assert_in_range(end.n_killed, 1, 25); /* most that heard SIGTERM after half the time are gone already */
    assert_int_equal(end.n_survivors, 0);
    assert_nobody_left(scene);
}

/* Each has two children and dies, each of which has ... ; always between 10 and 40 of them, ever others. */
static void multiply(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (;;) {
        const pid_t pid = fork();
        if (pid > 0)
            _exit(0);
        nap_ms(1);
    }
}

static void test_they_fork_as_fast_as_they_die(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    for (int i = 0; i < 5; i++)
        if (fork() == 0)
            multiply();
    /* And one whose child is replaced whenever it dies. */
    shell(scene, "trap '' TERM INT; while :; do sh -c 'trap \"\" TERM INT; : > ready; sleep 100'; done");
    wait_for_file(scene, "ready");
    nap_ms(100);
    const pt_u64 took = end_tree(scene, SIGTERM, 200 * MS, 0, &end);
    assert_true(took < 4000 * MS);
    assert_int_equal(end.n_survivors, 0);
    assert_nobody_left(scene);
}

static void test_a_second_ctrl_c_does_not_wait(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    shell(scene, "trap '' TERM INT; : > ready; while :; do sleep 0.1; done");
    wait_for_file(scene, "ready");
    const pt_u64 took = end_tree(scene, 0, 60000 * MS, 100 * MS, &end);
    assert_true(took < 3000 * MS);
    assert_nobody_left(scene);
}

static void test_delivered_already_is_not_sent_again(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    shell(
        scene,
        "trap 'echo again >> again' INT; trap 'echo term > term; exit' TERM; : > ready; while :; do sleep 0.05; done");
    wait_for_file(scene, "ready");
    end_tree(scene, 0, GRACE_NS, 0, &end);
    assert_null(file_read(scene->folder, "again", NULL));
    char *term = file_read(scene->folder, "term", NULL);
    assert_non_null(term);
    free(term);
    assert_nobody_left(scene);
}

static void test_what_is_stopped_hears_it_too(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    int status = 0;
    const pid_t pid = shell(scene, "trap 'echo woken > woken; exit' TERM; kill -STOP $$; while :; do sleep 0.05; done");
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    const pt_u64 took = end_tree(scene, SIGTERM, 5000 * MS, 0, &end);
    assert_true(took < 2000 * MS);
    char *woken = file_read(scene->folder, "woken", NULL);
    assert_non_null(woken);
    free(woken);
    assert_nobody_left(scene);
}

static void test_nobody_there(void **state)
{
    struct scene *scene = *state;
    struct pt_tree_end end;
    assert_true(end_tree(scene, SIGTERM, 5000 * MS, 0, &end) < 500 * MS);
    assert_int_equal(end.n_asked, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_polite_tree_ends_at_once),
        TEST(test_fifty_of_them_and_some_stubborn),
        TEST(test_they_fork_as_fast_as_they_die),
        TEST(test_a_second_ctrl_c_does_not_wait),
        TEST(test_delivered_already_is_not_sent_again),
        TEST(test_what_is_stopped_hears_it_too),
        TEST(test_nobody_there),
    };
    return cmocka_run_group_tests_name("tree_end", tests, NULL, NULL);
}
