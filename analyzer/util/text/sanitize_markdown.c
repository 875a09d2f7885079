/* SPDX-License-Identifier: MIT
 *
 * sanitize_markdown.c - Owns: what Markdown, and GitHub after it, would take for more than text. Threads: any.
 *
 * Two kinds of harm. Characters that CommonMark gives a meaning get a backslash: everywhere, or, for what begins a
 * block, as the first of the text. What GitHub finds in the finished text - @names, #1, www., addresses, commits,
 * :emoji: - no backslash stops; such a word stands in back-ticks, as a path does, and can be copied as it is. Only a
 * word that cannot stand in back-ticks is broken by a space without width (`&#8203;`).
 */
#include "sanitize_markdown.h"

#include <string.h>

#include "sanitize_walk.h"
#include "utf8.h"

static const char MARKUP[] = "\\|`[]<>*_#~&$";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- the first of a line: "- x", "+ x", "===", "---", "1. x" ---- */

static bool begins_block(const char *text, size_t at)
{
    if (at == 0 && strchr("=+-", text[0]))
        return !is_digit(text[1]);
    const char next = text[at + 1];
    return strchr(".)", text[at]) && at && strspn(text, "0123456789") == at && (next == ' ' || !next);
}

/* ---- what is found in finished text ---- */

/* 7 to 40 hexadecimal digits may be a commit: no piece of that length remains. Decimal digits alone are a number,
 * letters alone a word. */
static bool breaks_commit(const char *text, size_t at)
{
    enum { SHORTEST = 7, LONGEST = 40 };
    size_t from = at;
    while (from && at - from <= LONGEST && is_word(text[from - 1]))
        from--;
    const char *word = text + from;
    const size_t length = strspn(word, "0123456789abcdef");
    return length >= SHORTEST && length <= LONGEST && !is_word(word[length]) && at - from + 1 < length &&
           strspn(word, "0123456789") < length && strspn(word, "abcdef") < length && (at - from) % (SHORTEST - 1) == 0;
}

/* Not the minutes of a time of day. A colon of ours may follow the text. */
static bool begins_emoji(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-");
    const bool is_number = strspn(text, "0123456789") == length;
    return length && (text[length] == ':' ? !is_number || length != 2 : !text[length] && !is_digit(*text));
}

static bool breaks_after(const char *text, size_t at)
{
    const char *next = text + at + 1;
    switch (text[at]) {
    case '@':
        return *next && *next != ' ';
    case '#':
        return is_digit(*next);
    case ':':
        return !strncmp(next, "//", 2) || begins_emoji(next);
    case '-': /* GH-1 */
        return at >= 2 && !strncasecmp(text + at - 2, "gh", 2) && is_digit(*next);
    case 'w':
    case 'W':
        return at >= 2 && !strncasecmp(text + at - 2, "www.", 4);
    default:
        return breaks_commit(text, at);
    }
}

static void break_after(struct pt_str *out, const struct pt_text_place *place)
{
    if (!place->is_escape && breaks_after(place->text, place->at))
        pt_str_add(out, "&#8203;");
}

/* A blank at either end would indent a block, break a line, or keep ** from being bold. */
static bool is_outer_blank(const struct pt_text_place *place)
{
    return place->code == ' ' && (strspn(place->text, " ") > place->at || !place->text[place->at + 1]);
}

static void put_markdown(struct pt_str *out, const struct pt_text_place *place)
{
    if (is_outer_blank(place)) {
        pt_str_add(out, "&#32;");
        return;
    }
    if (place->code < 0x80 &&
        (strchr(MARKUP, (int)place->code) || (!place->is_escape && begins_block(place->text, place->at))))
        pt_str_char(out, '\\');
    pt_str_bytes(out, place->bytes, place->n);
    break_after(out, place);
}

static void put_markdown_html(struct pt_str *out, const struct pt_text_place *place)
{
    pt_put_html(out, place);
    break_after(out, place);
}

/* ---- words in back-ticks ---- */

static bool is_found(const char *text, size_t from, size_t n)
{
    for (size_t at = from; at < from + n; at++)
        if (breaks_after(text, at))
            return true;
    return false;
}

/* Not "n/a" or "12.5MB/s". */
static bool is_path(const char *word, size_t n)
{
    return memchr(word, '/', n) && !is_digit(*word) && (*word == '/' || memchr(word, '.', n) || memchr(word, '_', n));
}

static bool has_markup(const char *word, size_t n)
{
    return strcspn(word, MARKUP) < n;
}

static bool is_plain(const char *word, size_t n)
{
    uint32_t code;
    for (size_t at = 0, length; at < n; at += length) {
        length = pt_utf8_next(word + at, n - at, &code);
        /* A | separates the cells of a table even in back-ticks. */
        if (!length || pt_utf8_is_control(code) || code == '`' || code == '|')
            return false;
    }
    return true;
}

static bool is_code(const char *text, size_t from, size_t n)
{
    const char *word = text + from;
    const bool is_alone = !from && !word[n];
    return n && is_plain(word, n) && (is_found(text, from, n) || is_path(word, n) || (is_alone && has_markup(word, n)));
}

/* The name of a file, or a command: it may have blanks. Two blanks in a row would be shown as one. */
static bool is_path_with_blanks(const char *text)
{
    const size_t n = strlen(text);
    return *text == '/' && is_plain(text, n) && text[n - 1] != ' ' && !strstr(text, "  ");
}

static void put_code(struct pt_str *out, const char *text, size_t n)
{
    pt_str_char(out, '`');
    pt_str_bytes(out, text, n);
    pt_str_char(out, '`');
}

void pt_sanitize_markdown(struct pt_str *out, const char *text)
{
    size_t from = 0;
    if (is_path_with_blanks(text)) {
        put_code(out, text, strlen(text));
        return;
    }
    while (text[from]) {
        const size_t n = strcspn(text + from, " "), blanks = strspn(text + from + n, " ");
        if (is_code(text, from, n)) {
            put_code(out, text + from, n);
        } else {
            pt_sanitize_walk(out, text, from, n, put_markdown);
        }
        pt_sanitize_walk(out, text, from + n, blanks, put_markdown);
        from += n + blanks;
    }
}

void pt_sanitize_markdown_html(struct pt_str *out, const char *text)
{
    pt_sanitize_walk(out, text, 0, strlen(text), put_markdown_html);
}
