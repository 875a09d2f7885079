/* SPDX-License-Identifier: MIT
 *
 * t_block_index.c - what is kept of the blocks of a file: their order, what is missing between them, and that a block
 * which is not the indexed one any more is damage.
 */
#include "proftrace/events.h"
#include "helper_bomb.h"
#include "source/block.h"
#include "source/open.h"

#include <string.h>
#include <unistd.h>

enum { SLOT = 9, EACH = 10 };

/* A block of ten records that were given to the buffer as [first_event, first_event + 10). */
static void add_block(struct pt_str *content, pt_u64 sequence, pt_u32 life, pt_u64 first_event)
{
    const struct pt_block head = {.coding = PT_CODING_COLUMNS,
                                  .buffer = PT_BUFFER_RECORDS,
                                  .slot = SLOT,
                                  .tid = 100 + life,
                                  .life = life,
                                  .sequence = sequence,
                                  .events = EACH,
                                  .first_event = first_event,
                                  .first_ticks = sequence * 1000,
                                  .last_ticks = sequence * 1000 + 500};
    struct pt_str columns = bomb_columns(EACH, PT_EV_io_read);
    bomb_block(content, head, columns.text, (pt_u32)columns.n);
    pt_str_fini(&columns);
}

static void end_segment(struct bomb *bomb, struct pt_str *content)
{
    bomb_segment(bomb, PT_SEGMENT_BLOCKS, 0, 0, content);
    pt_str_fini(content);
    *content = (struct pt_str){0};
}

/* Newest blocks first, as where a segment was used again; block 3 was lost inside a segment, block 6 lies there twice,
 * and block 8 is the first of another life. */
static struct pt_trace_file *shuffled(struct helper_file *ret_file)
{
    struct bomb bomb;
    struct pt_str content = {0};
    bomb_begin(&bomb);
    for (pt_u64 sequence = 5; sequence <= 7; sequence++)
        add_block(&content, sequence, 1, sequence * EACH);
    end_segment(&bomb, &content);
    add_block(&content, 6, 1, 6 * EACH);
    add_block(&content, 8, 2, 8 * EACH);
    end_segment(&bomb, &content);
    add_block(&content, 1, 1, 1 * EACH);
    add_block(&content, 2, 1, 2 * EACH);
    add_block(&content, 4, 1, 4 * EACH);
    end_segment(&bomb, &content);
    *ret_file = helper_file(bomb.bytes.text, bomb.bytes.n);
    struct pt_error err = {0};
    struct pt_trace_file *file = pt_trace_file_open(ret_file->path, &err);
    assert_non_null(file);
    pt_str_fini(&bomb.bytes);
    rmdir(bomb.folder);
    return file;
}

static const struct pt_slot_blocks *blocks_of(const struct pt_trace_file *file)
{
    for (size_t i = 0; i < file->slots.n; i++)
        if (file->slots.items[i].slot == SLOT)
            return &file->slots.items[i].blocks[PT_BUFFER_RECORDS];
    fail();
    return NULL;
}

static void segments_used_again_are_put_in_order(void **state)
{
    (void)state;
    static const pt_u64 sequences[] = {1, 2, 4, 5, 6, 7, 8};
    enum { N = sizeof sequences / sizeof *sequences };
    struct helper_file place;
    struct pt_trace_file *file = shuffled(&place);
    const struct pt_slot_blocks *blocks = blocks_of(file);
    struct pt_block_loader *loader = pt_block_loader_new();
    assert_int_equal(blocks->n, N);
    for (size_t i = 0; i < N; i++) {
        struct pt_block header;
        assert_non_null(pt_block_load(loader, file, blocks, i, &header));
        assert_int_equal(header.sequence, sequences[i]);
        assert_int_equal(header.life, pt_slot_blocks_run(blocks, i)->life);
        assert_int_equal(blocks->items[i].first_ticks, sequences[i] * 1000);
    }
    assert_int_equal(blocks->events, N * EACH);
    assert_int_equal(blocks->missing_blocks, 1);
    assert_int_equal(blocks->missing_inside, EACH);
    pt_block_loader_free(loader);
    pt_trace_file_close(file);
    helper_close(&place);
}

/* Blocks 5 and 6 lie before what is left of the segment's former use; the segment that had 3 and 4 was given back. */
static void what_was_given_back_is_no_damage(void **state)
{
    (void)state;
    struct bomb bomb;
    struct pt_str content = {0};
    bomb_begin(&bomb);
    add_block(&content, 5, 1, 5 * EACH);
    add_block(&content, 6, 1, 6 * EACH);
    add_block(&content, 2, 1, 2 * EACH);
    end_segment(&bomb, &content);
    struct helper_file place = helper_file(bomb.bytes.text, bomb.bytes.n);
    struct pt_error err = {0};
    struct pt_trace_file *file = pt_trace_file_open(place.path, &err);
    assert_non_null(file);
    assert_int_equal(blocks_of(file)->n, 3);
    assert_int_equal(blocks_of(file)->missing_inside, 0);
    pt_trace_file_close(file);
    helper_close(&place);
    pt_str_fini(&bomb.bytes);
    rmdir(bomb.folder);
}

