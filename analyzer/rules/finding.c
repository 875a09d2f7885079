/* SPDX-License-Identifier: MIT
 *
 * Owns: what a finding shows. Threads: one. Never: judges; shows a row twice.
 */
#include "finding.h"

#include <math.h>
#include <string.h>

#include "util/text/path.h"

const char *pt_severity_name(enum pt_severity severity)
{
    static const char *const names[] = {"error", "warning", "info"};
    return names[severity];
}

const char *pt_confidence_name(enum pt_confidence confidence)
{
    static const char *const names[] = {"high", "medium", "low"};
    return names[confidence];
}

/* Of two rows of one key the second would never be read: here that does not compile. */
enum {
#define EVIDENCE(key, label) EVIDENCE_##key,
#include "evidence.def"
#undef EVIDENCE
};

const char *pt_evidence_label(const char *key)
{
    static const struct {
        const char *key, *label;
    } rows[] = {
#define EVIDENCE(key, label) {#key, label},
#include "evidence.def"
#undef EVIDENCE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].key, key))
            return rows[i].label;
    return NULL;
}

static enum pt_show show_of_key(const char *key)
{
    return pt_ends_with(key, "bytes_per_s") ? PT_SHOW_BYTES_PER_SECOND
           : pt_ends_with(key, "_per_s")    ? PT_SHOW_PER_SECOND
           : pt_ends_with(key, "_s")        ? PT_SHOW_SECONDS
           : pt_ends_with(key, "bytes")     ? PT_SHOW_BYTES
           : pt_ends_with(key, "_percent")  ? PT_SHOW_PERCENT
                                            : PT_SHOW_COUNT;
}

static void add_evidence(struct pt_finding *finding, const char *key, struct pt_value value, bool is_place)
{
    if (finding->n_evidence < PT_MAX_EVIDENCE)
        finding->evidence[finding->n_evidence++] = (struct pt_evidence){
            .key = key,
            .show = value.type == PT_VALUE_TEXT ? PT_SHOW_TEXT : show_of_key(key),
            .value = value,
            .is_place = is_place,
        };
}

void pt_finding_add_evidence(struct pt_finding *finding, const char *key, struct pt_value value)
{
    add_evidence(finding, key, value, false);
}

static bool is_already_shown(const struct pt_finding *finding, size_t row)
{
    for (pt_u32 i = 0; i < finding->n_rows; i++)
        if (finding->rows[i] == row)
            return true;
    return false;
}

void pt_finding_add_rows(struct pt_finding *finding, const struct pt_metrics *metrics, const char *table,
                         const char *column)
{
    const struct pt_table *found = pt_metrics_find_table(metrics, pt_scope_stage((pt_u32)finding->stage), table);
    pt_u32 at = 0;
    while (found && at < found->n_columns && strcmp(found->columns[at].key, column))
        at++;
    if (!found || at == found->n_columns)
        return;
    finding->table = found;
    while (finding->n_rows < PT_MAX_EVIDENCE_ROWS) {
        double most = 0;
        size_t best = 0;
        for (size_t row = 0; row < found->n_rows; row++) {
            const double number = pt_value_number(pt_table_row(found, row)[at]);
            if (number > most && !is_already_shown(finding, row)) {
                most = number;
                best = row;
            }
        }
        if (most <= 0)
            break;
        finding->rows[finding->n_rows++] = best;
    }
}

void pt_finding_add_metrics(struct pt_finding *finding, struct pt_metrics *metrics, const char *list)
{
    while (*list) {
        const size_t pair = strcspn(list, " "), key = strcspn(list, ":");
        const char *name = pt_metrics_format(metrics, "%.*s", (int)key, list);
        const char *metric = pt_metrics_format(metrics, "%.*s", (int)(pair - key - 1), list + key + 1);
        const struct pt_value value = pt_metrics_get(metrics, pt_scope_stage((pt_u32)finding->stage), metric);
        const bool is_place = !strcmp(metric, "place");
        list += pair;
        list += strspn(list, " ");
        if (!strcmp(name, "where") && !is_place && value.type == PT_VALUE_UNKNOWN) /* the finding says why */
            continue;
        add_evidence(finding, name, value, is_place);
    }
}

const struct pt_finding *pt_findings_of_rule(const struct pt_findings *findings, pt_i64 stage, const char *rule)
{
    for (size_t i = 0; i < findings->n; i++)
        if (findings->items[i].stage == stage && !strcmp(findings->items[i].rule, rule))
            return &findings->items[i];
    return NULL;
}

double pt_finding_number(const struct pt_finding *finding, const struct pt_metrics *metrics, const char *metric)
{
    if (finding->stage < 0)
        return NAN;
    const struct pt_value value = pt_metrics_get(metrics, pt_scope_stage((pt_u32)finding->stage), metric);
    return value.type == PT_VALUE_UNKNOWN ? NAN : pt_value_number(value);
}

double pt_finding_number_or_0(const struct pt_finding *finding, const struct pt_metrics *metrics, const char *metric)
{
    const double number = pt_finding_number(finding, metrics, metric);
    return isnan(number) ? 0 : number;
}

double pt_own_wall_s(const struct pt_profile *profile, const struct pt_finding *finding)
{
    return (double)pt_profile_stage_wall_ns(profile, (pt_u32)finding->stage) / 1e9 -
           pt_finding_number_or_0(finding, &profile->metrics, pt_time_parts[PT_PART_runnable].metric);
}
