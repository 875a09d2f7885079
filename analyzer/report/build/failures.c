/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about stages that did not end well: why, and the last lines of their logs. Threads: one.
 * Never: reads more of a log than its tail; a log is as long as a stage is talkative.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "build.h"

enum { TAIL_LINES = 20, TAIL_BYTES = 16384 };

/* run.json names the log below the run directory; anything else is not ours to show. Two dots may be part of a name. */
static bool is_below(const char *name)
{
    if (!name || !*name || *name == '/')
        return false;
    for (const char *part = name; *part; part += strspn(part, "/")) {
        const size_t length = strcspn(part, "/");
        if (length == 2 && !memcmp(part, "..", 2))
            return false;
        part += length;
    }
    return true;
}

static size_t read_tail(const char *directory, const char *name, char *buffer)
{
    PT_AUTO(pt_closep) int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    PT_AUTO(pt_closep) int fd = -1;
    struct stat status;
    if (folder < 0 || !is_below(name))
        return 0;
    fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    const off_t from = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
    const ssize_t n = pread(fd, buffer, TAIL_BYTES, from);
    return n > 0 ? (size_t)n : 0;
}

/* What a terminal would have left of the line: a progress bar redraws itself after each carriage return. */
static const char *after_last_return(const char *line)
{
    const char *from = strrchr(line, '\r');
    return from && from[1] ? from + 1 : line;
}

static void add_lines(const struct pt_build *b, struct pt_node *list, char *text, size_t n)
{
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    size_t from = n;
    for (int lines = 0; from; from--)
        if (text[from - 1] == '\n' && ++lines == TAIL_LINES)
            break;
    for (size_t i = from; i < n; i++)
        if (!text[i])
            text[i] = '?'; /* a NUL would hide the rest */
    text[n] = 0;
    char *save = NULL;
    for (char *line = n ? strtok_r(text + from, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
        pt_doc_value(b->doc, list, NULL, NULL, PT_SHOW_TEXT, pt_text(after_last_return(line)));
}

static void add_failure(const struct pt_build *b, struct pt_node *list, const struct pt_run_stage *stage)
{
    PT_AUTO(pt_freep) char *buffer = pt_calloc(1, TAIL_BYTES + 1);
    struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
    pt_doc_value(b->doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(stage->name))->column = 1;
    pt_doc_value(b->doc, item, "reason", "Why", PT_SHOW_TEXT, pt_text(stage->reason ? stage->reason : stage->exit))
        ->column = 2;
    pt_doc_value(b->doc, item, "log", "log", PT_SHOW_TEXT, pt_text(stage->log));
    struct pt_node *lines = pt_doc_list(b->doc, item, "log_tail", "last lines", PT_LAYOUT_PLAIN);
    if (stage->log)
        add_lines(b, lines, buffer, read_tail(b->profile->session->path, stage->log, buffer));
}

static bool is_wanted(const struct pt_build *b, const struct pt_run_stage *stage)
{
    return !b->options->stage || !strcmp(b->options->stage, stage->name);
}

/* For people: report.json says it with the stages. */
static void add_skipped(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    struct pt_node *list = pt_doc_list(b->doc, b->doc->root, "skipped_shown", "Skipped", PT_LAYOUT_TABLE);
    list->people_only = true;
    for (pt_u32 i = 0; i < run->n_stages; i++) {
        const struct pt_run_stage *stage = &run->stages[i];
        if (!stage->status || strcmp(stage->status, "skipped") || !is_wanted(b, stage))
            continue;
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        pt_doc_value(b->doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(stage->name))->column = 1;
        pt_doc_value(b->doc, item, "reason", "Why", PT_SHOW_TEXT,
                     stage->reason ? pt_text(stage->reason) : pt_unknown("nobody noted why"))
            ->column = 2;
    }
}

void pt_build_failures(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    if (!run || !run->is_pipeline)
        return;
    struct pt_node *list = pt_doc_list(b->doc, b->doc->root, "failures", "Failures", PT_LAYOUT_CALLOUTS);
    for (pt_u32 i = 0; i < run->n_stages; i++) {
        const struct pt_run_stage *stage = &run->stages[i];
        const bool failed = stage->status && (!strcmp(stage->status, "failed") || !strcmp(stage->status, "timeout"));
        if (failed && is_wanted(b, stage))
            add_failure(b, list, stage);
    }
    add_skipped(b);
}
