/* SPDX-License-Identifier: MIT
 *
 * clock_map.c - Owns: the fit of clocks. Threads: one. Never: lets one damaged header change the times of other files.
 */
#include "clock_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/small_file.h"

typedef __int128 wide;

#define FAR_AWAY_NS (400ll * 86400 * 1000000000) /* no run lasts longer: a time farther away is damage */
#define REALTIME_KNOWN_NS 1000000000000000000ull /* 2001: an earlier time means that the clock was not set */

/* One machine and boot. */
struct group {
    const char *boot_id;
    struct pt_clock_pair first, last; /* of the TSC files, by counter */
    long double ns_per_count;
    wide realtime_offset;   /* wall time minus CLOCK_MONOTONIC */
    bool has_tsc, one_line; /* one_line: all TSC files lie on the line through `first` */
};

static bool is_sane_slope(long double slope)
{
    return slope > 0.05L && slope < 20.0L;
}

static struct pt_clock_pair joined(const struct pt_clock_file *file, struct pt_clock_pair pair)
{
    pair.monotonic_ns -= (pt_u64)file->namespace_ns;
    return pair;
}

static struct pt_clock_pair first_pair(const struct pt_clock_file *file)
{
    return joined(file, file->header->clock_first);
}

static struct pt_clock_pair last_pair(const struct pt_clock_file *file)
{
    const struct pt_file_header *h = file->header;
    return h->clock_index ? joined(file, h->clock_last[h->clock_index & 1]) : first_pair(file);
}

static long double slope_between(struct pt_clock_pair a, struct pt_clock_pair b)
{
    if (b.counter <= a.counter || b.monotonic_ns <= a.monotonic_ns)
        return 0;
    return (long double)(b.monotonic_ns - a.monotonic_ns) / (long double)(b.counter - a.counter);
}

static bool in_group(const struct pt_clock_file *file, const struct group *group)
{
    return !strncmp(file->header->boot_id, group->boot_id, sizeof file->header->boot_id);
}

static int by_value(const void *a, const void *b)
{
    const long double x = *(const long double *)a, y = *(const long double *)b;
    return x < y ? -1 : x > y;
}

/* ---- time namespaces ---- */

#define NAMESPACE_LEAST_NS (pt_i64) PT_CLOCK_SET_LEAST_NS

/* Wall time is the same in all of them. Where somebody set the clock meanwhile, the process noted it, or a machine's
 * counter says so. */
static pt_i64 namespace_ns(const struct pt_file_header *h, const struct pt_file_header *first, long double slope)
{
    const pt_i64 real_ns = (pt_i64)(h->realtime_ns - first->realtime_ns);
    pt_i64 shift_ns;
    if ((h->options & PT_OPTION_CLOCK_SET) ||
        __builtin_sub_overflow((pt_i64)(h->clock_first.monotonic_ns - first->clock_first.monotonic_ns), real_ns,
                               &shift_ns) ||
        (shift_ns < NAMESPACE_LEAST_NS && shift_ns > -NAMESPACE_LEAST_NS))
        return 0;
    if (h->clock_source != PT_CLOCK_TSC || first->clock_source != PT_CLOCK_TSC || slope <= 0)
        return shift_ns;
    const long double counted_ns =
        ((long double)h->clock_first.counter - (long double)first->clock_first.counter) * slope;
    const long double off_ns = fabsl(counted_ns - real_ns);
    return off_ns <= NAMESPACE_LEAST_NS || off_ns <= fabsl((long double)shift_ns) / 20 ? shift_ns : 0;
}

/* The median of the rates that single files measured; 0 = no file did. */
static long double median_slope(const struct pt_clock_file *files, size_t n, const struct group *group)
{
    long double *slopes = pt_malloc(n * sizeof *slopes);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pt_file_header *h = files[i].header;
        const long double slope = slope_between(first_pair(&files[i]), last_pair(&files[i]));
        if (in_group(&files[i], group) && h->clock_source == PT_CLOCK_TSC && is_sane_slope(slope))
            slopes[found++] = slope;
    }
    qsort(slopes, found, sizeof *slopes, by_value);
    const long double median = found ? slopes[found / 2] : 0;
    free(slopes);
    return median;
}

/* A file without a second pair that is read on the machine and boot that wrote it: the second pair is taken now. */
static long double slope_by_now(const struct group *group)
{
    char boot_id[64];
    if (!pt_boot_id(boot_id, sizeof boot_id) || strncmp(boot_id, group->boot_id, 36) != 0)
        return 0;
    const pt_u64 now_ns = pt_monotonic_ns();
    const struct pt_clock_pair pair = {__rdtsc(), now_ns};
    return slope_between(group->first, pair);
}

