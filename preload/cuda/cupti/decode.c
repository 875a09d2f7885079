/* SPDX-License-Identifier: MIT
 *
 * decode.c - walks what CUPTI has written.
 *
 * Runs in CUPTI's completion callback, on any thread. A buffer is walked in batches: first, outside, the records are
 * found by CUPTI's own walker, which alone knows how long they are, and names of calls are asked for; then, inside a
 * delivery, where no call may leave this library, they become events. Every record becomes an event, is of no use by
 * design (contexts), or is counted as lost with the reason.
 */
#include "decode.h"

#include "proftrace/events.h"
#include "core/file/device.h"
#include "core/names/intern.h"
#include "calls.h"
#include "driver.h"
#include "records.h"

typedef void (*decode_fn)(struct pt_decoder *d, const pt_u8 *r);
static const struct pt_record_kind {
    decode_fn decode;
    pt_u32 kind;
    enum pt_layout layout;
} kinds[] = {
#define KIND(name, number, record, when) {pt_decode_##record, number, PT_LAYOUT_##record},
#include "kinds.def"
#undef KIND
};

static const struct pt_record_kind *kind_of(const pt_u8 *record)
{
    pt_u32 number;
    __builtin_memcpy(&number, record, sizeof number);
    for (pt_u64 i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == number)
            return &kinds[i];
    return 0;
}

/* Names of calls are asked for here, outside of the delivery. */
static void prepare_call(struct pt_decoder *d, const struct pt_record_kind *kind, const pt_u8 *record)
{
    const pt_u32 cbid = pt_API_cbid(record, d->version);
    pt_cupti_learn_call(d->c, kind->kind == PT_CUPTI_RUNTIME_KIND ? PT_CUPTI_RUNTIME_API : PT_CUPTI_DRIVER_API,
                        cbid < PT_CUPTI_CALLS ? cbid : 0);
}

/* CUPTI's walker stops silently at a record that is cut short. The length of records of a kind is known from the
 * distance to the next one. */
static void learn_stride(struct pt_decoder *d, const struct pt_record_kind *kind, const pt_u8 *record)
{
    if (d->last && d->last_kind && record > d->last)
        d->c->strides[d->last_kind - kinds] = (pt_u32)(record - d->last);
    d->last = record;
    d->last_kind = kind;
}

static int is_cut(const struct pt_decoder *d, pt_u64 valid_bytes)
{
    const pt_u32 stride = d->last && d->last_kind ? d->c->strides[d->last_kind - kinds] : 0;
    return !d->last || (stride && d->last + stride + sizeof(pt_u64) <= d->buffer->data + valid_bytes);
}

/* Up to a batch of records behind *record; returns how many, *ret_end when there are no more. */
static pt_u32 collect(struct pt_decoder *d, pt_u64 valid_bytes, pt_u8 **record, int *ret_end)
{
    pt_u8 *const data = d->buffer->data;
    pt_u32 n = 0;
    while (n < PT_CUPTI_BATCH) {
        const int result = d->c->api.cuptiActivityGetNextRecord(data, valid_bytes, record);
        if (result != PT_CUPTI_SUCCESS || *record < data || *record + sizeof(pt_u32) > data + valid_bytes) {
            pt_cupti_lost(d->c, PT_LOSS_cut, result != PT_CUPTI_MAX_LIMIT || is_cut(d, valid_bytes));
            *ret_end = 1;
            return n;
        }
        const struct pt_record_kind *kind = kind_of(*record);
        learn_stride(d, kind, *record);
        if (!kind) {
            pt_cupti_lost(d->c, PT_LOSS_unknown_kind, 1);
        } else if (*record + d->c->layout_bytes[kind->layout] > data + valid_bytes) {
            pt_cupti_lost(d->c, PT_LOSS_cut, 1);
        } else {
            if (kind->layout == PT_LAYOUT_API)
                prepare_call(d, kind, *record);
            d->buffer->batch[n++] = *record;
        }
    }
    return n;
}

static void deliver(struct pt_decoder *d, pt_u32 n)
{
    if (pt_switches.frozen) { /* not even signals may be blocked */
        pt_cupti_lost(d->c, PT_LOSS_not_stored, n);
        return;
    }
    const struct pt_delivery delivery = pt_delivery_begin();
    d->now = pt_clock();
    for (pt_u32 i = 0; i < n && delivery.slot; i++)
        kind_of(d->buffer->batch[i])->decode(d, d->buffer->batch[i]);
    pt_delivery_end(&delivery);
    if (!delivery.slot)
        pt_cupti_lost(d->c, PT_LOSS_not_stored, n);
}

void pt_cupti_decode(struct pt_cupti *c, struct pt_cupti_buffer *buffer, pt_u64 valid_bytes)
{
    struct pt_decoder d = {.c = c, .buffer = buffer, .version = c->version};
    pt_u8 *record = 0;
    for (int end = valid_bytes == 0; !end;) {
        const pt_u32 n = collect(&d, valid_bytes, &record, &end);
        if (n)
            deliver(&d, n);
    }
    pt_cupti_report_losses(c);
}

/* A call that launches kernels is noted even if it is not stored: otherwise its kernel would be taken for one that
 * the driver's API launched. */
static void note_discarded(struct pt_cupti *c, const pt_u8 *record, const pt_u8 *end)
{
    const struct pt_record_kind *kind = record + sizeof(pt_u32) <= end ? kind_of(record) : 0;
    if (kind && kind->kind == PT_CUPTI_RUNTIME_KIND && record + c->layout_bytes[kind->layout] <= end)
        pt_cupti_note_call(c, pt_API_correlation(record, c->version));
}

pt_u64 pt_cupti_count_records(struct pt_cupti *c, pt_u8 *data, pt_u64 valid_bytes)
{
    pt_u8 *record = 0;
    pt_u64 n = 0;
    while (c->api.cuptiActivityGetNextRecord(data, valid_bytes, &record) == PT_CUPTI_SUCCESS) {
        note_discarded(c, record, data + valid_bytes);
        n++;
    }
    return n;
}

/* ---- what is lost ---- */

static const char *const loss_texts[] = {
#define LOSS(name, text) text,
#include "losses.def"
#undef LOSS
};

void pt_cupti_report_losses(struct pt_cupti *c)
{
    pt_u64 any = 0;
    for (pt_u32 i = 0; i < PT_LOSS__COUNT; i++)
        any |= __atomic_load_n(&c->losses[i], __ATOMIC_RELAXED);
    if (!any || pt_switches.frozen)
        return;
    pt_cupti_acquit(c);
    const struct pt_delivery delivery = pt_delivery_begin();
    for (pt_u32 i = 0; i < PT_LOSS__COUNT && delivery.slot; i++) {
        const pt_u64 records = __atomic_exchange_n(&c->losses[i], 0, __ATOMIC_RELAXED);
        if (records)
            pt_deliver_point(pt_clock(), pt_intern_string(loss_texts[i]), 0, PT_EV_gpu_lost, records, 0);
    }
    pt_delivery_end(&delivery);
}
