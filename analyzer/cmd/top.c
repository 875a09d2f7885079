/* SPDX-License-Identifier: MIT
 *
 * top.c - Owns: `proftrace top`: what the processes of a run have done so far, and what they do now. Threads: main
 * only. Never: makes a system call in a traced program: what it did is read from the files that it has mapped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proftrace/events.h"
#include "facts/call_class.h"
#include "profile/open.h"
#include "profile/stages.h"
#include "report/doc/doc.h"
#include "report/json/panel.h"
#include "report/medium.h"
#include "report/outcome.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "sampler/process_stat.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "cmd.h"
#include "arguments/options.h"

/* The run at one instant. */
struct look {
    struct pt_run run;
    pt_u64 at_ns;
    struct pt_process_stat *stats; /* by process index; threads 0 = it does not run */
    pt_u32 n_running;
};

struct top_row {
    pt_u32 pid;
    const char *stage, *program, *state;
    struct pt_value rank, cpu_percent, rss_bytes, threads;
    pt_u64 steps;
    struct pt_value steps_per_s;
    pt_u64 reads, read_bytes;
    struct pt_value read_bytes_per_s;
    pt_u64 writes, written_bytes;
    struct pt_value written_bytes_per_s;
    struct pt_value allocations, allocated_bytes, allocations_per_s;
    pt_u64 gpu_kernels, events, lost;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct top_row, pid, NUMBER, "Pid"),
    PT_COLUMN(struct top_row, program, TEXT, "Program"),
    PT_COLUMN(struct top_row, stage, TEXT, "Stage"),
    PT_COLUMN(struct top_row, state, TEXT, "State"),
    PT_COLUMN(struct top_row, cpu_percent, PERCENT, "CPU"),
    PT_COLUMN(struct top_row, rss_bytes, BYTES, "Memory"),
    PT_COLUMN(struct top_row, read_bytes_per_s, BYTES_PER_SECOND, "Reads"),
    PT_COLUMN(struct top_row, written_bytes_per_s, BYTES_PER_SECOND, "Writes"),
    PT_COLUMN(struct top_row, steps, COUNT, "Steps"),
    PT_COLUMN(struct top_row, steps_per_s, PER_SECOND, "Steps/s"),
    PT_COLUMN(struct top_row, lost, COUNT, "Lost"),
    PT_COLUMN(struct top_row, rank, COUNT, "Rank"),
    PT_COLUMN(struct top_row, threads, COUNT, "Threads"),
    PT_COLUMN(struct top_row, allocations_per_s, PER_SECOND, "Allocations"),
    PT_COLUMN(struct top_row, reads, COUNT, "Read calls"),
    PT_COLUMN(struct top_row, read_bytes, BYTES, "Read"),
    PT_COLUMN(struct top_row, writes, COUNT, "Write calls"),
    PT_COLUMN(struct top_row, written_bytes, BYTES, "Written"),
    PT_COLUMN(struct top_row, allocations, COUNT, "Allocated"),
    PT_COLUMN(struct top_row, allocated_bytes, BYTES, "Allocated bytes"),
    PT_COLUMN(struct top_row, gpu_kernels, COUNT, "Kernels"),
    PT_COLUMN(struct top_row, events, COUNT, "Events"),
};

/* ---- looking ---- */

static void look_close(struct look *look)
{
    free(look->stats);
    pt_run_close(&look->run);
    *look = (struct look){0};
}

static int look_open(struct look *look, const char *path, struct pt_error *err)
{
    if (pt_run_open(path, &look->run, err) < 0)
        return -1;
    const struct pt_session *session = pt_run_session(&look->run);
    look->at_ns = pt_monotonic_ns();
    look->stats = pt_calloc(session->n_processes + 1, sizeof *look->stats);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        if (!session->processes[i]->is_running)
            continue;
        PT_AUTO(pt_closep) int fd = pt_process_stat_open((pid_t)session->processes[i]->pid);
        if (fd < 0 || !pt_process_stat_read(fd, &look->stats[i]))
            look->stats[i] = (struct pt_process_stat){0};
        look->n_running++;
    }
    return 0;
}

