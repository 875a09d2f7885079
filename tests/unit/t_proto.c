/* SPDX-License-Identifier: MIT
 *
 * t_proto.c - what the protobuf writer writes is what a reader reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/out/proto.h"

static const char *read_varint(const char *at, pt_u64 *ret_value)
{
    *ret_value = 0;
    for (int shift = 0;; shift += 7) {
        *ret_value |= (pt_u64)(*at & 0x7f) << shift;
        if (!(*at++ & 0x80))
            return at;
    }
}

static void test_varints(void **state)
{
    (void)state;
    char bytes[16];
    for (int bit = 0; bit < 64; bit++)
        for (int around = -1; around <= 1; around++) {
            const pt_u64 value = (1ull << bit) + (pt_u64)(pt_i64)around;
            pt_u64 back;
            char *end = pt_proto_varint(bytes, value);
            assert_ptr_equal(read_varint(bytes, &back), end);
            assert_int_equal(back, value);
            assert_true(end - bytes <= 10);
        }
    assert_memory_equal(bytes, "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10);
}

static void test_fields(void **state)
{
    (void)state;
    char bytes[64];
    assert_int_equal(pt_proto_u64(bytes, 1, 150) - bytes, 3);
    assert_memory_equal(bytes, "\x08\x96\x01", 3);
    assert_int_equal(pt_proto_u64(bytes, 60, 1) - bytes, 3); /* a tag of two bytes */
    assert_memory_equal(bytes, "\xe0\x03\x01", 3);
    assert_int_equal(pt_proto_i64(bytes, 2, -1) - bytes, 11);
    assert_memory_equal(bytes, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    assert_int_equal(pt_proto_fixed64(bytes, 47, 0x0102030405060708) - bytes, 10);
    assert_memory_equal(bytes, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
    assert_int_equal(pt_proto_f64(bytes, 1, 1.0) - bytes, 9);
    assert_memory_equal(bytes, "\x09\0\0\0\0\0\0\xf0\x3f", 9);
}

/* Lengths of up to two bytes, always written as two. */
static void test_messages(void **state)
{
    (void)state;
    static char bytes[PT_PROTO_MESSAGE_BYTES + 8];
    static const pt_u32 sizes[] = {0, 1, 127, 128, 129, 16382, PT_PROTO_MESSAGE_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *const start = pt_proto_begin(bytes, 4);
        char *const end = pt_proto_end(start, start + sizes[i]);
        pt_u64 tag, length;
        const char *at = read_varint(read_varint(bytes, &tag), &length);
        assert_int_equal(tag, 4 << 3 | PT_PROTO_BYTES);
        assert_int_equal(length, sizes[i]);
        assert_ptr_equal(at, start);
        assert_ptr_equal(at + length, end);
    }
}

static void test_short_messages(void **state)
{
    (void)state;
    char bytes[140];
    for (pt_u32 size = 0; size <= 127; size++) {
        char *const start = pt_proto_begin_short(bytes, 4);
        pt_u64 tag, length;
        assert_ptr_equal(pt_proto_end_short(start, start + size), start + size);
        const char *at = read_varint(read_varint(bytes, &tag), &length);
        assert_int_equal(length, size);
        assert_ptr_equal(at, start);
    }
}

static void check_text(const char *text, const char *wanted)
{
    char bytes[PT_PROTO_TEXT_BYTES + 16];
    pt_u64 tag, length;
    char *end = pt_proto_text(bytes, 2, text);
    const char *at = read_varint(read_varint(bytes, &tag), &length);
    assert_ptr_equal(at + length, end);
    assert_int_equal(length, strlen(wanted));
    assert_memory_equal(at, wanted, length);
}

static void test_texts(void **state)
{
    (void)state;
    static char longer[2 * PT_PROTO_TEXT_BYTES];
    check_text("", "");
    check_text("a\n\x01\"\\", "a\n\x01\"\\");
    check_text("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
    check_text("a\xff\xc0\xaf\xed\xa0\x80z",
               "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    for (int step = 1; step <= 4; step++) {
        char bytes[PT_PROTO_TEXT_BYTES + 16];
        for (size_t i = 0; i + 1 < sizeof longer; i++) /* cut within a character or not */
            longer[i] = "\xf0\x9f\x98\x80"[step == 1 ? 3 : (i + (size_t)step) % 4];
        assert_true(pt_proto_text(bytes, 2, longer) - bytes <= (ptrdiff_t)PT_PROTO_TEXT_BYTES + 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_varints), cmocka_unit_test(test_fields),
                                       cmocka_unit_test(test_messages), cmocka_unit_test(test_short_messages),
                                       cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
