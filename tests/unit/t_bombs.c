/* SPDX-License-Identifier: MIT
 *
 * t_bombs.c - any file is safe to read, also one that was made to eat the machine: every checksum holds, every length,
 * count and frame lies. Each command ends with a cause or with what can be salvaged, in 512 MiB and a minute of CPU
 * time.
 */
#include "helper_bomb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_file/resources.h"

enum { TIB_SHIFT = 40 };

static struct pt_block records_block(pt_u64 sequence)
{
    return (struct pt_block){.coding = PT_CODING_ZSTD,
                             .buffer = PT_BUFFER_RECORDS,
                             .slot = 5,
                             .tid = 105,
                             .life = 1,
                             .sequence = sequence,
                             .events = 4096};
}

static void one_block(struct pt_block head, const struct pt_str *payload)
{
    struct bomb bomb;
    struct pt_str content = {0};
    bomb_begin(&bomb);
    bomb_block(&content, head, payload->text, (pt_u32)payload->n);
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
    pt_str_fini(&content);
}

static void frame_of_a_gibibyte(void **state)
{
    (void)state;
    struct pt_str frame = bomb_frame(1ull << 30, 17, 1);
    assert_true(frame.n < 128 * 1024); /* fits a block */
    struct pt_block head = records_block(1);
    head.encoded_bytes = 128 * 1024;
    one_block(head, &frame);
    pt_str_fini(&frame);
}

static void frame_with_a_huge_window_and_no_size(void **state)
{
    (void)state;
    struct pt_str frame = bomb_frame(64ull << 20, 27, 0);
    struct pt_block head = records_block(1);
    head.encoded_bytes = 128 * 1024;
    one_block(head, &frame);
    pt_str_fini(&frame);
}

static void block_that_claims_everything(void **state)
{
    (void)state;
    struct pt_record_columns columns = {.count = ~0u, .bytes = {~0u, ~0u, ~0u, ~0u, ~0u}};
    struct pt_str payload = {0};
    pt_str_bytes(&payload, (const char *)&columns, sizeof columns);
    for (int what = 0; what < 4; what++) {
        struct pt_block head = records_block(what == 3 ? ~0ull : 1);
        head.coding = PT_CODING_COLUMNS;
        head.events = what == 0 ? ~0u : 4096;
        head.stored_bytes = what == 1 ? ~0u : 0;
        head.encoded_bytes = what == 2 ? ~0u : 0;
        one_block(head, &payload);
    }
    one_block(records_block(1), &payload);
    struct pt_block lies = records_block(1);
    lies.coding = PT_CODING_COLUMNS;
    lies.first_event = ~0ull;
    lies.first_ticks = lies.last_ticks = ~0ull;
    lies.life = ~0u;
    one_block(lies, &payload);
    pt_str_fini(&payload);
}

/* Definitions whose length says 4 GiB, and stacks of as many frames as a definition can hold. */
static void definitions_of_gigabytes(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, STACKS = 24 };
    struct bomb bomb;
    struct pt_str content = {0}, blocks = {0};
    char *frames = malloc(MIB);
    assert_non_null(frames);
    memset(frames, 2, MIB); /* a million frames, each one beyond the last */
    bomb_begin(&bomb);
    for (pt_u16 type = PT_DEF_STRING; type <= PT_DEF_UNTRACED; type++) {
        bomb_definition(&content, type, 1000, "text", 4, 0xfffffff8u);
        bomb_definition(&content, type, 1001, "text", 4, 0xffffffe0u); /* rounds up to no length at all */
    }
    for (pt_u32 i = 0; i < STACKS; i++)
        bomb_definition(&content, PT_DEF_STACK, 2000 + i, frames, MIB, 0);
    bomb_segment(&bomb, PT_SEGMENT_DEFS, 0, 0, &content);
    const struct pt_event_desc *desc = pt_event_desc_by_name("heap_sample");
    for (pt_u32 i = 0; i < STACKS; i++) {
        struct pt_record record = helper_record(desc, 1000 + i, 2000 + i);
        record.aux = 2000 + i; /* its stack */
        record.stamp |= 1;
        struct pt_block head = records_block(i + 1);
        head.coding = PT_CODING_RAW;
        head.generation = 1;
        head.events = 1;
        bomb_block(&blocks, head, &record, sizeof record);
    }
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &blocks);
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
    free(frames);
    pt_str_fini(&content);
    pt_str_fini(&blocks);
}

