/* SPDX-License-Identifier: MIT
 *
 * redact.h - command lines without the secrets in them, before they are stored or shown.
 *
 * One rule for the library, which stores them, and for the launcher and the reports, which store and show them again.
 * Recognised: values of options, variables, query parameters, headers and JSON keys whose name is one of secrets.def;
 * options of programs that it knows; what follows "Bearer"; passwords and tokens before the @ of a URL or host; keys
 * that are known by their shape. The name stays and the value becomes "***", so that a reader sees what was there.
 * Redacting twice changes nothing.
 *
 * Pure text work in one pass: no allocation, no libc; any bytes are good.
 */
#ifndef PROFTRACE_REDACT_H
#define PROFTRACE_REDACT_H

#include "redact_text.h"
#include "types.h"

/* ---- words ---- */

/* A name of secrets.def, which may end in * for all that begin so. */
static inline int pt_redact_fits(const char *text, pt_u64 bytes, const char *name)
{
    pt_u64 n = 0;
    while (n < bytes && name[n] == text[n] && name[n] != '*')
        n++;
    return name[n] == '*' || (!name[n] && n == bytes);
}

static inline int pt_redact_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

struct pt_redact_option {
    char program[PT_REDACT_WORD_BYTES], option[PT_REDACT_WORD_BYTES];
    enum pt_redact_next what;
};
#define SECRET_OPTION(program, option, what)                                                                           \
    PT_REDACT_FITS(program, PT_REDACT_WORD_BYTES) PT_REDACT_FITS(option, PT_REDACT_WORD_BYTES)
#include "secrets.def"

/* Bytes of the option at the beginning of the word, of a program that knows it; 0 = it is not there. */
static inline pt_u64 pt_redact_option_bytes(const struct pt_redact_option *option, const char *program,
                                            const char *word, pt_u64 bytes)
{
    if (option->option[0] != word[0] || (bytes > 1 && option->option[1] != word[1])) /* nearly all of them */
        return 0;
    const pt_u64 length = __builtin_strlen(option->option);
    const int is_short = length == 2 || option->option[length - 1] == ':';
    if (bytes < length || (bytes > length && !is_short) || !pt_redact_fits(word, length, option->option))
        return 0;
    return *option->program == '*' || (program && pt_redact_same(option->program, program)) ? length : 0;
}

/* What secrets.def says of the word as an option, alone or with a value attached to it. `ret_option`: its bytes. */
static inline enum pt_redact_next pt_redact_option_of(struct pt_redact_line *line, const char *word, pt_u64 bytes,
                                                      pt_u64 *ret_option)
{
    static const struct pt_redact_option options[] = {
#define SECRET_OPTION(program, option, what) {program, option, PT_REDACT_##what},
#include "secrets.def"
    };
    pt_u64 base = bytes;
    while (base && word[base - 1] != '/')
        base--;
    for (pt_u32 i = 0; i < sizeof options / sizeof *options; i++)
        if (*options[i].program != '*' && pt_redact_fits(word + base, bytes - base, options[i].program))
            line->program = options[i].program;
    for (pt_u32 i = 0; i < sizeof options / sizeof *options; i++) {
        const pt_u64 length = pt_redact_option_bytes(&options[i], line->program, word, bytes);
        if (!length)
            continue;
        *ret_option = length;
        return bytes > length && *options[i].program == '*' && options[i].what == PT_REDACT_COLON ? PT_REDACT_PLAIN
                                                                                                  : options[i].what;
    }
    return PT_REDACT_PLAIN;
}

/* sh -c, bash -lc */
static inline int pt_redact_takes_command(const char *word, pt_u64 bytes)
{
    enum { MOST_BYTES = 4 };
    int is_all_letters = bytes >= 2 && bytes <= MOST_BYTES && word[0] == '-' && word[bytes - 1] == 'c';
    for (pt_u64 i = 1; i < bytes && is_all_letters; i++)
        is_all_letters = pt_redact_is_letter(word[i]);
    return is_all_letters;
}

