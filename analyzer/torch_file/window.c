/* SPDX-License-Identifier: MIT
 *
 * torch_file/window.c - Owns: what a window's file says, its clock, the nesting of its spans. Threads: one. Never:
 * trusts a file.
 */
#include "window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proftrace/window.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/path.h"
#include "flops.h"

#define UNKNOWN_STEPS UINT64_MAX
enum { MOST_SPANS = 4 << 20, MOST_THREADS = 4096, MOST_FILES = 1000, MOST_DEPTH = 256 };
/* Names that are told apart. A kernel's, of a template, may be long; millions of them, from a packed file of some MB,
 * are a bomb. */
enum { MOST_NAME_BYTES = 1024, MOST_TEXT_BYTES = 32 << 20 };

/* A marker of ours: the profiler's time of it, less our own. */
struct marker {
    double at_us, distance_us;
};

/* An allocation, on its way to the span in which it was made. */
struct allocation {
    pt_u32 thread;
    double at_us, bytes, held_bytes;
};

struct raw_span {
    double start_us, took_us;
    struct pt_torch_span span;
};

struct reading {
    struct pt_torch_window *window;
    pt_u64 own_thread; /* as the trace has the thread of the markers */
    size_t text_bytes; /* of names and shapes that were kept */
    struct {
        PT_VEC(struct raw_span);
    } spans;
    struct {
        PT_VEC(struct marker);
    } markers;
    struct {
        PT_VEC(struct allocation);
    } allocations;
    struct pt_map threads; /* number in the trace -> index, plus 1 */
    pt_u64 whole_steps;    /* what was begun after them was not ended: a program may end within a step */
};

static pt_u32 thread_of(struct reading *reading, pt_u64 number)
{
    struct pt_torch_window *window = reading->window;
    if (window->threads.n >= MOST_THREADS && !pt_map_find(&reading->threads, number))
        return 0;
    pt_u64 *slot = pt_map_at(&reading->threads, number);
    if (!*slot) {
        pt_vec_push(&window->threads, number);
        *slot = window->threads.n;
    }
    return (pt_u32)(*slot - 1);
}

/* "ptsync:TIME:PID:THREAD:KIND:FIRST:EPOCH:PARAMETERS:PEAK:STEPS"; files of older versions have no PEAK, and only the
 * markers at the end have STEPS. */
