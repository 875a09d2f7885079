/* SPDX-License-Identifier: MIT
 *
 * frame_check.c - checks each frame before the unwinder reads it. The unwinder trusts every stack: on a coroutine
 * without a caller, or on one whose callers were overwritten (greenlet), it would follow a wrong frame pointer and
 * crash the host.
 *
 * Entered on the private stack. Finds the rule by which the unwinder will compute the frame's end (DWARF call frame
 * information, only as much of it as names that rule) and asks the kernel whether the memory there can be read. Never
 * reads memory of the stack itself.
 */
#include "frame_check.h"

#include "core/sys.h"

#define SAVED_STATES 4u
#define SIGNAL_FRAME_BYTES 512u /* what the rules of a signal frame read above the stack pointer */

/* libgcc's, linked in; its header is not installed. */
struct eh_bases {
    void *text;
    void *data;
    void *function;
};
extern const void *_Unwind_Find_FDE(void *address, struct eh_bases *bases);

enum { REGISTER_RBX = 3, REGISTER_RBP = 6, REGISTER_RSP = 7, REGISTER_R12 = 12, REGISTER_R15 = 15 };

struct program {
    const pt_u8 *at;
    const pt_u8 *end;
    pt_u64 code_align;
    pt_i64 data_align;
    pt_u64 location;
    pt_u64 limit;
    struct pt_frame_rule rule;
    struct pt_frame_rule saved[SAVED_STATES];
    pt_u32 n_saved;
};

static pt_u64 take_unsigned(struct program *p)
{
    pt_u64 value = 0;
    for (pt_u32 shift = 0; p->at < p->end; shift += 7) {
        const pt_u8 byte = *p->at++;
        value |= shift < 64 ? (pt_u64)(byte & 127) << shift : 0;
        if (byte < 128)
            break;
    }
    return value;
}

static pt_i64 take_signed(struct program *p)
{
    pt_u64 value = 0;
    for (pt_u32 shift = 0; p->at < p->end;) {
        const pt_u8 byte = *p->at++;
        value |= shift < 64 ? (pt_u64)(byte & 127) << shift : 0;
        shift += 7;
        if (byte < 128)
            return (pt_i64)(byte & 64 && shift < 64 ? value | ~0ull << shift : value);
    }
    return (pt_i64)value;
}

static pt_u64 take_fixed(struct program *p, pt_u32 bytes)
{
    pt_u64 value = 0;
    for (pt_u32 i = 0; i < bytes && p->at < p->end; i++)
        value |= (pt_u64)*p->at++ << (8 * i);
    return value;
}

static void skip_block(struct program *p)
{
    const pt_u64 bytes = take_unsigned(p);
    p->at = bytes < (pt_u64)(p->end - p->at) ? p->at + bytes : p->end;
}

static int set_expression(struct program *p)
{
    const pt_u8 *block = p->at;
    struct program peek = *p;
    if (take_unsigned(&peek) == 0)
        return -1;
    p->rule.operation = *peek.at;
    p->at = block;
    skip_block(p);
    return 0;
}

/* The operations that say where the frame ends. */
static int run_frame_end(struct program *p, pt_u8 operation)
{
    switch (operation) {
    case 0x0c: /* def_cfa */
        p->rule = (struct pt_frame_rule){.reg = (pt_u8)take_unsigned(p)};
        p->rule.offset = (pt_i32)take_unsigned(p);
        return 0;
    case 0x0d: /* def_cfa_register */
        p->rule.reg = (pt_u8)take_unsigned(p);
        p->rule.operation = 0;
        return 0;
    case 0x0e: /* def_cfa_offset */
        p->rule.offset = (pt_i32)take_unsigned(p);
        return 0;
    case 0x0f: /* def_cfa_expression */
        return set_expression(p);
    case 0x12: /* def_cfa_sf */
        p->rule = (struct pt_frame_rule){.reg = (pt_u8)take_unsigned(p)};
        p->rule.offset = (pt_i32)(take_signed(p) * p->data_align);
        return 0;
    case 0x13: /* def_cfa_offset_sf */
        p->rule.offset = (pt_i32)(take_signed(p) * p->data_align);
        return 0;
    default:
        return -1;
    }
}

