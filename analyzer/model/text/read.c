/* SPDX-License-Identifier: MIT
 *
 * text/read.c - Owns: the way from a session's text to trace files. Threads: one. Never: guesses: for a wrong line the
 * error has its number.
 */
#include "read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/text.h"
#include "util/auto.h"
#include "util/str.h"
#include "process_lines.h"

#define WANTED "assemble reads what `proftrace dump RUN` writes"

struct reader {
    struct pt_arena arena;
    struct {
        PT_VEC(struct pt_text_process *);
    } processes;
    struct pt_map by_label; /* interned label -> struct pt_text_process */
    struct pt_map threads;  /* interned label -> struct pt_text_thread */
    struct pt_intern labels;
    pt_u64 start_realtime_ns;
    struct pt_str label;
};

static const char *word(struct reader *r, const char **at)
{
    const size_t n = strcspn(*at, " ");
    const char *found = pt_intern_bytes(&r->labels, *at, n);
    *at += n;
    return found;
}

static int read_process(struct reader *r, const char *at, struct pt_error *err)
{
    const char *label = word(r, &at);
    struct pt_keys keys;
    if (*label < '0' || *label > '9')
        return pt_fail_code(err, 3, "a process is named by its pid");
    if (pt_map_find(&r->by_label, (uintptr_t)label))
        return pt_fail_code(err, 3, "process %.40s comes twice", label);
    if (pt_keys_read(at, &keys, &r->arena, err) < 0)
        return -1;
    struct pt_text_process *p = pt_text_process_new((pt_u32)strtoul(label, NULL, 10), (pt_u32)r->processes.n + 1);
    pt_vec_push(&r->processes, p);
    *pt_map_at(&r->by_label, (uintptr_t)label) = (uintptr_t)p;
    return pt_text_process_header(p, &keys, r->start_realtime_ns, err);
}

static struct pt_text_process *find_process(struct reader *r, const char *label, struct pt_error *err)
{
    struct pt_text_process *p = pt_map_pointer(&r->by_label, (uintptr_t)label);
    if (!p)
        pt_fail_code(err, 3, "no process line for '%.40s' stands before this", label);
    return p;
}

/* The thread of a label "pid#i/tid#k"; made as the next slot of its process when no thread line named it. */
static struct pt_text_thread *find_thread(struct reader *r, const char *label, struct pt_error *err)
{
    struct pt_text_thread *thread = pt_map_pointer(&r->threads, (uintptr_t)label);
    if (thread)
        return thread;
    const char *slash = strchr(label, '/');
    if (!slash) {
        pt_fail_code(err, 3, "'%.40s' is not a thread (PID/TID)", label);
        return NULL;
    }
    struct pt_text_process *p = find_process(r, pt_intern_bytes(&r->labels, label, (size_t)(slash - label)), err);
    if (!p)
        return NULL;
    thread = pt_text_thread_new(p, (pt_u32)strtoul(slash + 1, NULL, 10));
    *pt_map_at(&r->threads, (uintptr_t)label) = (uintptr_t)thread;
    return thread;
}

static pt_u32 add_string(void *context, const char *bytes, size_t n)
{
    struct pt_text_process *p = context;
    return pt_writer_string(p->writer, bytes, (pt_u32)n);
}

static pt_u32 add_stack(void *context, const pt_u64 *frames, pt_u32 n)
{
    struct pt_text_process *p = context;
    return pt_writer_stack(p->writer, frames, n);
}

/* Names belong to the process whose label stands in the middle of the line, so the label is looked at first. */
static struct pt_text_thread *thread_of_event(struct reader *r, const char *line, struct pt_error *err)
{
    const char *at = line + strcspn(line, " ");
    at += strspn(at, " ");
    if (*at == '+') {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return find_thread(r, word(r, &at), err);
}

static int read_event(struct reader *r, const char *line, struct pt_error *err)
{
    struct pt_text_thread *thread = thread_of_event(r, line, err);
    struct pt_event event;
    if (!thread)
        return -1;
    const struct pt_text_ids ids = {thread->process, add_string, add_stack};
    if (pt_text_parse_event(line, &event, &r->label, &ids, err) < 0)
        return -1;
    return pt_text_process_event(thread, &event, err);
}

static int read_minute(struct reader *r, const char *label, const char *at, struct pt_error *err)
{
    struct pt_keys keys;
    struct pt_text_thread *thread = find_thread(r, label, err);
    at += strspn(at, " ");
    const char *name = word(r, &at);
    const struct pt_event_desc *desc = pt_event_desc_by_name(name);
    if (!thread || pt_keys_read(at, &keys, &r->arena, err) < 0)
        return -1;
    return desc || !strcmp(name, "heap") ? pt_text_minute(thread, desc, &keys, err)
                                         : pt_fail_code(err, 3, "no such event");
}

static int read_keyed(struct reader *r, const char *kind, const char *at, struct pt_error *err)
{
    struct pt_keys keys;
    const char *label = word(r, &at);
    if (!strcmp(kind, "totals")) {
        struct pt_text_thread *thread = find_thread(r, label, err);
        at += strspn(at, " ");
        const struct pt_event_desc *desc = pt_event_desc_by_name(word(r, &at));
        if (!thread || pt_keys_read(at, &keys, &r->arena, err) < 0)
            return -1;
        return desc ? pt_text_totals(thread, desc, &keys, err) : pt_fail_code(err, 3, "no such event");
    }
    if (!strcmp(kind, "minute"))
        return read_minute(r, label, at, err);
    if (pt_keys_read(at, &keys, &r->arena, err) < 0)
        return -1;
    if (!strcmp(kind, "thread")) {
        struct pt_text_thread *thread = find_thread(r, label, err);
        return thread ? pt_text_thread_line(thread, &keys, err) : -1;
    }
    struct pt_text_process *p = find_process(r, label, err);
    if (!p)
        return -1;
    if (!strcmp(kind, "module"))
        return pt_text_module(p, &keys, err);
    if (!strcmp(kind, "untraced"))
        return pt_text_untraced(p, &keys, err);
    if (!strcmp(kind, "lost"))
        return pt_text_lost(p, &keys, err);
    return pt_text_heap(p, &keys, err);
}

static int read_line(struct reader *r, const char *line, struct pt_error *err)
{
    static const char *const kinds[] = {"thread", "module", "untraced", "lost", "totals", "heap", "minute"};
    if (!*line || *line == '#')
        return 0;
    if (!strncmp(line, "proftrace-text ", 15)) {
        const char *realtime = strstr(line, "start_realtime_ns=");
        r->start_realtime_ns = realtime ? strtoull(realtime + 18, NULL, 10) : 0;
        return strncmp(line + 15, "1", 1) != 0 ? pt_fail_code(err, 3, "a newer form of text than this proftrace reads")
                                               : 0;
    }
    if (!strncmp(line, "process ", 8))
        return read_process(r, line + 8, err);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t n = strlen(kinds[i]);
        if (!strncmp(line, kinds[i], n) && line[n] == ' ')
            return read_keyed(r, kinds[i], line + n + 1, err);
    }
    if (!r->processes.n)
        return pt_fail_code(err, 3, "not the text of a trace: " WANTED);
    return read_event(r, line, err);
}

