/* SPDX-License-Identifier: MIT
 *
 * redact_text.h - secrets that any text gives away: a name with its value, what follows "Bearer", passwords and tokens
 * before the @ of a URL or host, and keys that are known by their shape. redact.h says the rule.
 *
 * Pure text work in one pass: no allocation, no libc; any bytes are good.
 */
#ifndef PROFTRACE_REDACT_TEXT_H
#define PROFTRACE_REDACT_TEXT_H

#include "redact_name.h"
#include "types.h"

#define PT_REDACT_MASK "***"

/* Where the text goes; what does not fit is cut. The result is terminated as soon as something was added. */
struct pt_redact_out {
    char *bytes;
    pt_u64 length;
    pt_u64 room; /* including the terminator */
};

/* What the words so far say of the next one: it is */
enum pt_redact_next {
    PT_REDACT_PLAIN,
    PT_REDACT_VALUE,   /* a secret */
    PT_REDACT_COLON,   /* a user and, behind the colon, a secret */
    PT_REDACT_WORD,    /* a secret, unless it is a number */
    PT_REDACT_NEXT,    /* a secret; not attached to its option */
    PT_REDACT_MADE_UP, /* a secret if it looks like one */
    PT_REDACT_RANDOM,  /* the same, more strictly */
    PT_REDACT_COMMAND  /* a command line in one: sh -c */
};

/* A command line so far; {0} at its beginning. */
struct pt_redact_line {
    enum pt_redact_next next;
    const char *program; /* the last one that secrets.def knows; NULL = none */
};

/* ---- the pass over a text ---- */

struct pt_redact {
    struct pt_redact_out *out;
    const char *start;
    const char *at;
    int is_command;               /* several words: a value ends with its word */
    struct pt_redact_line inside; /* of the words in the text */
};

static inline void pt_redact_put(struct pt_redact_out *out, const char *bytes, pt_u64 n)
{
    for (; n-- && out->length + 1 < out->room; bytes++) {
        out->bytes[out->length++] = *bytes;
        out->bytes[out->length] = 0;
    }
}

static inline void pt_redact_copy(struct pt_redact *r, pt_u64 bytes)
{
    pt_redact_put(r->out, r->at, bytes);
    r->at += bytes;
}

static inline void pt_redact_hide(struct pt_redact *r, pt_u64 bytes)
{
    if (bytes)
        pt_redact_put(r->out, PT_REDACT_MASK, sizeof PT_REDACT_MASK - 1);
    r->at += bytes;
}

static inline char pt_redact_before(const struct pt_redact *r)
{
    return r->at > r->start ? r->at[-1] : ' ';
}

static inline pt_u64 pt_redact_until(const char *text, const char *ends)
{
    pt_u64 n = 0;
    while (text[n] && !pt_redact_is_one_of(text[n], ends))
        n += text[n] == '\\' && text[n + 1] == ' ' ? 2 : 1; /* a blank of the word */
    return n;
}

static inline pt_u64 pt_redact_blanks(const char *text)
{
    pt_u64 n = 0;
    while (pt_redact_is_blank(text[n]) || (text[n] == '\\' && text[n + 1] == ' '))
        n++;
    return n;
}

/* Bytes of a quote at `text`, which may be one of a text within a text: \" */
static inline pt_u64 pt_redact_quote(const char *text)
{
    return text[0] == '\\' && pt_redact_is_quote(text[1]) ? 2 : (pt_u64)pt_redact_is_quote(text[0]);
}

/* "Bearer x", "Basic x": length of the scheme and the blanks behind it. */
static inline pt_u64 pt_redact_scheme(const char *text)
{
    static const char schemes[][PT_REDACT_WORD_BYTES] = {"bearer", "basic", "token", "digest"};
    for (pt_u32 i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const pt_u64 n = pt_redact_goes_on(text, schemes[i]), blanks = n ? pt_redact_blanks(text + n) : 0;
        if (n && (blanks || !text[n]))
            return n + blanks;
    }
    return 0;
}

