/* SPDX-License-Identifier: MIT
 *
 * redact_name.h - letters, and which names are those of secrets.
 */
#ifndef PROFTRACE_REDACT_NAME_H
#define PROFTRACE_REDACT_NAME_H

#include "types.h"

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

/* Tables of the injected half hold texts, not pointers to them: these would be relocated when each process starts, and
 * each page of them copied. */
#define PT_REDACT_WORD_BYTES 20
#define PT_REDACT_FITS(text, bytes) _Static_assert(sizeof(text) <= (bytes), "a row of secrets.def is longer");

struct pt_redact_name {
    char word[PT_REDACT_WORD_BYTES];
    enum pt_redact_where where;
};
#define SECRET_NAME(word, where) PT_REDACT_FITS(word, PT_REDACT_WORD_BYTES)
#define SECRET_NOT(tail) PT_REDACT_FITS(tail, PT_REDACT_WORD_BYTES)
#define SECRET_FLAG(head) PT_REDACT_FITS(head, PT_REDACT_WORD_BYTES)
#include "secrets.def"

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
    static const char tails[][PT_REDACT_WORD_BYTES] = {
#define SECRET_NOT(tail) tail,
#include "secrets.def"
    };
    for (pt_u32 i = 0; i < sizeof tails / sizeof *tails; i++) {
        const pt_u64 length = __builtin_strlen(tails[i]);
        if (bytes > length && pt_redact_word_at(name + bytes - length, length, tails[i]) &&
            !pt_redact_is_letter(name[bytes - length - 1]))
            return 1;
    }
    return 0;
}

/* --no-password, ASK_PASS */
static inline int pt_redact_is_flag(const char *name, pt_u64 bytes)
{
    static const char heads[][PT_REDACT_WORD_BYTES] = {
#define SECRET_FLAG(head) head,
#include "secrets.def"
    };
    for (; bytes && *name == '-'; bytes--)
        name++;
    for (pt_u32 i = 0; i < sizeof heads / sizeof *heads; i++) {
        const pt_u64 length = pt_redact_word_at(name, bytes, heads[i]);
        if (length && length < bytes && (name[length] == '-' || name[length] == '_'))
            return 1;
    }
    return 0;
}

static inline int pt_redact_names_secret(const char *name, pt_u64 bytes, int is_in_query)
{
    enum { MOST_BYTES = 64 }; /* the end of a longer name says what it is */
    static const struct pt_redact_name names[] = {
#define SECRET_NAME(word, where) {word, PT_REDACT_##where},
#include "secrets.def"
    };
    if (bytes > MOST_BYTES) {
        name += bytes - MOST_BYTES;
        bytes = MOST_BYTES;
    }
    if (pt_redact_is_about_secret(name, bytes) || pt_redact_is_flag(name, bytes))
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

/* ---- what a value looks like ---- */

struct pt_redact_look {
    pt_u64 letters, capitals, digits, signs; /* signs: of passwords, not of paths, lists and numbers */
    pt_u64 others;                           /* of paths, lists and numbers */
    int is_mixed;                            /* a letter behind a digit */
};

static inline struct pt_redact_look pt_redact_look_at(const char *text, pt_u64 bytes)
{
    struct pt_redact_look look = {0};
    for (pt_u64 i = 0; i < bytes; i++) {
        const char c = text[i];
        look.letters += (pt_u64)pt_redact_is_letter(c);
        look.capitals += c != pt_redact_lower(c);
        look.digits += (pt_u64)pt_redact_is_digit(c);
        look.signs += (pt_u64)pt_redact_is_one_of(c, "!@#$%^&");
        look.others += (pt_u64)pt_redact_is_one_of(c, "/.:=,~ <>()[]{}");
        look.is_mixed |= i && pt_redact_is_letter(c) && pt_redact_is_digit(text[i - 1]);
    }
    return look;
}

/* No word of a language: hunter2x, P@ssword. `is_attached`: to an option, as in -phunter2x, and not in -pix2. */
static inline int pt_redact_is_made_up(const char *text, pt_u64 bytes, int is_attached)
{
    enum { LEAST_BYTES = 6 };
    const struct pt_redact_look look = pt_redact_look_at(text, bytes);
    if (bytes < LEAST_BYTES || look.others || !look.letters || pt_redact_word_at(text, bytes, "python"))
        return 0;
    if (is_attached)
        return look.digits && (look.capitals || look.is_mixed);
    return look.digits || look.signs;
}

/* The same behind a word that is no option: `aws configure set aws_secret_access_key X`, not `grep token file2`. */
static inline int pt_redact_is_random(const char *text, pt_u64 bytes)
{
    enum { LEAST_BYTES = 8, LEAST_BASE64_BYTES = 20 };
    const struct pt_redact_look look = pt_redact_look_at(text, bytes);
    if (bytes < LEAST_BYTES || !look.letters || !look.digits)
        return 0;
    return !look.others || (bytes >= LEAST_BASE64_BYTES && look.capitals && look.is_mixed);
}

/* true, no, 1: it is said whether there is a secret, not which. */
static inline int pt_redact_is_switch(const char *text, pt_u64 bytes)
{
    static const char words[][PT_REDACT_WORD_BYTES] = {"true", "false", "yes", "no", "on", "off", "none", "null"};
    if (bytes == 1 && pt_redact_is_digit(*text))
        return 1;
    for (pt_u32 i = 0; i < sizeof words / sizeof *words; i++)
        if (pt_redact_word_at(text, bytes, words[i]) == bytes)
            return 1;
    return 0;
}

/* Is what ends at `at` http or https? */
static inline int pt_redact_is_web(const char *start, const char *at)
{
    return (at - start >= 4 && pt_redact_goes_on(at - 4, "http")) ||
           (at - start >= 5 && pt_redact_goes_on(at - 5, "https"));
}

#endif
