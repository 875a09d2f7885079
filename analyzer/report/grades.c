/* SPDX-License-Identifier: MIT
 *
 * Owns: the names of the well-known metrics. Threads: any. Never: judges; the floors are the configuration's.
 */
#include "grades.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *key, *label;
} well_known[] = {
    {"run_grade_0_100", "Grade"},
    {"precision_proxy", "Precision"},
    {"recall_proxy", "Recall"},
    {"miss_rate_proxy", "Miss rate"},
};

enum { N_WELL_KNOWN = sizeof well_known / sizeof *well_known };

static const struct pt_run_quality *find(const struct pt_run_info *run, const char *key)
{
    for (pt_u32 i = 0; run && i < run->pipeline.n_quality; i++)
        if (!strcmp(run->pipeline.quality[i].key, key))
            return &run->pipeline.quality[i];
    return NULL;
}

static bool is_well_known(const char *key)
{
    for (size_t i = 0; i < N_WELL_KNOWN; i++)
        if (!strcmp(well_known[i].key, key))
            return true;
    return false;
}

static struct pt_grade grade_of(const char *key, const char *label, const struct pt_run_quality *metric)
{
    const char *reason = metric && metric->reason ? metric->reason : "no grade report";
    return (struct pt_grade){
        .key = key,
        .label = label,
        .value = metric && !isnan(metric->value) ? pt_real(metric->value) : pt_unknown(reason),
        .min = metric ? metric->min : NAN,
        .is_grade = !strcmp(key, well_known[0].key),
    };
}

void pt_grade_list(const struct pt_profile *profile, struct pt_grade_list *ret_list)
{
    const struct pt_run_info *run = profile->run;
    for (size_t i = 0; i < N_WELL_KNOWN; i++)
        pt_vec_push(ret_list, grade_of(well_known[i].key, well_known[i].label, find(run, well_known[i].key)));
    for (pt_u32 i = 0; run && i < run->pipeline.n_quality; i++) {
        const struct pt_run_quality *metric = &run->pipeline.quality[i];
        if (!is_well_known(metric->key))
            pt_vec_push(ret_list, grade_of(metric->key, metric->key, metric));
    }
}

bool pt_grade_is_broken(const struct pt_grade *grade)
{
    if (isnan(grade->min))
        return false;
    return grade->value.type == PT_VALUE_UNKNOWN || pt_value_number(grade->value) < grade->min;
}

const char *pt_grade_source(const struct pt_profile *profile)
{
    const char *file = profile->run ? profile->run->pipeline.quality_read_from : NULL;
    const char *cwd = profile->run && profile->run->cwd ? profile->run->cwd : "";
    const size_t n = strlen(cwd);
    return file && n > 1 && !strncmp(file, cwd, n) && file[n] == '/' && file[n + 1] ? file + n + 1 : file;
}

bool pt_grades_are_wanted(const struct pt_profile *profile)
{
    for (pt_u32 i = 0; profile->run && i < profile->run->pipeline.n_quality; i++)
        if (!isnan(profile->run->pipeline.quality[i].value) || !isnan(profile->run->pipeline.quality[i].min))
            return true;
    return false;
}