/* The same process in an earlier look; -1 = it was not there. */
static pt_i64 index_in(const struct look *look, const struct pt_process *process)
{
    const struct pt_session *session = look->run.session;
    for (pt_u32 i = 0; session && i < session->n_processes; i++)
        if (session->processes[i]->trace_id == process->trace_id && session->processes[i]->pid == process->pid)
            return i;
    return -1;
}

/* ---- a row ---- */

struct sums {
    pt_u64 steps, cpu_ticks;
    struct pt_kind_totals read, written;
    pt_u64 allocations;
};

static struct sums sums_of(const struct look *look, pt_i64 index)
{
    struct sums sums = {0};
    if (index < 0)
        return sums;
    const struct pt_process *process = look->run.session->processes[index];
    sums.steps = pt_totals_of(process->totals, PT_KIND_step)->calls;
    sums.read = pt_call_class_sum(process->totals, PT_CALL_READ);
    sums.written = pt_call_class_sum(process->totals, PT_CALL_WRITE);
    sums.allocations = process->heap->allocs;
    sums.cpu_ticks = look->stats[index].own_ticks;
    return sums;
}

/* Of one that has ended nothing happens now, and that is no rate of 0. */
static struct pt_value rate(pt_u64 before, pt_u64 now, double window_s)
{
    if (window_s <= 0)
        return pt_unknown("it has ended");
    return pt_real((now > before ? (double)(now - before) : 0) / window_s);
}

static void add_row(struct pt_table *table, const struct look *before, const struct look *now, pt_u32 index,
                    struct pt_arena *arena)
{
    const struct pt_process *process = now->run.session->processes[index];
    const struct pt_process_stat *stat = &now->stats[index];
    const struct sums old = sums_of(before, index_in(before, process)), sums = sums_of(now, index);
    const double window_s = process->is_running ? (double)(now->at_ns - before->at_ns) / 1e9 : 0;
    const struct pt_value exit = pt_report_process_exit(process, arena);
    const bool is_seen = process->is_running && stat->threads;
    const bool has_heap = process->heap_mode != PT_HEAP_OFF;
    const struct pt_value ended = pt_unknown("it has ended"), no_heap = pt_unknown("heap recording is off");
    pt_table_add(table, &(struct top_row){
                            .pid = process->pid,
                            .program = process->exe ? pt_base_name(process->exe) : process->comm,
                            .stage = process->stage,
                            .state = process->is_running          ? "running"
                                     : exit.type == PT_VALUE_TEXT ? exit.text
                                                                  : "no end seen",
                            .rank = process->rank < 0 ? pt_unknown("it has none") : pt_integer((pt_u64)process->rank),
                            .cpu_percent = is_seen ? rate(old.cpu_ticks * 100, sums.cpu_ticks * 100,
                                                          window_s * (double)sysconf(_SC_CLK_TCK))
                                                   : ended,
                            .rss_bytes = is_seen ? pt_integer(stat->rss_bytes) : ended,
                            .threads = is_seen ? pt_integer(stat->threads) : ended,
                            .steps = sums.steps,
                            .steps_per_s = rate(old.steps, sums.steps, window_s),
                            .reads = sums.read.calls,
                            .read_bytes = sums.read.bytes,
                            .read_bytes_per_s = rate(old.read.bytes, sums.read.bytes, window_s),
                            .writes = sums.written.calls,
                            .written_bytes = sums.written.bytes,
                            .written_bytes_per_s = rate(old.written.bytes, sums.written.bytes, window_s),
                            .allocations = has_heap ? pt_integer(sums.allocations) : no_heap,
                            .allocated_bytes = has_heap ? pt_integer(process->heap->bytes) : no_heap,
                            .allocations_per_s = has_heap ? rate(old.allocations, sums.allocations, window_s) : no_heap,
                            .gpu_kernels = pt_totals_of(process->totals, PT_KIND_gpu_kernel)->calls,
                            .events = process->quality.events,
                            .lost = process->quality.overwritten + process->quality.dropped,
                        });
}

/* Those that run; of a run that has ended, all. */
static struct pt_panel *panel_of(struct pt_doc *doc, const struct look *before, const struct look *now)
{
    const struct pt_session *session = pt_run_session(&now->run);
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(doc, "processes", "Processes", columns, sizeof columns / sizeof *columns, &table);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->is_running || !now->n_running)
            add_row(table, before, now, i, &doc->arena);
    return panel;
}

/* ---- showing ---- */

