/* SPDX-License-Identifier: MIT
 *
 * kinds.c - the table of kinds.h. Each FIELD adds (result width) + 16 * (bytes width) to one number per event.
 */
#include "kinds.h"

enum {
    RESULT_OF_PAD = 0,
    RESULT_OF_ADDR = 0,
    RESULT_OF_BYTES = 0,
    RESULT_OF_OFFSET = 0,
    RESULT_OF_COUNT = 0,
    RESULT_OF_NUMBER = 0,
    RESULT_OF_HEX = 0,
    RESULT_OF_STRING = 0,
    RESULT_OF_STACK = 0,
    RESULT_OF_FD = 0,
    RESULT_OF_OPEN_FLAGS = 0,
    RESULT_OF_WHENCE = 0,
    RESULT_OF_HEAP_FUNCTION = 0,
    RESULT_OF_RESULT = 1,
    RESULT_OF_RESULT_FD = 1,
    RESULT_OF_RESULT_PID = 1,
    RESULT_OF_RESULT_BYTES = 1 + 16,
};

#define AUX(name, unit, doc)
#define TAG(name, unit, doc)
#define FIELD(type, name, unit, doc) +RESULT_OF_##unit *(int)sizeof(pt_##type)
#define EVENT(id, name, category, role, doc, ...)                                                                      \
    [id] = {PT_ROW_##name + 1, (0 __VA_ARGS__) & 15, ((0 __VA_ARGS__) >> 4) != 0, PT_ROLE_##role == PT_ROLE_SPAN},
const struct pt_kind pt_kinds[256] = {
#include "proftrace/events.def"
};
