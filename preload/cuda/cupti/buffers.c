/* SPDX-License-Identifier: MIT
 *
 * buffers.c - the memory that CUPTI writes records into.
 *
 * Called back by CUPTI on threads of the host and on its own, possibly with its locks held: no call of CUDA, none of
 * CUPTI but the one that walks a buffer, no lock, never the host's heap. A buffer that is handed out is zeroed, as we
 * promised CUPTI, and has no other owner. Beyond the limit of memory for tracing CUPTI gets a small discard buffer, and
 * records in it are counted as lost; it gets NULL, which crashes CUPTI before CUDA 12.9, only when there is no discard
 * buffer either.
 */
#include "buffers.h"

#include "core/sandbox.h"
#include "core/sys.h"
#include "decode.h"
#include "program.h"

#define RECORD_MOST 1024u
#define TAKES_NULL_SINCE 27u /* CUDA 12.9 */
struct discard {
    pt_u32 users; /* atomic */
    pt_u32 pad0;
    pt_u8 data[16u << 10] __attribute__((aligned(64)));
};
/* Mapped when CUPTI begins, and cost nothing until they are touched; a fork does not wipe them, so a child that is
 * still called back has a buffer to give. */
#define DISCARDS 64u
static struct discard last_discard;
static struct discard *discards = &last_discard;
static pt_u32 n_discards = 1;
/* Made when CUPTI holds all others; kept for the next time. */
#define MORE_DISCARDS 4096u
static struct discard *more_discards[MORE_DISCARDS]; /* atomic */
static pt_u32 n_more_discards;                       /* atomic */

void pt_cupti_buffers_prepare(void)
{
    struct discard *made = n_discards == 1 ? pt_sys_memory(DISCARDS * sizeof *made) : 0;
    if (!made)
        return;
    discards = made;
    n_discards = DISCARDS;
}

static struct pt_cupti_buffer *new_buffer(struct pt_cupti *c)
{
    const pt_u32 index = __atomic_fetch_add(&c->n_buffers, 1, __ATOMIC_ACQ_REL);
    if (index >= PT_CUPTI_BUFFERS) {
        __atomic_store_n(&c->n_buffers, PT_CUPTI_BUFFERS, __ATOMIC_RELEASE);
        return 0;
    }
    struct pt_cupti_buffer *buffer = pt_sys_memory(sizeof *buffer);
    if (buffer) {
        buffer->is_taken = 1;
        __atomic_store_n(&c->buffers[index], buffer, __ATOMIC_RELEASE);
    }
    return buffer;
}

static struct pt_cupti_buffer *take_buffer(struct pt_cupti *c)
{
    const pt_u32 n = __atomic_load_n(&c->n_buffers, __ATOMIC_ACQUIRE);
    for (pt_u32 i = 0; i < n && i < PT_CUPTI_BUFFERS; i++) {
        struct pt_cupti_buffer *buffer = __atomic_load_n(&c->buffers[i], __ATOMIC_ACQUIRE);
        if (buffer && !__atomic_exchange_n(&buffer->is_taken, 1, __ATOMIC_ACQUIRE))
            return buffer;
    }
    return !pt_may_call() ? 0 : new_buffer(c);
}

