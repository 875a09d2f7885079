/* SPDX-License-Identifier: MIT
 *
 * redact.c - masks passwords, tokens and keys: --password=x, --token x, PASSWORD=x, Bearer x, AKIA..., user:pass@host.
 *
 * Entered with signals blocked. Pure text work; errs on the side of masking.
 */
#include "redact.h"

#define MASK "<redacted>"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does `text` of `length` contain `word` (lower case), ignoring case, with - and _ alike? */
static int contains(const char *text, pt_u64 length, const char *word)
{
    const pt_u64 n = pt_text_length(word);
    for (pt_u64 at = 0; at + n <= length; at++) {
        pt_u64 i = 0;
        while (i < n && (lower(text[at + i]) == word[i] || (text[at + i] == '-' && word[i] == '_')))
            i++;
        if (i == n)
            return 1;
    }
    return 0;
}

/* Is `word` the last word of the name: --db-pass, not --bypass? */
static int ends_in(const char *name, pt_u64 length, const char *word)
{
    const pt_u64 n = pt_text_length(word);
    if (length < n || !contains(name + length - n, n, word))
        return 0;
    const char before = length > n ? lower(name[length - n - 1]) : '-';
    return before < 'a' || before > 'z';
}

static int names_secret(const char *name, pt_u64 length)
{
    enum { AT_END, ANYWHERE };
    static const struct {
        const char *word;
        int where;
    } names[] = {
#define SECRET_NAME(word, where) {word, where},
#define SECRET_KEY(prefix, letters)
#include "proftrace/secrets.def"
#undef SECRET_NAME
#undef SECRET_KEY
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].where == ANYWHERE ? contains(name, length, names[i].word) : ends_in(name, length, names[i].word))
            return 1;
    return 0;
}

/* Values that are secrets by their own look. */
static int looks_secret(const char *value)
{
    enum { FEWEST_LETTERS = 8 }; /* fewer than a key has: it may have been cut */
    static const char *const starts[] = {
#define SECRET_NAME(word, where)
#define SECRET_KEY(prefix, letters) prefix,
#include "proftrace/secrets.def"
#undef SECRET_NAME
#undef SECRET_KEY
        "bearer ", "basic "};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        pt_u64 n = 0;
        while (starts[i][n] && lower(value[n]) == lower(starts[i][n]))
            n++;
        if (!starts[i][n] && pt_text_length(value) >= n + FEWEST_LETTERS)
            return 1;
    }
    return contains(value, pt_text_length(value), "authorization:") ||
           contains(value, pt_text_length(value), "bearer ");
}

/* scheme://user:secret@host: add it with the secret masked; 0 when it is not of that form. */
static int add_url(struct pt_text *text, const char *argument)
{
    pt_u64 at = 0, colon = 0, start;
    while (argument[at] && !(argument[at] == ':' && argument[at + 1] == '/' && argument[at + 2] == '/'))
        at++;
    if (!argument[at])
        return 0;
    start = at + 3;
    for (at = start; argument[at] && argument[at] != '/' && argument[at] != '@'; at++)
        if (argument[at] == ':' && !colon)
            colon = at;
    if (argument[at] != '@' || !colon)
        return 0;
    for (pt_u64 i = 0; i <= colon; i++)
        pt_text_byte(text, argument[i]);
    pt_text_add(text, MASK);
    pt_text_add(text, argument + at);
    return 1;
}

int pt_redact_argument(struct pt_text *text, const char *argument, int mask_whole)
{
    if ((mask_whole && argument[0] != '-') || looks_secret(argument)) {
        pt_text_add(text, MASK);
        return 0;
    }
    pt_u64 name = 0;
    while (argument[name] && argument[name] != '=')
        name++;
    /* A name is short and plain: a Python program given with -c that mentions a token is not a name. */
    int plain = name > 0 && name <= 64;
    for (pt_u64 i = 0; i < name && plain; i++)
        plain = argument[i] > ' ' && argument[i] != '(' && argument[i] != '/';
    if (plain && names_secret(argument, name)) {
        if (argument[name] != '=') {
            pt_text_add(text, argument);
            return argument[0] == '-';
        }
        for (pt_u64 i = 0; i <= name; i++)
            pt_text_byte(text, argument[i]);
        pt_text_add(text, MASK);
        return 0;
    }
    if (!add_url(text, argument))
        pt_text_add(text, argument);
    return 0;
}

void pt_redact_command(struct pt_text *text, const char *command)
{
    char word[256];
    int mask_next = 0;
    while (*command) {
        while (*command == ' ' || *command == '\t' || *command == '\n')
            pt_text_byte(text, *command++);
        pt_u64 length = 0;
        while (*command && *command != ' ' && *command != '\t' && *command != '\n') {
            if (length + 1 < sizeof word)
                word[length++] = *command;
            command++;
        }
        word[length] = 0;
        if (length)
            mask_next = pt_redact_argument(text, word, mask_next);
    }
}
