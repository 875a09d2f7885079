/* SPDX-License-Identifier: MIT
 *
 * Owns: which lines of a file are shown, and the sums beside them. Threads: one. Never: shows a text that may not be
 * the one that ran: what was changed since the run began is left out.
 */
#include "source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/whole.h"
#include "util/text/path.h"

enum { LINES_MOST = 200000, LINE_BYTES = 2048, AROUND = 2 };

struct line {
    double self_percent, total_percent, cpu_s, calls_s, held_bytes, grew_bytes;
    bool is_shown;
};

struct source {
    const struct pt_profile *profile;
    pt_u32 stage;
    const char *file;   /* as tables have it */
    struct line *lines; /* by number */
    pt_u32 n;
};

/* ---- the sums ---- */

static bool is_of(const char *path, const char *file)
{
    const size_t n = strlen(path), m = strlen(file);
    return pt_ends_with(path, file) && (n == m || path[n - m - 1] == '/' || file[0] == '/');
}

static double number_at(const struct pt_table *table, size_t row, const char *key)
{
    const struct pt_value value = pt_table_cell(table, row, key);
    return value.type == PT_VALUE_UNKNOWN ? 0 : pt_value_number(value);
}

static const char *file_at(const struct pt_table *table, size_t row)
{
    const struct pt_value file = pt_table_cell(table, row, "file");
    return file.type == PT_VALUE_TEXT ? file.text : "";
}

/* The first row that fits: tables have the costly ones first. */
static const char *find_file(const struct pt_table *table, const char *file)
{
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (is_of(file_at(table, i), file))
            return file_at(table, i);
    return NULL;
}

static bool is_python(const struct pt_stack_frame *frame)
{
    return (frame->flags & PT_FRAME_OF_PYTHON) && frame->file;
}

static const char *find_file_of_memory(const struct pt_stacks *stacks, pt_u32 stage, const char *file)
{
    for (size_t i = 0; i < stacks->n; i++)
        for (pt_u32 j = 0; stacks->items[i].stage == stage && j < stacks->items[i].n; j++)
            if (is_python(&stacks->items[i].frames[j]) && is_of(stacks->items[i].frames[j].file, file))
                return stacks->items[i].frames[j].file;
    return NULL;
}

static struct line *line_of(struct source *source, double number)
{
    if (number < 1 || number >= LINES_MOST)
        return NULL;
    while (source->n <= (pt_u32)number) {
        const pt_u32 n = source->n ? source->n * 2 : 256;
        source->lines = pt_realloc(source->lines, n * sizeof *source->lines);
        memset(source->lines + source->n, 0, (n - source->n) * sizeof *source->lines);
        source->n = n;
    }
    return &source->lines[(pt_u32)number];
}

static struct line *line_at(struct source *source, const struct pt_table *table, size_t row)
{
    return strcmp(file_at(table, row), source->file) ? NULL : line_of(source, number_at(table, row, "line"));
}

/* Of the innermost line of the file that a stack has: what a function that it calls allocates is its memory, too. */
static void add_memory(struct source *source)
{
    const struct pt_stacks *stacks = &source->profile->stacks;
    for (size_t i = 0; i < stacks->n; i++) {
        const struct pt_stack *stack = &stacks->items[i];
        pt_u32 at = 0;
        while (at < stack->n && !(is_python(&stack->frames[at]) && !strcmp(stack->frames[at].file, source->file)))
            at++;
        struct line *line =
            stack->stage == source->stage && at < stack->n ? line_of(source, stack->frames[at].line) : NULL;
        if (!line)
            continue;
        line->held_bytes += stack->cost[PT_STACK_HELD_BYTES];
        line->grew_bytes += stack->cost[PT_STACK_GROWTH_BYTES];
    }
}

static bool costs(const struct line *line)
{
    return line->cpu_s > 0 || line->calls_s > 0 || line->held_bytes >= 1 || line->grew_bytes >= 1;
}

static void add_up(struct source *source, const struct pt_table *cpu, const struct pt_table *calls)
{
    for (size_t i = 0; cpu && i < cpu->n_rows; i++) {
        struct line *line = line_at(source, cpu, i);
        if (!line)
            continue;
        line->self_percent += number_at(cpu, i, "self_percent");
        /* Of the functions of one line, one is inside of the other: a comprehension. */
        line->total_percent = fmax(line->total_percent, number_at(cpu, i, "total_percent"));
        line->cpu_s = fmax(line->cpu_s, number_at(cpu, i, "total_s"));
    }
    for (size_t i = 0; calls && i < calls->n_rows; i++) {
        struct line *line = line_at(source, calls, i);
        if (line)
            line->calls_s += number_at(calls, i, "total_s");
    }
    add_memory(source);
    for (pt_u32 i = 0; i < source->n; i++)
        if (costs(&source->lines[i]))
            for (pt_u32 j = i > AROUND ? i - AROUND : 1; j <= i + AROUND && j < source->n; j++)
                source->lines[j].is_shown = true;
}

/* ---- the text ---- */

/* A name that Python has without a folder is of the folder in which the program began, not of this one. NULL = there is
 * none, or more than one may be meant. The caller frees it. */