static bool read_marker(struct reading *reading, const struct pt_torch_event *event)
{
    static const char *const kinds[] = {"steps", "every", "epoch", "validation"};
    struct pt_torch_window *window = reading->window;
    pt_i64 at_ns;
    pt_u64 peak_gflops = 0, whole_steps = UNKNOWN_STEPS;
    char kind[16];
    if (strncmp(event->name, PT_WINDOW_MARKER, sizeof PT_WINDOW_MARKER - 1) != 0)
        return false;
    if (sscanf(event->name + sizeof PT_WINDOW_MARKER - 1,
               "%" SCNd64 ":%u:%u:%15[a-z]:%" SCNu64 ":%u:%" SCNu64 ":%" SCNu64 ":%" SCNu64, &at_ns, &window->pid,
               &window->thread_id, kind, &window->first_step, &window->epoch, &window->parameters, &peak_gflops,
               &whole_steps) >= 7 &&
        at_ns >= 0 && at_ns < (1ll << 62)) {
        reading->own_thread = event->thread;
        if (whole_steps < reading->whole_steps)
            reading->whole_steps = whole_steps;
        window->peak_flops_per_s = (double)peak_gflops * 1e9;
        for (pt_u32 i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (!strcmp(kind, kinds[i]))
                window->kind = (enum pt_torch_window_kind)i;
        pt_vec_push(&reading->markers, ((struct marker){event->start_us, event->start_us - (double)at_ns / 1e3}));
    }
    return true;
}

/* As much of a name as is kept: whole characters. */
static size_t kept_bytes(const char *name)
{
    size_t n = strlen(name);
    if (n <= MOST_NAME_BYTES)
        return n;
    for (n = MOST_NAME_BYTES; n > MOST_NAME_BYTES - 4 && ((unsigned char)name[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

static const char *keep(struct reading *reading, const char *text, size_t n)
{
    struct pt_intern *texts = &reading->window->texts;
    const size_t n_before = texts->n;
    const char *kept = pt_intern_bytes(texts, text, n);
    reading->text_bytes += texts->n > n_before ? n + 1 : 0;
    return kept;
}

static void take(struct reading *reading, const struct pt_torch_event *event)
{
    struct pt_torch_window *window = reading->window;
    if (event->kind == PT_TORCH_RANGE || event->kind == PT_TORCH_OPERATOR)
        if (read_marker(reading, event))
            return;
    if (reading->spans.n + reading->allocations.n >= MOST_SPANS || reading->text_bytes >= MOST_TEXT_BYTES) {
        window->left_out++;
        return;
    }
    if (event->kind == PT_TORCH_MEMORY) {
        if (event->is_of_cpu)
            pt_vec_push(&reading->allocations, ((struct allocation){thread_of(reading, event->thread), event->start_us,
                                                                    event->bytes, event->held_bytes}));
        return;
    }
    window->has_shapes |= event->shapes.n > 0;
    /* Hostile files have steps among the kernels, too: whatever is no kernel has a thread. */
    const enum pt_torch_kind kind = pt_torch_is_step(event->name) ? PT_TORCH_RANGE : event->kind;
    const struct pt_torch_span span = {
        .name = keep(reading, event->name, kept_bytes(event->name)),
        .shapes = keep(reading, event->shapes.text, strlen(event->shapes.text)),
        .kind = kind,
        .thread = kind == PT_TORCH_KERNEL ? 0 : thread_of(reading, event->thread),
        .flops = pt_torch_flops(event),
        .peak_bytes = -1,
    };
    pt_vec_push(&reading->spans, ((struct raw_span){event->start_us, event->took_us, span}));
}

/* ---- the clock ---- */

static int by_time(const void *a, const void *b)
{
    const struct marker *x = a, *y = b;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

/* A marker begins a little after its name was made: the least distance of each end is nearest to the truth. */
struct clock_line {
    double at_us[2], distance_us[2];
};

static struct clock_line fit(const struct reading *reading)
{
    const struct marker *markers = reading->markers.items;
    const size_t n = reading->markers.n;
    struct clock_line line = {{markers[0].at_us, markers[n - 1].at_us}, {INFINITY, INFINITY}};
    const double middle = (markers[0].at_us + markers[n - 1].at_us) / 2;
    for (size_t i = 0; i < n; i++) {
        const int end = markers[i].at_us > middle;
        if (markers[i].distance_us < line.distance_us[end])
            line.distance_us[end] = markers[i].distance_us, line.at_us[end] = markers[i].at_us;
    }
    if (!isfinite(line.distance_us[1])) /* one end only: the program ended before it wrote the other */
        line.distance_us[1] = line.distance_us[0], line.at_us[1] = line.at_us[0];
    return line;
}

static pt_i64 on_our_clock(const struct clock_line *line, double at_us)
{
    double distance_us = line->distance_us[0];
    const double span_us = line->at_us[1] - line->at_us[0];
    if (span_us > 0) {
        double part = (at_us - line->at_us[0]) / span_us;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        distance_us += part * (line->distance_us[1] - line->distance_us[0]);
    }
    const double ns = (at_us - distance_us) * 1e3;
    return ns > 4e18 ? (pt_i64)4e18 : ns < -4e18 ? (pt_i64)-4e18 : (pt_i64)ns;
}

/* ---- nesting ---- */

static int by_thread(const void *a, const void *b)
{
    const struct raw_span *x = a, *y = b;
    const bool x_is_gpu = x->span.kind == PT_TORCH_KERNEL, y_is_gpu = y->span.kind == PT_TORCH_KERNEL;
    if (x_is_gpu != y_is_gpu)
        return x_is_gpu ? 1 : -1;
    if (x->span.thread != y->span.thread)
        return x->span.thread < y->span.thread ? -1 : 1;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    if (x->took_us != y->took_us) /* what contains comes before what it contains */
        return x->took_us > y->took_us ? -1 : 1;
    return strcmp(x->span.name, y->span.name);
}

static int by_allocating_thread(const void *a, const void *b)
{
    const struct allocation *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

struct stack {
    size_t open[MOST_DEPTH]; /* indices of spans */
    double self_us[MOST_DEPTH];
    pt_u32 n;
};

static void close_spans(struct reading *reading, struct stack *stack, double until_us)
{
    while (stack->n) {
        struct raw_span *span = &reading->spans.items[stack->open[stack->n - 1]];
        if (span->start_us + span->took_us > until_us)
            return;
        const double self_us = stack->self_us[--stack->n];
        span->span.self_ns = self_us > 0 ? (pt_i64)(self_us * 1e3) : 0;
    }
}

/* The span that is innermost takes what was allocated; what is held then counts for all that are open. */
static void allocate(struct reading *reading, struct stack *stack, const struct allocation *allocation)
{
    close_spans(reading, stack, allocation->at_us);
    for (pt_u32 i = 0; i < stack->n; i++) {
        struct pt_torch_span *span = &reading->spans.items[stack->open[i]].span;
        if (allocation->held_bytes > span->peak_bytes)
            span->peak_bytes = allocation->held_bytes;
        if (i + 1 == stack->n)
            span->self_bytes += allocation->bytes;
    }
}

/* The thread's allocations before that instant. */
static void allocate_until(struct reading *reading, struct stack *stack, size_t *next, pt_u32 thread, double until_us)
{
    const struct allocation *items = reading->allocations.items;
    for (; *next < reading->allocations.n && items[*next].thread < thread; (*next)++)
        ; /* of threads without a span */
    for (; *next < reading->allocations.n && items[*next].thread == thread && items[*next].at_us < until_us; (*next)++)
        allocate(reading, stack, &items[*next]);
}

static void open_span(struct stack *stack, struct raw_span *span, size_t index)
{
    if (stack->n)
        stack->self_us[stack->n - 1] -= span->took_us;
    span->span.depth = stack->n;
    if (stack->n == MOST_DEPTH)
        return; /* its parent has lost that time: it is known of the outer ones only */
    stack->self_us[stack->n] = span->took_us;
    stack->open[stack->n++] = index;
}

static void nest(struct reading *reading)
{
    struct stack stack = {.n = 0};
    size_t next = 0;
    pt_u32 thread = 0;
    if (reading->spans.n)
        qsort(reading->spans.items, reading->spans.n, sizeof *reading->spans.items, by_thread);
    if (reading->allocations.n)
        qsort(reading->allocations.items, reading->allocations.n, sizeof *reading->allocations.items,
              by_allocating_thread);
    for (size_t i = 0; i < reading->spans.n; i++) {
        struct raw_span *span = &reading->spans.items[i];
        if (span->span.kind == PT_TORCH_KERNEL) {
            span->span.self_ns = (pt_i64)(span->took_us * 1e3);
            continue;
        }
        if (span->span.thread != thread) {
            allocate_until(reading, &stack, &next, thread, INFINITY);
            close_spans(reading, &stack, INFINITY);
            thread = span->span.thread;
        }
        allocate_until(reading, &stack, &next, thread, span->start_us);
        close_spans(reading, &stack, span->start_us);
        open_span(&stack, span, i);
    }
    allocate_until(reading, &stack, &next, thread, INFINITY);
    close_spans(reading, &stack, INFINITY);
}

/* ---- a file ---- */

static void settle(struct reading *reading)
{
    struct pt_torch_window *window = reading->window;
    qsort(reading->markers.items, reading->markers.n, sizeof *reading->markers.items, by_time);
    const struct clock_line line = fit(reading);
    window->start_ns = on_our_clock(&line, reading->markers.items[0].at_us);
    window->end_ns = on_our_clock(&line, reading->markers.items[reading->markers.n - 1].at_us);
    window->has_memory = reading->allocations.n > 0;
    nest(reading);
    for (size_t i = 0; i < reading->spans.n; i++) {
        struct pt_torch_span *span = &reading->spans.items[i].span;
        span->start_ns = on_our_clock(&line, reading->spans.items[i].start_us);
        span->took_ns = (pt_i64)(reading->spans.items[i].took_us * 1e3);
        if (pt_torch_is_step(span->name) && window->steps < reading->whole_steps) {
            window->steps++;
            window->steps_ns += span->took_ns;
        }
        pt_vec_push(&window->spans, *span);
    }
    /* Builds without Kineto number threads from 1 on: the one of the markers is known, the others are not. */
    for (size_t i = 0; i < window->threads.n; i++)
        if (window->threads.items[i] == reading->own_thread)
            window->threads.items[i] = window->thread_id;
        else if (reading->own_thread != window->thread_id)
            window->threads.items[i] = 0;
}

int pt_torch_window_read(int directory, const char *name, const char *file, struct pt_torch_window *ret_window,
                         struct pt_error *err)
{
    struct pt_torch_event event;
    struct reading reading = {.window = ret_window, .whole_steps = UNKNOWN_STEPS};
    *ret_window = (struct pt_torch_window){0};
    PT_AUTO(pt_torch_events_closep) struct pt_torch_events *events = pt_torch_events_open(directory, name, err);
    if (!events)
        return -1;
    ret_window->file = pt_strdup(file);
    while (pt_torch_events_next(events, &event))
        take(&reading, &event);
    ret_window->is_cut = pt_torch_events_are_cut(events);
    if (reading.markers.n)
        settle(&reading);
    const int result = reading.markers.n ? 0 : pt_fail_code(err, 3, "%s: no marker of PROFTRACE_WINDOW is in it", name);
    free(reading.spans.items);
    free(reading.markers.items);
    free(reading.allocations.items);
    pt_map_fini(&reading.threads);
    if (result < 0)
        pt_torch_window_fini(ret_window);
    return result;
}

void pt_torch_window_fini(struct pt_torch_window *window)
{
    free(window->file);
    free(window->spans.items);
    free(window->threads.items);
    pt_intern_fini(&window->texts);
    *window = (struct pt_torch_window){0};
}

/* ---- all of a run ---- */

struct names {
    PT_VEC(char *);
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, so that a report says the same each time. */
static void list(int directory, struct names *ret_names)
{
    const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    if (!dir) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(dir)) && ret_names->n < MOST_FILES)
        if (*entry->d_name != '.')
            pt_vec_push(ret_names, pt_strdup(entry->d_name));
    closedir(dir);
    if (ret_names->n)
        qsort(ret_names->items, ret_names->n, sizeof *ret_names->items, by_name);
}

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static bool is_trace(const char *name)
{
    return pt_ends_with(name, ".json") || pt_ends_with(name, ".json.gz");
}

static int files_of(int top, const char *model, pt_torch_file_found *found, void *context)
{
    PT_AUTO(pt_closep) int folder = open_folder(top, model);
    PT_AUTO(names_fini) struct names files = {0};
    if (folder >= 0)
        list(folder, &files);
    for (size_t i = 0; i < files.n; i++)
        if (is_trace(files.items[i]) && found(context, folder, model, files.items[i]) < 0)
            return -1;
    return 0;
}

int pt_torch_files_each(const char *run, pt_torch_file_found *found, void *context)
{
    PT_AUTO(pt_closep) int run_fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PT_AUTO(pt_closep) int top = run_fd < 0 ? -1 : open_folder(run_fd, "torch");
    PT_AUTO(names_fini) struct names models = {0};
    if (top >= 0)
        list(top, &models);
    for (size_t i = 0; i < models.n; i++)
        if (files_of(top, models.items[i], found, context) < 0)
            return -1;
    return 0;
}

struct reader {
    pt_torch_window_seen *seen;
    void *context;
};

static int read_file(void *context, int folder, const char *model, const char *name)
{
    const struct reader *reader = context;
    struct pt_torch_window window;
    struct pt_error problem = {0};
    PT_AUTO(pt_freep) char *file = pt_asprintf("torch/%s/%s", model, name);
    const bool is_read = pt_torch_window_read(folder, name, file, &window, &problem) == 0;
    reader->seen(reader->context, is_read ? &window : NULL, file, &problem);
    if (is_read)
        pt_torch_window_fini(&window);
    return 0;
}

void pt_torch_windows_each(const char *run, pt_torch_window_seen *seen, void *context)
{
    struct reader reader = {seen, context};
    pt_torch_files_each(run, read_file, &reader);
}
