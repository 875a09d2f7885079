/* SPDX-License-Identifier: MIT
 *
 * t_heap_bomb.c - a trace that fills the tables of live blocks: its readers stay within their bounds, and the report
 * says what it does not know.
 */
#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "helper_bomb.h"

#include <string.h>
#include <zstd.h>

/* Columns of 4096 allocations of 1 byte, the `index`-th such run of addresses. */
static struct pt_str births(pt_u64 index, pt_u32 *ret_encoded_bytes)
{
    enum { N = PT_CODEC_MAX_UNITS };
    static struct pt_unit16 units[N];
    static struct pt_codec_scratch scratch;
    char packed[1 << 16];
    struct pt_str frame = {0};
    for (pt_u64 i = 0; i < N; i++)
        units[i] = (struct pt_unit16){
            ((index * N + i + 1) << 4) << 16 | (pt_u64)PT_EV_heap_malloc << PT_GENERATION_BITS | 1, 1};
    const struct pt_encoded encoded = pt_encode_units(units, N, 1, &scratch);
    assert_int_equal(encoded.events, N);
    const size_t bytes = ZSTD_compress(packed, sizeof packed, scratch.output, encoded.bytes, 3);
    assert_false(ZSTD_isError(bytes));
    pt_str_bytes(&frame, packed, bytes);
    *ret_encoded_bytes = encoded.bytes;
    return frame;
}

/* The report says that it does not know, and why; what was counted while it was recorded stands. */
static void live_heap_is_unknown(const char *folder)
{
    struct pt_error err = {0};
    struct pt_profile profile = {.session = pt_session_open(folder, &err)};
    assert_non_null(profile.session);
    assert_int_equal(pt_analyze(&profile, &err), 0);
    assert_int_equal(profile.session->n_notes, 1);
    assert_non_null(strstr(profile.session->notes[0], "process 100: more heap blocks were live at once than the 7"));
    const struct pt_value peak = pt_metrics_get(&profile.metrics, pt_scope_process(0), "heap.live_peak.bytes");
    assert_int_equal(peak.type, PT_VALUE_UNKNOWN);
    static const char *const names[] = {"heap.live_peak.bytes", "heap.growth.bytes", "heap.churn.bytes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pt_value value = pt_metrics_get(&profile.metrics, pt_scope_stage(0), names[i]);
        assert_int_equal(value.type, PT_VALUE_UNKNOWN);
        assert_string_equal(value.reason, "more blocks were live at once than are followed");
    }
    struct pt_session *session = profile.session;
    pt_profile_free(&profile);
    pt_session_close(session);
}

/* Each 128 bytes are the births of 4096 blocks that nobody releases: a table of them all would be 40 times the file. */
static void heap_that_is_never_released(void **state)
{
    (void)state;
    enum { BLOCKS = 1850 };
    struct bomb bomb;
    struct pt_str content = {0};
    bomb_begin(&bomb);
    bomb_header(&bomb)->heap_mode = PT_HEAP_FULL;
    for (pt_u32 i = 0; i < BLOCKS; i++) {
        struct pt_block head = {.coding = PT_CODING_ZSTD,
                                .buffer = PT_BUFFER_HEAP,
                                .slot = 5,
                                .tid = 105,
                                .life = 1,
                                .sequence = i + 1,
                                .events = PT_CODEC_MAX_UNITS};
        struct pt_str frame = births(i, &head.encoded_bytes);
        bomb_block(&content, head, frame.text, (pt_u32)frame.n);
        pt_str_fini(&frame);
    }
    bomb_segment(&bomb, PT_SEGMENT_BLOCKS, 5, 0, &content);
    bomb_write(&bomb, 0);
    live_heap_is_unknown(bomb.folder);
    bomb_survive(&bomb, BOMB_SALVAGED);
    pt_str_fini(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_that_is_never_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
