/* SPDX-License-Identifier: MIT
 *
 * layout.c - the layout by version, from a table or from the interpreter's own.
 *
 * Entered once, at boot, by the thread that holds the GIL. Never trusts what it finds: check.c does that.
 */
#include "layout.h"

#include "api.h"

#define NONE PT_PYTHON_NO_MEMBER
/* Of every version. */
#define OBJECTS .object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_length = 16, .text_state = 32

struct version_layout {
    pt_u32 minor;
    struct pt_python_layout layout;
};

static const struct version_layout layouts[] = {
#define LAYOUT(minor, ...) {minor, {OBJECTS, __VA_ARGS__}},
#include "layouts.def"
#undef LAYOUT
};

struct debug_offset {
    pt_u16 member; /* offset in struct pt_python_layout */
    pt_u8 index_3_13, index_3_14;
};

static const struct debug_offset debug_offsets[] = {
#define OFFSET(member, index_3_13, index_3_14)                                                                         \
    {__builtin_offsetof(struct pt_python_layout, member), index_3_13, index_3_14},
#include "debug_offsets.def"
#undef OFFSET
};

static pt_u32 number(const char **at)
{
    pt_u32 value = 0;
    for (; **at >= '0' && **at <= '9' && value < 1000; (*at)++)
        value = value * 10 + (pt_u32)(**at - '0');
    return value;
}

/* "3.12.1 (main, ...", "3.14.0rc2+ ...", as PY_VERSION_HEX has it. */
pt_u32 pt_python_version(void)
{
    const char *at = pt_python_api.Py_GetVersion();
    if (!at)
        return 0;
    const pt_u32 major = number(&at), minor = *at == '.' ? (at++, number(&at)) : 0,
                 micro = *at == '.' ? (at++, number(&at)) : 0;
    const pt_u32 level = *at == 'a' ? 0xa : *at == 'b' ? 0xb : *at == 'r' ? 0xc : 0xf;
    return major << 24 | minor << 16 | micro << 8 | level << 4;
}

static const char *read_debug_offsets(struct pt_python_layout *ret, pt_u32 minor)
{
    enum { VERSION, FREE_THREADED, LAST_INDEX = 47 };
    const char *mark = pt_python_api._PyRuntime;
    const pt_u64 *offsets = (const pt_u64 *)(const void *)(mark + 8);
    if (pt_python_api.runtime_bytes < (LAST_INDEX + 2) * sizeof *offsets || __builtin_memcmp(mark, "xdebugpy", 8) != 0)
        return "no table of offsets in _PyRuntime";
    if (offsets[VERSION] >> 16 != (3u << 8 | minor))
        return "the table of offsets is of another version";
    if (offsets[FREE_THREADED])
        return "free-threaded build";
    *ret = (struct pt_python_layout){OBJECTS, .cframe_frame = NONE, .text_ascii = 40, .text_compact = 56};
    for (pt_u32 i = 0; i < sizeof debug_offsets / sizeof *debug_offsets; i++) {
        const struct debug_offset *row = &debug_offsets[i];
        const pt_u64 offset = offsets[minor == 13 ? row->index_3_13 : row->index_3_14];
        const pt_u16 value = (pt_u16)offset;
        if (offset >= NONE)
            return "an offset in _PyRuntime is too large";
        __builtin_memcpy((char *)ret + row->member, &value, sizeof value);
    }
    return 0;
}

const char *pt_python_layout_find(struct pt_python_header *ret)
{
    const pt_u32 minor = ret->version >> 16 & 0xff;
    ret->interpreter = (pt_u64)pt_python_api.PyInterpreterState_Main();
    ret->code_type = (pt_u64)pt_python_api.PyCode_Type;
    if (ret->version >> 24 != 3)
        return "not Python 3";
    if (minor == 13 || minor == 14)
        return read_debug_offsets(&ret->layout, minor);
    for (pt_u32 i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor) {
            ret->layout = layouts[i].layout;
            return 0;
        }
    return "a version that is not known";
}
