/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_read.h - characters, numbers, identifiers, lists and back references of Rust's own mangling, "v0"
 * (RFC 2603): read and written in one pass. Each function reads what it is named after and writes it as people do.
 */
#ifndef PT_SYMBOLS_DEMANGLE_RUST_READ_H
#define PT_SYMBOLS_DEMANGLE_RUST_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "util/str.h"

#define PT_RUST_TEXT_BYTES 8192u

struct pt_rust {
    const char *text; /* behind "_R" */
    size_t n, at;
    struct pt_str out;
    bool has_failed, is_silent; /* silent: read, but not to be shown */
    bool is_open;               /* the last trait's path ended with its <> open */
    unsigned depth, steps;
    uint64_t lifetimes; /* that the binders around have named */
};

/* After a failure all of these do nothing. */
void pt_rust_fail(struct pt_rust *r);
void pt_rust_put(struct pt_rust *r, const char *text);
bool pt_rust_eat(struct pt_rust *r, char c);
char pt_rust_next(struct pt_rust *r);
/* Enter a construct that may nest; the caller decrements depth when it leaves. */
bool pt_rust_enter(struct pt_rust *r);
/* 0 is "_", 1 is "0_". */
uint64_t pt_rust_number_62(struct pt_rust *r);
/* 0 = the tag is not there. */
uint64_t pt_rust_optional_62(struct pt_rust *r, char tag);

struct pt_rust_identifier {
    const char *bytes;
    size_t n;
    bool is_punycode;
};
struct pt_rust_identifier pt_rust_identifier(struct pt_rust *r);
void pt_rust_put_identifier(struct pt_rust *r, const struct pt_rust_identifier *name);
/* The target of a back reference is read again at its place. */
void pt_rust_back_reference(struct pt_rust *r, void (*read)(struct pt_rust *r, bool is_value), bool is_value);
/* Up to an "E"; how many they were. */
unsigned pt_rust_list(struct pt_rust *r, void (*item)(struct pt_rust *r), const char *separator);

#endif
