/* SPDX-License-Identifier: MIT
 *
 * Findings about the same seconds: these are taken off what no rule explains once, and who says it all says most of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/rule.h"

#define WALL_S 100.0

struct world {
    struct pt_session session;
    struct pt_process process;
    struct pt_process *processes[1];
    struct pt_profile profile;
    struct pt_findings findings;
};

static void set(struct world *w, const char *metric, double number)
{
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), metric, pt_real(number));
}

/* One stage of one process, which computes in one thread for so long. */
static struct world *new_world(double computing_s)
{
    struct world *w = calloc(1, sizeof *w);
    w->processes[0] = &w->process;
    w->process.session = &w->session;
    w->process.end_ns = (pt_i64)(WALL_S * 1e9);
    w->process.stage = "train";
    w->session.duration_ns = w->process.end_ns;
    w->session.processes = w->processes;
    w->session.n_processes = 1;
    w->profile.session = &w->session;
    pt_stages_build(&w->profile.stages, &w->session, NULL);
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "capture.total", pt_integer(5));
    set(w, "time.computing_s", computing_s);
    set(w, "cpu.total_s", computing_s);
    return w;
}

static void free_world(struct world *w)
{
    pt_findings_free(&w->findings);
    pt_profile_free(&w->profile);
    free(w);
}

static const struct pt_finding *find(const struct world *w, const char *rule)
{
    for (size_t i = 0; i < w->findings.n; i++)
        if (!strcmp(w->findings.items[i].rule, rule))
            return &w->findings.items[i];
    return NULL;
}

/* All that is compiled is compiled again: of 100 s it explains these 45, not 90, and the rest has a line. */
static void what_two_findings_say_is_taken_off_once(void **state)
{
    (void)state;
    struct world *w = new_world(WALL_S);
    set(w, "training.compile.uncached_percent", 45);
    set(w, "training.compile.uncached_s", 45);
    set(w, "training.recompiles.count", 9);
    set(w, "training.recompile.cost_s", 44);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(find(w, "recompiles"));
    assert_null(find(w, "compiling"));
    const struct pt_finding *rest = find(w, "one_thread_computes");
    assert_non_null(rest);
    assert_float_equal(rest->time_s, 100 - 1.1 * 45, 1e-6);
    free_world(w);
}

/* Both are none of what the other says. */
static void what_each_says_of_its_own_is_taken_off_for_each(void **state)
{
    (void)state;
    struct world *w = new_world(WALL_S);
    set(w, "training.recompiles.count", 9);
    set(w, "training.recompile.cost_s", 44);
    set(w, "training.validation_percent", 50);
    set(w, "training.validation.cost_s", 44);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(find(w, "recompiles"));
    assert_non_null(find(w, "costly_validation"));
    assert_null(find(w, "one_thread_computes"));
    free_world(w);
}

static void a_small_place_hides_no_large_one(void **state)
{
    static const struct pt_stack_frame beside = {
        .function = "log", .file = "/app/train.py", .line = 12, .flags = PT_FRAME_OF_PYTHON};
    (void)state;
    for (int is_most = 0; is_most < 2; is_most++) {
        const double other_s = is_most ? 60 : 16;
        struct world *w = new_world(95);
        set(w, "training.length_s", WALL_S);
        set(w, "training.beside_s", other_s);
        pt_stacks_add(&w->profile.stacks, 0, &beside, 1)->cost[PT_STACK_BESIDE_S] = other_s;
        pt_judge(&w->profile, &w->findings);
        assert_non_null(find(w, "beside_the_steps"));
        assert_int_equal(find(w, "one_thread_computes") != NULL, !is_most);
        free_world(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_two_findings_say_is_taken_off_once),
        cmocka_unit_test(what_each_says_of_its_own_is_taken_off_for_each),
        cmocka_unit_test(a_small_place_hides_no_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
