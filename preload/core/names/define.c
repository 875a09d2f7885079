/* SPDX-License-Identifier: MIT
 *
 * define.c - writes definitions: the texts, stacks and modules behind the ids of a trace.
 *
 * Entered from any hook, also in signal handlers. A definition counts only when its commit word is written. What finds
 * no room is counted, and its name stays unknown; never half a definition.
 */
#include "define.h"

#include "core/file/attach.h"
#include "core/file/checksum.h"
#include "core/file/defs.h"
#include "core/file/image_state.h"
#include "core/private.h"
#include "core/state.h"
#include "core/text.h"

void *pt_define_begin(pt_u64 payload_bytes, struct pt_tracer_thread **ret_thread)
{
    struct pt_tracer_thread *t = pt_self->area ? pt_self : pt_thread_attached();
    *ret_thread = t;
    const pt_u64 bytes = (sizeof(struct pt_def) + payload_bytes + 7) & ~7ull;
    struct pt_def *def = t ? pt_defs_reserve(t, bytes) : 0;
    if (!def) {
        pt_count_drop(PT_DROP_definition, 1);
        return 0;
    }
    def->payload_bytes = (pt_u32)payload_bytes;
    return def + 1;
}

void pt_define_commit(struct pt_tracer_thread *t, void *payload, enum pt_def_type type, pt_u32 id)
{
    struct pt_def *def = (struct pt_def *)payload - 1;
    const pt_u64 now = pt_clock(), bytes = (sizeof *def + def->payload_bytes + 7) & ~7ull;
    def->id = id;
    def->type = (pt_u16)type;
    def->ticks = pt_ticks_since(t->clock_base, now);
    def->crc = pt_crc(0, payload, def->payload_bytes);
    __atomic_store_n(&def->commit, PT_DEF_MAGIC | bytes << 32, __ATOMIC_RELEASE);
}

static pt_u32 put_varint(pt_u8 *to, pt_u64 value)
{
    pt_u32 n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (pt_u8)(value | 128);
    to[n++] = (pt_u8)value;
    return n;
}

static pt_u32 put_frames(pt_u8 *to, const pt_u64 *frames, pt_u32 n)
{
    pt_u32 bytes = 0;
    pt_u64 last = 0;
    for (pt_u32 i = 0; i < n; i++) {
        bytes += put_varint(to + bytes, pt_zigzag((pt_i64)(frames[i] - last)));
        last = frames[i];
    }
    return bytes;
}

void pt_define_stack(struct pt_tracer_thread *t, const pt_u64 *frames, pt_u32 n, pt_u32 id)
{
    pt_u8 *encoded = t->priv->codec.columns; /* free: no rollover can run now */
    const pt_u32 bytes = put_frames(encoded, frames, n);
    struct pt_tracer_thread *owner;
    void *payload = pt_define_begin(bytes, &owner);
    if (payload) {
        put_frames(payload, frames, n); /* again: a head that had to move meanwhile was copied there, too */
        pt_define_commit(owner, payload, PT_DEF_STACK, id);
    }
}

void pt_define_untraced(pt_u32 path, const char *reason)
{
    struct pt_tracer_thread *t;
    const pt_u64 length = pt_text_length(reason);
    void *payload = pt_image && !pt_switches.off ? pt_define_begin(length, &t) : 0;
    if (payload) {
        __builtin_memcpy(payload, reason, length);
        pt_define_commit(t, payload, PT_DEF_UNTRACED, path);
    }
}
