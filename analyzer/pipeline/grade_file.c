/* SPDX-License-Identifier: MIT
 *
 * grade_file.c - Owns: which JSON file is the grade report. Threads: any. Never: takes a file of an earlier run, reads
 * more than MOST_MIB and MOST_FILES, waits for a FIFO.
 *
 * A grader may write more than its report, and a later program may write a summary with one of the values: a file with
 * more of the keys is better, whatever their order.
 */
#include "grade_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/arena.h"
#include "util/vec.h"
#include "quality_find.h"

enum { MOST_MIB = 64, MOST_FILES = 4096, SHOWN_FILES = 3 };

struct candidate {
    const char *path;
    struct timespec modified;
    pt_u64 bytes;
    size_t order; /* as they were given */
    bool was_read;
};

/* How many of the wanted keys a file has. */
struct match {
    size_t there, unclear;
};

struct choice {
    const struct pt_grade_search *search;
    struct pt_grade_file *best;
    struct match best_match;
    const char **words; /* one of them is in a file that has a key */
    struct {
        PT_VEC(struct candidate);
    } fresh;           /* the newest first */
    const char *older; /* a file that is older than the run */
    pt_u64 left_bytes; /* that may still be read */
    size_t n_not_read;
    struct pt_error broken; /* the newest that cannot be read */
};

/* File systems stamp with the kernel's tick, some with whole seconds only: a file that a stage has just written may
 * seem a little older than the run. */
bool pt_is_older_than_run(struct timespec modified, pt_u64 start_realtime_ns)
{
    const pt_u64 second = 1000000000, tick = 20000000, start_ns = start_realtime_ns;
    if (modified.tv_sec < 0)
        return true;
    const pt_u64 modified_ns = (pt_u64)modified.tv_sec * second + (pt_u64)modified.tv_nsec;
    return modified.tv_nsec == 0 ? modified_ns < start_ns - start_ns % second : modified_ns + tick < start_ns;
}

/* ---- which are there ---- */

static int by_newest(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->modified.tv_sec != y->modified.tv_sec)
        return x->modified.tv_sec < y->modified.tv_sec ? 1 : -1;
    if (x->modified.tv_nsec != y->modified.tv_nsec)
        return x->modified.tv_nsec < y->modified.tv_nsec ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static void find_fresh(struct choice *choice)
{
    const struct pt_grade_search *search = choice->search;
    for (size_t i = 0; i < search->n_paths; i++) {
        struct stat about;
        if (stat(search->paths[i], &about) < 0 || !S_ISREG(about.st_mode))
            continue;
        if (pt_is_older_than_run(about.st_mtim, search->start_realtime_ns))
            choice->older = choice->older ? choice->older : search->paths[i];
        else
            pt_vec_push(&choice->fresh,
                        ((struct candidate){search->paths[i], about.st_mtim, (pt_u64)about.st_size, i, false}));
    }
    if (choice->fresh.n)
        qsort(choice->fresh.items, choice->fresh.n, sizeof *choice->fresh.items, by_newest);
}

/* ---- which has the keys ---- */

static bool is_index(const char *name, size_t n)
{
    return strspn(name, "0123456789") >= n;
}

/* Is the name the same in every JSON text? A writer may escape other characters. */
static bool is_plain(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name[i] < ' ' || name[i] > '~' || strchr("\"\\/", name[i]))
            return false;
    return true;
}

/* A word that a text with the key must have: the last name of a dotted path, without the indices after it. "" = not
 * known. */
static const char *word_of(const char *key, struct pt_arena *arena)
{
    for (size_t end = strlen(key), begin;; end = begin - 1) {
        for (begin = end; begin && key[begin - 1] != '.';)
            begin--;
        if (!is_index(key + begin, end - begin))
            return pt_arena_text(arena, key + begin, is_plain(key + begin, end - begin) ? end - begin : 0);
        if (!begin)
            return "";
    }
}

/* report.json, of proftrace or of another profiler of pipelines: its grades are those of the run that it is about. */
static bool is_profile(const cJSON *json)
{
    return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json, "quality_metrics")) &&
           cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "stages"));
}

