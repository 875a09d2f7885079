/* SPDX-License-Identifier: MIT
 *
 * exceptions.c - tells what the program raised in the midst of our scripts from what failed in them.
 *
 * Entered with the GIL held and no exception set. While a script of ours runs, so does the handler of a signal that
 * arrives, and the function that a debugger has given to sys.settrace. What these raise (the TimeoutError of an alarm,
 * the RuntimeError of a loader whose worker died) is meant for the program, which would wait forever if we dropped it.
 */
#include "exceptions.h"

#include "api.h"

#define IS_FUNCTION 1 /* CO_OPTIMIZED: its variables are no mapping of the program's */

static int is_function(void *frame)
{
    void *code = pt_python_attribute(frame, "f_code"), *flags = pt_python_attribute(code, "co_flags");
    const int is = flags && pt_python_api.PyLong_AsLong(flags) & IS_FUNCTION;
    pt_python_drop(flags);
    pt_python_drop(code);
    return is;
}

/* An argument of its own, or one of *arguments. */
static int is_or_has(void *value, void *second)
{
    if (value == second)
        return 1;
    const int has = pt_python_api.PyTuple_GetItem(value, 1) == second;
    pt_python_api.PyErr_Clear(); /* it is no tuple, or a short one */
    return has;
}

/* Was it given the frame that called it? Handlers (number, frame) and trace functions (frame, event, argument) are. */
static int is_given(void *frame, void *caller)
{
    if (!is_function(frame))
        return 0;
    void *variables = pt_python_attribute(frame, "f_locals");
    void *values = variables ? pt_python_api.PyMapping_Values(variables) : 0;
    const long n = values ? pt_python_api.PyList_Size(values) : 0;
    int is = 0;
    for (long i = 0; i < n && !is; i++)
        is = is_or_has(pt_python_api.PyList_GetItem(values, i), caller);
    pt_python_api.PyErr_Clear();
    pt_python_drop(values);
    pt_python_drop(variables);
    return is;
}

/* From the outermost frame on. */
static int passed_handler(void *traceback)
{
    void *caller = 0;
    int has = 0;
    if (traceback)
        pt_python_api.Py_IncRef(traceback);
    while (traceback && traceback != pt_python_api._Py_NoneStruct && !has) {
        void *frame = pt_python_attribute(traceback, "tb_frame"), *next = pt_python_attribute(traceback, "tb_next");
        has = caller && frame && is_given(frame, caller);
        pt_python_drop(caller);
        pt_python_drop(traceback);
        caller = frame;
        traceback = next;
    }
    pt_python_drop(caller);
    pt_python_drop(traceback);
    return has;
}

int pt_python_is_theirs(void *exception, void *traceback)
{
    /* Ours fail with an Exception: KeyboardInterrupt and SystemExit never are. */
    void *ordinary = *(void **)(void *)pt_python_api.PyExc_Exception;
    return !pt_python_api.PyErr_GivenExceptionMatches(exception, ordinary) || passed_handler(traceback);
}
