/* SPDX-License-Identifier: MIT
 *
 * json_text.c - Owns: what is valid JSON, and how a mistake is described. Threads: any. Never: recurses, allocates,
 * changes the text.
 *
 * cJSON, which parses what was checked here, cannot do this: it gives an offset without a reason, and takes 01, 1.,
 * control characters and broken UTF-8 for JSON, which the stages that read the same file then refuse.
 */
#include "json_text.h"

#include <stdio.h>
#include <string.h>

#include "util/text/utf8.h"

struct checker {
    const char *text;
    size_t n, at;
    bool nan_allowed;
    int depth, n_values;
    char closing[PT_JSON_TEXT_MAX_DEPTH]; /* of the objects and lists that are open */
    struct pt_error *err;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The byte at the current place, 0 at the end: a NUL in the text is an error wherever the end is one. */
static char peek(const struct checker *c)
{
    return c->at < c->n ? c->text[c->at] : 0;
}

static void skip_space(struct checker *c)
{
    while (c->at < c->n && is_space(c->text[c->at]))
        c->at++;
}

static bool starts(const struct checker *c, const char *word)
{
    const size_t length = strlen(word);
    return c->n - c->at >= length && !memcmp(c->text + c->at, word, length);
}

static int fail_at(const struct checker *c, size_t at, const char *problem)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (c->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)c->text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    return pt_fail_code(c->err, 2, "line %zu, column %zu: %s", line, column, problem);
}