/* By wall time; one that was set meanwhile says nothing of who began first. */
static bool is_earlier(const struct pt_file_header *h, const struct pt_file_header *other)
{
    const bool was_set = h->options & PT_OPTION_CLOCK_SET, was_set_there = other->options & PT_OPTION_CLOCK_SET;
    return was_set == was_set_there ? h->realtime_ns < other->realtime_ns : was_set_there;
}

/* As if all ran in the namespace of the file that began first. */
static void join_namespaces(struct pt_clock_file *files, size_t n, const struct group *group, struct pt_str *notes)
{
    const struct pt_file_header *first = NULL;
    const long double slope = median_slope(files, n, group);
    size_t n_joined = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pt_file_header *h = files[i].header;
        if (in_group(&files[i], group) && h->realtime_ns >= REALTIME_KNOWN_NS && (!first || is_earlier(h, first)))
            first = h;
    }
    for (size_t i = 0; first && i < n; i++) {
        const struct pt_file_header *h = files[i].header;
        if (!in_group(&files[i], group) || h->realtime_ns < REALTIME_KNOWN_NS)
            continue;
        files[i].namespace_ns = namespace_ns(h, first, slope);
        n_joined += files[i].namespace_ns != 0;
    }
    if (n_joined)
        pt_str_printf(notes,
                      "%zu of %zu processes ran in another time namespace: their clocks are joined by wall time\n",
                      n_joined, n);
}

static void widen(struct group *group, struct pt_clock_pair pair)
{
    if (!group->has_tsc || pair.counter < group->first.counter)
        group->first = pair;
    if (!group->has_tsc || pair.counter > group->last.counter)
        group->last = pair;
    group->has_tsc = true;
}

static void fit(struct group *group, const struct pt_clock_file *files, size_t n, struct pt_str *notes)
{
    for (size_t i = 0; i < n; i++)
        if (in_group(&files[i], group) && files[i].header->clock_source == PT_CLOCK_TSC) {
            widen(group, first_pair(&files[i]));
            widen(group, last_pair(&files[i]));
        }
    if (!group->has_tsc)
        return;
    const long double slope = slope_between(group->first, group->last), median = median_slope(files, n, group);
    group->one_line = is_sane_slope(slope) && (!median || fabsl(slope / median - 1) < 0.02L);
    group->ns_per_count = group->one_line ? slope : median;
    if (!is_sane_slope(group->ns_per_count)) {
        group->ns_per_count = slope_by_now(group);
        group->one_line = is_sane_slope(group->ns_per_count);
    }
    if (!is_sane_slope(group->ns_per_count)) {
        group->ns_per_count = 0.4L;
        pt_str_add(notes, "the rate of the clock is unknown (no process lived long enough): times are a guess\n");
    } else if (!group->one_line) {
        pt_str_add(notes, "clock pairs of different files disagree: each file keeps its own start, times between "
                          "processes may be off\n");
    }
}

/* CLOCK_MONOTONIC at a counter of a file. */
static wide monotonic_at(const struct group *group, const struct pt_clock_file *file, pt_u64 counter)
{
    if (file->header->clock_source == PT_CLOCK_MONOTONIC)
        return (wide)counter - file->namespace_ns;
    const struct pt_clock_pair anchor = group->one_line ? group->first : first_pair(file);
    const long double ns = ((long double)counter - (long double)anchor.counter) * group->ns_per_count;
    return (wide)anchor.monotonic_ns + (fabsl(ns) < 1e30L ? (wide)roundl(ns) : 0);
}

static void set_realtime(struct group *group, const struct pt_clock_file *files, size_t n)
{
    const struct pt_clock_file *earliest = NULL;
    for (size_t i = 0; i < n; i++)
        if (in_group(&files[i], group) && files[i].header->realtime_ns >= REALTIME_KNOWN_NS &&
            (!earliest || first_pair(&files[i]).monotonic_ns < first_pair(earliest).monotonic_ns))
            earliest = &files[i];
    if (earliest)
        group->realtime_offset = (wide)earliest->header->realtime_ns - first_pair(earliest).monotonic_ns;
}

static int by_wide(const void *a, const void *b)
{
    const wide x = *(const wide *)a, y = *(const wide *)b;
    return x < y ? -1 : x > y;
}

