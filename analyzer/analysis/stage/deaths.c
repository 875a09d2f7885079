/* SPDX-License-Identifier: MIT
 *
 * Processes that a signal ended which nobody sends for a good end, and what the thread that was seen last did before.
 *
 * Threads: one. State: the last calls of each process that noted no end. Never: names what bad_end.h takes for a good
 * end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/analysis.h"
#include "profile/process_name.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/text/fmt.h"
#include "util/text/wait_status.h"
#include "bad_end.h"

enum { MAX_ROWS = 20, KEPT = 8, SHOWN = 3 };

struct call {
    const struct pt_thread *thread;
    const char *name, *what; /* NULL = nothing that has a name */
    pt_i64 end_ns, duration_ns;
};

struct calls {
    struct call last[KEPT];
    pt_u64 n;
};

struct deaths {
    struct calls **of_process; /* NULL = it noted its end */
    bool has_any;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct deaths *deaths = state;
    const struct pt_session *session = profile->session;
    deaths->of_process = pt_calloc(session->n_processes, sizeof(struct calls *));
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->wait_status >= 0 && WIFSIGNALED(session->processes[i]->wait_status)) {
            deaths->of_process[i] = pt_calloc(1, sizeof(struct calls));
            deaths->has_any = true;
        }
}

/* A path, a peer, a host: the first name that the event carries. */
static const char *name_in(const struct pt_event *e)
{
    for (pt_u32 i = 0; i < e->desc->n_fields; i++) {
        const struct pt_field_desc *field = &e->desc->fields[i];
        pt_u32 id;
        if (field->unit_class != PT_CLASS_STRING || field->place != PT_FIELD_PAYLOAD)
            continue;
        memcpy(&id, e->payload + field->offset, sizeof id);
        const char *name = id ? pt_process_string(e->process, id) : NULL;
        if (name && *name)
            return name;
    }
    return NULL;
}

static bool wants(const void *state, pt_u32 kind)
{
    return ((const struct deaths *)state)->has_any && pt_event_descs[kind].role == PT_ROLE_SPAN;
}

static void event(void *state, const struct pt_event *e)
{
    struct calls *calls = ((struct deaths *)state)->of_process[e->process->index];
    if (!calls || e->thread->tid >= PT_DEVICE_TID)
        return;
    calls->last[calls->n++ % KEPT] = (struct call){.thread = e->thread,
                                                   .name = e->desc->name,
                                                   .what = name_in(e),
                                                   .end_ns = pt_event_end_ns(e),
                                                   .duration_ns = e->duration_ns};
}

/* ---- results ---- */

struct row {
    const char *process, *exit;
    pt_u32 pid;
    struct pt_value lived_s, last_calls;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct row, process, TEXT, "Process"),
    PT_COLUMN(struct row, pid, NUMBER, "PID"),
    PT_COLUMN(struct row, exit, TEXT, "End"),
    PT_COLUMN(struct row, lived_s, SECONDS, "After"),
    PT_COLUMN(struct row, last_calls, TEXT, "Its last calls"),
};
static const struct pt_table_kind by_process = {PT_VIEW_deaths, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void put_call(struct pt_str *out, const struct call *call)
{
    pt_str_printf(out, "%s%s", out->n ? ", " : "", call->name);
    if (call->what)
        pt_str_printf(out, " %s", call->what);
    pt_str_printf(out, " (%s)", pt_fmt_duration(call->duration_ns).text);
}

/* Of the thread whose call ended last, from old to new, and how long before the end that was. */
static void put_calls(struct pt_str *out, const struct pt_process *process, const struct calls *calls)
{
    const struct call *shown[SHOWN];
    int n = 0;
    for (pt_u64 i = calls->n; i-- > 0 && i + KEPT >= calls->n && n < SHOWN;) {
        const struct call *call = &calls->last[i % KEPT];
        if (!n || call->thread == shown[0]->thread)
            shown[n++] = call;
    }
    for (int i = n; i-- > 0;)
        put_call(out, shown[i]);
    if (n && !pt_process_end_is_open(process))
        pt_str_printf(out, "; then none for %s", pt_fmt_duration(process->end_ns - shown[0]->end_ns).text);
}

static void add_row(struct pt_profile *profile, struct pt_rows *rows, const struct pt_process *process,
                    const struct calls *calls)
{
    char exit[PT_STATUS_TEXT_BYTES];
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_status_text(process->wait_status, exit, sizeof exit);
    put_calls(&text, process, calls);
    pt_rows_add(rows, &(struct row){
                          .process = pt_process_name(profile, process),
                          .pid = process->pid,
                          .exit = pt_metrics_text(&profile->metrics, exit),
                          .lived_s = pt_process_end_is_open(process) ? pt_unknown("when it ended is not known")
                                                                     : pt_seconds(process->end_ns - process->start_ns),
                          .last_calls = text.n ? pt_text(pt_metrics_text(&profile->metrics, pt_str_text(&text)))
                                               : pt_unknown("no call of it was recorded"),
                      });
}

static void finish(void *state, struct pt_profile *profile)
{
    struct deaths *deaths = state;
    const struct pt_session *session = profile->session;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        pt_u64 n = 0;
        struct pt_rows rows = pt_rows(&profile->metrics, pt_scope_stage(stage), &by_process);
        for (pt_u32 i = 0; i < session->n_processes; i++) {
            const struct pt_process *process = session->processes[i];
            if (!deaths->of_process[i] || pt_profile_stage_of(profile, process) != stage ||
                !pt_process_ended_badly(profile, process))
                continue;
            if (pt_rows_have_room(&rows))
                add_row(profile, &rows, process, deaths->of_process[i]);
            n++;
        }
        if (n)
            pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "deaths.processes", pt_integer(n));
    }
    for (pt_u32 i = 0; i < session->n_processes; i++)
        free(deaths->of_process[i]);
    free(deaths->of_process);
}

const struct pt_analysis pt_analysis_deaths = {
    .name = "deaths",
    .summary = "processes that died by a signal, and their last calls",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_MAP | PT_CATEGORY_PROC |
                  PT_CATEGORY_WAIT | PT_CATEGORY_NET | PT_CATEGORY_CUDA,
    .state_size = sizeof(struct deaths),
    .begin = begin,
    .wants = wants,
    .event = event,
    .finish = finish,
};