static void text_and_schema_without_end(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        struct bomb bomb;
        struct pt_str schema = {0};
        bomb_begin(&bomb);
        if (what == 0) {
            static const char argc[] = "\0\0\0\0\0"
                                       "99999999999999999999\0";
            memcpy(bomb.bytes.text + bomb_header(&bomb)->text_offset, argc, sizeof argc - 1);
            memset(bomb.bytes.text + bomb_header(&bomb)->text_offset + sizeof argc - 1, 0, 4096 - sizeof argc + 1);
            bomb_header(&bomb)->text_bytes = ~0u;
        } else if (what == 1) {
            bomb_header(&bomb)->schema_bytes = ~0u;
        } else {
            for (pt_u32 i = 0; schema.n < (1 << 20) - 100; i++)
                pt_str_printf(&schema, "event 0x%x made_up_%u io SPAN\n u64 field_%u bytes\n", i, i, i);
            bomb_header(&bomb)->schema_offset = (pt_u32)bomb.bytes.n;
            bomb_header(&bomb)->schema_bytes = (pt_u32)schema.n;
            pt_str_bytes(&bomb.bytes, schema.text, schema.n);
        }
        bomb_write(&bomb, 0);
        bomb_survive(&bomb, BOMB_SALVAGED);
        pt_str_fini(&schema);
    }
}

/* A walk that believed these lengths would come back to where it was. */
static void segments_that_point_at_themselves(void **state)
{
    (void)state;
    static const pt_u64 claims[] = {1, 4095, ~0ull, ~0ull << 12, 0 - (pt_u64)PT_PAGE_BYTES * 8, 1ull << 63};
    struct bomb bomb;
    struct pt_str empty = {0};
    bomb_begin(&bomb);
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        for (pt_u16 type = 0; type <= PT_SEGMENT_DEFS + 1; type++)
            bomb_segment(&bomb, type, type + 10, claims[i], &empty);
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
}

/* Each page expands to 4096 events: seven million from 7 MiB. */
static void many_small_segments_that_expand(void **state)
{
    (void)state;
    enum { SEGMENTS = 500 };
    struct bomb bomb;
    struct pt_str frame = bomb_columns(4096, (pt_u8)pt_event_desc_by_name("io_read")->id);
    bomb_begin(&bomb);
    for (pt_u32 i = 0; i < SEGMENTS; i++) {
        struct pt_str content = {0};
        struct pt_block head = records_block(i + 1);
        head.encoded_bytes = sizeof(struct pt_record_columns) + 3 * 4096;
        head.first_event = 4096ull * i;
        bomb_block(&content, head, frame.text, (pt_u32)frame.n);
        bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
        pt_str_fini(&content);
    }
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
    pt_str_fini(&frame);
}

/* Nothing but a hole: behind the last segment, and inside a segment of each type that claims it all. */
static void hole_of_a_tebibyte(void **state)
{
    (void)state;
    for (pt_u16 type = 0; type <= PT_SEGMENT_DEFS; type++) {
        struct bomb bomb;
        struct pt_str empty = {0};
        bomb_begin(&bomb);
        bomb_header(&bomb)->file_bytes = 1ull << TIB_SHIFT;
        if (type)
            bomb_segment(&bomb, type, 9, (1ull << TIB_SHIFT) - bomb.bytes.n, &empty);
        bomb_write(&bomb, 1ull << TIB_SHIFT);
        bomb_survive(&bomb, BOMB_SALVAGED);
    }
}