/* What people write who think of a similar language (JavaScript, Python). */
static const char *known_mistake(const struct checker *c)
{
    static const struct {
        const char *found, *problem;
    } mistakes[] = {
        {"//", "JSON has no comments; remove this one"},
        {"/*", "JSON has no comments; remove this one"},
        {"#", "JSON has no comments; remove this one"},
        {"'", "JSON quotes with \", not with '"},
        {"NaN", "NaN is not a number in JSON; write null or leave the key out"},
        {"nan", "NaN is not a number in JSON; write null or leave the key out"},
        {"Infinity", "Infinity is not a number in JSON; write null or leave the key out"},
        {"-Infinity", "Infinity is not a number in JSON; write null or leave the key out"},
        {"True", "JSON writes true, not True"},
        {"False", "JSON writes false, not False"},
        {"None", "JSON writes null, not None"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (starts(c, mistakes[i].found))
            return mistakes[i].problem;
    return NULL;
}

static int unexpected(const struct checker *c, const char *expected)
{
    const char *mistake = known_mistake(c);
    uint32_t code;
    char problem[160];
    if (mistake)
        return fail_at(c, c->at, mistake);
    const size_t length = c->at < c->n ? pt_utf8_next(c->text + c->at, c->n - c->at, &code) : 0;
    if (c->at >= c->n)
        snprintf(problem, sizeof problem, "the text ends where %s is expected", expected);
    else if (!length)
        snprintf(problem, sizeof problem, "not UTF-8: byte 0x%02x; save the file as UTF-8", (unsigned char)peek(c));
    else if (code < 0x20)
        snprintf(problem, sizeof problem, "expected %s, found the control character 0x%02x", expected, (unsigned)code);
    else
        snprintf(problem, sizeof problem, "expected %s, found '%.*s'", expected, (int)length, c->text + c->at);
    return fail_at(c, c->at, problem);
}

/* The value of four hexadecimal digits; -1 = there are none. */
static int hex4(const struct checker *c, size_t at)
{
    int value = 0;
    for (size_t i = at; i < at + 4; i++) {
        const char digit = i < c->n ? c->text[i] : 0;
        const char low = (char)(digit | 0x20);
        if (is_digit(digit))
            value = value * 16 + digit - '0';
        else if (low >= 'a' && low <= 'f')
            value = value * 16 + low - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* At the current place is \uNNNN: a character, or the first half of one, whose second half must follow. */
static int check_unicode_escape(struct checker *c)
{
    const int first = hex4(c, c->at + 2);
    if (first < 0)
        return fail_at(c, c->at, "\\u needs four hexadecimal digits");
    if (first == 0)
        return fail_at(c, c->at, "\\u0000 cannot be part of a name, a path or an argument; remove it");
    if (first < 0xd800 || first >= 0xe000) {
        c->at += 6;
        return 0;
    }
    const bool has_second = c->n - c->at >= 8 && !memcmp(c->text + c->at + 6, "\\u", 2);
    const int second = has_second ? hex4(c, c->at + 8) : 0;
    if (first >= 0xdc00 || second < 0xdc00 || second >= 0xe000)
        return fail_at(c, c->at, "half of a surrogate pair; write the character itself");
    c->at += 12;
    return 0;
}

/* The escape at the current place, which is a backslash. */
static int check_escape(struct checker *c)
{
    const char kind = c->at + 1 < c->n ? c->text[c->at + 1] : 0;
    if (kind == 'u')
        return check_unicode_escape(c);
    if (!kind || !strchr("\"\\/bfnrt", kind))
        return fail_at(c, c->at, "an unknown escape; write \\\\ for a backslash");
    c->at += 2;
    return 0;
}

static int check_string(struct checker *c)
{
    const size_t begin = c->at++;
    while (c->at < c->n && c->text[c->at] != '"') {
        const unsigned char byte = (unsigned char)c->text[c->at];
        uint32_t code;
        if (byte == '\n')
            return fail_at(c, begin, "a string without its closing \"; a line break in a string is \\n");
        if (byte < 0x20)
            return fail_at(c, c->at, "a control character in a string; write it as \\u00XX, a tab as \\t");
        if (byte == '\\') {
            if (check_escape(c) < 0)
                return -1;
            continue;
        }
        const size_t length = byte < 0x80 ? 1 : pt_utf8_next(c->text + c->at, c->n - c->at, &code);
        if (!length)
            return unexpected(c, "text");
        c->at += length;
    }
    if (c->at >= c->n)
        return fail_at(c, begin, "a string without its closing \"");
    c->at++;
    return 0;
}

static size_t skip_digits(struct checker *c)
{
    const size_t begin = c->at;
    while (is_digit(peek(c)))
        c->at++;
    return c->at - begin;
}

static int check_number(struct checker *c)
{
    const size_t begin = c->at;
    c->at += peek(c) == '-';
    const bool zero = peek(c) == '0';
    if (!skip_digits(c))
        return unexpected(c, "a digit");
    if (zero && c->at - begin > 1u + (c->text[begin] == '-'))
        return fail_at(c, begin, "a number that starts with 0; remove the 0");
    if (peek(c) == '.') {
        c->at++;
        if (!skip_digits(c))
            return unexpected(c, "a digit");
    }
    if (peek(c) == 'e' || peek(c) == 'E') {
        c->at++;
        c->at += peek(c) == '+' || peek(c) == '-';
        if (!skip_digits(c))
            return unexpected(c, "a digit");
    }
    if (c->at - begin > PT_JSON_TEXT_MAX_NUMBER)
        return fail_at(c, begin, "a number of more than 60 digits; shorten it");
    return 0;
}

static int check_scalar(struct checker *c)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < (c->nan_allowed ? 6 : 3); i++) {
        const size_t length = strlen(words[i]);
        if (starts(c, words[i]) && !(c->at + length < c->n && is_letter(c->text[c->at + length]))) {
            c->at += length;
            return 0;
        }
    }
    if (peek(c) == '"')
        return check_string(c);
    return is_digit(peek(c)) || (peek(c) == '-' && !starts(c, "-Inf")) ? check_number(c) : unexpected(c, "a value");
}

/* The name of a member and its colon. */
static int check_key(struct checker *c)
{
    skip_space(c);
    if (peek(c) != '"')
        return unexpected(c, "a name in double quotes");
    if (check_string(c) < 0)
        return -1;
    skip_space(c);
    if (peek(c) != ':')
        return unexpected(c, "':'");
    c->at++;
    return 0;
}

/* The bracket at the current place. 1: a value comes next, 0: it was empty and is closed again, -1: error. */
static int check_open(struct checker *c)
{
    const char closing = peek(c) == '{' ? '}' : ']';
    if (c->depth == PT_JSON_TEXT_MAX_DEPTH)
        return fail_at(c, c->at, "nested deeper than 500 levels");
    c->at++;
    skip_space(c);
    if (peek(c) == closing) {
        c->at++;
        return 0;
    }
    c->closing[c->depth++] = closing;
    return closing == ']' ? 1 : check_key(c) < 0 ? -1 : 1;
}

/* What follows a value inside an object or list; like check_open. */
static int check_after(struct checker *c)
{
    const char closing = c->closing[c->depth - 1];
    if (peek(c) == closing) {
        c->at++;
        c->depth--;
        return 0;
    }
    if (peek(c) != ',')
        return unexpected(c, closing == '}' ? "',' or '}'" : "',' or ']'");
    const size_t comma = c->at++;
    skip_space(c);
    if (peek(c) == '}' || peek(c) == ']')
        return fail_at(c, comma, "a comma behind the last value; remove it");
    return closing == ']' ? 1 : check_key(c) < 0 ? -1 : 1;
}

static int check(struct checker *c)
{
    int value_next = 1;
    for (;;) {
        skip_space(c);
        if (c->n_values > PT_JSON_TEXT_MAX_VALUES)
            return fail_at(c, c->at, "more values than can be read: 8,388,608");
        c->n_values += value_next;
        if (value_next)
            value_next = peek(c) == '{' || peek(c) == '[' ? check_open(c) : check_scalar(c);
        else if (c->depth)
            value_next = check_after(c);
        else
            return c->at < c->n ? unexpected(c, "the end of the document") : 0;
        if (value_next < 0)
            return -1;
    }
}

int pt_json_text_check(const char *text, size_t n, struct pt_error *err)
{
    struct checker c = {.text = text, .n = n, .err = err};
    return check(&c);
}

int pt_json_text_check_python(const char *text, size_t n, struct pt_error *err)
{
    struct checker c = {.text = text, .n = n, .err = err, .nan_allowed = true};
    return check(&c);
}