static char *path_of(const struct source *source)
{
    const struct pt_session *session = source->profile->session;
    char *found = NULL;
    if (source->file[0] == '/')
        return pt_strdup(source->file);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (pt_profile_stage_of(source->profile, process) != source->stage || !process->cwd || process->cwd[0] != '/')
            continue;
        PT_AUTO(pt_freep) char *path = pt_asprintf("%s/%s", process->cwd, source->file);
        if ((found && !strcmp(found, path)) || access(path, F_OK) < 0)
            continue;
        if (found) {
            free(found);
            return NULL;
        }
        found = pt_strdup(path);
    }
    return found;
}

/* NULL = it is not there, is no file, or was changed since the run began. */
static FILE *open_text(const struct source *source)
{
    struct stat status;
    PT_AUTO(pt_freep) char *path = path_of(source);
    const pt_u64 begin_ns = source->profile->session->start_realtime_ns;
    const bool is_same = path && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
                         (!begin_ns || (pt_u64)status.st_mtim.tv_sec <= begin_ns / 1000000000u);
    return is_same ? fopen(path, "re") : NULL;
}

struct row {
    struct pt_value self_percent, total_percent, cpu_s, calls_s, held_bytes, grew_bytes, line;
    const char *text;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct row, self_percent, PERCENT, "Self"),
    PT_COLUMN(struct row, total_percent, PERCENT, "Total"),
    PT_COLUMN(struct row, cpu_s, SECONDS, "CPU time"),
    PT_COLUMN(struct row, calls_s, SECONDS, "In calls"),
    PT_COLUMN(struct row, held_bytes, BYTES, "Live at peak"),
    PT_COLUMN(struct row, grew_bytes, BYTES, "Grew by"),
    PT_COLUMN(struct row, line, NUMBER, "Line"),
    PT_COLUMN(struct row, text, CODE, "Source"),
};

static struct pt_value shown(double number)
{
    return number > 0 ? pt_real(number) : pt_unknown("nothing was seen there");
}

static struct pt_value shown_bytes(double bytes)
{
    return bytes >= 1 ? pt_integer(pt_whole(bytes)) : pt_unknown("nothing was seen there");
}

static void add_row(struct pt_doc *doc, struct pt_table *table, const struct line *line, pt_u32 number,
                    const char *text)
{
    pt_table_add(table, &(struct row){
                            .self_percent = shown(line->self_percent),
                            .total_percent = shown(line->total_percent),
                            .cpu_s = shown(line->cpu_s),
                            .calls_s = shown(line->calls_s),
                            .held_bytes = shown_bytes(line->held_bytes),
                            .grew_bytes = shown_bytes(line->grew_bytes),
                            .line = pt_integer(number),
                            .text = pt_arena_text(&doc->arena, text, strlen(text)),
                        });
}

/* Indented as it is, but tables show no tabs and cut what is blank at the beginning: a bar stands before it. */
static void take_line(FILE *file, char text[LINE_BYTES])
{
    size_t n = 0;
    int c;
    text[n++] = '|';
    text[n++] = ' ';
    while ((c = getc(file)) != EOF && c != '\n')
        for (int i = 0; i < (c == '\t' ? 4 : 1) && n < LINE_BYTES - 1; i++)
            text[n++] = c == '\t' ? ' ' : (char)c;
    text[n] = 0;
}

static void add_lines(struct source *source, struct pt_doc *doc, struct pt_table *table)
{
    static const char no_text[] = "(the file is not there any more as it was)";
    PT_AUTO(pt_fclosep) FILE *file = open_text(source);
    char text[LINE_BYTES];
    for (pt_u32 i = 1; i < source->n && !(file && feof(file)); i++) {
        const struct line *line = &source->lines[i];
        if (file)
            take_line(file, text);
        const bool is_behind = file && feof(file) && !text[2];
        if (!line->is_shown || is_behind || (!file && !costs(line)))
            continue;
        add_row(doc, table, line, i, file ? text : no_text);
    }
}

/* ---- the document ---- */

static bool add_stage(struct pt_doc *doc, const struct pt_profile *profile, pt_u32 stage, const char *file)
{
    const struct pt_table *cpu = pt_view_table(&profile->metrics, stage, PT_VIEW_python_lines);
    const struct pt_table *calls = pt_view_table(&profile->metrics, stage, PT_VIEW_python_places);
    struct source source = {.profile = profile, .stage = stage, .file = find_file(cpu, file)};
    source.file = source.file ? source.file : find_file(calls, file);
    source.file = source.file ? source.file : find_file_of_memory(&profile->stacks, stage, file);
    if (!source.file)
        return false;
    struct pt_table *table;
    struct pt_doc_stage *part = pt_arena_alloc(&doc->arena, sizeof *part);
    *part = (struct pt_doc_stage){.index = stage, .name = profile->stages.items[stage].name};
    pt_vec_push(&doc->stages, part);
    pt_vec_push(&part->panels,
                pt_doc_table(doc, "source", source.file, columns, sizeof columns / sizeof *columns, &table));
    add_up(&source, cpu, calls);
    add_lines(&source, doc, table);
    free(source.lines);
    return true;
}

struct pt_doc *pt_source_build(const struct pt_profile *profile, const char *stage, const char *file,
                               struct pt_error *err)
{
    struct pt_doc *doc = pt_doc_new();
    bool is_any = false;
    doc->profile = profile;
    for (pt_u32 i = 0; i < profile->stages.n; i++)
        if (!stage || !strcmp(stage, profile->stages.items[i].name))
            is_any |= add_stage(doc, profile, i, file);
    if (is_any)
        return doc;
    pt_doc_free(doc);
    pt_fail_code(err, 2, "nothing is known of lines of %s", file);
    return NULL;
}
