/* SPDX-License-Identifier: MIT
 *
 * builtins.c - begin, end and the like, as CPython calls them (METH_FASTCALL).
 *
 * Entered with the GIL held, by any thread that runs Python. Takes what it gets: a wrong argument is nothing, and no
 * exception is left.
 */
#include "builtins.h"

#include "core/emit.h"
#include "core/names/intern.h"
#include "core/process.h"
#include "core/rank.h"
#include "core/text.h"
#include "proftrace/phases.h"
#include "proftrace/events.h"
#include "api.h"
#include "exceptions.h"

/* Not of builds without the GIL, where the type comes later: there no argument is what it should be, and is nothing. */
struct object {
    pt_i64 references;
    void *type;
};

static void *generation_key; /* a str, made once: collections are many */

void *pt_python_none(void)
{
    pt_python_api.Py_IncRef(pt_python_api._Py_NoneStruct);
    return pt_python_api._Py_NoneStruct;
}

/* An int is its value, None is 0. */
static pt_u64 number_or_address(void *const *arguments, long n, long i)
{
    if (i >= n || arguments[i] == pt_python_api._Py_NoneStruct)
        return 0;
    if (((const struct object *)arguments[i])->type == pt_python_api.PyLong_Type)
        return pt_python_api.PyLong_AsUnsignedLongLongMask(arguments[i]);
    return (pt_u64)arguments[i];
}

static pt_u64 number(void *const *arguments, long n, long i)
{
    return i < n && ((const struct object *)arguments[i])->type == pt_python_api.PyLong_Type
               ? pt_python_api.PyLong_AsUnsignedLongLongMask(arguments[i])
               : 0;
}

const char *pt_python_text_of(void *const *arguments, long n, long i, long *ret_bytes)
{
    if (i >= n || ((const struct object *)arguments[i])->type != pt_python_api.PyUnicode_Type)
        return 0;
    const char *bytes = pt_python_api.PyUnicode_AsUTF8AndSize(arguments[i], ret_bytes);
    if (!bytes)
        pt_python_api.PyErr_Clear();
    return bytes;
}

/* Few of a run, and each of one line of the user's: so findings about them can name it. */
static int has_place(pt_u64 phase)
{
    return phase == PT_PHASE_loader_start || phase == PT_PHASE_checkpoint;
}

/* phase, object, name, and 1 = its place is wanted though its phase has none */
static void *begin(void *self, void *const *arguments, long n)
{
    (void)self;
    long bytes = 0;
    if (has_place(number(arguments, n, 0)) || number(arguments, n, 3))
        pt_place_sample();
    const char *name = pt_python_text_of(arguments, n, 2, &bytes);
    pt_point(PT_EV_phase_begin, name ? pt_intern_bytes(name, (pt_u64)bytes) : 0, (pt_i32)number(arguments, n, 0),
             number_or_address(arguments, n, 1), 0);
    return pt_python_none();
}

static void *end(void *self, void *const *arguments, long n)
{
    (void)self;
    pt_point(PT_EV_phase_end, 0, (pt_i32)number(arguments, n, 1), number(arguments, n, 0),
             number_or_address(arguments, n, 2));
    return pt_python_none();
}

static void *epoch(void *self, void *const *arguments, long n)
{
    (void)self;
    pt_point(PT_EV_epoch, 0, 0, number(arguments, n, 0), 0);
    return pt_python_none();
}

/* Of the default group of torch.distributed: rank and size. */
static void *joined(void *self, void *const *arguments, long n)
{
    (void)self;
    if (n == 2)
        pt_process_note_group((pt_u32)number(arguments, n, 0), (pt_u32)number(arguments, n, 1));
    return pt_python_none();
}

/* Of launchers and of groups, as the core knows it. A number above 0 says that there are others, also where nobody says
 * how many; of a single one it says nothing. */
static void *known_rank(void *self, void *const *arguments, long n)
{
    (void)self, (void)arguments, (void)n;
    const pt_u32 rank_plus_1 = pt_rank.world_size == 1 ? 1 : pt_rank.rank_plus_1;
    void *rank = rank_plus_1 ? pt_python_api.PyLong_FromLong((long)rank_plus_1 - 1) : 0;
    if (rank)
        return rank;
    pt_python_api.PyErr_Clear();
    return pt_python_none();
}

/* gc calls it itself, before and after. It is no Python function: in one the handler of a signal could run, and what
 * that raises (an alarm's timeout, KeyboardInterrupt) gc prints and drops. */
static void *collected(void *self, void *const *arguments, long n)
{
    (void)self;
    long bytes;
    const char *when = pt_python_text_of(arguments, n, 0, &bytes);
    void *generation =
        n == 2 && generation_key ? pt_python_api.PyDict_GetItemWithError(arguments[1], generation_key) : 0;
    if (!generation)
        pt_python_api.PyErr_Clear();
    const pt_u64 amount = number(&generation, generation != 0, 0);
    if (amount && when) { /* of generation 0 are many, and short */
        if (pt_text_equal(when, "start"))
            pt_point(PT_EV_phase_begin, 0, PT_PHASE_garbage_collection, 0, 0);
        else
            pt_point(PT_EV_phase_end, 0, PT_PHASE_DONE, amount, 0);
    }
    return pt_python_none();
}

static void *is_theirs(void *self, void *const *arguments, long n)
{
    (void)self;
    void *traceback = n == 1 ? pt_python_attribute(arguments[0], "__traceback__") : 0;
    const int is = traceback && pt_python_is_theirs(arguments[0], traceback);
    pt_python_drop(traceback);
    if (!is)
        return pt_python_none();
    pt_python_api.Py_IncRef(arguments[0]);
    return arguments[0];
}

static struct pt_python_method methods[] = {
    PT_PYTHON_METHOD(begin),      PT_PYTHON_METHOD(end),       PT_PYTHON_METHOD(epoch),    PT_PYTHON_METHOD(joined),
    PT_PYTHON_METHOD(known_rank), PT_PYTHON_METHOD(collected), PT_PYTHON_METHOD(is_theirs)};

void pt_python_method_add(void *globals, struct pt_python_method *method)
{
    void *callable = pt_python_api.PyCFunction_NewEx(method, 0, 0);
    if (!callable)
        return;
    pt_python_api.PyDict_SetItemString(globals, method->name, callable);
    pt_python_api.Py_DecRef(callable);
}

void pt_python_builtins_add(void *globals)
{
    generation_key = pt_python_api.PyUnicode_FromString("generation");
    for (pt_u32 i = 0; i < sizeof methods / sizeof *methods; i++)
        pt_python_method_add(globals, &methods[i]);
}
