/* SPDX-License-Identifier: MIT
 *
 * deliver.c - post-processing of a buffer (GPU times into the registered clock, and the planned faults) and its
 * delivery by whoever flushes; CUPTI's own thread.
 */
#include "machine.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOT_INITIALIZED = 15 };

static atomic_uint period_ms;
static atomic_int n_corrupt; /* kernel records that a re-registered clock corrupts */
static atomic_bool has_clock;

void fg_note_clock(void)
{
    if (atomic_exchange(&has_clock, true) && fg_program()->fault[FG_FAULT_reregister])
        n_corrupt++;
}

/* A record that a forced flush took before its end keeps its times at 0. */
static void fill_times(struct fg_buffer *buffer, const struct fg_fixup *fixup, uint64_t now_ns)
{
    uint8_t *record = buffer->data + fixup->offset;
    uint64_t start = fg_convert(fg_gpu_clock(fixup->start_ns)), end = fg_convert(fg_gpu_clock(fixup->end_ns));
    if (fixup->end_ns > now_ns || fg_fault_due(FG_FAULT_zero_time))
        start = end = 0;
    if (fg_fault_due(FG_FAULT_reversed_time)) {
        const uint64_t was = start;
        start = end + 1;
        end = was;
    }
    if (fixup->is_kernel && n_corrupt > 0) {
        n_corrupt--;
        start += 100000000000000u;
        end += 100000000000000u;
    }
    fg_set_bytes(record, fixup->start, start);
    fg_set_bytes(record, fixup->end, end);
    if (fixup->is_kernel)
        fg_set_bytes(record, FG_KERNEL_completed, end);
}

/* Another order, the same each time. */
static void shuffle(struct fg_buffer *buffer)
{
    uint8_t *copy = malloc(buffer->used), *record = NULL;
    size_t n = 0, *offsets = malloc((buffer->n_records + 1) * sizeof *offsets), at = 0;
    memcpy(copy, buffer->data, buffer->used);
    while (n < buffer->n_records && !fg_next_record(copy, buffer->used, &record))
        offsets[n++] = (size_t)(record - copy);
    offsets[n] = buffer->used;
    for (size_t i = 0; i < n; i++) {
        const size_t from = n - 1 - i, bytes = offsets[from + 1] - offsets[from];
        memcpy(buffer->data + at, copy + offsets[from], bytes);
        at += bytes;
    }
    free(copy);
    free(offsets);
}

void fg_deliver(struct fg_buffer *buffer)
{
    const uint64_t now_ns = fg_now_ns();
    const size_t cut = fg_fault_due(FG_FAULT_wild_record) && buffer->used > 16 ? 12 : 0;
    fg_take_clock_pair();
    fg_await_second_pair();
    size_t n_kernels = 0;
    for (size_t i = 0; i < buffer->n_fixups; i++) {
        fill_times(buffer, &buffer->fixups[i], now_ns);
        n_kernels += buffer->fixups[i].is_kernel;
    }
    if (fg_program()->fault[FG_FAULT_shuffle])
        shuffle(buffer);
    fg_busy(fg_program()->callback_ns);
    fg_call_complete(buffer->data, buffer->bytes, buffer->used - cut);
    fg_witness("{\"what\":\"taken\",\"kernels\":%zu}", n_kernels);
    free(buffer->fixups);
    free(buffer);
    fg_delivered();
}

int fg_flush(bool is_forced)
{
    fg_refuse_in_buffer_callback("cuptiActivityFlushAll");
    if (fg_is_forked_child()) {
        fg_busy(fg_program()->fork_hang_ms * 1e6);
        fprintf(stderr,
                "fakecupti: cuptiActivityFlushAll hangs in a forked child, where CUPTI's thread does not exist\n");
        abort();
    }
    if (fg_is_exiting())
        return NOT_INITIALIZED;
    fg_busy(fg_program()->fault[FG_FAULT_slow_flush] * 1e6);
    /* What other threads begin meanwhile is for the next flush: they could keep this one for ever. */
    const uint64_t newest = fg_newest_buffer();
    for (struct fg_buffer *buffer; (buffer = fg_take_buffer(false, is_forced, newest));)
        fg_deliver(buffer);
    fg_await_deliveries();
    fg_replay();
    return 0;
}

static void *work(void *unused)
{
    while (!fg_is_exiting()) {
        const double ms = period_ms ? period_ms : fg_program()->worker_period_ms;
        fg_wait_until(fg_now_ns() + (uint64_t)((ms > 1 ? ms : 1) * 1e6));
        for (struct fg_buffer *buffer; (buffer = fg_take_buffer(true, false, UINT64_MAX));)
            fg_deliver(buffer);
        /* A drift is only followed while pairs are taken. */
        fg_take_clock_pair();
    }
    return unused;
}

static void start_worker(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!pthread_create(&thread, NULL, work, NULL))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fg_worker_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (fg_program()->worker)
        pthread_once(&once, start_worker);
}

int fg_flush_period(uint32_t ms)
{
    period_ms = ms;
    return 0;
}

uint32_t fg_flush_period_ms(void)
{
    return period_ms;
}