struct request {
    const char *run;
    bool is_once, json;
    pt_i64 interval_ns;
};

static int print_json(const struct look *before, const struct look *now, const struct pt_panel *panel,
                      struct pt_error *err)
{
    const struct pt_session *session = pt_run_session(&now->run);
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "run", session->path);
    pt_json_fixed(&json, "until_s", session->duration_ns, 9);
    pt_json_fixed(&json, "window_s", now->n_running ? (pt_i64)(now->at_ns - before->at_ns) : 0, 9);
    pt_json_u64(&json, "running", now->n_running);
    pt_json_u64(&json, "processes_seen", session->n_processes);
    pt_json_panel(&json, panel);
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write: %s", strerror(errno)) : 0;
}

static int show(const struct request *request, const struct look *before, const struct look *now, struct pt_error *err)
{
    const struct pt_session *session = pt_run_session(&now->run);
    const struct pt_render_options how = pt_medium_of(NULL);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_text_out people = {&how, &text};
    const struct pt_panel *panel = panel_of(doc, before, now);
    if (request->json)
        return print_json(before, now, panel, err);
    if (!request->is_once && how.is_terminal)
        pt_str_add(&text, "\033[H\033[J");
    pt_text_clean(&text, session->name);
    pt_str_printf(&text, ": %.0f s, %u of %u processes run\n", (double)session->duration_ns / 1e9, now->n_running,
                  session->n_processes);
    pt_text_panel(&people, panel, NULL);
    return pt_text_file_write(NULL, &text, err);
}

/* ---- the run of a process ---- */

/* The folder of the trace file that it has mapped; NULL = it is not traced, or not ours to look at. The caller frees
 * it. */
static char *run_of_pid(const char *pid)
{
    char name[64], line[4200];
    snprintf(name, sizeof name, "/proc/%.20s/maps", pid);
    PT_AUTO(pt_fclosep) FILE *maps = fopen(name, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        char *path = strchr(line, '/'), *slash = path ? strrchr(path, '/') : NULL;
        const char *end = slash ? strrchr(slash, '.') : NULL;
        if (!end || slash == path || (strcmp(end, ".ptr") != 0 && strcmp(end, ".pts") != 0))
            continue;
        *slash = 0;
        return pt_strdup(path);
    }
    return NULL;
}

static bool is_pid(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && access(text, F_OK) != 0;
}

/* Look, wait, look again and show what has changed, until nothing runs. */
static int watch(const struct request *request, struct pt_error *err)
{
    struct look before = {0}, now = {0};
    const struct timespec pause = {request->interval_ns / 1000000000, request->interval_ns % 1000000000};
    int result = look_open(&before, request->run, err);
    bool is_over = false;
    while (!result && !is_over) {
        is_over = request->is_once || request->json || !before.n_running;
        if (before.n_running)
            nanosleep(&pause, NULL);
        result = look_open(&now, request->run, err);
        if (!result)
            result = show(request, &before, &now, err);
        look_close(&before);
        before = now;
        now = (struct look){0};
    }
    look_close(&before);
    look_close(&now);
    return result;
}

int pt_cmd_top(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.interval_ns = 0};
    const struct pt_opt table[] = {
        PT_OPT_FLAG("once", 0, &request.is_once, "show it once, not again and again until the run has ended"),
        PT_OPT_FLAG("json", 0, &request.json, "print JSON, once"),
        PT_OPT_DURATION("interval", 'i', &request.interval_ns, "D",
                        "what rates are of: between two looks (default: 3s; 1s for a single one)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (!request.interval_ns) /* of 200 processes, a look each 3 s is 1 % of a core */
        request.interval_ns = request.is_once || request.json ? 1000000000 : 3000000000;
    if (request.interval_ns < 1000000)
        return pt_fail_code(err, 2, "--interval is too short: at least 1ms");
    request.run = args.n ? args.values[0] : NULL;
    PT_AUTO(pt_freep) char *of_pid = request.run && is_pid(request.run) ? run_of_pid(request.run) : NULL;
    if (request.run && is_pid(request.run) && !of_pid)
        return pt_fail_code(err, 2, "process %s is not traced, has ended, or belongs to another user", request.run);
    request.run = of_pid ? of_pid : request.run;
    return watch(&request, err);
}
