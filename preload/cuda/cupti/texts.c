/* SPDX-License-Identifier: MIT
 *
 * cupti/texts.c - the texts in GPU events: queues, launch configurations, places of memory, names.
 *
 * Runs inside a delivery, on any thread: never calls another library. A text is made once and then found by its
 * numbers, because making it for each record would cost more than the rest of the work on it. The table is bounded;
 * beyond the bound texts are made again.
 */
#include "texts.h"

#include "core/names/intern.h"
#include "core/text.h"

/* The row of a key, or a free one for it; NULL when the rows that it may take are full. */
static struct pt_text_id *text_row(struct pt_cupti *c, const void *key, pt_u64 bytes, pt_u64 seed)
{
    pt_u64 hash = pt_hash_bytes(key, bytes, seed);
    hash += !hash;
    for (pt_u32 probe = 0; probe < 8; probe++) {
        struct pt_text_id *row = &c->text_ids[(hash + probe) & (PT_TEXT_IDS - 1)];
        pt_u64 found = __atomic_load_n(&row->hash, __ATOMIC_ACQUIRE);
        if (!found && __atomic_compare_exchange_n(&row->hash, &found, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return row;
        if (found == hash)
            return row;
    }
    return 0;
}

static pt_u32 text_known(const struct pt_text_id *row)
{
    return row ? (pt_u32)__atomic_load_n(&row->id, __ATOMIC_ACQUIRE) : 0;
}

static pt_u32 text_made(struct pt_text_id *row, const struct pt_text *text)
{
    const pt_u32 id = pt_intern_bytes(text->bytes, text->length);
    if (row)
        __atomic_store_n(&row->id, id, __ATOMIC_RELEASE);
    return id;
}

/* A number of CUPTI's; its "none" is all ones. */
static void add_id(struct pt_text *text, pt_u32 id)
{
    if (id == PT_CUPTI_NO_ID)
        pt_text_byte(text, '-');
    else
        pt_text_number(text, id, 0);
}

pt_u32 pt_cupti_queue(struct pt_cupti *c, pt_u32 device, pt_u32 context, pt_u32 stream)
{
    const pt_u32 key[3] = {device, context, stream};
    struct pt_text_id *row = text_row(c, key, sizeof key, 1);
    pt_u32 id = text_known(row);
    if (id)
        return id;
    char bytes[40];
    struct pt_text text = {bytes, 0, sizeof bytes};
    add_id(&text, device);
    pt_text_byte(&text, '/');
    add_id(&text, context);
    pt_text_byte(&text, '/');
    add_id(&text, stream);
    return text_made(row, &text);
}

static void add_triple(struct pt_text *text, const pt_u32 *xyz)
{
    pt_text_number(text, xyz[0], 0);
    pt_text_byte(text, ',');
    pt_text_number(text, xyz[1], 0);
    pt_text_byte(text, ',');
    pt_text_number(text, xyz[2], 0);
    pt_text_byte(text, ' ');
}

static PT_NOINLINE pt_u32 config_made(struct pt_text_id *row, const pt_u32 *key)
{
    char bytes[112];
    struct pt_text text = {bytes, 0, sizeof bytes};
    add_triple(&text, key);
    add_triple(&text, key + 3);
    pt_text_number(&text, key[6], 0);
    pt_text_byte(&text, ' ');
    pt_text_number(&text, key[7], 0);
    pt_text_byte(&text, '+');
    pt_text_number(&text, key[8], 0);
    return text_made(row, &text);
}

pt_u32 pt_cupti_config(struct pt_cupti *c, const pt_u8 *r)
{
    const pt_u32 v = c->version;
    const pt_u32 key[9] = {pt_KERNEL_grid_x(r, v),    pt_KERNEL_grid_y(r, v),        pt_KERNEL_grid_z(r, v),
                           pt_KERNEL_block_x(r, v),   pt_KERNEL_block_y(r, v),       pt_KERNEL_block_z(r, v),
                           pt_KERNEL_registers(r, v), pt_KERNEL_static_shared(r, v), pt_KERNEL_dynamic_shared(r, v)};
    struct pt_text_id *row = text_row(c, key, sizeof key, 2);
    const pt_u32 id = text_known(row);
    return id ? id : config_made(row, key);
}

pt_u32 pt_cupti_place(pt_u32 device, pt_u32 kind, pt_u64 pool)
{
    char bytes[48];
    struct pt_text text = {bytes, 0, sizeof bytes};
    add_id(&text, device);
    pt_text_byte(&text, '/');
    pt_text_number(&text, kind, 0);
    if (pool) {
        pt_text_add(&text, "/0x");
        pt_text_hex(&text, pool, 12);
    }
    return pt_intern_bytes(bytes, text.length);
}

/* ---- names of kernels: hundreds of bytes each, and one of a few in each record ---- */

#define NAME_MOST 4096u

static void remember_name(struct pt_cupti *c, struct pt_name_id *row, const char *name, pt_u64 length, pt_u32 id)
{
    const pt_u64 at = __atomic_fetch_add(&c->name_bytes_used, length, __ATOMIC_RELAXED);
    if (at + length > PT_NAME_BYTES)
        return; /* the row stays unchanged: this name is looked up each time */
    __builtin_memcpy(c->name_bytes + at, name, length);
    row->copy = c->name_bytes + at;
    row->length = (pt_u32)length;
    __atomic_store_n(&row->id, id, __ATOMIC_RELEASE);
}

pt_u32 pt_cupti_name(struct pt_cupti *c, pt_u64 pointer)
{
    if (!pointer)
        return 0;
    const char *name = (const char *)pointer;
    const pt_u64 length = __builtin_strlen(name);
    for (pt_u32 probe = 0; probe < 4 && length <= NAME_MOST; probe++) {
        struct pt_name_id *row = &c->name_ids[((pointer * 0x9e3779b97f4a7c15ull >> 52) + probe) & (PT_NAME_IDS - 1)];
        pt_u64 found = __atomic_load_n(&row->pointer, __ATOMIC_ACQUIRE);
        if (!found &&
            __atomic_compare_exchange_n(&row->pointer, &found, pointer, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            const pt_u32 id = pt_intern_bytes(name, length);
            remember_name(c, row, name, length, id);
            return id;
        }
        if (found != pointer)
            continue;
        const pt_u32 id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);
        if (id && row->length == length && __builtin_memcmp(row->copy, name, length) == 0)
            return id;
        break;
    }
    return pt_intern_bytes(name, length);
}
