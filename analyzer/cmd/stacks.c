/* SPDX-License-Identifier: MIT
 *
 * stacks.c - Owns: `proftrace stacks`. Threads: main only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/text_file.h"
#include "stacks/core.h"
#include "stacks/look.h"
#include "stacks/text.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "cmd.h"
#include "arguments/options.h"
#include "stuck/core_events.h"

/* `events`: of a core dump; NULL = it is none, or was not traced. */
static int print_text(const struct pt_look *look, const struct pt_core_events *events, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_look_put(look, &text);
    if (events)
        pt_core_events_put(events, &text);
    return pt_text_file_write(NULL, &text, err);
}

/* ---- JSON ---- */

static void json_thread(struct pt_json *json, const struct pt_look_thread *thread)
{
    const char state[] = {thread->state, 0};
    pt_json_object(json, NULL);
    pt_json_u64(json, "tid", thread->tid);
    pt_json_text(json, "name", thread->name);
    pt_json_text(json, "state", state);
    pt_json_text(json, "wants", thread->wants);
    pt_json_text(json, "does", thread->does);
    if (thread->since_ns == PT_UNKNOWN_NS)
        pt_json_null(json, "since_ns");
    else
        pt_json_u64(json, "since_ns", thread->since_ns);
    pt_json_text(json, "holds", thread->holds);
    pt_json_array_inline(json, "waits_for");
    for (size_t i = 0; i < thread->waits_for.n; i++)
        pt_json_u64(json, NULL, thread->waits_for.items[i]);
    pt_json_end(json);
    pt_json_array_inline(json, "waits_for_processes");
    for (size_t i = 0; i < thread->waits_for_processes.n; i++)
        pt_json_u64(json, NULL, thread->waits_for_processes.items[i]);
    pt_json_end(json);
    pt_json_bool(json, "deadlocked", thread->is_deadlocked);
    pt_json_bool(json, "was_stopped", thread->was_stopped);
    pt_json_text(json, "why_cut", thread->why_cut);
    pt_json_array(json, "frames");
    for (size_t i = 0; i < thread->lines.n; i++) {
        const struct pt_stack_line *line = &thread->lines.items[i];
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "function", line->function);
        pt_json_text(json, "file", line->file);
        if (line->line)
            pt_json_u64(json, "line", line->line);
        else
            pt_json_null(json, "line");
        pt_json_text(json, "module", line->module);
        pt_json_bool(json, "python", line->is_python);
        pt_json_end(json);
    }
    pt_json_end(json);
    pt_json_end(json);
}

static void json_process(struct pt_json *json, const struct pt_look_process *process)
{
    pt_json_object(json, NULL);
    pt_json_u64(json, "pid", process->pid);
    pt_json_u64(json, "ppid", process->ppid);
    pt_json_text(json, "command", process->command);
    pt_json_text(json, "run", process->run);
    pt_json_text(json, "unread_reason", process->why_not);
    pt_json_text(json, "no_python_reason", process->why_no_python);
    pt_json_fixed(json, "stopped_ms", (pt_i64)process->stopped_ns, 6);
    pt_json_array(json, "threads");
    for (size_t i = 0; i < process->threads.n; i++)
        json_thread(json, process->threads.items[i]);
    pt_json_end(json);
    pt_json_end(json);
}

static int print_json(const struct pt_look *look, const struct pt_core_events *events, struct pt_error *err)
{
    struct pt_json json;
    PT_AUTO(pt_str_fini) struct pt_str summary = {0};
    if (look->processes.n)
        pt_look_put_reason(look, look->processes.items[0]->pid, &summary);
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "schema_version", "1.0");
    pt_json_text(&json, "summary", pt_str_text(&summary));
    pt_json_array(&json, "conclusions");
    for (size_t i = 0; i < look->conclusions.n; i++)
        pt_json_text(&json, NULL, look->conclusions.items[i]);
    pt_json_end(&json);
    pt_json_array(&json, "processes");
    for (size_t i = 0; i < look->processes.n; i++)
        json_process(&json, look->processes.items[i]);
    pt_json_end(&json);
    if (events)
        pt_core_events_json(events, &json);
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write to standard output") : 0;
}

static int print(const struct pt_look *look, bool is_core, bool is_json, struct pt_error *err)
{
    const struct pt_look_process *process = look->processes.items[0];
    PT_AUTO(pt_core_events_fini) struct pt_core_events events = {0};
    const bool has_events = is_core && process->run;
    if (has_events)
        pt_core_events_read(&events, process->run, process->pid, process->threads.items[0]->tid);
    return (is_json ? print_json : print_text)(look, has_events ? &events : NULL, err);
}

static int open_running(struct pt_look *look, const char *what, bool stop, struct pt_error *err)
{
    char *end;
    const unsigned long pid = strtoul(what, &end, 10);
    const bool is_pid = pid && pid <= 0x7fffffff && !*end && what[0] != '-';
    return is_pid ? pt_look_open(look, (pt_u32)pid, stop, err) : pt_look_open_run(look, what, stop, err);
}

int pt_cmd_stacks(int argc, char **argv, struct pt_error *err)
{
    enum { TEXT, JSON };
    int format = TEXT;
    bool stop = true;
    const char *core = NULL;
    const struct pt_opt table[] = {
        PT_OPT_CHOICE("format", 'f', &format, "text|json", "what to print (default: text)"),
        PT_OPT_FLAG("stop", 0, &stop,
                    "stop threads for a moment where their stack needs it (default: on; --no-stop: never)"),
        PT_OPT_TEXT("core", 0, &core, "FILE", "of a process that died: its core dump, instead of PID or RUN"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if ((core != NULL) + args.n != 1)
        return pt_fail_code(err, 2, "one of PID, RUN or --core FILE: see `proftrace stacks --help`");
    struct pt_look look = {0};
    int result = core ? pt_look_open_core(&look, core, err) : open_running(&look, args.values[0], stop, err);
    if (!result)
        result = print(&look, core != NULL, format == JSON, err);
    pt_look_close(&look);
    return result < 0 ? -1 : 0;
}