static int is_taken_now(struct discard *discard)
{
    pt_u32 no_user = 0;
    return discard && __atomic_compare_exchange_n(&discard->users, &no_user, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static struct discard *new_discard(void)
{
    const pt_u32 index = __atomic_fetch_add(&n_more_discards, 1, __ATOMIC_ACQ_REL);
    struct discard *discard = 0;
    if (index >= MORE_DISCARDS)
        __atomic_store_n(&n_more_discards, MORE_DISCARDS, __ATOMIC_RELEASE);
    else
        discard = pt_sys_memory(sizeof *discard);
    if (discard) {
        discard->users = 1;
        __atomic_store_n(&more_discards[index], discard, __ATOMIC_RELEASE);
    }
    return discard;
}

static struct discard *take_discard(void)
{
    for (pt_u32 i = 0; i < n_discards; i++)
        if (is_taken_now(&discards[i]))
            return &discards[i];
    const pt_u32 n = __atomic_load_n(&n_more_discards, __ATOMIC_ACQUIRE);
    for (pt_u32 i = 0; i < n && i < MORE_DISCARDS; i++) {
        struct discard *discard = __atomic_load_n(&more_discards[i], __ATOMIC_ACQUIRE);
        if (is_taken_now(discard))
            return discard;
    }
    return !pt_may_call() ? 0 : new_discard();
}

/* No memory at all, and a CUPTI that crashes without a buffer: several threads write into one, which is never read. */
static struct discard *share_discard(void)
{
    __atomic_fetch_add(&discards[0].users, 1, __ATOMIC_ACQUIRE);
    __builtin_memset(discards[0].data, 0, sizeof discards[0].data);
    return &discards[0];
}

void pt_cupti_request(pt_u8 **data, pt_u64 *bytes, pt_u64 *max_records)
{
    struct pt_cupti_buffer *buffer = pt_cupti_phase() != PT_CUPTI_NONE ? take_buffer(pt_cupti) : 0;
    *max_records = 0; /* as many as fit */
    if (buffer) {
        *data = buffer->data;
        *bytes = sizeof buffer->data;
        return;
    }
    struct discard *discard = take_discard();
    if (!discard && !(pt_cupti && pt_cupti->version >= TAKES_NULL_SINCE))
        discard = share_discard();
    *data = discard ? discard->data : 0; /* without one CUPTI drops the records, and counts them itself */
    *bytes = discard ? sizeof discard->data : 0;
}

static struct discard *discard_of(const pt_u8 *data)
{
    for (pt_u32 i = 0; i < n_discards; i++)
        if (data == discards[i].data)
            return &discards[i];
    const pt_u32 n = __atomic_load_n(&n_more_discards, __ATOMIC_ACQUIRE);
    for (pt_u32 i = 0; i < n && i < MORE_DISCARDS; i++) {
        struct discard *discard = __atomic_load_n(&more_discards[i], __ATOMIC_ACQUIRE);
        if (discard && data == discard->data)
            return discard;
    }
    return 0;
}

/* A last record that is cut short extends beyond the valid bytes. */
static void clear(pt_u8 *data, pt_u64 bytes, pt_u64 valid_bytes)
{
    const pt_u64 dirty = valid_bytes + RECORD_MOST;
    __builtin_memset(data, 0, dirty < bytes ? dirty : bytes);
}

static int discard_completed(struct pt_cupti *c, pt_u8 *data, pt_u64 valid_bytes)
{
    struct discard *discard = discard_of(data);
    if (!discard)
        return 0;
    /* A buffer that two threads wrote into cannot be walked: the number of records is estimated from the size of the
     * most frequent ones. */
    const pt_u64 is_shared = __atomic_load_n(&discard->users, __ATOMIC_RELAXED) != 1;
    const pt_u64 records = is_shared ? (valid_bytes + 127) / 128 : pt_cupti_count_records(c, data, valid_bytes);
    pt_cupti_lost(c, PT_LOSS_no_buffer, records);
    clear(discard->data, sizeof discard->data, valid_bytes);
    __atomic_fetch_sub(&discard->users, 1, __ATOMIC_RELEASE);
    pt_cupti_report_losses(c);
    return 1;
}

static struct pt_cupti_buffer *buffer_of(struct pt_cupti *c, const pt_u8 *data)
{
    for (pt_u32 i = 0; i < PT_CUPTI_BUFFERS; i++) {
        struct pt_cupti_buffer *buffer = __atomic_load_n(&c->buffers[i], __ATOMIC_ACQUIRE);
        if (buffer && buffer->data == data)
            return buffer;
    }
    return 0;
}

void pt_cupti_complete(void *context, pt_u32 stream, pt_u8 *data, pt_u64 bytes, pt_u64 valid_bytes)
{
    struct pt_cupti *c = pt_cupti;
    if (pt_cupti_phase() == PT_CUPTI_NONE || !data)
        return;
    struct pt_cupti_buffer *buffer = buffer_of(c, data);
    if (buffer) {
        valid_bytes = valid_bytes < sizeof buffer->data ? valid_bytes : sizeof buffer->data;
        pt_cupti_decode(c, buffer, valid_bytes);
        clear(buffer->data, sizeof buffer->data, valid_bytes);
        __atomic_store_n(&buffer->is_taken, 0, __ATOMIC_RELEASE);
    } else if (!discard_completed(c, data, valid_bytes)) {
        const pt_cupti_complete_fn complete = __atomic_load_n(&pt_cupti_program.complete, __ATOMIC_ACQUIRE);
        if (complete)
            complete(context, stream, data, bytes, valid_bytes);
    }
}
