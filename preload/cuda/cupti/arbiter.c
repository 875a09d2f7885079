/* SPDX-License-Identifier: MIT
 *
 * arbiter.c - stands in for the few functions of libcupti by which a program takes CUPTI for itself (torch.profiler
 * does), because CUPTI serves one at a time and would let the second replace the first silently.
 *
 * Called by the host on any thread, in processes with and without CUDA. When the program begins to profile itself, we
 * deliver what there is, give CUPTI up and record that; when it is done, we take CUPTI back. A completed buffer goes to
 * its owner, whichever callback is registered then. Never keeps the program from its profiler, unless
 * PROFTRACE_CUPTI=own says so.
 */
#include "arbiter.h"

#include <time.h>

#include "core/options.h"
#include "core/sys.h"
#include "cuda/tracing.h"
#include "buffers.h"
#include "library.h"
#include "program.h"
#include "reasons.h"
#include "recording.h"

#define STAND_IN(name, parameters) PT_EXPORT int name parameters;
#include "standins.def"
#undef STAND_IN

#define FLUSH_FORCED 1u
#define FLUSH_PATIENCE_NS 2000000000u
#define REAL(name) ((__typeof__(&(name)))pt_cupti_function(#name))

static pt_u32 taking_back; /* atomic */

static int is_recording(void)
{
    return pt_cupti_settled_phase() == PT_CUPTI_RECORDING;
}

static int is_refused(void)
{
    return is_recording() && pt_options.cupti == PT_CHOICE_cupti_own;
}

/* Settings that the program made while we had CUPTI take effect now. */
static void apply_program_settings(struct pt_cupti *c)
{
    if (c->api.cuptiSetThreadIdType)
        c->api.cuptiSetThreadIdType(pt_cupti_program.thread_id_type);
    if (c->api.cuptiActivityFlushPeriod && pt_cupti_program.flush_period_ms)
        c->api.cuptiActivityFlushPeriod(pt_cupti_program.flush_period_ms);
    if (c->api.cuptiActivityEnableAllSyncRecords && pt_cupti_program.leaves_questions_out)
        c->api.cuptiActivityEnableAllSyncRecords(0);
    if (pt_cupti_program.clock)
        c->api.cuptiActivityRegisterTimestampCallback(pt_cupti_program.clock);
    if (pt_cupti_program.request && pt_cupti_program.complete)
        c->api.cuptiActivityRegisterCallbacks(pt_cupti_program.request, pt_cupti_complete);
}

