/* SPDX-License-Identifier: MIT
 *
 * proto.h - pieces of protobuf, written at a pointer that is returned advanced, as put.h does for JSON.
 *
 * The length of a message comes before it and is not known yet when it begins: two bytes are kept free and filled at
 * its end, in a form of the number that every reader accepts. So a message has at most PT_PROTO_MESSAGE_BYTES.
 */
#ifndef PT_EXPORT_OUT_PROTO_H
#define PT_EXPORT_OUT_PROTO_H

#include <string.h>

#include "proftrace/types.h"

#define PT_PROTO_MESSAGE_BYTES 16383u
/* The most bytes that one text takes; longer ones are cut and end in "...". */
#define PT_PROTO_TEXT_BYTES 3072u

enum pt_proto_wire { PT_PROTO_VARINT = 0, PT_PROTO_FIXED64 = 1, PT_PROTO_BYTES = 2 };

static inline char *pt_proto_varint(char *at, pt_u64 value)
{
    while (value >= 0x80) {
        *at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (char)value;
    return at;
}

static inline char *pt_proto_tag(char *at, pt_u32 field, enum pt_proto_wire wire)
{
    return pt_proto_varint(at, (pt_u64)field << 3 | wire);
}

static inline char *pt_proto_u64(char *at, pt_u32 field, pt_u64 value)
{
    return pt_proto_varint(pt_proto_tag(at, field, PT_PROTO_VARINT), value);
}

/* int64, not sint64: a negative number takes ten bytes. */
static inline char *pt_proto_i64(char *at, pt_u32 field, pt_i64 value)
{
    return pt_proto_u64(at, field, (pt_u64)value);
}

static inline char *pt_proto_fixed64(char *at, pt_u32 field, pt_u64 value)
{
    at = pt_proto_tag(at, field, PT_PROTO_FIXED64);
    for (int i = 0; i < 8; i++)
        *at++ = (char)(value >> (8 * i));
    return at;
}

static inline char *pt_proto_f64(char *at, pt_u32 field, pt_f64 value)
{
    pt_u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return pt_proto_fixed64(at, field, bits);
}

/* A message begins: what pt_proto_end needs is where it does, `at` after this call. */
static inline char *pt_proto_begin(char *at, pt_u32 field)
{
    return pt_proto_tag(at, field, PT_PROTO_BYTES) + 2;
}

static inline char *pt_proto_end(char *start, char *at)
{
    const pt_u32 bytes = (pt_u32)(at - start);
    start[-2] = (char)(bytes | 0x80);
    start[-1] = (char)(bytes >> 7 & 0x7f);
    return at;
}

/* The same with one byte for the length: at most 127 bytes, which the caller knows. */
static inline char *pt_proto_begin_short(char *at, pt_u32 field)
{
    return pt_proto_tag(at, field, PT_PROTO_BYTES) + 1;
}

static inline char *pt_proto_end_short(char *start, char *at)
{
    start[-1] = (char)(at - start);
    return at;
}

/* What is not UTF-8 becomes U+FFFD. */
char *pt_proto_text(char *at, pt_u32 field, const char *text);

#endif
