/* SPDX-License-Identifier: MIT
 *
 * top.c - Owns: `proftrace top`: what the processes of a run have done so far, and what they do now. Threads: main
 * only. Never: makes a system call in a traced program; uses more than 1 % of a core, unless --interval asks for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/json/panel.h"
#include "report/medium.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "cmd/arguments/options.h"
#include "cmd/cmd.h"
#include "rows.h"
#include "screen.h"

/* A look costs more, the more processes there are: then it is taken less often, so that all that was used since the
 * start stays below 1 % of a core, with some room for the look that comes next. */
#define COST_FACTOR 160
#define USUAL_INTERVAL_NS 3000000000
#define SINGLE_INTERVAL_NS 1000000000

struct request {
    const char *run;
    int by;
    bool is_once, json;
    pt_i64 interval_ns; /* 0 = as often as its cost allows */
};

/* All that is kept from look to look. */
struct top {
    const struct request *request;
    char *path; /* of the run, once it was looked at: `latest` may be another by now */
    struct pt_top_look before, now;
    struct pt_top_phases phases;
    struct pt_top_view view;
    struct pt_screen screen;
    pt_u64 begin_ns;
    pt_i64 pause_ns; /* until the next look */
    bool is_paused, has_help, has_quit, is_over;
};

/* ---- looking ---- */

/* The run of the first look is that of all: a second one that begins meanwhile becomes the latest. */
static void keep_path(struct top *top)
{
    const char *path = pt_run_session(&top->now.run)->path;
    if (!top->path && path)
        top->path = realpath(path, NULL);
    if (!top->path && path)
        top->path = pt_strdup(path);
}

/* The newer of the two becomes the older. */
static int look_again(struct top *top, struct pt_error *err)
{
    if (top->now.at_ns) {
        pt_top_look_close(&top->before);
        top->before = top->now;
        top->now = (struct pt_top_look){0};
    }
    if (pt_top_look_open(&top->now, top->path ? top->path : top->request->run, err) < 0 ||
        pt_top_phases_follow(&top->phases, pt_run_session(&top->now.run), err) < 0)
        return -1;
    keep_path(top);
    const pt_u64 due_ns = top->begin_ns + COST_FACTOR * pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const pt_i64 rest_ns = (pt_i64)(due_ns - top->now.at_ns);
    const bool is_single = top->request->is_once || top->request->json || !top->before.at_ns;
    const pt_i64 usual_ns = is_single ? SINGLE_INTERVAL_NS : USUAL_INTERVAL_NS;
    top->pause_ns = top->request->interval_ns          ? top->request->interval_ns
                    : rest_ns > usual_ns && !is_single ? rest_ns
                                                       : usual_ns;
    return 0;
}

/* ---- showing ---- */

static double window_s(const struct top *top)
{
    return top->now.n_running ? (double)(top->now.at_ns - top->before.at_ns) / 1e9 : 0;
}

static int print_json(const struct top *top, struct pt_error *err)
{
    const struct pt_session *session = pt_run_session(&top->now.run);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "run", session->path);
    pt_json_fixed(&json, "until_s", session->duration_ns, 9);
    pt_json_fixed(&json, "window_s", (pt_i64)(window_s(top) * 1e9), 9);
    pt_json_u64(&json, "running", top->now.n_running);
    pt_json_u64(&json, "processes_seen", session->n_processes);
    for (int by = 0; by < PT_TOP_BY__COUNT; by++) {
        const struct pt_top_view view = {.by = (enum pt_top_by)by};
        pt_json_panel(&json, pt_top_panel(doc, &top->before, &top->now, &top->phases, &view));
    }
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write: %s", strerror(errno)) : 0;
}

static const char keys[] = "q quit  p pause  s sort  t processes, stages, ranks  space now  h help";
static const char help[] =
    "CPU, Data, Read, Write, Locks and Sleep are shares of the last seconds; 100 % is one thread all the time. Data is "
    "waiting for a loader's batch. Calls count when they end. The others count from the start. GPU is the launcher's "
    "last sample, of all GPUs.";
static const char *const help_on_keys[][2] = {
    {"q", "quit"},
    {"p", "pause: look no more until p again"},
    {"s", "sort by start, CPU, memory, reads and writes"},
    {"t", "a row for each process, stage or rank"},
    {"space", "look now"},
    {"h", "this, and back"},
};

static void put_help(const struct pt_text_out *people)
{
    pt_str_char(people->out, '\n');
    pt_text_fitted(people, help, 0);
    pt_str_add(people->out, "\n\n");
    for (size_t i = 0; i < sizeof help_on_keys / sizeof *help_on_keys; i++) {
        pt_str_printf(people->out, "  %-7s", help_on_keys[i][0]);
        pt_text_fitted(people, help_on_keys[i][1], 9);
        pt_str_char(people->out, '\n');
    }
}

