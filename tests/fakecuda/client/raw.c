/* SPDX-License-Identifier: MIT
 *
 * raw.c - keeps raw buffers for a replay: CLIENT_RAW.<pid>.bin in the format of engine/replay.c. On a machine with a
 * GPU this is how golden buffers are made: the toy profiler needs nothing of the doubles.
 */
#include "raw.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS_MAX = 256, NAMES_MAX = 4096 };

static FILE *out;
static uint32_t lengths[KINDS_MAX];
static uint64_t names[NAMES_MAX]; /* by hash; one that is pushed out is only written again */

void raw_open(void)
{
    char path[4096];
    if (!getenv("CLIENT_RAW"))
        return;
    snprintf(path, sizeof path, "%s.%d.bin", getenv("CLIENT_RAW"), getpid());
    out = fopen(path, "wbe");
}

void raw_buffer(const uint8_t *data, uint64_t bytes)
{
    if (!out)
        return;
    fwrite("PFCB", 4, 1, out);
    fwrite(&bytes, sizeof bytes, 1, out);
    fwrite(data, 1, bytes, out);
}

static void keep_name(const uint8_t *record, uint32_t offset)
{
    uint64_t pointer;
    memcpy(&pointer, record + offset, sizeof pointer);
    uint64_t *slot = &names[(pointer * 0x9E3779B97F4A7C15u) >> 52];
    if (!pointer || *slot == pointer)
        return;
    *slot = pointer;
    const char *text = (const char *)(uintptr_t)pointer;
    const uint32_t bytes = (uint32_t)strlen(text);
    fwrite("NAME", 4, 1, out);
    fwrite(&pointer, sizeof pointer, 1, out);
    fwrite(&bytes, sizeof bytes, 1, out);
    fwrite(text, 1, bytes, out);
}

void raw_record(const uint8_t *record, const uint8_t *end)
{
    uint32_t kind_and_length[2] = {0, (uint32_t)(end - record)};
    if (!out)
        return;
    memcpy(kind_and_length, record, sizeof(uint32_t));
    const uint32_t kind = kind_and_length[0];
    if (kind < KINDS_MAX && !lengths[kind]) {
        lengths[kind] = kind_and_length[1];
        fwrite("RLEN", 4, 1, out);
        fwrite(kind_and_length, sizeof kind_and_length, 1, out);
    }
    if (kind == 3 || kind == 10)
        keep_name(record, 104);
    else if (kind == 8)
        keep_name(record, 136);
}

void raw_close(void)
{
    if (out)
        fclose(out);
    out = NULL;
}
