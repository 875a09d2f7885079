/* SPDX-License-Identifier: MIT
 *
 * cupti/recording.c - begins and ends the recording of the GPU's work, and has it delivered in between.
 *
 * Entered by the thread that has set the phase to PT_CUPTI_CHANGING (begin, stop) or PT_CUPTI_ENDED (finish), and by
 * calls of the program that waited (deliver). No thread of ours: CUPTI's own delivers full buffers, and once per second
 * such a call delivers the others. Never: cuptiFinalize, a call from a signal handler.
 */
#include "recording.h"

#include <string.h>
#include <time.h>

#include "proftrace/events.h"
#include "core/emit.h"
#include "core/options.h"
#include "core/text.h"
#include "cuda/tracing.h"
#include "buffers.h"
#include "calls.h"
#include "decode.h"
#include "driver.h"
#include "program.h"
#include "reasons.h"

#define FLUSH_PERIOD_MS 250u
#define FLUSH_FORCED 1u
#define ATTRIBUTE_ZEROED_BUFFERS 5u
#define THREAD_ID_SYSTEM 1u
#define SITE_EXIT 1u

static const struct kind {
    const char *name;
    pt_u32 number;
    enum pt_cupti_when when;
} kinds[] = {
#define KIND(name, number, record, when) {#name, number, PT_CUPTI_##when},
#include "kinds.def"
#undef KIND
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* ---- while it records ---- */

static pt_u64 clock_of_records(void)
{
    return pt_clock();
}

static void note_clock(struct pt_cupti *c)
{
    struct timespec now;
    pt_u64 cupti = 0;
    if (!c->api.cuptiGetTimestamp || c->api.cuptiGetTimestamp(&cupti) != PT_CUPTI_SUCCESS)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    pt_point(PT_EV_gpu_clock, 0, 0, cupti, (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec);
}

/* Must not be called from a callback that hands over a buffer: CUPTI holds its locks there. */
static void note_dropped(struct pt_cupti *c)
{
    pt_u64 dropped = 0;
    if (c->api.cuptiActivityGetNumDroppedRecords &&
        c->api.cuptiActivityGetNumDroppedRecords(0, 0, &dropped) == PT_CUPTI_SUCCESS && dropped)
        pt_cupti_lost(c, PT_LOSS_dropped, dropped);
    pt_cupti_report_losses(c);
}

/* Once per second, on one thread. */
static int is_due(struct pt_cupti *c)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    pt_u64 last = __atomic_load_n(&c->last_tick, __ATOMIC_RELAXED);
    return (pt_u64)now.tv_sec > last &&
           __atomic_compare_exchange_n(&c->last_tick, &last, (pt_u64)now.tv_sec, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

PT_NOINLINE void pt_cupti_deliver(struct pt_cupti *c)
{
    if (pt_switches.frozen)
        return;
    const pt_u32 suspect = pt_cupti_suspect(c);
    if (!is_due(c) && !suspect)
        return;
    c->api.cuptiActivityFlushAll(0);
    note_dropped(c);
    note_clock(c);
    pt_cupti_judge(c, suspect);
}

/* Called by CUPTI at both ends of the calls that pt_cupti_choose_callbacks named. */
static void on_call(void *user, pt_u32 domain, pt_u32 cbid, const void *data)
{
    pt_u32 site;
    (void)user;
    (void)domain;
    (void)cbid;
    __builtin_memcpy(&site, data, sizeof site);
    if (site == SITE_EXIT && pt_cupti_phase() == PT_CUPTI_RECORDING)
        pt_cupti_deliver(pt_cupti);
}

/* ---- beginning ---- */

static int is_wanted(const struct pt_cupti *c, const struct kind *kind)
{
    switch (kind->when) {
    case PT_CUPTI_ALWAYS:
        return 1;
    case PT_CUPTI_GRAPH:
        return pt_options.cuda_graph != PT_CHOICE_cuda_graph_node;
    case PT_CUPTI_EVENT_USES:
        return c->version >= PT_CUPTI_EVENT_USES_SINCE;
    case PT_CUPTI_CHOSEN: /* function by function where that can be */
        return __atomic_load_n(&c->driver_calls, __ATOMIC_RELAXED) == PT_DRIVER_CALLS_ALL;
    case PT_CUPTI_NEVER:
        break;
    }
    return 0;
}

static void add_failure(struct pt_text *text, const char *what, int result)
{
    pt_text_add(text, text->length ? ", " : "");
    pt_text_add(text, what);
    pt_text_add(text, " (error ");
    pt_text_number(text, (pt_u64)(result < 0 ? -result : result), 0);
    pt_text_byte(text, ')');
}

/* Returns whether calls and kernels, without which the rest means nothing, are recorded. */
static int enable_kinds(struct pt_cupti *c, struct pt_text *failures)
{
    int is_enough = 1;
    for (pt_u64 i = 0; i < N_KINDS; i++) {
        if (!is_wanted(c, &kinds[i]))
            continue;
        const int result = c->api.cuptiActivityEnable(kinds[i].number);
        if (result == PT_CUPTI_SUCCESS)
            continue;
        add_failure(failures, kinds[i].name, result);
        if (pt_text_equal(kinds[i].name, "RUNTIME") || pt_text_equal(kinds[i].name, "CONCURRENT_KERNEL"))
            is_enough = 0;
    }
    return is_enough;
}

/* Calls last: without them correlation ids mean nothing. */
static void disable_kinds(struct pt_cupti *c)
{
    for (pt_u64 i = N_KINDS; i-- > 0;)
        if (is_wanted(c, &kinds[i]) || (kinds[i].when == PT_CUPTI_CHOSEN && c->api.cuptiActivityEnableDriverApi))
            c->api.cuptiActivityDisable(kinds[i].number);
}

/* Returns whether the records will have our clock and reach us. */
static int configure(struct pt_cupti *c)
{
    pt_u8 on = 1;
    pt_u64 bytes = sizeof on;
    if (c->api.cuptiActivitySetAttribute)
        c->api.cuptiActivitySetAttribute(ATTRIBUTE_ZEROED_BUFFERS, &bytes, &on);
    if (!c->has_our_clock)
        c->has_our_clock = c->api.cuptiActivityRegisterTimestampCallback(clock_of_records) == PT_CUPTI_SUCCESS;
    c->has_system_tids =
        c->api.cuptiSetThreadIdType && c->api.cuptiSetThreadIdType(THREAD_ID_SYSTEM) == PT_CUPTI_SUCCESS;
    c->has_our_buffers = c->api.cuptiActivityRegisterCallbacks(pt_cupti_request, pt_cupti_complete) == PT_CUPTI_SUCCESS;
    return c->has_our_clock && c->has_our_buffers;
}

int pt_cupti_subscribe(struct pt_cupti *c)
{
    void *subscriber = 0;
    const int result = c->api.cuptiSubscribe(&subscriber, on_call, 0);
    if (result != PT_CUPTI_SUCCESS)
        return result;
    c->subscriber = subscriber;
    if (pt_cupti_phase() == PT_CUPTI_RECORDING)
        pt_cupti_choose_callbacks(c);
    return result;
}

enum pt_cupti_begun pt_cupti_begin(struct pt_cupti *c)
{
    struct pt_text failures = {c->failures, 0, sizeof c->failures};
    c->failures[0] = 0;
    __atomic_store_n(&c->suspect, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&c->unflushed_since_ns, 0, __ATOMIC_RELAXED);
    const int result = pt_cupti_is_subscribed_by_program() ? PT_CUPTI_SUCCESS : pt_cupti_subscribe(c);
    if (result != PT_CUPTI_SUCCESS) {
        pt_cuda_say(PT_CUDA_TRACING_WRAPPED, pt_cupti_why_not_subscribed(c, result));
        return PT_CUPTI_REFUSED;
    }
    if (!c->since)
        c->since = pt_clock();
    if (!configure(c) || !enable_kinds(c, &failures)) {
        pt_cupti_say_not_enough(c);
        pt_cupti_stop(c);
        return PT_CUPTI_UNDONE;
    }
    pt_cupti_choose_calls(c);
    if (c->subscriber)
        pt_cupti_choose_callbacks(c);
    if (c->api.cuptiActivityEnableAllSyncRecords)
        c->api.cuptiActivityEnableAllSyncRecords(0); /* no record for each question whether a stream is done */
    if (c->api.cuptiActivityFlushPeriod)
        c->api.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS);
    __atomic_store_n(&pt_cuda_by_cupti, 1, __ATOMIC_RELEASE);
    const int is_known = !strstr(pt_ignored_options, PT_OPTION_PREFIX "CUPTI=");
    pt_cupti_say_recording(c, c->failures,
                           is_known ? "" : "PROFTRACE_CUPTI is none of yield, own, off: taken for yield");
    note_clock(c);
    __atomic_store_n(&c->phase, PT_CUPTI_RECORDING, __ATOMIC_RELEASE);
    return PT_CUPTI_BEGUN;
}

/* CUPTI's own on Linux: there is no other way to undo a registration. */
static pt_u64 clock_of_cupti(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (pt_u64)now.tv_sec * 1000000000u + (pt_u64)now.tv_nsec;
}

/* What the next user expects, who may not set it itself: CUPTI's defaults. */
static void undo_settings(struct pt_cupti *c)
{
    pt_u8 off = 0;
    pt_u64 bytes = sizeof off;
    if (c->api.cuptiActivitySetAttribute)
        c->api.cuptiActivitySetAttribute(ATTRIBUTE_ZEROED_BUFFERS, &bytes, &off);
    if (c->has_our_clock)
        c->api.cuptiActivityRegisterTimestampCallback(clock_of_cupti);
    c->has_our_clock = 0;
    if (c->api.cuptiActivityEnableAllSyncRecords)
        c->api.cuptiActivityEnableAllSyncRecords(1);
    if (c->api.cuptiActivityFlushPeriod)
        c->api.cuptiActivityFlushPeriod(0);
}

void pt_cupti_stop(struct pt_cupti *c)
{
    __atomic_store_n(&pt_cuda_by_cupti, 0, __ATOMIC_RELEASE);
    c->api.cuptiActivityFlushAll(FLUSH_FORCED);
    note_clock(c);
    disable_kinds(c);
    c->api.cuptiActivityFlushAll(
        FLUSH_FORCED); /* records that came until now: none of our buffers is left for those of the program */
    note_dropped(c);
    undo_settings(c);
    if (c->subscriber)
        c->api.cuptiUnsubscribe(c->subscriber);
    c->subscriber = 0;
}

void pt_cupti_finish(struct pt_cupti *c)
{
    __atomic_store_n(&pt_cuda_by_cupti, 0, __ATOMIC_RELEASE);
    const int result = c->api.cuptiActivityFlushAll(FLUSH_FORCED);
    note_dropped(c);
    if (result == PT_CUPTI_SUCCESS)
        disable_kinds(c);
    pt_cupti_say_ended(c, result);
}