static void put_page(const struct top *top, struct pt_str *text)
{
    const struct pt_session *session = pt_run_session(&top->now.run);
    const struct pt_render_options how = pt_medium_of(NULL);
    const struct pt_text_out people = {&how, text};
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str first = {0};
    pt_text_clean(&first, session->name);
    pt_str_printf(&first, ": %.0f s, %u of %u processes run", (double)session->duration_ns / 1e9, top->now.n_running,
                  session->n_processes);
    if (top->screen.is_open)
        pt_str_printf(&first, "; the last %.1f s, by %s%s", window_s(top), pt_top_sort_names[top->view.sort],
                      top->is_paused ? "; paused" : "");
    /* A line that is wider than the screen takes two, and the first of all scrolls away. */
    if (top->screen.is_open)
        pt_text_fitted(&people, pt_str_text(&first), 0);
    else
        pt_text_put(&people, pt_str_text(&first));
    pt_str_char(text, '\n');
    if (top->has_help)
        put_help(&people);
    else
        pt_text_panel(&people, pt_top_panel(doc, &top->before, &top->now, &top->phases, &top->view), NULL);
}

static int show(const struct top *top, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (top->request->json)
        return print_json(top, err);
    put_page(top, &text);
    if (top->screen.is_open)
        return pt_screen_show(&top->screen, &text, keys, err);
    return pt_text_file_write(NULL, &text, err);
}

/* ---- keys ---- */

/* Whether it is time for the next look. */
static bool take_key(struct top *top, int key)
{
    switch (key) {
    case 'q':
    case PT_KEY_END:
        top->is_over = top->has_quit = true;
        return true;
    case 'p':
        top->is_paused = !top->is_paused;
        return !top->is_paused;
    case 's':
        top->view.sort = (enum pt_top_sort)((top->view.sort + 1) % PT_TOP_SORT__COUNT);
        return false;
    case 't':
        top->view.by = (enum pt_top_by)((top->view.by + 1) % PT_TOP_BY__COUNT);
        return false;
    case 'h':
    case '?':
        top->has_help = !top->has_help;
        return false;
    case ' ':
        return true;
    default:
        return false;
    }
}

static int wait_for_keys(struct top *top, struct pt_error *err)
{
    const pt_u64 until_ns = pt_monotonic_ns() + (pt_u64)top->pause_ns;
    for (;;) {
        const pt_u64 now_ns = pt_monotonic_ns();
        const bool is_time = now_ns >= until_ns && !top->is_paused;
        const int key =
            is_time ? PT_KEY_NONE
                    : pt_screen_key(&top->screen, top->is_paused ? -1 : (int)((until_ns - now_ns + 999999) / 1000000));
        if (is_time || (key == PT_KEY_NONE && !top->is_paused) || take_key(top, key))
            return 0;
        if (top->before.at_ns && show(top, err) < 0)
            return -1;
    }
}

static int pause_between(struct top *top, struct pt_error *err)
{
    const struct timespec pause = {top->pause_ns / 1000000000, top->pause_ns % 1000000000};
    if (top->screen.is_open)
        return wait_for_keys(top, err);
    if (top->now.n_running)
        nanosleep(&pause, NULL);
    return 0;
}

/* Look, wait, look again and show what has changed, until nothing runs. */
static int watch(struct top *top, struct pt_error *err)
{
    const bool is_single = top->request->is_once || top->request->json;
    int result = look_again(top, err);
    while (!result && !top->is_over) {
        const bool is_last = is_single || !top->now.n_running;
        result = pause_between(top, err);
        if (!result && !top->is_over)
            result = look_again(top, err);
        if (!result && !top->is_over)
            result = show(top, err);
        top->is_over |= is_last;
    }
    return result;
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

static int run(const struct request *request, struct pt_error *err)
{
    struct top top = {.request = request,
                      .begin_ns = pt_monotonic_ns(),
                      .view = {.by = (enum pt_top_by)request->by, .is_for_people = true}};
    int result = 0;
    top.screen.signals_fd = -1;
    if (!request->is_once && !request->json)
        result = pt_screen_open(&top.screen, err);
    if (!result)
        result = watch(&top, err);
    const bool is_at_end = top.screen.is_open && !result && !top.has_quit;
    pt_screen_close(&top.screen);
    if (is_at_end) /* the screen is as before, and what was shown last is still worth it */
        result = show(&top, err);
    pt_top_look_close(&top.before);
    pt_top_look_close(&top.now);
    pt_top_phases_close(&top.phases);
    free(top.path);
    return result;
}

int pt_cmd_top(int argc, char **argv, struct pt_error *err)
{
    struct request request = {.interval_ns = 0};
    const struct pt_opt table[] = {
        PT_OPT_FLAG("once", 0, &request.is_once, "show it once, not again and again until the run has ended"),
        PT_OPT_FLAG("json", 0, &request.json, "print JSON, once"),
        PT_OPT_CHOICE("by", 'b', &request.by, "process|stage|rank", "what a row is (default: process)"),
        PT_OPT_DURATION("interval", 'i', &request.interval_ns, "D",
                        "what rates are of: between two looks (default: 3s, or so much more that it costs 1 % of a "
                        "core; 1s for a single one)"),
        PT_OPT_END,
    };
    struct pt_arguments args = {.min = 0, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (request.interval_ns && request.interval_ns < 1000000)
        return pt_fail_code(err, 2, "--interval is too short: at least 1ms");
    request.run = args.n ? args.values[0] : NULL;
    PT_AUTO(pt_freep) char *of_pid = request.run && is_pid(request.run) ? run_of_pid(request.run) : NULL;
    if (request.run && is_pid(request.run) && !of_pid)
        return pt_fail_code(err, 2, "process %s is not traced, has ended, or belongs to another user", request.run);
    request.run = of_pid ? of_pid : request.run;
    return run(&request, err);
}