static struct match match_of(const struct pt_grade_search *search, const cJSON *json)
{
    struct match match = {0};
    for (size_t i = 0; json && !is_profile(json) && i < search->n_keys; i++) {
        struct pt_quality_value value = pt_quality_find(json, search->keys[i]);
        match.there += value.presence == PT_QUALITY_THERE;
        match.unclear += value.presence == PT_QUALITY_UNCLEAR;
        free(value.problem);
    }
    return match;
}

static bool is_better(struct match a, struct match b)
{
    return a.there != b.there ? a.there > b.there : a.unclear > b.unclear;
}

static void look_into(struct choice *choice, struct candidate *candidate)
{
    struct pt_document document;
    struct pt_error err = {0};
    if (candidate->bytes > (pt_u64)PT_DOCUMENT_MAX_MIB << 20 || candidate->bytes > choice->left_bytes) {
        choice->n_not_read++;
        return;
    }
    choice->left_bytes -= candidate->bytes;
    candidate->was_read = true;
    if (pt_document_read_report_with(candidate->path, choice->words, &document, &err) < 0) {
        if (!choice->broken.text[0])
            choice->broken = err;
        return;
    }
    const struct match match = match_of(choice->search, document.json);
    if (is_better(match, choice->best_match)) {
        pt_document_fini(&choice->best->document);
        choice->best->document = document;
        choice->best->path = candidate->path;
        choice->best_match = match;
    } else {
        pt_document_fini(&document);
    }
}

static void look_into_all(struct choice *choice)
{
    struct pt_arena arena = {0};
    choice->words = pt_calloc(choice->search->n_keys + 1, sizeof *choice->words);
    for (size_t i = 0; i < choice->search->n_keys; i++)
        choice->words[i] = word_of(choice->search->keys[i], &arena);
    for (size_t i = 0; i < choice->fresh.n && choice->best_match.there < choice->search->n_keys; i++)
        if (i < MOST_FILES)
            look_into(choice, &choice->fresh.items[i]);
        else
            choice->n_not_read++;
    free(choice->words);
    pt_arena_fini(&arena);
}

/* ---- why none is it ---- */

/* The newest of those that were read, or were not. */
static void name_files(const struct choice *choice, bool was_read, struct pt_str *out)
{
    size_t n = 0;
    for (size_t i = 0; i < choice->fresh.n; i++)
        if (choice->fresh.items[i].was_read == was_read && n++ < SHOWN_FILES)
            pt_str_printf(out, "%s%s", n > 1 ? ", " : "", choice->fresh.items[i].path);
    if (n > SHOWN_FILES)
        pt_str_printf(out, " and %zu older ones", n - SHOWN_FILES);
}

static void say_why_none(const struct choice *choice, struct pt_str *out)
{
    const size_t n = choice->fresh.n;
    if (choice->broken.text[0])
        pt_str_add(out, choice->broken.text);
    else if (n > choice->n_not_read) {
        pt_str_add(out, "none of the JSON files that the stages wrote has one of the keys: ");
        name_files(choice, true, out);
    } else if (n)
        pt_str_add(out, "no JSON file that the stages wrote was read");
    else if (choice->older)
        pt_str_printf(out, "%s is older than this run, so it is not of this run", choice->older);
    else
        pt_str_add(out, choice->search->n_paths ? "the JSON files that the stages wrote are gone, or are no files"
                                                : "no stage wrote a JSON file");
    if (choice->n_not_read) {
        pt_str_printf(out, "; too large or too many, %zu: ", choice->n_not_read);
        name_files(choice, false, out);
    }
}

void pt_grade_file_choose(const struct pt_grade_search *search, struct pt_grade_file *ret_file)
{
    *ret_file = (struct pt_grade_file){0};
    struct choice choice = {.search = search, .best = ret_file, .left_bytes = (pt_u64)MOST_MIB << 20};
    find_fresh(&choice);
    look_into_all(&choice);
    if (!ret_file->path)
        say_why_none(&choice, &ret_file->why_none);
    free(choice.fresh.items);
}

void pt_grade_file_fini(struct pt_grade_file *file)
{
    pt_document_fini(&file->document);
    pt_str_fini(&file->why_none);
    *file = (struct pt_grade_file){0};
}
