/* SPDX-License-Identifier: MIT
 *
 * redact.c - Owns: what counts as a secret. Threads: any. Never: changes its input.
 */
#include "redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STARS "***"
#define STARS_LENGTH 3

/* A name ends in one of these, after a letter-free border: "--max-tokens" and "--tokenizer" are no secrets. */
static const char *const secret_names[] = {
#define SECRET_NAME(word, where) word,
#define SECRET_KEY(prefix, letters)
#include "proftrace/secrets.def"
#undef SECRET_NAME
#undef SECRET_KEY
    NULL};

static const struct {
    const char *prefix;
    size_t follow;
} key_shapes[] = {
#define SECRET_NAME(word, where)
#define SECRET_KEY(prefix, letters) {prefix, letters},
#include "proftrace/secrets.def"
#undef SECRET_NAME
#undef SECRET_KEY
};

struct redaction {
    const char *start; /* of the argument */
    const char *at;
    char *out;
};

static bool is_key_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool at_border(const struct redaction *r)
{
    return r->at == r->start || !isalpha((unsigned char)r->at[-1]);
}

static bool starts_with_name(const char *text, const char *name)
{
    for (; *name; text++, name++)
        if (tolower((unsigned char)*text) != *name && !(*text == '-' && *name == '_'))
            return false;
    return true;
}

/* Length of the secret name that stands at `text`, 0 = none. The longest wins: "authorization" over "auth". */
static size_t name_length(const char *text)
{
    size_t longest = 0;
    for (const char *const *name = secret_names; *name; name++) {
        const size_t length = strlen(*name);
        if (length > longest && starts_with_name(text, *name) && !isalpha((unsigned char)text[length]))
            longest = length;
    }
    return longest;
}

static void copy(struct redaction *r, size_t n)
{
    memcpy(r->out, r->at, n);
    r->out += n;
    r->at += n;
}

static void hide(struct redaction *r, size_t n)
{
    memcpy(r->out, STARS, STARS_LENGTH);
    r->out += STARS_LENGTH;
    r->at += n;
}

/* `name=value`, `name: value`, `"name": "value"`: copies up to the value and hides it. */
static bool hide_named_value(struct redaction *r)
{
    const size_t name = at_border(r) ? name_length(r->at) : 0;
    if (!name)
        return false;
    size_t n = name + strspn(r->at + name, "\"'");
    if (r->at[n] != '=' && r->at[n] != ':')
        return false;
    n++;
    n += strspn(r->at + n, " \"'");
    copy(r, n);
    static const char *const schemes[] = {"Bearer ", "Basic ", "Token ", NULL};
    for (const char *const *scheme = schemes; *scheme; scheme++)
        if (!strncasecmp(r->at, *scheme, strlen(*scheme)))
            copy(r, strlen(*scheme));
    const size_t value = strcspn(r->at, "&\"' \t\n;,");
    if (value)
        hide(r, value);
    return true;
}

static bool hide_bearer(struct redaction *r)
{
    if (!at_border(r) || strncasecmp(r->at, "Bearer ", 7) != 0)
        return false;
    copy(r, 7);
    const size_t value = strcspn(r->at, "\"' \t\n");
    if (value)
        hide(r, value);
    return true;
}

static bool hide_key(struct redaction *r)
{
    if (r->at != r->start && isalnum((unsigned char)r->at[-1]))
        return false;
    for (size_t i = 0; i < sizeof key_shapes / sizeof key_shapes[0]; i++) {
        const size_t prefix = strlen(key_shapes[i].prefix);
        if (strncmp(r->at, key_shapes[i].prefix, prefix) != 0)
            continue;
        size_t n = prefix;
        while (is_key_letter(r->at[n]))
            n++;
        if (n - prefix >= key_shapes[i].follow) {
            hide(r, n);
            return true;
        }
    }
    return false;
}

/* scheme://user:password@host */
static bool hide_url_password(struct redaction *r)
{
    if (strncmp(r->at, "://", 3) != 0)
        return false;
    const size_t authority = 3 + strcspn(r->at + 3, "/?# \"'");
    const char *sign = memchr(r->at, '@', authority);
    const char *colon = sign ? memchr(r->at + 3, ':', (size_t)(sign - r->at - 3)) : NULL;
    if (!colon)
        return false;
    copy(r, (size_t)(colon + 1 - r->at));
    hide(r, (size_t)(sign - r->at));
    return true;
}

/* `--token` alone: the next argument is the secret. */
static bool names_secret(const char *option)
{
    if (!option || option[0] != '-')
        return false;
    for (const char *at = option; *at; at++)
        if (!isalpha((unsigned char)at[0]) && name_length(at + 1) && !at[1 + name_length(at + 1)])
            return true;
    return false;
}

char *pt_redact_argument(const char *argument, const char *previous)
{
    if (names_secret(previous) && argument[0] != '-')
        return strdup(STARS);
    /* Each hidden value, of one letter at least, becomes three: at most three times as long. */
    char *out = malloc(strlen(argument) * STARS_LENGTH + 1);
    if (!out)
        return NULL;
    struct redaction r = {argument, argument, out};
    while (*r.at)
        if (!hide_url_password(&r) && !hide_named_value(&r) && !hide_bearer(&r) && !hide_key(&r))
            copy(&r, 1);
    *r.out = 0;
    return out;
}
