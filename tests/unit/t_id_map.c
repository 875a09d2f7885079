/* SPDX-License-Identifier: MIT
 *
 * t_id_map.c - values by process and id: found again, bounded whatever ids a file claims.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "proftrace/types.h"
#include "util/id_map.h"

static void what_was_stored_is_found(void **state)
{
    (void)state;
    struct pt_id_map map = {0};
    assert_int_equal(pt_id_map_get(&map, 3, 7), 0);
    for (pt_u32 process = 0; process < 50; process++)
        for (pt_u32 id = 1; id < 3000; id += 7)
            *pt_id_map_at(&map, process, id) = (pt_u64)process << 32 | id;
    for (pt_u32 process = 0; process < 50; process++)
        for (pt_u32 id = 1; id < 3000; id++)
            assert_int_equal(pt_id_map_get(&map, process, id), id % 7 == 1 ? (pt_u64)process << 32 | id : 0);
    pt_id_map_fini(&map);
}

/* 400 processes ask for a table of 200,000 values each, and ids as large as can be. */
static void claimed_ids_take_no_memory(void **state)
{
    (void)state;
    struct pt_id_map map = {0};
    for (pt_u32 process = 0; process < 400; process++) {
        *pt_id_map_at(&map, process, 200000 + process) = process + 1;
        *pt_id_map_at(&map, process, 5) = process + 2;
        *pt_id_map_at(&map, process, ~process) = process + 3;
        *pt_id_map_at(&map, ~process, 9) = process + 4;
    }
    assert_true(map.n_values <= 1 << 20);
    for (pt_u32 process = 0; process < 400; process++) {
        assert_int_equal(pt_id_map_get(&map, process, 200000 + process), process + 1);
        assert_int_equal(pt_id_map_get(&map, process, 5), process + 2);
        assert_int_equal(pt_id_map_get(&map, process, ~process), process + 3);
        assert_int_equal(pt_id_map_get(&map, ~process, 9), process + 4);
    }
    assert_int_equal(pt_id_map_get(&map, 1, 199999), 0);
    pt_id_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_stored_is_found),
        cmocka_unit_test(claimed_ids_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