/* What lies behind an operation that does not say where the frame ends. */
struct operands {
    pt_u8 is_known;
    pt_u8 advance_bytes; /* of a distance in the code */
    pt_u8 numbers;
    pt_u8 has_block;
};

static const struct operands operands_of[64] = {
    [0x00] = {.is_known = 1},                               /* nop */
    [0x02] = {.is_known = 1, .advance_bytes = 1},           /* advance_loc1 */
    [0x03] = {.is_known = 1, .advance_bytes = 2},           /* advance_loc2 */
    [0x04] = {.is_known = 1, .advance_bytes = 4},           /* advance_loc4 */
    [0x05] = {.is_known = 1, .numbers = 2},                 /* offset_extended */
    [0x06] = {.is_known = 1, .numbers = 1},                 /* restore_extended */
    [0x07] = {.is_known = 1, .numbers = 1},                 /* undefined */
    [0x08] = {.is_known = 1, .numbers = 1},                 /* same_value */
    [0x09] = {.is_known = 1, .numbers = 2},                 /* register */
    [0x10] = {.is_known = 1, .numbers = 1, .has_block = 1}, /* expression */
    [0x11] = {.is_known = 1, .numbers = 2},                 /* offset_extended_sf */
    [0x14] = {.is_known = 1, .numbers = 2},                 /* val_offset */
    [0x15] = {.is_known = 1, .numbers = 2},                 /* val_offset_sf */
    [0x16] = {.is_known = 1, .numbers = 1, .has_block = 1}, /* val_expression */
    [0x2e] = {.is_known = 1, .numbers = 1},                 /* GNU_args_size */
    [0x2f] = {.is_known = 1, .numbers = 2},                 /* GNU_negative_offset_extended */
};

static int remember_state(struct program *p)
{
    if (p->n_saved == SAVED_STATES)
        return -1;
    p->saved[p->n_saved++] = p->rule;
    return 0;
}

static int restore_state(struct program *p)
{
    if (!p->n_saved)
        return -1;
    p->rule = p->saved[--p->n_saved];
    return 0;
}

/* DW_CFA_ operations of one byte, below 64; the compact ones are handled by run(). */
static int run_long(struct program *p, pt_u8 operation)
{
    if (operation == 0x0a)
        return remember_state(p);
    if (operation == 0x0b)
        return restore_state(p);
    const struct operands *operands = &operands_of[operation];
    if (!operands->is_known)
        return run_frame_end(p, operation);
    p->location += take_fixed(p, operands->advance_bytes) * p->code_align;
    for (pt_u32 i = 0; i < operands->numbers; i++)
        take_unsigned(p);
    if (operands->has_block)
        skip_block(p);
    return 0;
}

static int run(struct program *p)
{
    while (p->at < p->end && p->location < p->limit) {
        const pt_u8 byte = *p->at++;
        if (byte >> 6 == 1) /* advance_loc */
            p->location += (byte & 63) * p->code_align;
        else if (byte >> 6 == 2) /* offset */
            take_unsigned(p);
        else if (byte >> 6 == 0 && run_long(p, byte) < 0)
            return -1;
    }
    return 0;
}

static const pt_u8 *entry_end(const pt_u8 *entry)
{
    pt_u32 length;
    __builtin_memcpy(&length, entry, sizeof length);
    return entry + sizeof length + length;
}

/* Bytes of a code address in the function's entry; 0 = a form that compilers do not use on x86-64. */
static pt_u32 address_bytes(pt_u8 encoding)
{
    switch (encoding & 15) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return 8;
    case 0x03:
    case 0x0b:
        return 4;
    default:
        return 0;
    }
}

/* The letters behind 'z' name what the augmentation data holds, in this order. Returns how addresses are encoded, -1
 * when a letter is not understood. */
static int read_augmentation(struct program *p, const char *letters)
{
    const pt_u64 bytes = take_unsigned(p);
    const pt_u8 *const data = p->at;
    int encoding = 0;
    for (; *letters; letters++) {
        if (*letters == 'R')
            encoding = *p->at++;
        else if (*letters == 'L')
            p->at++;
        else if (*letters == 'P') {
            const pt_u32 pointer = address_bytes(*p->at);
            if (!pointer)
                return -1;
            p->at += 1 + pointer;
        } else if (*letters != 'S' && *letters != 'B')
            return -1;
    }
    p->at = data + bytes;
    return encoding;
}