/* A secret stands at r->at: in quotes up to the closing one, else up to one of `ends`. */
static inline void pt_redact_value(struct pt_redact *r, const char *ends)
{
    const pt_u64 quote = pt_redact_quote(r->at);
    const char closing[] = {quote ? r->at[quote - 1] : '"', quote == 2 ? '\\' : 0, 0};
    pt_redact_copy(r, quote);
    pt_redact_copy(r, pt_redact_scheme(r->at));
    const pt_u64 bytes = pt_redact_until(r->at, quote ? closing : ends);
    if (pt_redact_is_switch(r->at, bytes))
        pt_redact_copy(r, bytes);
    else
        pt_redact_hide(r, bytes);
}

static inline pt_u64 pt_redact_name_bytes(const char *text)
{
    pt_u64 n = 0;
    while (pt_redact_is_of_name(text[n]))
        n++;
    return n;
}

/* Bytes from a name through the sign that gives it a value: name=, name:, "name":, <name>, name%3D, and, where a quoted
 * value follows, name =. 0 = there is none. */
static inline pt_u64 pt_redact_to_sign(const char *text, pt_u64 name, char before)
{
    pt_u64 n = name;
    if (text[n] == ':' && text[n + 1] == '/' && text[n + 2] == '/')
        return 0;
    if (text[n] == '%' && text[n + 1] == '3' && (text[n + 2] == 'D' || text[n + 2] == 'A'))
        return n + 3;
    if (before == '<' && text[n] == '>')
        return n + 1;
    n += pt_redact_quote(text + n);
    n += text[n] == ']'; /* environ["name"] = */
    if (text[n] == '=' || text[n] == ':')
        return n + 1;
    n += pt_redact_blanks(text + n);
    return text[n] == '=' && pt_redact_quote(text + n + 1 + pt_redact_blanks(text + n + 1)) ? n + 1 : 0;
}

/* A name with its value. An argument that begins with the name is all of it: it may hold any letter. */
static inline int pt_redact_named(struct pt_redact *r)
{
    const char before = pt_redact_before(r), quote[] = {before, 0};
    const pt_u64 name = pt_redact_is_of_name(before) ? 0 : pt_redact_name_bytes(r->at);
    const pt_u64 value = name ? pt_redact_to_sign(r->at, name, before) : 0;
    if (!value || !pt_redact_names_secret(r->at, name, before == '?' || before == '&'))
        return 0;
    const int is_all = r->at == r->start && !r->is_command;
    const int is_in_quotes = pt_redact_is_quote(before) && value == name + 1;
    const int takes_blanks = r->at[0] == '-' || r->at[value - 1] == ':' || value > name + 1;
    const char *const ends = is_in_quotes ? quote : is_all ? "" : "&\"' \t\r\n;,<";
    pt_redact_copy(r, value);
    if (takes_blanks)
        pt_redact_copy(r, pt_redact_blanks(r->at));
    pt_redact_value(r, ends);
    r->inside.next = PT_REDACT_PLAIN;
    return 1;
}

static inline int pt_redact_bearer(struct pt_redact *r)
{
    const pt_u64 n = pt_redact_is_letter(pt_redact_before(r)) ? 0 : pt_redact_goes_on(r->at, "bearer");
    const pt_u64 blanks = n ? pt_redact_blanks(r->at + n) : 0;
    if (!blanks)
        return 0;
    pt_redact_copy(r, n + blanks);
    pt_redact_hide(r, pt_redact_until(r->at, "\"' \t\r\n"));
    r->inside.next = PT_REDACT_PLAIN;
    return 1;
}

/* Known by its shape. */
static inline int pt_redact_key(struct pt_redact *r)
{
    enum { PREFIX_BYTES = 20 };
#define SECRET_KEY(prefix, letters) PT_REDACT_FITS(prefix, PREFIX_BYTES)
#include "secrets.def"
    static const struct {
        char prefix[PREFIX_BYTES];
        pt_u32 letters;
    } keys[] = {
#define SECRET_KEY(prefix, letters) {prefix, letters},
#include "secrets.def"
    };
    if (pt_redact_is_letter(pt_redact_before(r)) || pt_redact_is_digit(pt_redact_before(r)))
        return 0;
    for (pt_u32 i = 0; i < sizeof keys / sizeof *keys; i++) {
        pt_u64 n = 0;
        while (keys[i].prefix[n] && r->at[n] == keys[i].prefix[n])
            n++;
        if (keys[i].prefix[n])
            continue;
        const pt_u64 more = pt_redact_name_bytes(r->at + n);
        if (more >= keys[i].letters) {
            pt_redact_hide(r, n + more);
            return 1;
        }
    }
    return 0;
}