/* Slots from the last to the first, and lives that never come twice: tables that are searched from the front would take
 * hours. */
static void crowds_of_slots_and_lives(void **state)
{
    (void)state;
    enum { CROWD = 60000 };
    const struct pt_event_desc *desc = pt_event_desc_by_name("io_read");
    struct pt_record record = helper_record(desc, 1000, 1);
    record.stamp |= 1;
    for (int lives = 0; lives < 2; lives++) {
        struct bomb bomb;
        struct pt_str content = {0};
        bomb_begin(&bomb);
        for (pt_u32 i = 0; i < CROWD; i++) {
            struct pt_block head = records_block(lives ? i + 1 : 1);
            head.coding = PT_CODING_RAW;
            head.generation = 1;
            head.events = 1;
            head.slot = lives ? 5 : CROWD - i;
            head.life = lives ? i + 1 : 1;
            bomb_block(&content, head, &record, sizeof record);
        }
        bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
        pt_str_clear(&content);
        bomb_header(&bomb)->minute_ns = 1; /* there are totals by minute, of many minutes */
        for (pt_u32 i = 0; i < CROWD / 60; i++)
            bomb_segment(&bomb, PT_SEGMENT_MINUTES, CROWD - i, 0, &content);
        bomb_write(&bomb, 0);
        bomb_survive(&bomb, BOMB_SALVAGED);
        pt_str_fini(&content);
    }
}

/* Threads that all run at once, each with a block that begins when all begin: each would be held decoded. */
static void crowd_that_begins_at_once(void **state)
{
    (void)state;
    enum { CROWD = 3500, EVENTS = 1024 };
    struct bomb bomb;
    struct pt_str frame = bomb_columns(EVENTS, (pt_u8)pt_event_desc_by_name("io_read")->id), content = {0};
    bomb_begin(&bomb);
    for (pt_u32 i = 0; i < CROWD; i++) {
        struct pt_block head = records_block(1);
        head.encoded_bytes = sizeof(struct pt_record_columns) + 3 * EVENTS;
        head.events = EVENTS;
        head.slot = i + 10;
        bomb_block(&content, head, frame.text, (pt_u32)frame.n);
    }
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
    pt_str_fini(&frame);
    pt_str_fini(&content);
}

/* Every event joins another pair of long names: n names would make n * n paths. */
static void names_that_multiply(void **state)
{
    (void)state;
    enum { NAMES = 128, LENGTH = 64 * 1024 };
    struct bomb bomb;
    struct pt_str content = {0}, blocks = {0};
    char *name = malloc(LENGTH);
    assert_non_null(name);
    memset(name, 'x', LENGTH);
    bomb_begin(&bomb);
    for (pt_u32 i = 0; i < NAMES; i++) {
        name[0] = i % 2 ? '/' : 'r'; /* odd: a directory, even: a name in it */
        snprintf(name + 1, 8, "%u", i);
        name[strlen(name)] = 'x';
        bomb_definition(&content, PT_DEF_STRING, 3000 + i, name, LENGTH, 0);
    }
    bomb_segment(&bomb, PT_SEGMENT_DEFS, 0, 0, &content);
    const struct pt_event_desc *desc = pt_event_desc_by_name("meta_stat");
    for (pt_u32 i = 0; i < NAMES * NAMES / 4; i++) {
        struct pt_record record = helper_record(desc, 1000 + i, 0);
        const pt_u32 ids[2] = {3000 + 2 * (i % (NAMES / 2)), 3001 + 2 * (i / (NAMES / 2))};
        memcpy(record.payload + 4, ids, sizeof ids);
        record.stamp |= 1;
        struct pt_block head = records_block(i + 1);
        head.coding = PT_CODING_RAW;
        head.generation = 1;
        head.events = 1;
        bomb_block(&blocks, head, &record, sizeof record);
    }
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &blocks);
    bomb_write(&bomb, 0);
    bomb_survive(&bomb, BOMB_SALVAGED);
    free(name);
    pt_str_fini(&content);
    pt_str_fini(&blocks);
}

