/* SPDX-License-Identifier: MIT
 *
 * boot.c - compiles and runs our scripts, and says in the header what became of it.
 *
 * Entered in the first audit event of an interpreter that is ready, by the thread that holds the GIL; later, when a
 * script asks for another. Never shows an exception of ours, never changes one that is set, never imports.
 */
#include "boot.h"

#include <errno.h>

#include "core/file/image.h"
#include "core/file/prepare.h"
#include "core/options.h"
#include "core/session.h"
#include "core/text.h"
#include "api.h"
#include "builtins.h"
#include "exceptions.h"
#include "layout.h"
#include "memory.h"
#include "scripts.h"
#include "stack.h"

#define FILE_INPUT 257 /* Py_file_input */
#define FILE_NAME "<proftrace>"

enum outcome {
    DONE,
    FAILED,
    INTERRUPTED, /* by what the program raised in it, in the handler of a signal, say: that is set */
};

static struct pt_python_header known;
static void *globals;
static void *file_name; /* one object for all scripts: frames whose code bears it are ours */
static const char *layout_problem;
static int is_done;
static void (*then)(void);

static void note(const char *why)
{
    struct pt_text text = {known.note, 0, sizeof known.note};
    pt_text_add(&text, why);
}

/* Ours is cleared, the program's stays set. */
static enum outcome clear_ours(void)
{
    void *type = 0, *value = 0, *traceback = 0;
    pt_python_api.PyErr_Fetch(&type, &value, &traceback);
    if (type && pt_python_is_theirs(type, traceback)) {
        pt_python_api.PyErr_Restore(type, value, traceback);
        return INTERRUPTED;
    }
    pt_python_drop(traceback);
    pt_python_drop(value);
    pt_python_drop(type);
    return FAILED;
}

static enum outcome run(const char *name)
{
    const char *script = pt_python_script(name);
    if (!script)
        return FAILED;
    void *code = pt_python_api.Py_CompileStringObject(script, file_name, FILE_INPUT, 0, 2);
    void *result = code ? pt_python_api.PyEval_EvalCode(code, globals, globals) : 0;
    const enum outcome outcome = result ? DONE : clear_ours();
    pt_python_drop(code);
    pt_python_drop(result);
    return outcome;
}

/* In an audit event, where nothing can be raised. Before the first line of the program only Python's own handler of
 * Ctrl-C is there: it runs again. */
static int run_first(const char *name)
{
    const enum outcome outcome = run(name);
    void *interrupt = *(void **)(void *)pt_python_api.PyExc_KeyboardInterrupt;
    const int is_interrupt = outcome == INTERRUPTED && pt_python_api.PyErr_ExceptionMatches(interrupt);
    if (outcome == INTERRUPTED)
        pt_python_api.PyErr_Clear();
    if (is_interrupt)
        pt_python_api.PyErr_SetInterrupt();
    return outcome == DONE ? 0 : -1;
}

static void *check(void *self, void *const *arguments, long n)
{
    (void)self, (void)arguments, (void)n;
    if (!layout_problem && known.state != PT_PYTHON_READY) {
        layout_problem = pt_python_layout_check(&known);
        if (!layout_problem)
            known.state = PT_PYTHON_READY;
    }
    return pt_python_none();
}

static void *load(void *self, void *const *arguments, long n)
{
    (void)self;
    long bytes;
    const char *name = pt_python_text_of(arguments, n, 0, &bytes);
    return name && run(name) == INTERRUPTED ? 0 : pt_python_none();
}

static struct pt_python_method methods[] = {PT_PYTHON_METHOD(check), PT_PYTHON_METHOD(load)};

/* As Python itself reads the environment and names of files, which need not be UTF-8. What cannot be read even so costs
 * only what it is for. */
static int set_text(const char *name, const char *text)
{
    void *value = pt_python_api.PyUnicode_DecodeFSDefault(text);
    if (!value) {
        pt_python_api.PyErr_Clear();
        value = pt_python_api.PyUnicode_FromString("");
    }
    if (!value)
        return -1;
    pt_python_api.PyDict_SetItemString(globals, name, value);
    pt_python_api.Py_DecRef(value);
    return 0;
}

static int make_globals(void)
{
    void *name = pt_python_api.PyUnicode_FromString("_proftrace");
    file_name = pt_python_api.PyUnicode_FromString(FILE_NAME);
    globals = pt_python_api.PyDict_New();
    if (!name || !file_name || !globals)
        return -1;
    pt_python_api.PyDict_SetItemString(globals, "__builtins__", pt_python_api.PyEval_GetBuiltins());
    pt_python_api.PyDict_SetItemString(globals, "__name__", name);
    pt_python_api.Py_DecRef(name);
    if (set_text("functions", pt_options.python_functions) < 0 || set_text("window", pt_options.window) < 0 ||
        set_text("run_directory", pt_session_path) < 0)
        return -1;
    pt_python_builtins_add(globals);
    for (pt_u32 i = 0; i < sizeof methods / sizeof *methods; i++)
        pt_python_method_add(globals, &methods[i]);
    return 0;
}

static void boot(void)
{
    known = (struct pt_python_header){.version = pt_python_version()};
    layout_problem = pt_python_layout_find(&known);
    known.state = PT_PYTHON_REFUSED;
    if (make_globals() < 0 || run_first("check") < 0) {
        note("its script did not run");
        return;
    }
    if (run_first("boot") < 0)
        note("no phases: their script did not run");
    if (known.state == PT_PYTHON_READY) {
        pt_python_stack_start(&known, file_name);
        pt_python_memory_start();
    } else {
        known.state = PT_PYTHON_NO_STACKS;
        note(layout_problem ? layout_problem : "the layout was not checked");
    }
}

/* Daemon threads may live on. Where the list of functions is full (32), a second interpreter runs without us. */
static void forget(void)
{
    pt_python_stack_stop();
    is_done = 0;
    then();
}

void pt_python_boot(void (*at_end)(void))
{
    if (is_done)
        return;
    is_done = 1; /* what it runs comes here again */
    const int error = errno;
    void *type = 0, *value = 0, *traceback = 0;
    pt_python_api.PyErr_Fetch(&type, &value, &traceback);
    pt_python_api_pin();
    then = at_end;
    pt_python_api.Py_AtExit(forget);
    boot();
    pt_python_api.PyErr_Restore(type, value, traceback);
    pt_own_file_prepare(); /* the launcher, which samples Python from outside, looks there */
    pt_image_set_python(&known);
    errno = error;
}
