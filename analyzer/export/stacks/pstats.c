/* SPDX-License-Identifier: MIT
 *
 * pstats.c - functions of Python as cProfile stores them, for `python -m pstats`, snakeviz and gprof2dot: a dictionary
 * {(file, line, function): (calls, calls, own seconds, all seconds, {caller: the same four})}, marshalled in version 2,
 * which every Python reads. What cProfile counts as calls are samples here.
 *
 * Owns: the sums. One thread. Never: writes 0 calls, by which viewers divide; counts a recursive function twice.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/map.h"
#include "util/str.h"
#include "util/text/utf8.h"
#include "cpu_samples.h"

/* Of a function, or of it called by another one. */
struct sum {
    pt_u32 function, caller; /* of the entries; caller 0 = any */
    pt_u64 stamp, samples;   /* stamp: of the sample that was added last */
    double own_s, all_s;
};

struct entry {
    const char *function, *file;
    pt_u32 line;
};

struct profile {
    struct pt_intern texts;
    struct pt_map by_key; /* text of the key -> entry */
    struct {
        PT_VEC(struct entry);
    } entries; /* 0 is not used */
    struct {
        PT_VEC(struct sum);
    } sums;
    struct pt_map by_call; /* function and caller -> sum, plus 1 */
    pt_u64 n_samples;
    struct pt_str bytes;
};

/* ---- adding up ---- */

static pt_u32 entry_of(struct profile *profile, const struct pt_cpu_function *function)
{
    char key[8192];
    const int n = snprintf(key, sizeof key, "%u:%s\n%s", function->line, function->name, function->file);
    const char *text = pt_intern_bytes(&profile->texts, key, n < (int)sizeof key ? (size_t)n : sizeof key - 1);
    pt_u64 *number = pt_map_at(&profile->by_key, (uintptr_t)text);
    if (!*number) {
        *number = profile->entries.n;
        pt_vec_push(&profile->entries,
                    ((struct entry){pt_intern_text(&profile->texts, function->name),
                                    pt_intern_text(&profile->texts, function->file), function->line}));
    }
    return (pt_u32)*number;
}

static void add(struct profile *profile, pt_u32 function, pt_u32 caller, double s, bool is_innermost)
{
    pt_u64 *slot = pt_map_at(&profile->by_call, (pt_u64)function << 32 | caller);
    if (!*slot) {
        pt_vec_push(&profile->sums, ((struct sum){.function = function, .caller = caller}));
        *slot = profile->sums.n;
    }
    struct sum *sum = &profile->sums.items[*slot - 1];
    sum->own_s += is_innermost ? s : 0;
    if (sum->stamp == profile->n_samples)
        return;
    sum->stamp = profile->n_samples;
    sum->samples++;
    sum->all_s += s;
}

static void add_sample(struct profile *profile, const struct pt_cpu_view *view, const struct pt_shown_sample *sample)
{
    pt_u32 called = 0;
    bool is_innermost = true;
    profile->n_samples++;
    for (pt_u32 frame = view->frame_of[sample->node]; frame; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *function = pt_cpu_function_of(view, frame);
        if (function->code != PT_CODE_SCRIPT)
            continue;
        const pt_u32 entry = entry_of(profile, function);
        if (called) {
            add(profile, called, entry, sample->s, is_innermost);
            is_innermost = false;
        }
        add(profile, entry, 0, sample->s, !called);
        called = entry;
    }
}

static void add_stage(const struct pt_cpu_samples *all)
{
    for (size_t i = 0; i < all->n; i++)
        add_sample(all->context, all->view, &all->samples[i]);
}

/* ---- marshal ---- */

static void put_number(struct pt_str *to, char type, const void *number, size_t n)
{
    pt_str_char(to, type);
    pt_str_bytes(to, number, n);
}

static void put_int(struct pt_str *to, pt_u64 number)
{
    const pt_i32 value = number < INT32_MAX ? (pt_i32)number : INT32_MAX;
    put_number(to, 'i', &value, sizeof value);
}

static void put_f64(struct pt_str *to, double number)
{
    put_number(to, 'g', &number, sizeof number);
}

/* What is no UTF-8 could not be read back: each such byte is a question mark. */
static void put_text(struct pt_str *to, const char *text)
{
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    for (size_t left = strlen(text), n; left; left -= n, text += n) {
        uint32_t code;
        n = pt_utf8_next(text, left, &code);
        if (n)
            pt_str_bytes(&clean, text, n);
        else
            pt_str_char(&clean, '?');
        n = n ? n : 1;
    }
    const pt_u32 n_bytes = (pt_u32)clean.n;
    put_number(to, 'u', &n_bytes, sizeof n_bytes);
    pt_str_bytes(to, pt_str_text(&clean), clean.n);
}

static void put_tuple(struct pt_str *to, pt_u32 n)
{
    put_number(to, '(', &n, sizeof n);
}

static void put_key(struct pt_str *to, const struct entry *entry)
{
    put_tuple(to, 3);
    put_text(to, entry->file);
    put_int(to, entry->line);
    put_text(to, entry->function);
}

static void put_sum(struct pt_str *to, const struct sum *sum)
{
    put_int(to, sum->samples);
    put_int(to, sum->samples);
    put_f64(to, sum->own_s);
    put_f64(to, sum->all_s);
}

static int by_function(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

/* Of each function the sum without a caller comes first. */
static void put_all(struct profile *profile)
{
    struct pt_str *to = &profile->bytes;
    if (profile->sums.n)
        qsort(profile->sums.items, profile->sums.n, sizeof *profile->sums.items, by_function);
    pt_str_char(to, '{');
    for (size_t i = 0; i < profile->sums.n;) {
        const struct sum *sum = &profile->sums.items[i++];
        put_key(to, &profile->entries.items[sum->function]);
        put_tuple(to, 5);
        put_sum(to, sum);
        pt_str_char(to, '{');
        for (; i < profile->sums.n && profile->sums.items[i].caller; i++) {
            put_key(to, &profile->entries.items[profile->sums.items[i].caller]);
            put_tuple(to, 4);
            put_sum(to, &profile->sums.items[i]);
        }
        pt_str_char(to, '0');
    }
    pt_str_char(to, '0');
}

static void close_profile(struct profile *profile)
{
    pt_intern_fini(&profile->texts);
    pt_map_fini(&profile->by_key);
    pt_map_fini(&profile->by_call);
    free(profile->entries.items);
    free(profile->sums.items);
    pt_str_fini(&profile->bytes);
}

int pt_export_pstats(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                     struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct profile profile = {0};
    *ret_summary = (struct pt_export_summary){0};
    pt_vec_push(&profile.entries, (struct entry){0});
    int result = pt_cpu_samples_each(session, options, &profile, add_stage, ret_summary, err);
    if (!result && !profile.sums.n)
        result = pt_fail_code(err, 3, "no function of Python is in the CPU profile");
    if (!result) {
        put_all(&profile);
        pt_sink_put(sink, profile.bytes.text, profile.bytes.n);
        snprintf(ret_summary->note, sizeof ret_summary->note, "ncalls are samples");
    }
    close_profile(&profile);
    return result;
}