/* ---- the files beside the trace ---- */

static void beside(const char *name, const struct pt_str *content, off_t bytes)
{
    struct bomb bomb;
    bomb_begin(&bomb);
    bomb_write(&bomb, 0);
    const int fd = bomb_file(&bomb, name, pt_str_text(content), content->n);
    if (bytes && ftruncate(fd, bytes) < 0)
        skip();
    close(fd);
    bomb_survive(&bomb, BOMB_SALVAGED);
}

static void session_page_of_a_tebibyte(void **state)
{
    (void)state;
    struct pt_session_page page = {.magic = PT_SESSION_MAGIC, .processes = ~0ull, .refused = {~0ull, ~0ull}};
    struct pt_str content = {0};
    pt_str_bytes(&content, (const char *)&page, sizeof page);
    beside(PT_SESSION_FILE, &content, (off_t)1 << TIB_SHIFT);
    pt_str_fini(&content);
}

static void run_json_that_explodes(void **state)
{
    (void)state;
    struct pt_str content = {0};
    for (int i = 0; i < 100000; i++)
        pt_str_add(&content, i % 2 ? "[" : "{\"a\":");
    beside("run.json", &content, 0);
    pt_str_clear(&content);
    pt_str_add(&content, "{\"stage\": \"");
    beside("run.json", &content, 1 << 30);
    pt_str_clear(&content);
    pt_str_add(&content, "{\"command\": [0"); /* two bytes in the file, eighty in memory */
    while (content.n < 60u << 20)
        pt_str_add(&content, ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    pt_str_add(&content, "]}");
    beside("run.json", &content, 0);
    pt_str_clear(&content);
    pt_str_add(&content, "{\"stages\": [{\"stage\":\"a0\"}"); /* fifteen bytes in the file, kilobytes in memory */
    for (int i = 0; i < 300000; i++)
        pt_str_add(&content, ",{\"stage\":\"a0\"}");
    pt_str_add(&content, "]}");
    beside("run.json", &content, 0);
    pt_str_clear(&content);
    pt_str_add(&content,
               "{\"stages\": [{\"stage\":\"a0\",\"samples\":{\"t_ns\":[0"); /* each list gets as many values */
    for (int i = 0; i < 3000000; i++)
        pt_str_add(&content, ",0");
    pt_str_add(&content, "]");
    for (int i = 0; i < PT_RESOURCE__COUNT; i++)
        pt_str_printf(&content, ",\"%s\":[]", pt_resources[i].id);
    pt_str_add(&content, "}}]}");
    beside("run.json", &content, 0);
    pt_str_fini(&content);
}

static void run_json_that_never_comes(void **state)
{
    (void)state;
    static const char *const names[] = {"run.json", "session.bin", "200.ptr"};
    struct bomb bomb;
    char path[128];
    bomb_begin(&bomb);
    bomb_write(&bomb, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", bomb.folder, names[i]);
        assert_int_equal(mkfifo(path, 0600), 0);
    }
    alarm(60); /* a reader that waits for a writer waits for ever */
    bomb_survive(&bomb, BOMB_SALVAGED);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_of_a_gibibyte),
        cmocka_unit_test(frame_with_a_huge_window_and_no_size),
        cmocka_unit_test(block_that_claims_everything),
        cmocka_unit_test(definitions_of_gigabytes),
        cmocka_unit_test(text_and_schema_without_end),
        cmocka_unit_test(segments_that_point_at_themselves),
        cmocka_unit_test(many_small_segments_that_expand),
        cmocka_unit_test(hole_of_a_tebibyte),
        cmocka_unit_test(crowds_of_slots_and_lives),
        cmocka_unit_test(crowd_that_begins_at_once),
        cmocka_unit_test(names_that_multiply),
        cmocka_unit_test(session_page_of_a_tebibyte),
        cmocka_unit_test(run_json_that_explodes),
        cmocka_unit_test(run_json_that_never_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
