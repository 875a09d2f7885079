/* SPDX-License-Identifier: MIT
 *
 * layout.c - the layout by version, from a table or from the interpreter's own.
 *
 * Entered once, at boot, by the thread that holds the GIL. Never trusts what it finds: check.c does that.
 */
#include "layout.h"

#include "proftrace/python_walk.h"
#include "api.h"

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

const char *pt_python_layout_find(struct pt_python_header *ret)
{
    const int is_large = pt_python_api.runtime_bytes >= PT_PYTHON_RUNTIME_BYTES;
    ret->interpreter = (pt_u64)pt_python_api.PyInterpreterState_Main();
    ret->code_type = (pt_u64)pt_python_api.PyCode_Type;
    return pt_python_layout_of(&ret->layout, ret->version, is_large ? pt_python_api._PyRuntime : 0);
}
