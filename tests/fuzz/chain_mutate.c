/* SPDX-License-Identifier: MIT
 *
 * chain_mutate.c - Owns: how libFuzzer changes and crosses runs: numbers, values and lines of the text, and patches.
 * Threads: one. Never: breaks the form of an input on purpose; libFuzzer's own changes to bytes do, now and then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "chain_input.h"

size_t LLVMFuzzerMutate(pt_u8 *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(pt_u8 *data, size_t size, size_t max_size, unsigned seed);

static pt_u64 state;

static pt_u32 any(size_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return below ? (pt_u32)((state >> 33) % below) : 0;
}

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "255",
                                      "65535",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "1099511627776",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "18446744073709551615",
                                      "0.000000000",
                                      "0.000000001",
                                      "1000000.000000000",
                                      "9223372036.854775807",
                                      "-1.000000000",
                                      "0x0",
                                      "0xffffffffffffffff",
                                      "0x7fffffffffffffff",
                                      "1048576",
                                      "3600.000000000"};

/* A text that is changed in place; `n` of `room` bytes are used. */
struct text {
    char *at;
    size_t n, room;
};

/* Put `bytes` in place of text[from, until). */
static void replace(struct text *t, size_t from, size_t until, const char *bytes, size_t n)
{
    if (t->n - (until - from) + n > t->room)
        return;
    memmove(t->at + from + n, t->at + until, t->n - until);
    memcpy(t->at + from, bytes, n);
    t->n += n - (until - from);
}

