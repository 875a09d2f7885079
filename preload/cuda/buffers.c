/* SPDX-License-Identifier: MIT
 *
 * buffers.c - the memory that CUPTI writes records into.
 *
 * Called back by CUPTI on threads of the host and on its own, possibly with its locks held: no call of CUDA, none of
 * CUPTI but the one that walks a buffer, no lock, never the host's heap. Never hands out NULL, which crashes CUPTI
 * before CUDA 12.9: when there is no memory, a discard buffer, and what lands there is counted.
 */
#include <sys/mman.h>

#include "../core/sys.h"
#include "cupti_state.h"

#define RECORD_MOST 1024u
#define DISCARDS 64u
struct discard {
    pt_u32 users; /* atomic */
    pt_u32 pad0;
    pt_u8 data[16u << 10] __attribute__((aligned(64)));
};
/* Untouched it costs nothing; not wiped by a fork, so a child whose calls still reach us has something to give. */
static struct discard discards[DISCARDS];

static struct pt_cupti_buffer *new_buffer(struct pt_cupti *c)
{
    const pt_u32 index = __atomic_fetch_add(&c->n_buffers, 1, __ATOMIC_ACQ_REL);
    if (index >= PT_CUPTI_BUFFERS) {
        __atomic_store_n(&c->n_buffers, PT_CUPTI_BUFFERS, __ATOMIC_RELEASE);
        return 0;
    }
    struct pt_cupti_buffer *buffer =
        pt_sys_map(sizeof *buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffer) {
        buffer->is_taken = 1;
        buffer->index = index;
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
    return pt_switches.frozen ? 0 : new_buffer(c);
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
    struct discard *least = &discards[0];
    for (pt_u32 i = 1; i < DISCARDS; i++)
        if (__atomic_load_n(&discards[i].users, __ATOMIC_RELAXED) < __atomic_load_n(&least->users, __ATOMIC_RELAXED))
            least = &discards[i];
    if (__atomic_fetch_add(&least->users, 1, __ATOMIC_ACQUIRE)) /* more than one writes into it: nobody will read it */
        __builtin_memset(least->data, 0, sizeof least->data);
    *data = least->data;
    *bytes = sizeof least->data;
}

static int discard_completed(struct pt_cupti *c, pt_u8 *data, pt_u64 valid_bytes)
{
    for (pt_u32 i = 0; i < DISCARDS; i++) {
        struct discard *discard = &discards[i];
        if (data != discard->data)
            continue;
        /* One that two threads wrote into cannot be walked: the size of the most frequent records tells about how many
         * they were. */
        const pt_u64 is_shared = __atomic_load_n(&discard->users, __ATOMIC_RELAXED) != 1;
        const pt_u64 records = is_shared ? (valid_bytes + 127) / 128 : pt_cupti_count_records(c, data, valid_bytes);
        pt_cupti_lost(c, PT_LOSS_no_buffer, records);
        __builtin_memset(data, 0, valid_bytes < sizeof discard->data ? valid_bytes : sizeof discard->data);
        __atomic_fetch_sub(&discard->users, 1, __ATOMIC_RELEASE);
        pt_cupti_report_losses(c);
        return 1;
    }
    return 0;
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
        /* We promised CUPTI zeros; a last record that is cut short goes on behind what is valid. */
        const pt_u64 room = sizeof buffer->data - valid_bytes;
        __builtin_memset(buffer->data, 0, valid_bytes + (room < RECORD_MOST ? room : RECORD_MOST));
        __atomic_store_n(&buffer->is_taken, 0, __ATOMIC_RELEASE);
    } else if (!discard_completed(c, data, valid_bytes) && pt_cupti_foreign_complete()) {
        pt_cupti_foreign_complete()(context, stream, data, bytes, valid_bytes);
    }
}