static pt_i64 clamp(wide value)
{
    return value > PT_TIME_LIMIT_NS ? PT_TIME_LIMIT_NS : value < -PT_TIME_LIMIT_NS ? -PT_TIME_LIMIT_NS : (pt_i64)value;
}

/* Tick 0 and start of each file on wall time, then relative to the earliest that is not far away from the rest. */
static wide place(struct pt_clock_file *files, size_t n, const wide *zeros, const wide *starts, struct pt_str *notes)
{
    wide *sorted = pt_malloc(n * sizeof *sorted);
    memcpy(sorted, starts, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_wide);
    const wide middle = sorted[n / 2];
    wide first = middle;
    for (size_t i = n; i--;)
        if (sorted[i] > middle - FAR_AWAY_NS && sorted[i] < middle + FAR_AWAY_NS)
            first = sorted[i];
    free(sorted);
    for (size_t i = 0; i < n; i++) {
        const bool is_far = starts[i] < first || starts[i] > middle + FAR_AWAY_NS;
        const wide shift = is_far ? starts[i] : first;
        files[i].scale.offset_ns = clamp(zeros[i] - shift);
        files[i].start_ns = clamp(starts[i] - shift);
        if (is_far)
            pt_str_printf(notes, "%s: its clock is far from the others' and was set to the start of the run\n",
                          files[i].name);
    }
    return first;
}

static size_t find_groups(const struct pt_clock_file *files, size_t n, struct group *groups, size_t *group_of)
{
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        size_t g = 0;
        while (g < n_groups && !in_group(&files[i], &groups[g]))
            g++;
        if (g == n_groups)
            groups[n_groups++] = (struct group){.boot_id = files[i].header->boot_id};
        group_of[i] = g;
    }
    return n_groups;
}

static void map_file(struct pt_clock_file *file, const struct group *group, wide *ret_zero, wide *ret_start)
{
    const struct pt_file_header *h = file->header;
    const long double rate = h->clock_source == PT_CLOCK_TSC ? group->ns_per_count : 1.0L;
    const long double mult = ldexpl(rate, PT_SCALE_BITS + (int)h->clock_shift);
    file->scale.mult = mult < 0x1p63L ? (pt_u64)llrintl(mult) : 1ull << 63;
    const wide zero = monotonic_at(group, file, h->clock_base),
               first = monotonic_at(group, file, h->clock_first.counter);
    /* The event that made the library open its file began shortly before the first clock pair. */
    const wide event = file->first_ticks ? zero + pt_scale_duration(&file->scale, file->first_ticks) : first;
    const wide start = event < first && first - event < 1000000000 ? event : first;
    file->early_ns = (pt_i64)(first - start);
    *ret_zero = zero + group->realtime_offset;
    *ret_start = start + group->realtime_offset;
    wide last = monotonic_at(group, file, last_pair(file).counter) - start;
    if (h->end_counter)
        last = monotonic_at(group, file, h->end_counter) - start;
    file->last_ns = last > 0 && last < FAR_AWAY_NS ? (pt_i64)last : 0; /* since its own start, for now */
}

void pt_clock_map(struct pt_clock_file *files, size_t n, pt_u64 *ret_start_realtime_ns, struct pt_str *notes)
{
    *ret_start_realtime_ns = 0;
    if (!n)
        return;
    struct group *groups = pt_calloc(n, sizeof *groups);
    size_t *group_of = pt_calloc(n, sizeof *group_of);
    wide *zeros = pt_calloc(n, sizeof *zeros), *starts = pt_calloc(n, sizeof *starts);
    const size_t n_groups = find_groups(files, n, groups, group_of);
    for (size_t g = 0; g < n_groups; g++) {
        join_namespaces(files, n, &groups[g], notes);
        fit(&groups[g], files, n, notes);
        set_realtime(&groups[g], files, n);
    }
    for (size_t i = 0; i < n; i++)
        map_file(&files[i], &groups[group_of[i]], &zeros[i], &starts[i]);
    const wide first = place(files, n, zeros, starts, notes);
    for (size_t i = 0; i < n; i++)
        files[i].last_ns = clamp((wide)files[i].start_ns + files[i].last_ns);
    if (n_groups > 1)
        pt_str_printf(notes,
                      "%zu machines or boots: their clocks are joined by wall time, to some milliseconds at best\n",
                      n_groups);
    *ret_start_realtime_ns = first >= (wide)REALTIME_KNOWN_NS && first <= (wide)INT64_MAX ? (pt_u64)first : 0;
    free(groups);
    free(group_of);
    free(zeros);
    free(starts);
}
