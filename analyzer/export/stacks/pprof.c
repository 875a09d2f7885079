/* SPDX-License-Identifier: MIT
 *
 * pprof.c - CPU samples as a profile of pprof (profile.proto), what `go tool pprof`, Pyroscope and speedscope read;
 * waits the same with their reason as the innermost function and as a label.
 *
 * Texts, functions and locations are written when a sample first needs them: the parts of the message may come in any
 * order.
 *
 * Owns: the numbers of what was written. One thread. Never: more than PT_PROTO_MESSAGE_BYTES in one sample: of deeper
 * stacks the outermost frames are left out.
 */
#include <stdlib.h>

#include "export/out/proto.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/whole.h"
#include "cpu_samples.h"

/* Fields of profile.proto (github.com/google/pprof, proto/profile.proto). */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_TEXT = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LABEL_NUMBER = 3,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_NUMBER = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};
enum { MOST_FRAMES = 2000 };

struct profile {
    struct pt_sink *sink;
    struct pt_intern intern;
    struct pt_map texts;                /* address of an interned text -> its number, plus 1 */
    struct pt_map functions, locations; /* of one stage: function -> its id; function and line -> its id */
    pt_u64 n_texts, n_functions, n_locations;
};

static pt_u64 text_of(struct profile *profile, const char *text)
{
    pt_u64 *slot = pt_map_at(&profile->texts, (pt_u64)(uintptr_t)pt_intern_text(&profile->intern, text ? text : ""));
    if (!*slot) {
        pt_sink_wrote(profile->sink, pt_proto_text(pt_sink_room(profile->sink), PROFILE_TEXT, text ? text : ""));
        *slot = ++profile->n_texts;
    }
    return *slot - 1;
}

static pt_u64 write_function(struct profile *profile, const char *name, const char *file)
{
    const pt_u64 name_text = text_of(profile, name), file_text = text_of(profile, file), id = ++profile->n_functions;
    char *at = pt_sink_room(profile->sink), *const start = at = pt_proto_begin(at, PROFILE_FUNCTION);
    at = pt_proto_u64(at, FUNCTION_ID, id);
    at = pt_proto_u64(at, FUNCTION_NAME, name_text);
    at = pt_proto_u64(at, FUNCTION_SYSTEM_NAME, name_text);
    at = pt_proto_u64(at, FUNCTION_FILE, file_text);
    pt_sink_wrote(profile->sink, pt_proto_end(start, at));
    return id;
}

static pt_u64 write_location(struct profile *profile, pt_u64 function, pt_u32 line)
{
    const pt_u64 id = ++profile->n_locations;
    char *at = pt_sink_room(profile->sink), *const start = at = pt_proto_begin(at, PROFILE_LOCATION);
    at = pt_proto_u64(at, LOCATION_ID, id);
    char *const line_start = at = pt_proto_begin(at, LOCATION_LINE);
    at = pt_proto_u64(at, LINE_FUNCTION, function);
    at = pt_proto_u64(at, LINE_NUMBER, line);
    at = pt_proto_end(line_start, at);
    pt_sink_wrote(profile->sink, pt_proto_end(start, at));
    return id;
}

/* What is known of no file belongs to its library. */
static pt_u64 location_of(struct profile *profile, const struct pt_cpu_view *view, pt_u32 frame)
{
    const pt_u32 number = pt_cpu_shown(view, frame);
    const struct pt_cpu_function *function = &view->functions.items[number];
    const pt_u32 line = pt_cpu_line(view, frame, 0);
    pt_u64 *id = pt_map_at(&profile->functions, number);
    if (!*id)
        *id = write_function(profile, function->name, function->file ? function->file : function->module);
    const pt_u64 function_id = *id;
    pt_u64 *location = pt_map_at(&profile->locations, (pt_u64)number << 32 | line);
    if (!*location)
        *location = write_location(profile, function_id, line);
    return *location;
}

/* Why a thread waited, as the function that it is in. */
static pt_u64 location_of_reason(struct profile *profile, const char *reason)
{
    const pt_u64 key = 1ull << 63 | text_of(profile, reason);
    pt_u64 *location = pt_map_at(&profile->locations, key);
    if (!*location) {
        PT_AUTO(pt_str_fini) struct pt_str name = {0};
        pt_str_printf(&name, "[%s]", reason);
        *location = write_location(profile, write_function(profile, pt_str_text(&name), ""), 0);
    }
    return *location;
}

/* ---- samples ---- */

static char *put_label(char *at, pt_u64 key, enum pt_proto_wire kind, pt_u64 value)
{
    char *const start = at = pt_proto_begin(at, SAMPLE_LABEL);
    at = pt_proto_u64(at, LABEL_KEY, key);
    at = pt_proto_u64(at, kind == PT_PROTO_BYTES ? LABEL_TEXT : LABEL_NUMBER, value);
    return pt_proto_end(start, at);
}

struct sum {
    pt_u32 frame;
    const char *reason;
    pt_u64 samples;
    double s;
};