static bool is_named_as_directory(const char *output)
{
    return *output && output[strlen(output) - 1] == '/';
}

/* Of a run that has none: without it, files could be missing. It counts these. */
static int save_page(const char *directory, size_t n_processes, struct pt_error *err)
{
    struct pt_session_page page = {.format_version = PT_FORMAT_VERSION, .processes = n_processes};
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_SESSION_FILE, directory);
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "wxe");
    memcpy(page.magic, PT_SESSION_MAGIC, sizeof page.magic);
    if (!file)
        return errno == EEXIST ? 0 : pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    return fwrite(&page, sizeof page, 1, file) == 1 && fflush(file) == 0
               ? 0
               : pt_fail(err, "cannot write %s: %s", path, strerror(errno));
}

static int save(struct reader *r, const char *output, struct pt_error *err)
{
    struct stat status;
    if (!r->processes.n)
        return pt_fail_code(err, 3, "no process line");
    const bool is_there = stat(output, &status) == 0;
    bool is_directory = is_there && S_ISDIR(status.st_mode);
    if (r->processes.n > 1 && is_there && !is_directory)
        return pt_fail_code(err, 2, "%zu processes need a directory, and %s is none", r->processes.n, output);
    if (!is_there && (r->processes.n > 1 || is_named_as_directory(output))) {
        if (mkdir(output, 0700) < 0)
            return pt_fail(err, "cannot make %s: %s", output, strerror(errno));
        is_directory = true;
    }
    if (is_directory && save_page(output, r->processes.n, err) < 0)
        return -1;
    for (size_t i = 0; i < r->processes.n; i++) {
        PT_AUTO(pt_freep)
        char *path = is_directory ? pt_asprintf("%s/%s", output, r->processes.items[i]->file_name) : pt_strdup(output);
        if (pt_text_process_save(r->processes.items[i], path, err) < 0)
            return -1;
    }
    return 0;
}

/* The next line without its end: 1, or 0 at the end of the file. Not getline, with which one endless line would take
 * all memory.
 */
static int next_line(FILE *in, struct pt_str *line, struct pt_error *err)
{
    enum { LONGEST = 16 << 20 }; /* names are cut long before */
    int c;
    pt_str_clear(line);
    while ((c = getc_unlocked(in)) != EOF && c != '\n') {
        if (!c)
            return pt_fail_code(err, 3, "not text: " WANTED);
        if (line->n == LONGEST)
            return pt_fail_code(err, 3, "a line of more than %d MiB: " WANTED, LONGEST >> 20);
        pt_str_char(line, (char)c);
    }
    if (line->n == strlen(PT_FILE_MAGIC) - 1 && c == '\n' && !strncmp(line->text, PT_FILE_MAGIC, line->n))
        return pt_fail_code(err, 3, "a trace file already: " WANTED);
    return c != EOF || line->n;
}

int pt_session_read_text(FILE *in, const char *name, const char *output, struct pt_error *err)
{
    struct reader r = {0};
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    int result = 0;
    for (size_t number = 1; result == 0 && (result = next_line(in, &line, err)) != 0; number++) {
        if (result > 0)
            result = read_line(&r, pt_str_text(&line), err);
        if (result < 0)
            pt_error_context(err, "%s:%zu", name, number);
    }
    if (result == 0 && ferror(in))
        result = pt_fail_code(err, 3, "cannot read %s: %s", name, strerror(errno));
    if (result == 0)
        result = save(&r, output, err);
    for (size_t i = 0; i < r.processes.n; i++)
        pt_text_process_free(r.processes.items[i]);
    free(r.processes.items);
    pt_map_fini(&r.by_label);
    pt_map_fini(&r.threads);
    pt_intern_fini(&r.labels);
    pt_arena_fini(&r.arena);
    pt_str_fini(&r.label);
    return result;
}
