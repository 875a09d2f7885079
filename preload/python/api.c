/* SPDX-License-Identifier: MIT
 *
 * api.c - finds CPython's functions by the dynamic symbols of what is loaded.
 *
 * Entered by the constructor, and by any thread of the host that meets a new name. Reads the symbol tables:
 * dlsym would find nothing in a libpython that was loaded for its loader only (RTLD_LOCAL), would leave its failures
 * for the host's dlerror, and a handle would have to wait for whoever is loading a library. Never loads anything.
 */
#include "api.h"

#include <elf.h>
#include <link.h>

#include "core/real/may_be_missing.h"
#include "core/real/symbol_table.h"

struct pt_python_api pt_python_api;

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 0;
}

/* Without a pointer, which would have to be relocated when each process starts. */
#define NAME_BYTES 40
struct row {
    char name[NAME_BYTES];
    pt_u32 offset;
    pt_u32 is_optional;
};

#define ROW(name) _Static_assert(sizeof #name <= NAME_BYTES, "a longer name");
#define FUNCTION(type, name, parameters) ROW(name)
#define OPTIONAL(type, name, parameters) ROW(name)
#define OBJECT(name) ROW(name)
#include "api.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
#undef ROW

static const struct row rows[] = {
#define ROW(name, is_optional) {#name, __builtin_offsetof(struct pt_python_api, name), is_optional},
#define FUNCTION(type, name, parameters) ROW(name, 0)
#define OPTIONAL(type, name, parameters) ROW(name, 1)
#define OBJECT(name) ROW(name, 0)
#include "api.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
};

static enum pt_python_found resolve(const struct pt_symbol_table *in, const char *library, pt_u64 runtime_bytes)
{
    int is_whole = 1;
    for (pt_u32 i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pt_symbol *symbol = pt_symbol_find(in, rows[i].name, 0);
        const pt_u64 address = symbol ? in->base + symbol->st_value : 0;
        __builtin_memcpy((char *)&pt_python_api + rows[i].offset, &address, sizeof address);
        is_whole &= symbol || rows[i].is_optional;
    }
    pt_python_api.runtime_bytes = runtime_bytes;
    pt_python_api.library = library;
    if (!pt_python_api.Py_IsFinalizing)
        pt_python_api.Py_IsFinalizing = pt_python_api._Py_IsFinalizing;
    is_whole &= pt_python_api.Py_IsFinalizing != 0;
    return is_whole ? PT_PYTHON_FOUND : PT_PYTHON_UNFIT;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *ret)
{
    static pt_u64 last_adds; /* of two threads at once, both look */
    enum pt_python_found *found = ret;
    struct pt_symbol_table symbols;
    if (*found == PT_PYTHON_UNCHANGED) {
        if (size < sizeof *info || info->dlpi_adds == last_adds)
            return 1;
        last_adds = info->dlpi_adds;
        *found = PT_PYTHON_ABSENT;
    }
    const pt_symbol *runtime = pt_symbol_table_read(&symbols, info->dlpi_addr, dynamic_of(info)) == 0
                                   ? pt_symbol_find(&symbols, "_PyRuntime", 0)
                                   : 0;
    if (!runtime)
        return 0;
    *found = resolve(&symbols, info->dlpi_name, runtime->st_size);
    return 1;
}

enum pt_python_found pt_python_api_find(void)
{
    enum pt_python_found found = PT_PYTHON_UNCHANGED;
    dl_iterate_phdr(look_into, &found);
    return found;
}

void *pt_python_attribute(void *object, const char *name)
{
    void *value = object ? pt_python_api.PyObject_GetAttrString(object, name) : 0;
    if (!value)
        pt_python_api.PyErr_Clear();
    return value;
}

void pt_python_drop(void *object)
{
    if (object)
        pt_python_api.Py_DecRef(object);
}

/* Python, too, loads libraries while it holds the GIL: no order of locks is new. */
void pt_python_api_pin(void)
{
    if (pt_python_api.library && *pt_python_api.library && dlopen)
        dlopen(pt_python_api.library, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
