/* SPDX-License-Identifier: MIT
 *
 * info.c - Owns: `proftrace info`: what was captured, what was lost, what was not traced and why. Threads: main only.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "model/session.h"
#include "util/auto.h"
#include "util/json/json_stream.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "cmd.h"
#include "open_run.h"

static const char *const drop_names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#undef DROP
};
static const char *const drop_docs[] = {
#define DROP(name, doc) doc,
#include "proftrace/drops.def"
#undef DROP
};

static const char *heap_mode_name(enum pt_heap_mode mode)
{
    static const char *const names[] = {"off", "sampled", "full"};
    return names[mode];
}

static const char *end_text(const struct pt_process *p, char text[static 40])
{
    if (p->state == PT_PROCESS_EXITED)
        snprintf(text, 40, "exit %d", p->exit_status);
    else
        snprintf(text, 40, "%s",
                 p->state == PT_PROCESS_EXECED ? "exec"
                 : p->is_running               ? "still running"
                                               : "no end seen");
    return text;
}

/* ---- text ---- */

static void print_name(const char *name)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    pt_sanitize_terminal(&clean, name);
    fputs(pt_str_text(&clean), stdout);
}

static int depth_of(const struct pt_process *p)
{
    int depth = 0;
    for (; p->parent && depth < 20; p = p->parent)
        depth++;
    return depth;
}

static void print_command(const struct pt_process *p)
{
    enum { SHOWN = 70 };
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    for (int i = 0; i < p->argc && line.n <= SHOWN; i++)
        pt_str_printf(&line, "%s%s", i ? " " : "", p->argv[i]);
    if (!line.n)
        pt_str_add(&line, p->exe);
    if (line.n > SHOWN) {
        size_t cut = SHOWN - 3; /* not inside a character */
        while (cut && ((unsigned char)line.text[cut] & 0xc0) == 0x80)
            cut--;
        memcpy(line.text + cut, "...", 4);
    }
    print_name(pt_str_text(&line));
}

static void print_process(const struct pt_process *p)
{
    char end[40];
    printf("%*s%-7" PRIu32 " %-13s %10s  %3" PRIu32 " threads  heap %-7s %12s events", depth_of(p) * 2, "", p->pid,
           end_text(p, end), pt_fmt_duration(p->end_ns - p->start_ns).text, p->n_threads, heap_mode_name(p->heap_mode),
           pt_fmt_count(p->quality.events).text);
    if (p->quality.overwritten)
        printf(", %s overwritten", pt_fmt_count(p->quality.overwritten).text);
    if (p->quality.dropped)
        printf(", %s dropped", pt_fmt_count(p->quality.dropped).text);
    if (p->quality.corrupt_events)
        printf(", %s damaged", pt_fmt_count(p->quality.corrupt_events).text);
    printf("  ");
    print_command(p);
    putchar('\n');
}

static void print_quality(const struct pt_quality *q)
{
    printf("events      %s recorded, %s overwritten, %s dropped, %s damaged\n", pt_fmt_count(q->events).text,
           pt_fmt_count(q->overwritten).text, pt_fmt_count(q->dropped).text, pt_fmt_count(q->corrupt_events).text);
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (q->drops[d])
            printf("  %-14s %s: %s\n", drop_names[d], pt_fmt_count(q->drops[d]).text, drop_docs[d]);
    if (q->corrupt_blocks || q->corrupt_definitions)
        printf("damage      %s blocks, %s definitions\n", pt_fmt_count(q->corrupt_blocks).text,
               pt_fmt_count(q->corrupt_definitions).text);
}

static pt_u32 count_untraced(const struct pt_run *run, const struct pt_session *session)
{
    pt_u32 n = run->info ? run->info->n_untraced : 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        n += session->processes[i]->n_untraced;
    return n;
}

static void print_reason(const char *path, const char *reason)
{
    printf(": ");
    print_name(path ? path : "?");
    printf(": ");
    print_name(reason ? reason : "nobody noted why");
    putchar('\n');
}

/* Programs that the launcher started are in run.json, those that a traced program started in its trace. */
static void print_untraced(const struct pt_run *run, const struct pt_session *session)
{
    printf("untraced    %" PRIu32 " programs\n", count_untraced(run, session));
    for (pt_u32 i = 0; run->info && i < run->info->n_untraced; i++) {
        const struct pt_run_untraced *u = &run->info->untraced[i];
        printf("  stage ");
        print_name(u->stage ? u->stage : "?");
        print_reason(u->path, u->reason);
    }
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *p = session->processes[i];
        for (pt_u32 k = 0; k < p->n_untraced; k++) {
            printf("  started by %" PRIu32, p->pid);
            print_reason(p->untraced[k].path, p->untraced[k].reason);
        }
    }
}

/* Without a trace the launcher's. */
static pt_i64 duration_ns(const struct pt_run *run, const struct pt_session *session)
{
    return run->empty && run->info->duration_ns > 0 ? (pt_i64)run->info->duration_ns : session->duration_ns;
}

