/* SPDX-License-Identifier: MIT
 *
 * Owns: the grammar of a request's head. Threads: any. Never: reads beyond `n`, accepts a character that is not
 * printed.
 */
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool pt_http_is_whole(const char *text, size_t n)
{
    return memmem(text, n, "\r\n\r\n", 4) || memmem(text, n, "\n\n", 2);
}

static int hex(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* Percent-encoding off. False: it does not fit, is cut, or hides a byte that is no text. */
static bool decode(const char *from, size_t n, bool plus_is_space, char *to, size_t room)
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        int byte = (unsigned char)from[i];
        if (byte == '%') {
            if (i + 2 >= n)
                return false;
            const int high = hex(from[i + 1]), low = hex(from[i + 2]);
            if (high < 0 || low < 0)
                return false;
            byte = 16 * high + low;
            i += 2;
        } else if (byte == '+' && plus_is_space) {
            byte = ' ';
        }
        if (byte < ' ' || byte == 0x7f || made + 1 >= room)
            return false;
        to[made++] = (char)byte;
    }
    to[made] = '\0';
    return true;
}

bool pt_http_decode(const char *from, char *to, size_t room)
{
    return decode(from, strlen(from), false, to, room);
}

/* The next word of a line, without its end. */
static size_t word(const char *text, size_t n)
{
    size_t length = 0;
    while (length < n && text[length] > ' ' && text[length] < 0x7f)
        length++;
    return length;
}

static int parse_target(const char *text, size_t n, struct pt_http_request *request)
{
    const char *query = memchr(text, '?', n);
    const size_t n_path = query ? (size_t)(query - text) : n;
    if (!n || text[0] != '/')
        return 400;
    if (n_path >= sizeof request->path || (query && n - n_path > sizeof request->query))
        return 414;
    if (!decode(text, n_path, false, request->path, sizeof request->path))
        return 400;
    if (query)
        snprintf(request->query, sizeof request->query, "%.*s", (int)(n - n_path - 1), query + 1);
    return 0;
}

/* "GET /path?query HTTP/1.1" */
static int parse_line(const char *line, size_t n, struct pt_http_request *request)
{
    const size_t n_method = word(line, n);
    if (n_method == n || line[n_method] != ' ')
        return 400;
    const char *target = line + n_method + 1;
    const size_t n_target = word(target, n - n_method - 1);
    const char *version = target + n_target;
    const size_t n_version = n - n_method - 1 - n_target;
    if (n_version < 6 || memcmp(version, " HTTP/", 6) != 0)
        return 400;
    if (n_version != 9 || memcmp(version, " HTTP/1.", 8) != 0)
        return 505;
    request->is_head = n_method == 4 && !memcmp(line, "HEAD", 4);
    if (!request->is_head && (n_method != 3 || memcmp(line, "GET", 3) != 0))
        return 405;
    return parse_target(target, n_target, request);
}

/* The value of "Name: value" where the line is of that name; NULL = it is not. */
static const char *value_of(const char *line, size_t n, const char *name, size_t *ret_n)
{
    const size_t n_name = strlen(name);
    if (n <= n_name || line[n_name] != ':' || strncasecmp(line, name, n_name) != 0)
        return NULL;
    const char *value = line + n_name + 1, *end = line + n;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *ret_n = (size_t)(end - value);
    return value;
}

/* Two of them are an attempt to be read in two ways. */
static int parse_header(const char *line, size_t n, struct pt_http_request *request)
{
    size_t length;
    const char *value = value_of(line, n, "Host", &length);
    if (value) {
        if (*request->host || length >= sizeof request->host || word(value, length) != length)
            return 400;
        memcpy(request->host, value, length);
    }
    value = value_of(line, n, "Authorization", &length);
    if (value && length > 7 && !strncasecmp(value, "Bearer ", 7)) {
        if (*request->bearer || length - 7 >= sizeof request->bearer || word(value + 7, length - 7) != length - 7)
            return 400;
        memcpy(request->bearer, value + 7, length - 7);
    }
    return 0;
}

int pt_http_parse(const char *text, size_t n, struct pt_http_request *ret_request)
{
    bool is_first = true;
    memset(ret_request, 0, sizeof *ret_request);
    while (n) {
        const char *newline = memchr(text, '\n', n);
        if (!newline)
            return 400;
        size_t length = (size_t)(newline - text);
        const size_t whole = length + 1;
        if (length && text[length - 1] == '\r')
            length--;
        if (!length)
            return is_first ? 400 : 0;
        const int status = is_first ? parse_line(text, length, ret_request) : parse_header(text, length, ret_request);
        if (status)
            return status;
        is_first = false;
        text += whole;
        n -= whole;
    }
    return 400;
}

bool pt_http_query(const struct pt_http_request *request, const char *key, char *ret_value, size_t room)
{
    const size_t n_key = strlen(key);
    for (const char *at = request->query; *at;) {
        const size_t n = strcspn(at, "&");
        if (n > n_key && at[n_key] == '=' && !strncmp(at, key, n_key))
            return decode(at + n_key + 1, n - n_key - 1, true, ret_value, room);
        at += n + (at[n] == '&');
    }
    return false;
}

const char *pt_http_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {{200, "OK"},
                 {400, "Bad Request"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {408, "Request Timeout"},
                 {414, "URI Too Long"},
                 {421, "Misdirected Request"},
                 {431, "Request Header Fields Too Large"},
                 {500, "Internal Server Error"},
                 {503, "Service Unavailable"},
                 {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Error";
}
