/* SPDX-License-Identifier: MIT
 *
 * Stages of many short processes: what each of them takes once is no problem of any of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/analysis.h"
#include "rules/rule.h"
#include "helper_judged.h"

/* A server that forks for each request: what a child touches is mapped once, and no buffer is there to be kept. */
static void page_faults_of_many_short_processes_are_no_storm(void **state)
{
    (void)state;
    static const struct {
        pt_u32 processes;
        double faults;
        bool is_storm;
    } cases[] = {{81, 80000, false}, {81, 1e6, true}, {4, 80000, true}, {194, 7e5, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "faults.cost_s", 3);
        judged_set(w, "rss.max_bytes", 15e6);
        judged_set(w, "faults.minor.calls", cases[i].faults);
        w->profile.stages.items[0].n_processes = cases[i].processes;
        pt_judge(&w->profile, &w->findings);
        assert_int_equal(judged_find(w, "page_fault_storm") != NULL, cases[i].is_storm);
        judged_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_faults_of_many_short_processes_are_no_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