/* The common entry: alignments, then its instructions. Returns the address encoding, -1 when it is not understood. */
static int run_common(struct program *p, const pt_u8 *entry, int *ret_augmented)
{
    const char *augmentation = (const char *)entry + 9;
    const pt_u8 version = entry[8];
    p->end = entry_end(entry);
    p->at = entry + 9;
    while (p->at < p->end && *p->at++)
        ;
    p->at += version >= 4 ? 2 : 0;
    p->code_align = take_unsigned(p);
    p->data_align = take_signed(p);
    if (version == 1)
        p->at++;
    else
        take_unsigned(p);
    *ret_augmented = augmentation[0] == 'z';
    if (!*ret_augmented && augmentation[0])
        return -1;
    const int encoding = *ret_augmented ? read_augmentation(p, augmentation + 1) : 0;
    return encoding < 0 || run(p) < 0 ? -1 : encoding;
}

PT_NOINLINE static int parse_rule(pt_u64 address, int is_signal_frame, struct pt_frame_rule *ret)
{
    struct eh_bases bases;
    const pt_u8 *entry = _Unwind_Find_FDE((void *)(address + (pt_u64)is_signal_frame - 1), &bases);
    if (!entry)
        return -1;
    pt_i32 delta;
    int augmented = 0;
    __builtin_memcpy(&delta, entry + 4, sizeof delta);
    struct program p = {.location = (pt_u64)bases.function, .limit = address + (pt_u64)is_signal_frame};
    const int encoding = run_common(&p, entry + 4 - delta, &augmented);
    const pt_u32 bytes = encoding < 0 ? 0 : address_bytes((pt_u8)encoding);
    if (!bytes)
        return -1;
    p.at = entry + 8 + 2ull * bytes;
    p.end = entry_end(entry);
    if (augmented)
        skip_block(&p);
    if (run(&p) < 0)
        return -1;
    *ret = p.rule;
    return 0;
}

static const struct pt_frame_rule *find_rule(struct pt_frame_check *check, pt_u64 address, int is_signal_frame)
{
    struct pt_frame_rule *known = &check->known[(address ^ address >> 9) % PT_FRAME_RULES];
    if (known->address == address)
        return known;
    known->address = 0;
    if (parse_rule(address, is_signal_frame, known) < 0)
        return 0;
    known->address = address;
    return known;
}

static int is_readable(struct pt_frame_check *check, pt_u64 address)
{
    const pt_u64 page = address & ~4095ull;
    if (page == check->page)
        return 1;
    if (!pt_sys_is_readable(page))
        return 0;
    check->page = page;
    return 1;
}

static int is_range_readable(struct pt_frame_check *check, pt_u64 from, pt_u64 to)
{
    return from <= to && is_readable(check, from) && is_readable(check, to);
}

int pt_frame_is_safe(struct pt_frame_check *check, struct _Unwind_Context *context)
{
    int is_signal_frame = 0;
    const pt_u64 address = _Unwind_GetIPInfo(context, &is_signal_frame), top = _Unwind_GetCFA(context);
    const struct pt_frame_rule *rule = find_rule(check, address, is_signal_frame);
    if (!rule)
        return 0;
    const int in_register = rule->reg == REGISTER_RBX || rule->reg == REGISTER_RBP ||
                            (rule->reg >= REGISTER_R12 && rule->reg <= REGISTER_R15);
    if (rule->operation == 0x77) /* DW_OP_breg7: signal frames, entries of the linkage table */
        return is_range_readable(check, top, top + SIGNAL_FRAME_BYTES);
    if (rule->operation == 0x76) { /* DW_OP_breg6: a realigned stack keeps its end below the frame pointer */
        const pt_u64 frame = _Unwind_GetGR(context, REGISTER_RBP);
        return is_range_readable(check, top, top) && is_range_readable(check, frame - 64, frame + 16);
    }
    if (rule->operation || (rule->reg != REGISTER_RSP && !in_register))
        return 0;
    const pt_u64 base = rule->reg == REGISTER_RSP ? top : _Unwind_GetGR(context, (int)rule->reg);
    const pt_u64 end = base + (pt_u64)rule->offset;
    return end > top && is_range_readable(check, top, end - 8);
}
