/* SPDX-License-Identifier: MIT
 *
 * Owns: reading names of code that was made at run time. Threads: any. Never: takes time or memory that grows faster
 * than the file, gives out a name with control characters.
 */
#include "jit_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "format.h"

enum { MOST_LINES = 1 << 20, NAME_BYTES = 512, OVERLAPS = 256 };

/* ---- names ---- */

/* Before the file's name, which may have spaces; functions' names have none. */
static char *file_in(char *text)
{
    static const char *const beginnings[] = {" /", " file:", " node:"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        char *found = strstr(text, beginnings[i]);
        if (found)
            return found;
    }
    return strrchr(text, ' ');
}

/* "*hot /home/u/a.js:12:5" of JavaScript: what it was compiled with, name, file, line and column. */
static void split_javascript(struct pt_jit_function *function, char *text)
{
    text += strspn(text, "~^+*");
    char *file = file_in(text), *end = NULL;
    char *colon = file ? strchr(file, ':') : NULL;
    while (colon && strchr(colon + 1, ':') && strchr(strchr(colon + 1, ':') + 1, ':'))
        colon = strchr(colon + 1, ':');
    const unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;
    function->name = text;
    if (!line || line > UINT32_MAX || (*end && *end != ':'))
        return;
    *file = *colon = 0;
    function->file = file + 1;
    function->line = (pt_u32)line;
    if (!*text)
        function->name = "(anonymous)";
}

/* "py::work:/home/u/a.py" of Python. */
static void split_python(struct pt_jit_function *function, char *text)
{
    char *colon = strchr(text, ':');
    function->name = text;
    if (!colon || colon == text || !colon[1])
        return;
    *colon = 0;
    function->file = colon + 1;
}

static void take_name(struct pt_jit_function *function, char *text)
{
    static const struct {
        const char *before;
        void (*split)(struct pt_jit_function *function, char *text);
    } forms[] = {{"JS:", split_javascript},
                 {"LazyCompile:", split_javascript},
                 {"Function:", split_javascript},
                 {"Script:", split_javascript},
                 {"py::", split_python}};
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    function->name = text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strncmp(text, forms[i].before, strlen(forms[i].before))) {
            forms[i].split(function, text + strlen(forms[i].before));
            return;
        }
}

/* ---- lines ---- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* A number and the space behind it. */
static bool take_hex(const char **at, const char *end, pt_u64 *ret_number)
{
    int digits = 0;
    *ret_number = 0;
    if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
        *at += 2;
    for (; *at < end && hex_digit(**at) >= 0; ++*at, digits++)
        *ret_number = *ret_number << 4 | (pt_u64)hex_digit(**at);
    return digits && digits <= 16 && *at < end && *(*at)++ == ' ';
}

static void take_line(struct pt_jit_map *map, const char *line, const char *end)
{
    struct pt_jit_function function = {.order = (pt_u32)map->n};
    pt_u64 n_bytes;
    if (!take_hex(&line, end, &function.start) || !take_hex(&line, end, &n_bytes) || !n_bytes || line == end ||
        __builtin_add_overflow(function.start, n_bytes, &function.end))
        return;
    const size_t n = (size_t)(end - line) < NAME_BYTES ? (size_t)(end - line) : NAME_BYTES;
    if (memchr(line, 0, n))
        return;
    take_name(&function, pt_arena_text(&map->texts, line, n));
    if (*function.name)
        pt_vec_push(map, function);
}

static int by_start(const void *a, const void *b)
{
    const struct pt_jit_function *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct pt_jit_map *pt_jit_map_of_text(const char *text, size_t n_bytes)
{
    struct pt_jit_map *map = pt_calloc(1, sizeof *map);
    const char *end;
    /* The last line may be cut. */
    for (const char *at = text; map->n < MOST_LINES && (end = memchr(at, '\n', n_bytes - (size_t)(at - text)));
         at = end + 1)
        take_line(map, at, end);
    if (!map->n) {
        pt_jit_map_free(map);
        return NULL;
    }
    qsort(map->items, map->n, sizeof *map->items, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < map->n; i++) {
        kept -= kept && map->items[kept - 1].start == map->items[i].start;
        map->items[kept++] = map->items[i];
    }
    map->n = kept;
    return map;
}

struct pt_jit_map *pt_jit_map_read(const char *directory, pt_u32 stage, pt_u32 thread)
{
    struct stat status;
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" PT_CPU_JIT_FORMAT, directory, stage, thread);
    /* It may be a link: DVC and git-annex make runs of them. */
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
        return NULL;
    const size_t most = status.st_size < (off_t)PT_JIT_MAP_MOST_BYTES ? (size_t)status.st_size : PT_JIT_MAP_MOST_BYTES;
    PT_AUTO(pt_freep) char *text = pt_malloc(most);
    size_t n = 0;
    for (ssize_t got; n < most && (got = read(fd, text + n, most - n)) > 0;)
        n += (size_t)got;
    return pt_jit_map_of_text(text, n);
}

const struct pt_jit_function *pt_jit_map_find(const struct pt_jit_map *map, pt_u64 address)
{
    size_t low = 0, high = map->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Of those that lie over each other the one that was written last is there now. */
    const struct pt_jit_function *found = NULL;
    for (size_t back = 0; back < OVERLAPS && back < low; back++) {
        const struct pt_jit_function *one = &map->items[low - 1 - back];
        if (address < one->end && (!found || one->order > found->order))
            found = one;
    }
    return found;
}

void pt_jit_map_free(struct pt_jit_map *map)
{
    if (!map)
        return;
    free(map->items);
    pt_arena_fini(&map->texts);
    free(map);
}