static void print_text(const struct pt_run *run, const struct pt_session *session)
{
    printf("run         ");
    print_name(session->path);
    printf("\nprocesses   %" PRIu32 ", over %s\n", session->n_processes,
           pt_fmt_duration(duration_ns(run, session)).text);
    print_quality(&session->quality);
    print_untraced(run, session);
    if (session->n_processes)
        putchar('\n');
    for (pt_u32 i = 0; i < session->n_processes; i++)
        print_process(session->processes[i]);
    for (pt_u32 i = 0; i < session->n_notes; i++) {
        printf(i ? "note: " : "\nnote: ");
        print_name(session->notes[i]);
        putchar('\n');
    }
    if (!session->quality.events && session->quality.truncated)
        printf("\nWhat was recorded lay in the missing part: copy the files again and compare their sizes.\n");
    else if (!session->quality.events && count_untraced(run, session))
        printf("\nNothing was recorded: the reasons stand above.\n");
    else if (!session->quality.events)
        printf("\nNothing was recorded: `proftrace doctor` says what may stand in the way.\n");
}

/* ---- JSON ---- */

static void json_quality(struct pt_json *json, const char *key, const struct pt_quality *q)
{
    pt_json_object(json, key);
    pt_json_u64(json, "recorded", q->events);
    pt_json_u64(json, "overwritten", q->overwritten);
    pt_json_u64(json, "dropped", q->dropped);
    pt_json_u64(json, "damaged", q->corrupt_events);
    pt_json_object_inline(json, "drop_reasons");
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (q->drops[d])
            pt_json_u64(json, drop_names[d], q->drops[d]);
    pt_json_end(json);
    pt_json_u64(json, "damaged_blocks", q->corrupt_blocks);
    pt_json_u64(json, "damaged_definitions", q->corrupt_definitions);
    pt_json_bool(json, "truncated", q->truncated);
    pt_json_end(json);
}

static void json_process(struct pt_json *json, const struct pt_process *p)
{
    char end[40];
    pt_json_object(json, NULL);
    pt_json_u64(json, "pid", p->pid);
    pt_json_u64(json, "ppid", p->ppid);
    pt_json_text(json, "host", p->host);
    pt_json_text(json, "stage", p->stage);
    pt_json_text(json, "exe", p->exe);
    pt_json_array_inline(json, "argv");
    for (int i = 0; i < p->argc; i++)
        pt_json_text(json, NULL, p->argv[i]);
    pt_json_end(json);
    pt_json_text(json, "file", p->file_name);
    pt_json_fixed(json, "start_s", p->start_ns, 9);
    pt_json_fixed(json, "duration_s", p->end_ns - p->start_ns, 9);
    pt_json_text(json, "exit", p->state == PT_PROCESS_LIVE && !p->is_running ? NULL : end_text(p, end));
    pt_json_text(json, "heap", heap_mode_name(p->heap_mode));
    pt_json_u64(json, "threads", p->n_threads);
    if (p->rank >= 0)
        pt_json_i64(json, "rank", p->rank);
    else
        pt_json_null(json, "rank");
    json_quality(json, "events", &p->quality);
    pt_json_end(json);
}

static void json_untraced(struct pt_json *json, const struct pt_run *run, const struct pt_session *session)
{
    pt_json_array(json, "untraced");
    for (pt_u32 i = 0; run->info && i < run->info->n_untraced; i++) {
        const struct pt_run_untraced *u = &run->info->untraced[i];
        pt_json_object_inline(json, NULL);
        pt_json_text(json, "stage", u->stage);
        pt_json_null(json, "started_by_pid");
        pt_json_text(json, "path", u->path);
        pt_json_text(json, "reason", u->reason);
        pt_json_null(json, "at_s");
        pt_json_end(json);
    }
    for (pt_u32 i = 0; i < session->n_processes; i++)
        for (pt_u32 k = 0; k < session->processes[i]->n_untraced; k++) {
            const struct pt_untraced *u = &session->processes[i]->untraced[k];
            pt_json_object_inline(json, NULL);
            pt_json_text(json, "stage", session->processes[i]->stage);
            pt_json_u64(json, "started_by_pid", session->processes[i]->pid);
            pt_json_text(json, "path", u->path);
            pt_json_text(json, "reason", u->reason);
            pt_json_fixed(json, "at_s", u->at_ns, 9);
            pt_json_end(json);
        }
    pt_json_end(json);
}

static int print_json(const struct pt_run *run, const struct pt_session *session, struct pt_error *err)
{
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "run", session->path);
    pt_json_fixed(&json, "duration_s", duration_ns(run, session), 9);
    json_quality(&json, "events", &session->quality);
    pt_json_array(&json, "processes");
    for (pt_u32 i = 0; i < session->n_processes; i++)
        json_process(&json, session->processes[i]);
    pt_json_end(&json);
    json_untraced(&json, run, session);
    pt_json_array(&json, "notes");
    for (pt_u32 i = 0; i < session->n_notes; i++)
        pt_json_text(&json, NULL, session->notes[i]);
    pt_json_end(&json);
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write: %s", strerror(errno)) : 0;
}

int pt_cmd_info(int argc, char **argv, struct pt_error *err)
{
    bool as_json = false;
    const struct pt_opt table[] = {PT_OPT_FLAG("json", 0, &as_json, "print JSON"), PT_OPT_END};
    struct pt_run run = {0};
    int done = pt_open_run(table, argc, argv, &run, err);
    const struct pt_session *session = pt_run_session(&run);
    if (done == 0 && as_json)
        done = print_json(&run, session, err);
    else if (done == 0)
        print_text(&run, session);
    pt_run_close(&run);
    return done < 0 ? -1 : 0;
}
