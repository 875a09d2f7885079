/* SPDX-License-Identifier: MIT
 *
 * redact.h - command lines without the secrets in them, before they are stored or shown.
 *
 * One rule for the library, which stores them, and for the launcher and the reports, which store and show them again.
 * Recognised: values of options, variables, query parameters, headers and JSON keys whose name is one of secrets.def;
 * what follows "Bearer"; passwords and tokens before the @ of a URL; keys that are known by their shape. The name stays
 * and the value becomes "***", so that a reader sees what was there. Redacting twice changes nothing.
 *
 * Pure text work in one pass: no allocation, no libc; any bytes are good.
 */
#ifndef PROFTRACE_REDACT_H
#define PROFTRACE_REDACT_H

#include "types.h"

#define PT_REDACT_MASK "***"

/* Where the text goes; what does not fit is cut. The result is terminated as soon as something was added. */
struct pt_redact_out {
    char *bytes;
    pt_u64 length;
    pt_u64 room; /* including the terminator */
};

/* What the arguments so far say of the next one. */
enum pt_redact_next {
    PT_REDACT_PLAIN,
    PT_REDACT_VALUE,  /* it is the value of a secret */
    PT_REDACT_COMMAND /* it is a command line in one: sh -c */
};

/* ---- letters ---- */

static inline char pt_redact_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline int pt_redact_is_letter(char c)
{
    return pt_redact_lower(c) >= 'a' && pt_redact_lower(c) <= 'z';
}

