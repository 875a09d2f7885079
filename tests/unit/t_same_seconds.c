/* SPDX-License-Identifier: MIT
 *
 * Findings about the same seconds: these are taken off what no rule explains once, and who says it all says most of it;
 * seconds in which a GPU computed are no gain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/rule.h"
#include "helper_judged.h"

#define WALL_S 100.0

/* One stage of one process, which computes in one thread for so long. */
static struct judged_stage *new_stage(double computing_s)
{
    struct judged_stage *w = judged_new(WALL_S);
    judged_set(w, "time.computing_s", computing_s);
    judged_set(w, "cpu.total_s", computing_s);
    return w;
}

/* All that is compiled is compiled again: of 100 s it explains these 45, not 90, and the rest has a line. */
static void what_two_findings_say_is_taken_off_once(void **state)
{
    (void)state;
    struct judged_stage *w = new_stage(WALL_S);
    judged_set(w, "training.compile.uncached_percent", 45);
    judged_set(w, "training.compile.uncached_s", 45);
    judged_set(w, "training.recompiles.count", 9);
    judged_set(w, "training.recompile.cost_s", 44);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(judged_find(w, "recompiles"));
    assert_null(judged_find(w, "compiling"));
    const struct pt_finding *rest = judged_find(w, "one_thread_computes");
    assert_non_null(rest);
    assert_float_equal(rest->time_s, 100 - 1.1 * 45, 1e-6);
    judged_free(w);
}

/* Both are none of what the other says. */
static void what_each_says_of_its_own_is_taken_off_for_each(void **state)
{
    (void)state;
    struct judged_stage *w = new_stage(WALL_S);
    judged_set(w, "training.recompiles.count", 9);
    judged_set(w, "training.recompile.cost_s", 44);
    judged_set(w, "training.validation_percent", 50);
    judged_set(w, "training.validation.cost_s", 44);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(judged_find(w, "recompiles"));
    assert_non_null(judged_find(w, "costly_validation"));
    assert_null(judged_find(w, "one_thread_computes"));
    judged_free(w);
}

static void a_small_place_hides_no_large_one(void **state)
{
    static const struct pt_stack_frame beside = {
        .function = "log", .file = "/app/train.py", .line = 12, .flags = PT_FRAME_OF_PYTHON};
    (void)state;
    for (int is_most = 0; is_most < 2; is_most++) {
        const double other_s = is_most ? 60 : 16;
        struct judged_stage *w = new_stage(95);
        judged_set(w, "training.length_s", WALL_S);
        judged_set(w, "training.beside_s", other_s);
        pt_stacks_add(&w->profile.stacks, 0, &beside, 1)->cost[PT_STACK_BESIDE_S] = other_s;
        pt_judge(&w->profile, &w->findings);
        assert_non_null(judged_find(w, "beside_the_steps"));
        assert_int_equal(judged_find(w, "one_thread_computes") != NULL, !is_most);
        judged_free(w);
    }
}

/* Of a run of hours the ring holds the last minutes of the GPU's work: how idle it was before bounds nothing. */
static void what_a_gpu_did_before_the_ring_is_no_bound(void **state)
{
    struct device_row {
        double window_s;
    };
    static const struct pt_column columns[] = {PT_COLUMN(struct device_row, window_s, SECONDS, "First to last")};
    static const struct pt_table_kind devices = {PT_VIEW_gpu_devices, .most = 9, PT_COLUMNS(columns)};
    (void)state;
    for (int is_whole = 0; is_whole < 2; is_whole++) {
        struct judged_stage *w = judged_new(WALL_S);
        judged_set(w, "training.window_s", WALL_S);
        judged_set(w, "load.in_main.percent", 30);
        judged_set(w, "load.in_main.cost_s", 30);
        judged_set(w, "gpu.gaps.all_s", 5);
        struct pt_table *table = pt_metrics_add_table(&w->profile.metrics, pt_scope_stage(0), &devices);
        pt_table_add(table, &(struct device_row){is_whole ? WALL_S : 10});
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = judged_find(w, "loading_in_main");
        assert_non_null(finding);
        assert_int_equal(finding->gain_upper_s < 10, is_whole);
        judged_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_two_findings_say_is_taken_off_once),
        cmocka_unit_test(what_each_says_of_its_own_is_taken_off_for_each),
        cmocka_unit_test(a_small_place_hides_no_large_one),
        cmocka_unit_test(what_a_gpu_did_before_the_ring_is_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