/* A word that is more than the name of a secret, but ends in one: aws_secret_access_key, //host/:_authToken. */
static inline int pt_redact_ends_in_secret(const char *word, pt_u64 bytes)
{
    pt_u64 name = bytes;
    while (name && pt_redact_is_of_name(word[name - 1]))
        name--;
    return name < bytes && pt_redact_names_secret(word + name, bytes - name, 0);
}

/* --token, --token=, token: the name of a secret, whose value comes next. */
static inline int pt_redact_is_named_secret(const char *word, pt_u64 bytes)
{
    const int is_option = word[0] == '-';
    pt_u64 name = 0;
    while (name < bytes && pt_redact_is_of_name(word[name]))
        name++;
    const int has_sign = name + 1 == bytes && (word[name] == ':' || (word[name] == '=' && is_option));
    return ((is_option && name == bytes) || has_sign) && pt_redact_names_secret(word, name, 0);
}

/* What a word says of the next one. */
static inline enum pt_redact_next pt_redact_follows(struct pt_redact_line *line, const char *word, pt_u64 bytes)
{
    pt_u64 option = 0;
    const enum pt_redact_next what = pt_redact_option_of(line, word, bytes, &option);
    if (option == bytes && what != PT_REDACT_PLAIN)
        return what;
    if ((bytes == 6 && pt_redact_goes_on(word, "bearer")) || pt_redact_is_named_secret(word, bytes))
        return PT_REDACT_VALUE;
    if (pt_redact_takes_command(word, bytes))
        return PT_REDACT_COMMAND;
    return word[0] != '-' && pt_redact_ends_in_secret(word, bytes) ? PT_REDACT_RANDOM : PT_REDACT_PLAIN;
}

/* --next, -x: no value of the option before; a secret may begin with - as well. */
static inline int pt_redact_is_next_option(const char *word, pt_u64 bytes)
{
    pt_u64 n = 2;
    if (word[0] != '-' || bytes <= 2)
        return word[0] == '-';
    while (n < bytes && word[1] == '-' && (pt_redact_is_letter(word[n]) || word[n] == '-' || word[n] == '_'))
        n++;
    return n > 2 && (n == bytes || word[n] == '=') && !pt_redact_look_at(word, n).capitals;
}

static inline int pt_redact_take_colon(struct pt_redact *r, pt_u64 bytes)
{
    const pt_u64 user = pt_redact_until(r->at, ":%,");
    const pt_u64 secret = user + 1;
    if (secret >= bytes || r->at[secret] == '/' || r->at[secret] == ':' ||
        !(pt_redact_look_at(r->at + secret, bytes - secret).letters + pt_redact_look_at(r->at, user).letters))
        return 0;
    pt_redact_copy(r, secret);
    pt_redact_hide(r, bytes - secret);
    return 1;
}

/* A word of which the one before said what it is. 0 = it is an ordinary one. */
static inline int pt_redact_take(struct pt_redact *r, pt_u64 bytes, enum pt_redact_next what, int is_attached)
{
    if (what == PT_REDACT_COLON)
        return pt_redact_take_colon(r, bytes);
    if (what == PT_REDACT_PLAIN || what == PT_REDACT_COMMAND || pt_redact_is_next_option(r->at, bytes) ||
        pt_redact_is_switch(r->at, bytes))
        return 0;
    const struct pt_redact_look look = pt_redact_look_at(r->at, bytes);
    if ((what == PT_REDACT_WORD && !look.letters) ||
        (what == PT_REDACT_MADE_UP && !pt_redact_is_made_up(r->at, bytes, is_attached)) ||
        (what == PT_REDACT_RANDOM && !pt_redact_is_random(r->at, bytes)))
        return 0;
    const pt_u64 scheme = pt_redact_scheme(r->at);
    if (scheme && scheme < bytes) {
        pt_redact_copy(r, scheme);
        bytes -= scheme;
    }
    pt_redact_hide(r, bytes);
    return 1;
}