static void put_sample(struct profile *profile, const struct pt_cpu_samples *all, const struct pt_cpu_thread *thread,
                       const struct sum *sum)
{
    pt_u64 locations[MOST_FRAMES];
    pt_u32 n = 0;
    if (sum->reason)
        locations[n++] = location_of_reason(profile, sum->reason);
    for (pt_u32 frame = sum->frame; frame && n < MOST_FRAMES; frame = pt_cpu_shown_caller(all->view, frame))
        locations[n++] = location_of(profile, all->view, frame);
    const pt_u64 stage_key = text_of(profile, "stage"), stage = text_of(profile, all->stage),
                 thread_key = text_of(profile, "thread"), name = text_of(profile, thread->comm),
                 pid_key = text_of(profile, "pid"), tid_key = text_of(profile, "tid"),
                 reason_key = text_of(profile, "reason"), reason = sum->reason ? text_of(profile, sum->reason) : 0;
    char *at = pt_sink_room(profile->sink), *const start = at = pt_proto_begin(at, PROFILE_SAMPLE);
    for (pt_u32 i = 0; i < n; i++)
        at = pt_proto_u64(at, SAMPLE_LOCATIONS, locations[i]);
    at = pt_proto_u64(at, SAMPLE_VALUES, sum->samples);
    at = pt_proto_u64(at, SAMPLE_VALUES, pt_whole(sum->s * 1e9 + 0.5));
    at = put_label(at, stage_key, PT_PROTO_BYTES, stage);
    at = put_label(at, thread_key, PT_PROTO_BYTES, name);
    at = put_label(at, pid_key, PT_PROTO_VARINT, thread->pid);
    at = put_label(at, tid_key, PT_PROTO_VARINT, thread->tid);
    if (sum->reason)
        at = put_label(at, reason_key, PT_PROTO_BYTES, reason);
    pt_sink_wrote(profile->sink, pt_proto_end(start, at));
}

/* Equal stacks of one thread are one sample. */
static void put_thread(const struct pt_cpu_samples *all, size_t from, size_t until)
{
    struct profile *profile = all->context;
    struct pt_map by_stack = {0};
    struct {
        PT_VEC(struct sum);
    } sums = {0};
    for (size_t i = from; i < until; i++) {
        const struct pt_shown_sample *sample = &all->samples[i];
        const pt_u32 frame = all->view->frame_of[sample->node];
        const pt_u64 reason = sample->reason ? text_of(profile, sample->reason) : 0;
        pt_u64 *slot = pt_map_at(&by_stack, (pt_u64)frame << 32 | reason);
        if (!*slot) {
            pt_vec_push(&sums, ((struct sum){.frame = frame, .reason = sample->reason}));
            *slot = sums.n;
        }
        sums.items[*slot - 1].samples++;
        sums.items[*slot - 1].s += sample->s;
    }
    for (size_t i = 0; i < sums.n; i++)
        put_sample(profile, all, &all->view->data->threads[all->samples[from].thread], &sums.items[i]);
    free(sums.items);
    pt_map_fini(&by_stack);
}

static void put_stage(const struct pt_cpu_samples *all)
{
    struct profile *profile = all->context;
    for (size_t i = 0, end; i < all->n; i = end) {
        for (end = i; end < all->n && all->samples[end].thread == all->samples[i].thread; end++)
            ;
        put_thread(all, i, end);
    }
    pt_map_fini(&profile->functions);
    pt_map_fini(&profile->locations);
    profile->functions = profile->locations = (struct pt_map){0};
}

/* ---- all ---- */

static void put_type(struct profile *profile, const char *name, const char *unit)
{
    const pt_u64 name_text = text_of(profile, name), unit_text = text_of(profile, unit);
    char *at = pt_sink_room(profile->sink), *const start = at = pt_proto_begin(at, PROFILE_SAMPLE_TYPE);
    at = pt_proto_u64(at, TYPE_NAME, name_text);
    at = pt_proto_u64(at, TYPE_UNIT, unit_text);
    pt_sink_wrote(profile->sink, pt_proto_end(start, at));
}

int pt_export_pprof(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                    struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct profile profile = {.sink = sink};
    const char *const kind = options->off_cpu ? "wait" : "cpu";
    *ret_summary = (struct pt_export_summary){0};
    text_of(&profile, ""); /* number 0, as the format demands */
    put_type(&profile, options->off_cpu ? "waits" : "samples", "count");
    put_type(&profile, kind, "nanoseconds");
    const pt_u64 default_type = text_of(&profile, kind);
    char *at = pt_proto_u64(pt_sink_room(sink), PROFILE_DEFAULT_TYPE, default_type);
    pt_sink_wrote(sink, pt_proto_u64(at, PROFILE_TIME_NS, session->start_realtime_ns));
    const int result = pt_cpu_samples_each(session, options, &profile, put_stage, ret_summary, err);
    pt_map_fini(&profile.texts);
    pt_map_fini(&profile.functions);
    pt_map_fini(&profile.locations);
    pt_intern_fini(&profile.intern);
    return result;
}
