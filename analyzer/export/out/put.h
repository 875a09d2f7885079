/* SPDX-License-Identifier: MIT
 *
 * put.h - pieces of JSON, written at a pointer that is returned advanced. For exporters, which write millions of events
 * per second; documents are built elsewhere.
 */
#ifndef PT_EXPORT_OUT_PUT_H
#define PT_EXPORT_OUT_PUT_H

#include <string.h>

#include "proftrace/types.h"

/* The most bytes that one string takes, quotes included; longer ones are cut and end in "...". */
#define PT_PUT_STRING_BYTES 3072u

char *pt_put_u64(char *at, pt_u64 value);
char *pt_put_i64(char *at, pt_i64 value);
char *pt_put_hex(char *at, pt_u64 value); /* "0x7f" with its quotes */
/* Microseconds with exactly three decimals: a viewer gets the exact integer back. */
char *pt_put_us(char *at, pt_i64 ns);
/* The shortest text that reads back as the same number; the caller leaves out what is not finite. */
char *pt_put_f64(char *at, pt_f64 value);
/* Quoted. Control characters are escaped; what is not UTF-8 (lone surrogates too) becomes U+FFFD. */
char *pt_put_string(char *at, const char *text);

static inline char *pt_put(char *at, const char *text)
{
    const size_t bytes = strlen(text);
    memcpy(at, text, bytes);
    return at + bytes;
}

/* A text that is written again and again: copied as a block of fixed size, which costs one store or two. */
struct pt_put_text {
    char text[63];
    pt_u8 bytes;
};

static inline char *pt_put_block(char *at, const struct pt_put_text *from)
{
    memcpy(at, from->text, sizeof from->text);
    return at + from->bytes;
}

#endif
