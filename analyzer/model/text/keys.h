/* SPDX-License-Identifier: MIT
 *
 * text/keys.h - the key=value pairs of a line: values are words, "quoted texts" (unquoted here) or [lists].
 */
#ifndef PT_MODEL_TEXT_KEYS_H
#define PT_MODEL_TEXT_KEYS_H

#include "proftrace/format.h"
#include "util/arena.h"
#include "util/error.h"

struct pt_keys {
    pt_u32 n;
    struct {
        const char *key, *value;
    } pairs[32];
};
int pt_keys_read(const char *at, struct pt_keys *ret_keys, struct pt_arena *arena, struct pt_error *err);
const char *pt_keys_text(const struct pt_keys *keys, const char *key, const char *otherwise);
/* Decimal, 0x hex or negative; -1 and an error when it is not a number. */
int pt_keys_number(const struct pt_keys *keys, const char *key, pt_u64 otherwise, pt_u64 *ret, struct pt_error *err);
int pt_keys_seconds(const struct pt_keys *keys, const char *key, pt_i64 otherwise, pt_i64 *ret_ns,
                    struct pt_error *err);

#endif