/* -pX. 0 = it is an ordinary word. */
static inline int pt_redact_attached(struct pt_redact *r, struct pt_redact_line *line, pt_u64 bytes)
{
    pt_u64 option = 0;
    const enum pt_redact_next what = pt_redact_option_of(line, r->at, bytes, &option);
    if (!option || option >= bytes || what == PT_REDACT_NEXT)
        return 0;
    struct pt_redact trial = *r;
    struct pt_redact_out nowhere = {0, 0, 0};
    trial.out = &nowhere;
    trial.at += option;
    if (!pt_redact_take(&trial, bytes - option, what, 1))
        return 0;
    pt_redact_copy(r, option);
    return pt_redact_take(r, bytes - option, what, 1);
}

/* A word begins at r->at: hide it, or remember what it says of the next one. */
static inline int pt_redact_word(struct pt_redact *r)
{
    static const char ends[] = "\"' \t\r\n;|&()";
    if (!pt_redact_is_one_of(pt_redact_before(r), " \t\r\n\"';|&(`") || pt_redact_is_one_of(*r->at, " \t\r\n;|&("))
        return 0;
    const enum pt_redact_next what = r->inside.next;
    const pt_u64 quote = pt_redact_quote(r->at);
    if (quote && what != PT_REDACT_PLAIN) {
        const char closing[] = {r->at[quote - 1], 0};
        pt_redact_copy(r, quote);
        r->inside.next = PT_REDACT_PLAIN;
        pt_u64 bytes = pt_redact_until(r->at, closing);
        bytes -= quote == 2 && bytes && r->at[bytes - 1] == '\\';
        pt_redact_take(r, bytes, what, 0);
        return 1;
    }
    const pt_u64 bytes = pt_redact_until(r->at, ends);
    r->inside.next = PT_REDACT_PLAIN;
    if (bytes && pt_redact_take(r, bytes, what, 0))
        return 1;
    if (bytes)
        r->inside.next = pt_redact_follows(&r->inside, r->at, bytes);
    return bytes && pt_redact_attached(r, &r->inside, bytes);
}

static inline void pt_redact_pass(struct pt_redact *r)
{
    while (*r->at) {
        if (pt_redact_is_one_of(*r->at, ";|&\n"))
            r->inside = (struct pt_redact_line){PT_REDACT_PLAIN, 0};
        if (!pt_redact_word(r) && !pt_redact_pem(r) && !pt_redact_url(r) && !pt_redact_named(r) &&
            !pt_redact_bearer(r) && !pt_redact_key(r) && !pt_redact_path(r) && !pt_redact_login(r))
            pt_redact_copy(r, 1);
    }
}

/* ---- command lines ---- */

/* Add one argument of a command line. */
static inline void pt_redact_argument(struct pt_redact_out *out, const char *argument, struct pt_redact_line *line)
{
    const enum pt_redact_next what = line->next;
    struct pt_redact r = {out, argument, argument, what == PT_REDACT_COMMAND, {PT_REDACT_PLAIN, 0}};
    const pt_u64 bytes = pt_redact_until(argument, ""), scheme = pt_redact_scheme(argument);
    if (what == PT_REDACT_VALUE && scheme && !argument[scheme]) { /* the value comes with the argument after */
        pt_redact_copy(&r, scheme);
        return;
    }
    line->next = PT_REDACT_PLAIN;
    if (bytes && pt_redact_take(&r, bytes, what, 0))
        return;
    line->next = pt_redact_follows(line, argument, bytes);
    if (!pt_redact_attached(&r, line, bytes))
        pt_redact_pass(&r);
}

/* Add a whole command line, as a shell takes it. */
static inline void pt_redact_command(struct pt_redact_out *out, const char *command)
{
    struct pt_redact r = {out, command, command, 1, {PT_REDACT_PLAIN, 0}};
    pt_redact_pass(&r);
}

#endif
