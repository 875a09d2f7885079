/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules that one comparison cannot express. Threads: one. Never: sees an event.
 */
#include "rule.h"

#define MIB (1024.0 * 1024.0)

bool pt_rule_heap_growth(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const struct pt_value growth = pt_metrics_get(metrics, scope, "heap.growth.bytes");
    const double fit = pt_value_number(pt_metrics_get(metrics, scope, "heap.growth.fit"));
    const struct pt_value share = pt_metrics_get(metrics, scope, "heap.growth.share_percent");
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage) / 1e9;
    /* Less is what every program does while it warms up. */
    if (pt_value_number(growth) < 32 * MIB || fit < 0.8 || pt_value_number(share) < 25 || wall_s < 1)
        return false;
    finding->always_shown = true;
    pt_finding_add_evidence(finding, "growth_bytes", growth);
    pt_finding_add_evidence(finding, "growth_bytes_per_s", pt_real(pt_value_number(growth) / (wall_s * 2 / 3)));
    pt_finding_add_evidence(finding, "share_of_peak_percent", share);
    pt_finding_add_evidence(finding, "line_fit", pt_real(fit));
    pt_finding_add_evidence(finding, "pid", pt_metrics_get(metrics, scope, "heap.growth.pid"));
    pt_finding_add_rows(finding, metrics, "heap.sites", "live_end_bytes");
    return true;
}

/* Why a run holds no processes: the launcher saw why the command could not be traced. */
static const char *why_no_process(const struct pt_profile *profile)
{
    const struct pt_run_info *run = profile->run;
    if (run && run->n_untraced && run->untraced[0].reason)
        return run->untraced[0].reason;
    return "no process wrote a trace: PROFTRACE_DISABLE set, the directory not writable, or the program ended before "
           "the library was loaded";
}

bool pt_rule_nothing_captured(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    finding->always_shown = true;
    if (stage < 0) {
        pt_finding_add_evidence(finding, "reason", pt_text(why_no_process(profile)));
        if (profile->run && profile->run->n_untraced)
            pt_finding_add_evidence(finding, "program", pt_text(profile->run->untraced[0].path));
        return true;
    }
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const struct pt_process *root = profile->stages.items[stage].root;
    const bool is_empty = !pt_value_number(pt_metrics_get(metrics, scope, "capture.total"));
    const bool no_heap = root->heap_mode != PT_HEAP_OFF && !root->heap.allocs && !root->heap.frees;
    /* A small program may well do without malloc; one that holds this much memory got it from somewhere. */
    const bool holds_memory = (double)root->max_rss_bytes > 64 * MIB;
    if (is_empty) {
        pt_finding_add_evidence(finding, "reason",
                                pt_text("the program made no call that the library sees: it talks to the kernel itself "
                                        "(Go, static parts) or all families are off"));
    } else if (no_heap && holds_memory) {
        finding->title = "The heap was not captured";
        finding->severity = PT_SEVERITY_WARNING;
        pt_finding_add_evidence(
            finding, "reason",
            pt_text("the program never called malloc of libc: its allocator is linked in and cannot "
                    "be interposed"));
    } else {
        return false;
    }
    pt_finding_add_evidence(finding, "program", pt_text(root->exe));
    pt_finding_add_evidence(finding, "calls", pt_metrics_get(metrics, scope, "capture.calls"));
    return true;
}

bool pt_rule_events_lost(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    if (stage < 0)
        return false;
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const double lost = pt_value_number(pt_metrics_get(metrics, scope, "capture.lost.events"));
    const double kept = pt_value_number(pt_metrics_get(metrics, scope, "capture.events"));
    if (lost <= 0)
        return false;
    finding->always_shown = true;
    pt_finding_add_evidence(finding, "lost_events", pt_integer((pt_u64)lost));
    pt_finding_add_evidence(finding, "kept_events", pt_integer((pt_u64)kept));
    pt_finding_add_evidence(finding, "lost_percent", pt_real(100 * lost / (lost + kept)));
    return true;
}
