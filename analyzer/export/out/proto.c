/* SPDX-License-Identifier: MIT
 *
 * proto.c - texts of protobuf. Owns nothing; any thread. Never: allocates, writes what is not UTF-8 (readers refuse the
 * whole file). */
#include "proto.h"

#include "util/text/utf8.h"

char *pt_proto_text(char *at, pt_u32 field, const char *text)
{
    char *const start = pt_proto_begin(at, field);
    char *const limit = start + PT_PROTO_TEXT_BYTES - 8;
    const char *from = text;
    at = start;
    while (*from && at < limit) {
        if (!(*from & 0x80)) {
            *at++ = *from++;
            continue;
        }
        uint32_t code;
        const size_t bytes = pt_utf8_next(from, strnlen(from, 4), &code);
        memcpy(at, bytes ? from : PT_UTF8_REPLACEMENT, bytes ? bytes : 3);
        at += bytes ? bytes : 3;
        from += bytes ? bytes : 1;
    }
    if (*from) {
        memcpy(at, "...", 3);
        at += 3;
    }
    return pt_proto_end(start, at);
}