/* The caller has marked CUPTI as the program's before, so that no other thread takes it back at the same time. */
static void yield_to_program(void)
{
    struct pt_cupti *c = pt_cupti;
    while (is_recording()) {
        pt_u32 recording = PT_CUPTI_RECORDING;
        if (!__atomic_compare_exchange_n(&c->phase, &recording, PT_CUPTI_CHANGING, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        pt_cupti_stop(c);
        pt_cupti_say_yielded();
        apply_program_settings(c);
        __atomic_store_n(&c->phase, PT_CUPTI_YIELDED, __ATOMIC_RELEASE);
    }
}

static pt_u32 n_enabled(void)
{
    return __atomic_load_n(&pt_cupti_program.n_enabled, __ATOMIC_ACQUIRE);
}

static int has_flushed(void)
{
    return n_enabled() == __atomic_load_n(&pt_cupti_program.n_flushed, __ATOMIC_ACQUIRE);
}

/* Its last records are converted by its own clock and go to its own callback only if they are delivered before ours
 * are registered again: so not before the program has flushed, or some time later, in a call of the program that
 * waits. */
static int is_done(void)
{
    return !pt_cupti_is_in_use() && has_flushed();
}

/* The caller has set the phase to CHANGING. Another thread may have begun to use CUPTI at the same time: it sets its
 * mark before it reads our phase, and we read its mark after we have set our phase, so one of the two sees the
 * other. */
static enum pt_cupti_phase begin_if_done(struct pt_cupti *c)
{
    if (!is_done())
        return PT_CUPTI_YIELDED;
    const enum pt_cupti_begun begun = pt_cupti_begin(c);
    if (begun == PT_CUPTI_BEGUN)
        return PT_CUPTI_RECORDING; /* it has set the phase */
    if (begun == PT_CUPTI_UNDONE)
        apply_program_settings(c);
    return PT_CUPTI_ENDED; /* the reason is recorded; nothing is tried again */
}

void pt_cupti_take_first(void)
{
    const enum pt_cupti_phase phase = begin_if_done(pt_cupti);
    if (phase == PT_CUPTI_YIELDED)
        pt_cupti_say_yielded();
    if (phase != PT_CUPTI_RECORDING)
        __atomic_store_n(&pt_cupti->phase, phase, __ATOMIC_RELEASE);
}

static void take_back_if_done(void)
{
    struct pt_cupti *c = pt_cupti;
    pt_u32 yielded = PT_CUPTI_YIELDED;
    if (pt_cupti_phase() != PT_CUPTI_YIELDED || !is_done() ||
        !__atomic_compare_exchange_n(&c->phase, &yielded, PT_CUPTI_CHANGING, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
        return;
    const enum pt_cupti_phase phase = begin_if_done(c);
    if (phase != PT_CUPTI_RECORDING)
        __atomic_store_n(&c->phase, phase, __ATOMIC_RELEASE);
}

/* A flush covers what was enabled before it, not what another thread has enabled since. Numbers wrap around. */
static void note_flushed(pt_u32 before)
{
    pt_u32 flushed = __atomic_load_n(&pt_cupti_program.n_flushed, __ATOMIC_RELAXED);
    while ((pt_i32)(before - flushed) > 0 && !__atomic_compare_exchange_n(&pt_cupti_program.n_flushed, &flushed, before,
                                                                          0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

/* It will flush by itself, most likely when more of its work has ended. */
static int has_waited_for_flush(struct pt_cupti *c)
{
    const pt_u64 now_ns = pt_sys_clock_ns(CLOCK_MONOTONIC);
    pt_u64 since_ns = 0;
    __atomic_compare_exchange_n(&c->unflushed_since_ns, &since_ns, now_ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return since_ns && now_ns - since_ns >= FLUSH_PATIENCE_NS;
}

void pt_cupti_take_back(void)
{
    if (pt_cupti_is_in_use() || __atomic_exchange_n(&taking_back, 1, __ATOMIC_SEQ_CST))
        return;
    /* Again, behind our mark, which a thread looks at after it has set its own: nothing that it enables from now on,
     * and no flush of its own, meets ours. */
    const pt_u32 before = n_enabled();
    if (!pt_cupti_is_in_use() && (has_flushed() || has_waited_for_flush(pt_cupti))) {
        if (!has_flushed()) {
            pt_cupti->api.cuptiActivityFlushAll(FLUSH_FORCED);
            note_flushed(before);
        }
        take_back_if_done();
    }
    __atomic_store_n(&taking_back, 0, __ATOMIC_RELEASE);
}

/* Another thread may be delivering the program's records for us: once the program's own flush has returned, it counts
 * on having all of them, and what it enables meanwhile would be delivered before its end. */
static void await_our_flush(void)
{
    if (pt_cupti_phase() != PT_CUPTI_NONE) /* a child that was forked meanwhile */
        pt_cupti_nap_while(&taking_back, 1);
}

static void note_kind(pt_u32 kind, int is_on)
{
    const pt_u64 bit = 1ull << (kind & 63);
    if (kind >= 256)
        return;
    if (is_on)
        __atomic_fetch_or(&pt_cupti_program.kinds[kind / 64], bit, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_and(&pt_cupti_program.kinds[kind / 64], ~bit, __ATOMIC_RELAXED);
}

struct subscription {
    pt_u32 is_there;
    pt_u32 has_recorded;
};

/* From here on CUPTI belongs to the program. Returns what held before. */
static struct subscription begin_subscription(void)
{
    struct subscription before;
    /* First: marked as subscribed and done, another thread would take it back. */
    before.has_recorded = __atomic_exchange_n(&pt_cupti_program.has_recorded, 0, __ATOMIC_ACQ_REL);
    before.is_there = __atomic_fetch_add(&pt_cupti_program.subscriptions, 1, __ATOMIC_SEQ_CST);
    yield_to_program();
    return before;
}

/* One that we never saw begin may end, and cuptiFinalize may have ended it before. */
static void end_subscription(void)
{
    pt_u32 n = __atomic_load_n(&pt_cupti_program.subscriptions, __ATOMIC_RELAXED);
    while (n && !__atomic_compare_exchange_n(&pt_cupti_program.subscriptions, &n, n - 1, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_RELAXED))
        ;
}

/* Returns the result. A subscription that failed changes nothing, also not what another thread has set meanwhile. */
static int subscribed(int result, struct subscription before)
{
    if (result != PT_CUPTI_SUCCESS) {
        if (before.is_there && before.has_recorded)
            __atomic_store_n(&pt_cupti_program.has_recorded, 1, __ATOMIC_RELEASE);
        end_subscription();
        take_back_if_done();
    }
    return result;
}

static void begin_setting(void)
{
    __atomic_add_fetch(&pt_cupti_program.n_setting, 1, __ATOMIC_SEQ_CST);
}

static int end_setting(int result)
{
    __atomic_sub_fetch(&pt_cupti_program.n_setting, 1, __ATOMIC_RELEASE);
    return result;
}

/* ---- the stand-ins ---- */

int cuptiSubscribe(void **subscriber, void (*callback)(void *, pt_u32, pt_u32, const void *), void *user)
{
    __typeof__(&cuptiSubscribe) real = REAL(cuptiSubscribe);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    const struct subscription before = begin_subscription();
    return subscribed(real(subscriber, callback, user), before);
}

int cuptiSubscribe_v2(void **subscriber, void (*callback)(void *, pt_u32, pt_u32, const void *), void *user,
                      void *parameters)
{
    __typeof__(&cuptiSubscribe_v2) real = REAL(cuptiSubscribe_v2);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    const struct subscription before = begin_subscription();
    return subscribed(real(subscriber, callback, user, parameters), before);
}

int cuptiUnsubscribe(void *subscriber)
{
    __typeof__(&cuptiUnsubscribe) real = REAL(cuptiUnsubscribe);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    const int result = real(subscriber);
    if (result == PT_CUPTI_SUCCESS) {
        end_subscription();
        if (is_recording())
            pt_cupti_subscribe(pt_cupti); /* go on without a subscription */
    }
    take_back_if_done();
    return result;
}

int cuptiActivityRegisterCallbacks(pt_cupti_request_fn request, pt_cupti_complete_fn complete)
{
    __typeof__(&cuptiActivityRegisterCallbacks) real = REAL(cuptiActivityRegisterCallbacks);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    if (!request || !complete)
        return real(request, complete);
    begin_setting();
    pt_cupti_program.request = request;
    __atomic_store_n(&pt_cupti_program.complete, complete, __ATOMIC_RELEASE);
    if (is_recording())
        return end_setting(PT_CUPTI_SUCCESS); /* it holds as soon as the program enables something */
    return end_setting(real(request, pt_cupti_phase() == PT_CUPTI_NONE ? complete : pt_cupti_complete));
}

int cuptiActivityRegisterTimestampCallback(pt_u64 (*clock)(void))
{
    __typeof__(&cuptiActivityRegisterTimestampCallback) real = REAL(cuptiActivityRegisterTimestampCallback);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    if (!clock)
        return real(clock);
    begin_setting();
    pt_cupti_program.clock = clock;
    if (is_recording())
        return end_setting(PT_CUPTI_SUCCESS);
    if (pt_cupti_phase() == PT_CUPTI_YIELDED)
        pt_cupti->has_our_clock = 0;
    return end_setting(real(clock));
}

int cuptiSetThreadIdType(pt_u32 type)
{
    __typeof__(&cuptiSetThreadIdType) real = REAL(cuptiSetThreadIdType);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    begin_setting();
    if (type <= 1)
        pt_cupti_program.thread_id_type = type;
    return end_setting(is_recording() && type <= 1 ? PT_CUPTI_SUCCESS : real(type));
}

/* Ours would be changed, and its own be lost when CUPTI becomes the program's: as with the type of thread ids. */
int cuptiActivityFlushPeriod(pt_u32 ms)
{
    __typeof__(&cuptiActivityFlushPeriod) real = REAL(cuptiActivityFlushPeriod);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    begin_setting();
    pt_cupti_program.flush_period_ms = ms;
    return end_setting(is_recording() ? PT_CUPTI_SUCCESS : real(ms));
}

int cuptiActivityEnableAllSyncRecords(pt_u8 enable)
{
    __typeof__(&cuptiActivityEnableAllSyncRecords) real = REAL(cuptiActivityEnableAllSyncRecords);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    begin_setting();
    pt_cupti_program.leaves_questions_out = !enable;
    return end_setting(is_recording() ? PT_CUPTI_SUCCESS : real(enable));
}

int cuptiActivityEnable(pt_u32 kind)
{
    __typeof__(&cuptiActivityEnable) real = REAL(cuptiActivityEnable);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    /* In this order: who sees the second sees the first, so that there is no moment at which it seems to be done. */
    note_kind(kind, 1);
    __atomic_add_fetch(&pt_cupti_program.n_enabled, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&pt_cupti_program.has_recorded, 1, __ATOMIC_RELEASE);
    await_our_flush();
    if (pt_cupti)
        __atomic_store_n(&pt_cupti->unflushed_since_ns, 0, __ATOMIC_RELAXED);
    yield_to_program();
    const int result = real(kind);
    if (result != PT_CUPTI_SUCCESS)
        note_kind(kind, 0);
    return result;
}

int cuptiActivityDisable(pt_u32 kind)
{
    __typeof__(&cuptiActivityDisable) real = REAL(cuptiActivityDisable);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    begin_setting();
    if (is_recording())
        return end_setting(PT_CUPTI_SUCCESS); /* it disables what it never enabled */
    const int result = end_setting(real(kind));
    note_kind(kind, 0);
    take_back_if_done();
    return result;
}

int cuptiActivityFlushAll(pt_u32 flag)
{
    __typeof__(&cuptiActivityFlushAll) real = REAL(cuptiActivityFlushAll);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    begin_setting();
    await_our_flush();
    if (is_recording()) /* what of ours still runs is not cut off */
        return end_setting(real(flag & ~FLUSH_FORCED));
    const pt_u32 before = n_enabled();
    const int is_last = (flag & FLUSH_FORCED) && !pt_cupti_is_enabled_by_program();
    const int result = end_setting(real(flag));
    if (is_last) {
        note_flushed(before);
        take_back_if_done();
    }
    return result;
}

/* CUPTI forgets all subscribers, us too. */
int cuptiFinalize(void)
{
    __typeof__(&cuptiFinalize) real = REAL(cuptiFinalize);
    if (!real)
        return PT_CUPTI_UNKNOWN;
    if (is_refused())
        return PT_CUPTI_MULTIPLE_SUBSCRIBERS;
    begin_subscription(); /* until it is done */
    if (pt_cupti_phase() == PT_CUPTI_YIELDED)
        pt_cupti->has_our_clock = 0;
    const int result = real();
    __builtin_memset(pt_cupti_program.kinds, 0, sizeof pt_cupti_program.kinds);
    pt_cupti_program.flush_period_ms = pt_cupti_program.leaves_questions_out = 0;
    note_flushed(n_enabled());
    __atomic_store_n(&pt_cupti_program.subscriptions, 0, __ATOMIC_RELEASE);
    return result; /* taken back at the next call that waits, never within this one */
}