static inline int pt_redact_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline int pt_redact_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline int pt_redact_is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Of a name: --db.pass, X-Api-Key. */
static inline int pt_redact_is_of_name(char c)
{
    return pt_redact_is_letter(c) || pt_redact_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static inline int pt_redact_is_one_of(char c, const char *letters)
{
    for (; *letters; letters++)
        if (c == *letters)
            return 1;
    return 0;
}

/* Does the text go on with this word, in any case? Returns its length. */
static inline pt_u64 pt_redact_goes_on(const char *text, const char *word)
{
    pt_u64 n = 0;
    while (word[n] && pt_redact_lower(text[n]) == pt_redact_lower(word[n]))
        n++;
    return word[n] ? 0 : n;
}

/* ---- names ---- */

enum pt_redact_where { PT_REDACT_ANYWHERE, PT_REDACT_LAST, PT_REDACT_ALONE, PT_REDACT_IN_QUERY };

struct pt_redact_name {
    const char *word;
    enum pt_redact_where where;
};

/* Length of `word` where it stands at `text`, at most `bytes` long; 0 = it does not. */
static inline pt_u64 pt_redact_word_at(const char *text, pt_u64 bytes, const char *word)
{
    pt_u64 n = 0;
    for (; n < bytes && word[n]; n++)
        if (pt_redact_lower(text[n]) != word[n] && !(text[n] == '-' && word[n] == '_'))
            return 0;
    return word[n] ? 0 : n;
}

/* Does a new word begin at name[at]? Behind a letter only where the case changes: apiKey. */
static inline int pt_redact_is_border(const char *name, pt_u64 at, pt_u64 bytes)
{
    return at == bytes || !pt_redact_is_letter(name[at]) ||
           (name[at] != pt_redact_lower(name[at]) && name[at - 1] == pt_redact_lower(name[at - 1]));
}

static inline int pt_redact_is_number(const char *text, pt_u64 bytes)
{
    while (bytes && pt_redact_is_digit(text[bytes - 1]))
        bytes--;
    return bytes == 0;
}

/* A word was found in the name from `at` to `end`: does it make the name one of a secret? */
static inline int pt_redact_counts(const char *name, pt_u64 at, pt_u64 end, pt_u64 bytes, enum pt_redact_where where)
{
    if (where == PT_REDACT_ANYWHERE) {
        const pt_u64 plural = end < bytes && pt_redact_lower(name[end]) == 's';
        return pt_redact_is_border(name, end + plural, bytes) || pt_redact_is_border(name, end, bytes);
    }
    if (!pt_redact_is_number(name + end, bytes - end))
        return 0;
    return where == PT_REDACT_LAST || at == 0 || !pt_redact_is_letter(name[at - 1]);
}

/* --password-file, PASSWORD_FILE */
static inline int pt_redact_is_about_secret(const char *name, pt_u64 bytes)
{
    static const char *const tails[] = {
#define SECRET_NAME(word, where)
#define SECRET_NOT(tail) tail,
#define SECRET_KEY(prefix, letters)
#include "secrets.def"
#undef SECRET_NAME
#undef SECRET_NOT
#undef SECRET_KEY
    };
    for (pt_u32 i = 0; i < sizeof tails / sizeof *tails; i++) {
        const pt_u64 length = __builtin_strlen(tails[i]);
        if (bytes > length && pt_redact_word_at(name + bytes - length, length, tails[i]) &&
            !pt_redact_is_letter(name[bytes - length - 1]))
            return 1;
    }
    return 0;
}

static inline int pt_redact_names_secret(const char *name, pt_u64 bytes, int is_in_query)
{
    enum { MOST_BYTES = 64 }; /* the end of a longer name says what it is */
    static const struct pt_redact_name names[] = {
#define SECRET_NAME(word, where) {word, PT_REDACT_##where},
#define SECRET_NOT(tail)
#define SECRET_KEY(prefix, letters)
#include "secrets.def"
#undef SECRET_NAME
#undef SECRET_NOT
#undef SECRET_KEY
    };
    if (bytes > MOST_BYTES) {
        name += bytes - MOST_BYTES;
        bytes = MOST_BYTES;
    }
    if (pt_redact_is_about_secret(name, bytes))
        return 0;
    for (pt_u64 at = 0; at < bytes; at++)
        for (pt_u32 i = 0; i < sizeof names / sizeof *names; i++) {
            const pt_u64 length = pt_redact_word_at(name + at, bytes - at, names[i].word);
            if (length && (names[i].where != PT_REDACT_IN_QUERY || is_in_query) &&
                pt_redact_counts(name, at, at + length, bytes, names[i].where))
                return 1;
        }
    return 0;
}

/* ---- the pass over a text ---- */

struct pt_redact {
    struct pt_redact_out *out;
    const char *start;
    const char *at;
    int is_command; /* several words: a value ends with its word */
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
        n++;
    return n;
}

static inline pt_u64 pt_redact_blanks(const char *text)
{
    pt_u64 n = 0;
    while (pt_redact_is_blank(text[n]))
        n++;
    return n;
}

/* "Bearer x", "Basic x": length of the scheme and the blanks behind it. */
static inline pt_u64 pt_redact_scheme(const char *text)
{
    static const char *const schemes[] = {"bearer", "basic", "token", "digest"};
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
    const char quote[] = {*r->at, 0};
    if (pt_redact_is_quote(*r->at)) {
        pt_redact_copy(r, 1);
        ends = quote;
    }
    pt_redact_copy(r, pt_redact_scheme(r->at));
    pt_redact_hide(r, pt_redact_until(r->at, ends));
}

static inline pt_u64 pt_redact_name_bytes(const char *text)
{
    pt_u64 n = 0;
    while (pt_redact_is_of_name(text[n]))
        n++;
    return n;
}

/* Bytes from a name to the sign that gives it a value: name=, name:, "name":, and, where a quoted value follows, name
 * =. 0 = there is none. */
static inline pt_u64 pt_redact_to_sign(const char *text, pt_u64 name)
{
    pt_u64 n = name;
    n += text[n] == '\\' && pt_redact_is_quote(text[n + 1]); /* JSON within a text */
    n += pt_redact_is_quote(text[n]);
    if (text[n] == ':' && text[n + 1] == '/' && text[n + 2] == '/')
        return 0;
    if (text[n] == '=' || text[n] == ':')
        return n;
    n += pt_redact_blanks(text + n);
    return text[n] == '=' && pt_redact_is_quote(text[n + 1 + pt_redact_blanks(text + n + 1)]) ? n : 0;
}

/* A name with its value. An argument that begins with the name is all of it: it may hold any letter. */
static inline int pt_redact_named(struct pt_redact *r)
{
    const char before = pt_redact_before(r), quote[] = {before, 0};
    const pt_u64 name = pt_redact_is_of_name(before) ? 0 : pt_redact_name_bytes(r->at);
    const pt_u64 sign = name ? pt_redact_to_sign(r->at, name) : 0;
    if (!sign || !pt_redact_names_secret(r->at, name, before == '?' || before == '&'))
        return 0;
    const int is_all = r->at == r->start && !r->is_command, is_in_quotes = pt_redact_is_quote(before) && sign == name;
    const int takes_blanks = r->at[0] == '-' || r->at[sign] == ':' || sign > name;
    pt_redact_copy(r, sign + 1);
    if (takes_blanks)
        pt_redact_copy(r, pt_redact_blanks(r->at));
    if (r->at[0] == '\\' && pt_redact_is_quote(r->at[1]))
        pt_redact_copy(r, 1);
    pt_redact_value(r, is_in_quotes ? quote : is_all ? "" : "&\"' \t\r\n;,");
    return 1;
}

/* `--token x` in a text. As arguments of their own these are two. */
static inline int pt_redact_option(struct pt_redact *r)
{
    if (*r->at != '-' || !pt_redact_is_one_of(pt_redact_before(r), " \t\r\n\"';|&("))
        return 0;
    const pt_u64 name = pt_redact_name_bytes(r->at), blanks = pt_redact_blanks(r->at + name);
    if (!blanks || r->at[name + blanks] == '-' || !pt_redact_names_secret(r->at, name, 0))
        return 0;
    pt_redact_copy(r, name + blanks);
    pt_redact_value(r, "\"' \t\r\n;|&)");
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
    return 1;
}

/* Known by its shape. */
static inline int pt_redact_key(struct pt_redact *r)
{
    static const struct {
        const char *prefix;
        pt_u64 letters;
    } keys[] = {
#define SECRET_NAME(word, where)
#define SECRET_NOT(tail)
#define SECRET_KEY(prefix, letters) {prefix, letters},
#include "secrets.def"
#undef SECRET_NAME
#undef SECRET_NOT
#undef SECRET_KEY
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

/* Is what ends at r->at http or https? */
static inline int pt_redact_is_web(const struct pt_redact *r)
{
    const pt_u64 before = (pt_u64)(r->at - r->start);
    return (before >= 4 && pt_redact_goes_on(r->at - 4, "http")) ||
           (before >= 5 && pt_redact_goes_on(r->at - 5, "https"));
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
    if (r->at[sign] != '@' || (!has_password && !pt_redact_is_web(r)))
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

static inline void pt_redact_pass(struct pt_redact *r)
{
    while (*r->at)
        if (!pt_redact_url(r) && !pt_redact_named(r) && !pt_redact_option(r) && !pt_redact_bearer(r) &&
            !pt_redact_key(r))
            pt_redact_copy(r, 1);
}

/* ---- command lines ---- */

/* sh -c, bash -lc */
static inline int pt_redact_takes_command(const char *argument)
{
    enum { MOST_LETTERS = 3 };
    pt_u64 n = 1;
    while (n <= MOST_LETTERS && pt_redact_is_letter(argument[n]))
        n++;
    return argument[n - 1] == 'c' && !argument[n];
}

static inline enum pt_redact_next pt_redact_follows(const char *argument)
{
    const pt_u64 name = pt_redact_name_bytes(argument), bearer = pt_redact_goes_on(argument, "bearer");
    const int is_option = argument[0] == '-';
    const char sign = argument[name];
    if (bearer && !argument[bearer])
        return PT_REDACT_VALUE;
    if ((is_option && !sign) || ((sign == ':' || (sign == '=' && is_option)) && !argument[name + 1]))
        if (pt_redact_names_secret(argument, name, 0))
            return PT_REDACT_VALUE;
    return is_option && pt_redact_takes_command(argument) ? PT_REDACT_COMMAND : PT_REDACT_PLAIN;
}

/* Add one argument of a command line. `next` begins as PT_REDACT_PLAIN and goes from argument to argument. */
static inline void pt_redact_argument(struct pt_redact_out *out, const char *argument, enum pt_redact_next *next)
{
    struct pt_redact r = {out, argument, argument, *next == PT_REDACT_COMMAND};
    if (*next != PT_REDACT_VALUE || argument[0] == '-') {
        *next = pt_redact_follows(argument);
        pt_redact_pass(&r);
        return;
    }
    const pt_u64 scheme = pt_redact_scheme(argument);
    if (scheme && !argument[scheme]) { /* the value comes with the argument after */
        pt_redact_copy(&r, scheme);
        return;
    }
    *next = PT_REDACT_PLAIN;
    pt_redact_put(out, PT_REDACT_MASK, sizeof PT_REDACT_MASK - 1);
}

/* Add a whole command line, as a shell takes it. */
static inline void pt_redact_command(struct pt_redact_out *out, const char *command)
{
    struct pt_redact r = {out, command, command, 1};
    pt_redact_pass(&r);
}

#endif
