/* SPDX-License-Identifier: MIT
 *
 * unit_functions.c - Owns: the functions of the units that were asked, by address. Threads: one at a time. Never: walks
 * a unit twice; follows a tree of debug information deeper than DEEPEST, as it may be hostile.
 */
#include "unit_functions.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/vec.h"

enum { DEEPEST = 128, MOST_FUNCTIONS = 1 << 20 };

struct function_range {
    pt_u64 start, end;
    Dwarf_Off function;
};

struct unit {
    PT_VEC(struct function_range);
};

static int by_start(const void *a, const void *b)
{
    const struct function_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static void add_function(struct unit *unit, Dwarf_Die *function)
{
    Dwarf_Addr base, start, end;
    const Dwarf_Off offset = dwarf_dieoffset(function);
    for (ptrdiff_t i = 0; (i = dwarf_ranges(function, i, &base, &start, &end)) > 0 && unit->n < MOST_FUNCTIONS;)
        if (start < end)
            pt_vec_push(unit, ((struct function_range){start, end, offset}));
}

static bool may_contain_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module;
}

static struct unit *list_functions(Dwarf_Die *die)
{
    struct unit *unit = pt_calloc(1, sizeof *unit);
    Dwarf_Die open[DEEPEST]; /* the one that is looked at, of each level */
    int depth = dwarf_child(die, &open[0]) == 0 ? 1 : 0;
    while (depth) {
        Dwarf_Die *one = &open[depth - 1];
        const int tag = dwarf_tag(one);
        if (tag == DW_TAG_subprogram)
            add_function(unit, one);
        if (may_contain_functions(tag) && depth < DEEPEST && dwarf_child(one, &open[depth]) == 0) {
            depth++;
            continue;
        }
        while (depth && dwarf_siblingof(&open[depth - 1], &open[depth - 1]) != 0)
            depth--;
    }
    if (unit->n)
        qsort(unit->items, unit->n, sizeof *unit->items, by_start);
    return unit;
}

static const struct unit *unit_of(struct pt_unit_functions *units, Dwarf_Die *die)
{
    pt_u64 *slot = pt_map_at(&units->by_unit, dwarf_dieoffset(die));
    if (!*slot)
        *slot = (uintptr_t)list_functions(die);
    return (const struct unit *)(uintptr_t)*slot;
}

void pt_unit_functions_fini(struct pt_unit_functions *units)
{
    for (size_t i = 0; i < units->by_unit.n; i++) {
        struct unit *unit = (struct unit *)(uintptr_t)units->by_unit.entries[i].value;
        if (!unit)
            continue;
        free(unit->items);
        free(unit);
    }
    pt_map_fini(&units->by_unit);
}

/* Functions do not overlap but where one has several names (of assembler): the first one is its own. */
static const struct function_range *range_at(const struct unit *unit, pt_u64 address)
{
    size_t low = 0, high = unit->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (unit->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct function_range *found = NULL;
    for (size_t back = 0; back < 16 && back < low; back++) {
        const struct function_range *range = &unit->items[low - 1 - back];
        if (address < range->end && (!found || range->start == found->start))
            found = range;
    }
    return found;
}

/* The scope within `die` that has the address: a block, or a function that is inlined or local there. */
static bool scope_within(Dwarf_Die *die, pt_u64 address, Dwarf_Die *ret_scope)
{
    if (dwarf_child(die, ret_scope) != 0)
        return false;
    do {
        const int tag = dwarf_tag(ret_scope);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram) &&
            dwarf_haspc(ret_scope, address) > 0)
            return true;
    } while (dwarf_siblingof(ret_scope, ret_scope) == 0);
    return false;
}

pt_u32 pt_unit_functions_at(struct pt_unit_functions *units, Dwarf_Die *unit, pt_u64 address, Dwarf_Die *ret_chain,
                            pt_u32 most)
{
    const struct function_range *range = range_at(unit_of(units, unit), address);
    Dwarf_Die path[DEEPEST], scope, next;
    Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
    pt_u32 n = 0, n_path = 0;
    if (!range || !dwarf_offdie(dwarf, range->function, &scope))
        return 0;
    path[n_path++] = scope;
    for (int depth = 1; depth < DEEPEST && scope_within(&scope, address, &next); depth++) {
        scope = next;
        if (dwarf_tag(&scope) == DW_TAG_subprogram)
            n_path = 0; /* a local function: what is around it did not run */
        if (dwarf_tag(&scope) != DW_TAG_lexical_block)
            path[n_path++] = scope;
    }
    while (n_path && n < most)
        ret_chain[n++] = path[--n_path];
    return n;
}