static size_t line_begin(const struct text *t, size_t at)
{
    while (at && t->at[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct text *t, size_t at)
{
    while (at < t->n && t->at[at] != '\n')
        at++;
    return at < t->n ? at + 1 : at;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

static void change_number(struct text *t)
{
    size_t at = any(t->n);
    while (at < t->n && !is_of_number(t->at[at]))
        at++;
    size_t from = at, until = at;
    while (from && is_of_number(t->at[from - 1]))
        from--;
    while (until < t->n && is_of_number(t->at[until]))
        until++;
    if (from == until)
        return;
    char now[40];
    const unsigned long long value = strtoull(t->at + from, NULL, 10);
    const pt_u32 how = any(6);
    if (how < 2)
        snprintf(now, sizeof now, "%s", numbers[any(sizeof numbers / sizeof numbers[0])]);
    else if (how == 2)
        snprintf(now, sizeof now, "%llu", value + any(17) - 8);
    else if (how == 3)
        snprintf(now, sizeof now, "%llu", value << any(40));
    else {
        t->at[from + any(until - from)] = (char)('0' + any(10));
        return;
    }
    replace(t, from, until, now, strlen(now));
}

/* Where a word of the line of `at` begins and ends. */
static void word_of(const struct text *t, size_t at, size_t *ret_from, size_t *ret_until)
{
    size_t from = at, until = at;
    while (from && t->at[from - 1] != ' ' && t->at[from - 1] != '\n')
        from--;
    while (until < t->n && t->at[until] != ' ' && t->at[until] != '\n')
        until++;
    *ret_from = from;
    *ret_until = until;
}

/* A word of one line takes the place of that of another: of the same key, where one is found. */
static void copy_word(struct text *t)
{
    size_t from, until, other, other_end;
    word_of(t, any(t->n), &from, &until);
    const char *equal = memchr(t->at + from, '=', until - from);
    const size_t key = equal ? (size_t)(equal - (t->at + from)) + 1 : 0;
    for (int attempt = 0; attempt < 32; attempt++) {
        word_of(t, any(t->n), &other, &other_end);
        if (other_end - other < key || memcmp(t->at + from, t->at + other, key) != 0 || other == from)
            continue;
        char *copy = pt_malloc(other_end - other + 1);
        memcpy(copy, t->at + other, other_end - other);
        replace(t, from, until, copy, other_end - other);
        free(copy);
        return;
    }
}

/* A line is doubled, moved or left out, or the one behind it is. */
static void change_lines(struct text *t)
{
    const size_t at = any(t->n), from = line_begin(t, at), until = line_end(t, at), n = until - from;
    const size_t to = line_begin(t, any(t->n));
    char *copy = pt_malloc(n + 1);
    memcpy(copy, t->at + from, n);
    const pt_u32 how = any(4);
    if (how < 3)
        replace(t, to, to, copy, n);
    if (how == 3 || (how == 2 && to > until))
        replace(t, from, until, "", 0);
    free(copy);
}

static size_t change_bytes(struct text *t)
{
    size_t from, until;
    word_of(t, any(t->n), &from, &until);
    pt_u8 word[256];
    const size_t n = until - from < 128 ? until - from : 128;
    memcpy(word, t->at + from, n);
    const size_t now = LLVMFuzzerMutate(word, n, sizeof word);
    for (size_t i = 0; i < now; i++)
        if (!word[i])
            word[i] = '0';
    replace(t, from, from + n, (const char *)word, now);
    return t->n;
}

/* Some lines of an input seen before, somewhere in this one. libFuzzer's own way to cross two inputs knows no lines. */
static void cross(struct text *t)
{
    static struct text earlier;
    if (earlier.n) {
        const size_t begin = line_begin(&earlier, any(earlier.n)), most = begin + any(4096),
                     end = line_end(&earlier, most < earlier.n ? most : earlier.n - 1), to = line_begin(t, any(t->n));
        replace(t, to, to, earlier.at + begin, end - begin);
    }
    if (any(4) == 0 || !earlier.n) {
        earlier.at = pt_realloc(earlier.at, t->n + 1);
        memcpy(earlier.at, t->at, t->n);
        earlier.n = t->n;
    }
}

static void change_text(struct text *t)
{
    for (pt_u32 i = any(3) + 1; i && t->n; i--)
        switch (any(9)) {
        case 0:
            change_bytes(t);
            break;
        case 1:
            copy_word(t);
            break;
        case 2:
        case 3:
            change_lines(t);
            break;
        default:
            change_number(t);
        }
}

static struct chain_patch any_patch(void)
{
    static const pt_u64 values[] = {0, 1, ~0ull, 1ull << 63, ~0ull >> 1, 1ull << 31, 0xffff, 4096, 1ull << 40, 255};
    struct chain_patch patch = {.file = (pt_u8)any(8),
                                .part = (pt_u8)any(CHAIN_PART__COUNT),
                                .op = (pt_u8)any(CHAIN_OP__COUNT),
                                .width = (pt_u8)any(4),
                                .item = (pt_u16)any(256),
                                .at = (pt_u16)any(any(2) ? 65536 : 1400),
                                .value = values[any(sizeof values / sizeof values[0])]};
    if (any(3) == 0)
        patch.value = (pt_u64)any(1u << 31) << 32 | any(1u << 31);
    if (any(2) == 0)
        patch.at &= (pt_u16)~7;
    return patch;
}

static size_t change_patches(struct chain_patch *patches, size_t n)
{
    const pt_u32 how = any(8);
    if (!n || (how < 3 && n < CHAIN_PATCHES_MAX)) {
        patches[n] = any_patch();
        return n + 1;
    }
    const size_t i = any(n);
    if (how == 3) {
        patches[i] = patches[n - 1];
        return n - 1;
    }
    const struct chain_patch other = any_patch();
    if (how == 4)
        patches[i].value = other.value;
    else if (how == 5)
        patches[i].at = other.at;
    else if (how == 6)
        patches[i].item = other.item, patches[i].op = other.op;
    else
        patches[i] = other;
    return n;
}

static size_t join(pt_u8 *out, const struct text *t, const struct chain_patch *patches, size_t n)
{
    memmove(out, t->at, t->n);
    if (!n)
        return t->n;
    out[t->n] = 0;
    memcpy(out + t->n + 1, patches, n * sizeof patches[0]);
    return t->n + 1 + n * sizeof patches[0];
}

enum { PATCHES_ROOM = CHAIN_PATCHES_MAX * sizeof(struct chain_patch) + 1 };

size_t LLVMFuzzerCustomMutator(pt_u8 *data, size_t size, size_t max_size, unsigned seed)
{
    struct chain_patch patches[CHAIN_PATCHES_MAX + 1];
    state = seed;
    if (max_size < PATCHES_ROOM + 64)
        return LLVMFuzzerMutate(data, size, max_size);
    size_t n = chain_patches(data, size);
    const size_t text = chain_text_bytes(data, size), room = max_size - PATCHES_ROOM;
    if (n)
        memcpy(patches, data + text + 1, n * sizeof patches[0]);
    struct text t = {pt_malloc(max_size + 1), text < room ? text : room, room};
    memcpy(t.at, data, t.n);
    if (!t.n || any(64) == 0)
        t.n = LLVMFuzzerMutate((pt_u8 *)t.at, t.n, room);
    else if (any(3) == 0)
        n = change_patches(patches, n);
    else
        change_text(&t);
    const size_t result = join(data, &t, patches, n);
    free(t.at);
    return result;
}