/* hooks.slack.com/services/x */
static inline int pt_redact_path(struct pt_redact *r)
{
    enum { PREFIX_BYTES = 32 };
#define SECRET_PATH(prefix) PT_REDACT_FITS(prefix, PREFIX_BYTES)
#include "secrets.def"
    static const char prefixes[][PREFIX_BYTES] = {
#define SECRET_PATH(prefix) prefix,
#include "secrets.def"
    };
    for (pt_u32 i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const pt_u64 n = pt_redact_goes_on(r->at, prefixes[i]);
        if (n) {
            pt_redact_copy(r, n);
            pt_redact_hide(r, pt_redact_until(r->at, "?\"' \t\r\n"));
            return 1;
        }
    }
    return 0;
}

/* -----BEGIN x PRIVATE KEY----- */
static inline int pt_redact_pem(struct pt_redact *r)
{
    const pt_u64 begin = pt_redact_goes_on(r->at, "-----BEGIN "), name = pt_redact_until(r->at + begin, "-\n");
    pt_u64 end = begin + name;
    int is_private = 0;
    for (pt_u64 i = begin; i < end; i++)
        is_private |= pt_redact_goes_on(r->at + i, "PRIVATE KEY") != 0;
    if (!begin || !is_private)
        return 0;
    while (r->at[end] == '-')
        end++;
    pt_redact_copy(r, end);
    for (end = 0; r->at[end] && !pt_redact_goes_on(r->at + end, "-----END");)
        end++;
    pt_redact_hide(r, end);
    return 1;
}

/* scheme://user:password@host; of the web, a user without a password is a token. */
static inline int pt_redact_url(struct pt_redact *r)
{
    if (!pt_redact_goes_on(r->at, "://"))
        return 0;
    const pt_u64 end = 3 + pt_redact_until(r->at + 3, "/?#<> \t\r\n\"'");
    const pt_u64 colon = 3 + pt_redact_until(r->at + 3, ":@/?#<> \t\r\n\"'");
    pt_u64 sign = end; /* the last @: a password may hold one */
    while (sign > 3 && r->at[sign] != '@')
        sign--;
    const int has_password = colon < sign && r->at[colon] == ':';
    if (r->at[sign] != '@' || (!has_password && !pt_redact_is_web(r->start, r->at)))
        return 0;
    const char *const host = r->at + sign, *const password = r->at + colon + 1;
    pt_redact_copy(r, 3);
    if (has_password) {
        if (!pt_redact_key(r))
            pt_redact_copy(r, (pt_u64)(password - 1 - r->at));
        pt_redact_copy(r, (pt_u64)(password - r->at));
    }
    pt_redact_hide(r, (pt_u64)(host - r->at));
    return 1;
}

/* user:password@host without a scheme; not user@host:path, image:tag@sha256:x, npm:name@1.2 */
static inline int pt_redact_login(struct pt_redact *r)
{
    static const char others[][PT_REDACT_WORD_BYTES] = {
        "mailto:", "sip:", "sips:", "xmpp:", "acct:", "npm:", "file:", "git:"};
    const pt_u64 user = pt_redact_is_of_name(pt_redact_before(r)) ? 0 : pt_redact_name_bytes(r->at);
    if (!user || r->at[user] != ':' || r->at[user + 1] == ':')
        return 0;
    const pt_u64 sign = user + 1 + pt_redact_until(r->at + user + 1, "@/<>() \t\r\n\"';,");
    const char *const host = r->at + sign + 1;
    if (r->at[sign] != '@' || sign == user + 1 || pt_redact_goes_on(host, "sha256:"))
        return 0;
    if (!pt_redact_is_letter(*host) && host[pt_redact_until(host, ".:/")] != '.')
        return 0;
    for (pt_u32 i = 0; i < sizeof others / sizeof *others; i++)
        if (pt_redact_goes_on(r->at, others[i]))
            return 0;
    pt_redact_copy(r, user + 1);
    pt_redact_hide(r, sign - user - 1);
    return 1;
}

#endif
