/* SPDX-License-Identifier: MIT
 *
 * Scripts of a shell, and programs in Python, that run short commands by the hundred: to start each takes longer than
 * what it does.
 *
 * Threads: one. State: one small struct per process, one row per script and command. Never: counts a command that does
 * something for a while; a script beside the critical path.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "facts/path/critical_path.h"
#include "facts/python.h"
#include "facts/time_union.h"
#include "facts/workers.h"
#include "util/hash.h"
#include "util/text/path.h"

/* The loader, a few files and an exit take 1 to 3 ms, and several times that where the CPUs are in use. */
#define LONGEST_NS 50000000
#define LEAST_SHARE 0.5 /* of its life, on the critical path */
enum { FEWEST = 200, MOST_SUBSHELLS = 8, MOST_ROWS = 1000, LONGEST_SCRIPT = 60 };

struct process {
    const struct pt_process *script; /* whose command, or copy, it is; NULL = of none */
    const struct pt_process *last;   /* of its images */
    bool is_short, is_copy;
    pt_u32 n_short; /* of a script */
};

struct row {
    const struct pt_process *script;
    const char *command;
    pt_u64 runs, lived_ns;
};

struct short_commands {
    struct pt_profile *profile;
    const struct pt_facts *facts;
    struct process *processes;
    struct pt_time_union *waits; /* by stage */
    bool has_any;
};

/* ---- who is a script, and what are its commands ---- */

/* The script around the parts of a pipeline and of $(...), which are copies of the shell. */
static const struct pt_process *script_around(const struct short_commands *all, const struct pt_process *process)
{
    for (int n = 0; process && n < MOST_SUBSHELLS && all->processes[process->index].is_copy; n++)
        process = process->parent;
    return process && (pt_runs_scripts(process) || pt_process_has_python(process)) ? process : NULL;
}

static void begin(void *state, struct pt_profile *profile)
{
    struct short_commands *all = state;
    const struct pt_session *session = profile->session;
    all->profile = profile;
    all->facts = profile->facts;
    all->processes = pt_calloc(session->n_processes + 1, sizeof *all->processes);
    all->waits = pt_calloc(profile->stages.n + 1, sizeof *all->waits);
    for (pt_u32 i = session->n_processes; i-- > 0;) { /* later images first */
        const struct pt_process *process = session->processes[i];
        struct process *own = &all->processes[i];
        own->last = own->last ? own->last : process;
        if (process->previous_image)
            all->processes[process->previous_image->index].last = own->last;
    }
    for (pt_u32 i = 0; i < session->n_processes; i++) { /* parents first */
        const struct pt_process *process = session->processes[i];
        struct process *own = &all->processes[i];
        if (process->previous_image || !process->parent || process->parent->pid == process->pid)
            continue;
        own->script = script_around(all, process->parent);
        own->is_copy = own->script && own->last == process && pt_is_worker(process);
        if (own->is_copy && !pt_runs_scripts(own->script)) { /* a worker of Python is no command */
            own->is_copy = false;
            own->script = NULL;
        }
        own->is_short = own->last->end_ns - process->start_ns <= LONGEST_NS;
        if (!own->script)
            continue;
        all->processes[own->script->index].n_short += own->is_short;
        all->has_any |= all->processes[own->script->index].n_short >= FEWEST;
    }
}

/* ---- how long it waits for them ---- */

static bool is_short_command_of(const struct short_commands *all, const struct pt_process *process,
                                const struct pt_process *script)
{
    const struct pt_process *first = pt_process_first_image(process);
    return first && all->processes[first->index].script == script && all->processes[first->index].is_short;
}

static const struct pt_process *waited_for(const struct short_commands *all, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_wait_child)
        return pt_process_of_pid(&all->facts->ids, e->process, e->result, pt_event_end_ns(e));
    const struct pt_span *span = &all->facts->call.span;
    return span->blocker_kind == PT_BLOCKER_WRITER
               ? pt_channels_other_process(&all->facts->channels, e->process, span->blocker, true)
               : NULL;
}

static bool wants(const void *state, pt_u32 kind)
{
    const struct short_commands *all = state;
    return all->has_any && pt_event_descs[kind].role == PT_ROLE_SPAN;
}

static void event(void *state, const struct pt_event *e)
{
    struct short_commands *all = state;
    if (!pt_is_main_thread(e))
        return;
    /* A loop that reads from a pipe goes on in a copy of the shell. */
    const struct process *own = &all->processes[e->process->index];
    const struct pt_process *script = own->is_copy ? own->script : e->process;
    if (all->processes[script->index].n_short < FEWEST || pt_path_share(all->facts->paths, e->process) < LEAST_SHARE)
        return;
    const bool is_start = (e->desc->kind == PT_KIND_proc_fork || e->desc->kind == PT_KIND_proc_spawn) && e->result > 0;
    if (is_start || is_short_command_of(all, waited_for(all, e), script))
        pt_time_union_add(&all->waits[pt_profile_stage_of(all->profile, e->process)], e->start_ns, pt_event_end_ns(e));
}

/* ---- results ---- */