static void what_follows_what_is_known(void **state)
{
    (void)state;
    struct helper_file place;
    struct pt_trace_file *file = shuffled(&place);
    const struct pt_slot_blocks *blocks = blocks_of(file);
    static const pt_u64 next[] = {2000, 0, 5000, 6000, 7000, 0, 0}; /* 3 is missing, 8 is another life's */
    static const size_t behind[] = {0, 1, 2, 2, 3, 4, 5, 6, 7, 7};
    for (size_t i = 0; i < blocks->n; i++)
        assert_int_equal(pt_slot_blocks_next_ticks(blocks, i), next[i]);
    for (pt_u64 sequence = 0; sequence < sizeof behind / sizeof *behind; sequence++)
        assert_int_equal(pt_slot_blocks_behind(blocks, sequence), behind[sequence]);
    pt_trace_file_close(file);
    helper_close(&place);
}

/* ---- a block that is not the one that was indexed ---- */

static void lose_magic(struct pt_block *block)
{
    block->commit = 0;
}

static void claim_more(struct pt_block *block)
{
    block->stored_bytes = ~0u;
}

static void expand_more(struct pt_block *block)
{
    block->encoded_bytes = ~0u;
}

static void hold_one_more(struct pt_block *block)
{
    block->events++;
}

static void be_of_another_slot(struct pt_block *block)
{
    block->slot++;
}

static void be_of_another_buffer(struct pt_block *block)
{
    block->buffer ^= 1;
}

static void be_a_later_one(struct pt_block *block)
{
    block->sequence += 100;
}

static void be_of_another_life(struct pt_block *block)
{
    block->life++;
}

static void begin_later(struct pt_block *block)
{
    block->first_ticks++;
}

static void be_of_no_coding(struct pt_block *block)
{
    block->coding = 77;
}

/* Where the first block of a trace lies. */
static pt_u64 first_block(const pt_u8 *bytes, pt_u64 n)
{
    const pt_u32 magic = PT_BLOCK_MAGIC;
    for (pt_u64 at = 0; at + sizeof(struct pt_block) < n; at += PT_BLOCK_ALIGN)
        if (!memcmp(bytes + at, &magic, sizeof magic))
            return at;
    fail();
    return 0;
}

/* The sum of events that are read and those that are counted as lost stays what the index knew. */
static void read_damaged(struct pt_session *session, pt_u64 least_blocks, pt_u64 most_blocks)
{
    for (int pass = 0; pass < 2; pass++) {
        const pt_u64 read = helper_read(session, NULL, 0);
        assert_int_equal(read + session->quality.corrupt_events, 3 * PT_KIND__COUNT);
        assert_int_equal(session->quality.events, read);
        assert_in_range(session->quality.corrupt_blocks, least_blocks, most_blocks);
    }
}

static void blocks_that_change_after_opening_are_damage(void **state)
{
    (void)state;
    static void (*const changes[])(struct pt_block *) = {
        lose_magic,           claim_more,     expand_more,        hold_one_more, be_of_another_slot,
        be_of_another_buffer, be_a_later_one, be_of_another_life, begin_later,   be_of_no_coding};
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    const pt_u64 at = first_block(bytes, n);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct helper_file file = helper_file(bytes, n);
        struct pt_error err = {0};
        struct pt_session *session = pt_session_open(file.path, &err);
        assert_non_null(session);
        struct pt_block block;
        memcpy(&block, bytes + at, sizeof block);
        const pt_u32 payload_bytes = block.stored_bytes;
        changes[i](&block);
        if (block.stored_bytes == payload_bytes)
            block.crc = pt_block_crc(&block, bytes + at + sizeof block);
        assert_int_equal(pwrite(file.fd, &block, sizeof block, (off_t)at), sizeof block);
        read_damaged(session, 1, 1);
        pt_session_close(session);
        helper_close(&file);
    }
    pt_trace_writer_free(w);
}

static void files_cut_after_opening_are_damage(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    pt_u64 n;
    const pt_u8 *bytes = pt_writer_finish(w, &n);
    const pt_u64 at = first_block(bytes, n);
    const pt_u64 lengths[] = {0, at, at + 10, at + sizeof(struct pt_block), at + sizeof(struct pt_block) + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct helper_file file = helper_file(bytes, n);
        struct pt_error err = {0};
        struct pt_session *session = pt_session_open(file.path, &err);
        assert_non_null(session);
        assert_int_equal(ftruncate(file.fd, (off_t)lengths[i]), 0);
        read_damaged(session, 1, 100);
        pt_session_close(session);
        helper_close(&file);
    }
    pt_trace_writer_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_used_again_are_put_in_order),
        cmocka_unit_test(what_was_given_back_is_no_damage),
        cmocka_unit_test(what_follows_what_is_known),
        cmocka_unit_test(blocks_that_change_after_opening_are_damage),
        cmocka_unit_test(files_cut_after_opening_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
