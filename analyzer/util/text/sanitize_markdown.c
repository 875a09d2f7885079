/* SPDX-License-Identifier: MIT
 *
 * sanitize_markdown.c - Owns: what Markdown, and GitHub after it, would take for more than text. Threads: any.
 *
 * Two kinds of harm. Characters that CommonMark gives a meaning get a backslash: everywhere, or, for what begins a
 * block, as the first of the text. What GitHub finds in the finished text - @names, #1, www., addresses, commits,
 * :emoji: - no backslash stops; there a space of no width stands between (`&#8203;`, seen in the source and not on the
 * page).
 */
#include <string.h>

#include "sanitize.h"
#include "sanitize_walk.h"

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

/* 7 to 40 hexadecimal digits may be a commit's: no piece stays that long. Only decimal ones are a number, only letters
 * a word. */
static bool parts_commit(const char *text, size_t at)
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

/* Not the minutes of a time of day. Behind the text's end a colon of ours may stand. */
static bool begins_emoji(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-");
    const bool is_number = strspn(text, "0123456789") == length;
    return length && (text[length] == ':' ? !is_number || length != 2 : !text[length] && !is_digit(*text));
}

static bool parts_after(const char *text, size_t at)
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
        return parts_commit(text, at);
    }
}

static void part_after(struct pt_str *out, const struct pt_place *place)
{
    if (!place->is_escape && parts_after(place->text, place->at))
        pt_str_add(out, "&#8203;");
}

/* A blank at either end would indent a block, break a line, or keep ** from being bold. */
static bool is_outer_blank(const struct pt_place *place)
{
    return place->code == ' ' && (strspn(place->text, " ") > place->at || !place->text[place->at + 1]);
}

static void put_markdown(struct pt_str *out, const struct pt_place *place)
{
    if (is_outer_blank(place)) {
        pt_str_add(out, "&#32;");
        return;
    }
    if (place->code < 0x80 &&
        (strchr("\\|`[]<>*_#~&$", (int)place->code) || (!place->is_escape && begins_block(place->text, place->at))))
        pt_str_char(out, '\\');
    pt_str_bytes(out, place->bytes, place->n);
    part_after(out, place);
}

static void put_markdown_html(struct pt_str *out, const struct pt_place *place)
{
    pt_put_html(out, place);
    part_after(out, place);
}

void pt_sanitize_markdown(struct pt_str *out, const char *text)
{
    pt_sanitize_walk(out, text, put_markdown);
}

void pt_sanitize_markdown_html(struct pt_str *out, const char *text)
{
    pt_sanitize_walk(out, text, put_markdown_html);
}