/* The file of the script, or the text that a shell was given. */
static const char *script_name(struct pt_metrics *metrics, const struct pt_process *script)
{
    for (int i = 1; i < script->argc; i++) {
        if (!strcmp(script->argv[i], "-c") && i + 1 < script->argc)
            return pt_metrics_format(metrics, "%s -c %.*s%s", script->argv[0], LONGEST_SCRIPT, script->argv[i + 1],
                                     strlen(script->argv[i + 1]) > LONGEST_SCRIPT ? "..." : "");
        if (*script->argv[i] != '-')
            break;
    }
    const bool is_tool = !strcmp(pt_base_name(script->exe ? script->exe : ""), "find") ||
                         !strcmp(pt_base_name(script->exe ? script->exe : ""), "xargs");
    for (int i = 1; i < script->argc && !is_tool; i++)
        if (*script->argv[i] != '-')
            return pt_metrics_text(metrics, script->argv[i]);
    return pt_metrics_text(metrics, script->comm ? script->comm : "?");
}

struct short_row {
    const char *script, *command;
    pt_u64 runs;
    double lived_s, mean_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct short_row, script, TEXT, "Script"),  PT_COLUMN(struct short_row, command, TEXT, "Command"),
    PT_COLUMN(struct short_row, runs, COUNT, "Runs"),     PT_COLUMN(struct short_row, lived_s, SECONDS, "Lived"),
    PT_COLUMN(struct short_row, mean_s, SECONDS, "Mean"),
};
static const struct pt_table_kind by_script = {PT_VIEW_short_commands, .most = 200, PT_COLUMNS(columns)};

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->lived_ns != y->lived_ns)
        return x->lived_ns < y->lived_ns ? 1 : -1;
    return strcmp(x->command, y->command);
}

/* After vfork it stands still, in no call, until the command has begun. */
static double starting_ns(const struct short_commands *all, const struct pt_process *script)
{
    const struct pt_thread *thread = pt_main_thread(script);
    const double share = pt_path_share(all->facts->paths, script);
    if (!thread || share < LEAST_SHARE || all->processes[script->index].n_short < FEWEST)
        return 0;
    return share * all->facts->counts.threads[pt_thread_number(&all->facts->ids, thread)].clock.starting_ns;
}

struct found {
    PT_VEC(struct row);
    struct pt_map by_name; /* script and command -> index, plus 1 */
    struct pt_intern names;
    pt_u64 runs, of_python, lived_ns;
};

static void add(const struct short_commands *all, struct found *found, const struct pt_process *process)
{
    const struct process *own = &all->processes[process->index];
    const char *name = own->is_copy      ? "(copies of the shell)"
                       : own->last->exe  ? pt_base_name(own->last->exe)
                       : own->last->comm ? own->last->comm
                                         : "?";
    name = pt_intern_text(&found->names, name);
    const pt_u64 lived_ns = (pt_u64)(own->last->end_ns - process->start_ns);
    found->runs++;
    found->of_python += !pt_runs_scripts(own->script);
    found->lived_ns += lived_ns;
    pt_u64 *slot = pt_map_at(&found->by_name, pt_hash_pair((uintptr_t)name, own->script->index));
    if (!*slot && found->n < MOST_ROWS) {
        pt_vec_push(found, ((struct row){.script = own->script, .command = name}));
        *slot = found->n;
    }
    if (*slot) {
        found->items[*slot - 1].runs++;
        found->items[*slot - 1].lived_ns += lived_ns;
    }
}

static void set_stage(const struct short_commands *all, pt_u32 stage)
{
    const struct pt_session *session = all->profile->session;
    struct pt_metrics *metrics = &all->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct found found = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct process *own = &all->processes[i];
        if (own->script && own->is_short && all->processes[own->script->index].n_short >= FEWEST &&
            pt_profile_stage_of(all->profile, session->processes[i]) == stage)
            add(all, &found, session->processes[i]);
    }
    double wait_ns = (double)all->waits[stage].total_ns;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        wait_ns += pt_profile_stage_of(all->profile, session->processes[i]) == stage
                       ? starting_ns(all, session->processes[i])
                       : 0;
    pt_metrics_set(metrics, scope, "child.short.calls", pt_integer(found.runs));
    pt_metrics_set(metrics, scope, "child.short.mean_s",
                   found.runs ? pt_real((double)found.lived_ns / 1e9 / (double)found.runs)
                              : pt_unknown("no script ran hundreds of short commands"));
    pt_metrics_set(metrics, scope, "child.short.wait_s", pt_real(wait_ns / 1e9));
    pt_metrics_set(metrics, scope, "child.short.python_percent",
                   found.runs ? pt_real(100 * (double)found.of_python / (double)found.runs) : pt_unknown(NULL));
    struct pt_rows rows = pt_rows(metrics, scope, &by_script);
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, by_time);
    for (size_t i = 0; i < found.n; i++) {
        const struct row *row = &found.items[i];
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows, &(struct short_row){.script = script_name(metrics, row->script),
                                               .command = pt_metrics_text(metrics, row->command),
                                               .runs = row->runs,
                                               .lived_s = (double)row->lived_ns / 1e9,
                                               .mean_s = (double)row->lived_ns / 1e9 / (double)row->runs});
    }
    free(found.items);
    pt_map_fini(&found.by_name);
    pt_intern_fini(&found.names);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct short_commands *all = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        set_stage(all, stage);
    free(all->processes);
    free(all->waits);
}

const struct pt_analysis pt_analysis_short_commands = {
    .name = "short_commands",
    .summary = "scripts that run short commands by the hundred",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_PROC | PT_CATEGORY_WAIT,
    .state_size = sizeof(struct short_commands),
    .begin = begin,
    .wants = wants,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
