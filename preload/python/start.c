/* SPDX-License-Identifier: MIT
 *
 * start.c - the constructor of this folder: is there a CPython? Then its first audit event brings our scripts in.
 *
 * Runs after the core's constructor, before main. A program that loads its libpython later is noticed when it opens a
 * file under a new name, as every start of Python does. Nothing else in the library knows of this folder.
 */
#include <errno.h>

#include "core/file/image.h"
#include "core/file/image_state.h"
#include "core/options.h"
#include "core/state.h"
#include "core/text.h"
#include "api.h"
#include "audit.h"
#include "boot.h"

/* A weak reference costs no lookup. */
extern char _PyRuntime[] __attribute__((weak));

/* Never refuses an event. After our scripts ran there are none any more: each would cost the program 50 ns. So a
 * subinterpreter runs without them. */
static void wait_for_event(void);
static int on_event(const char *event, void *arguments, void *cookie)
{
    (void)arguments, (void)cookie;
    if (pt_text_starts(event, "cpython._PySys_ClearAuditHooks"))
        pt_python_audit_remove();
    else if (pt_python_api.Py_IsInitialized() && pt_python_api.PyGILState_Check()) {
        pt_python_audit_remove();
        pt_python_boot(wait_for_event);
    }
    return 0;
}

static void say(enum pt_python_state state, const char *note)
{
    struct pt_python_header python = {.state = state};
    struct pt_text text = {python.note, 0, sizeof python.note};
    pt_text_add(&text, note);
    pt_image_set_python(&python);
}

static void wait_for_event(void)
{
    if (pt_python_audit_add(on_event) < 0)
        say(PT_PYTHON_REFUSED, "it refused our audit hook");
}

static void take(enum pt_python_found found)
{
    static pt_u32 is_taken; /* two threads may have found it */
    pt_image->on_new_name = 0;
    if (__atomic_exchange_n(&is_taken, 1, __ATOMIC_RELAXED))
        return;
    if (!pt_options.python)
        say(PT_PYTHON_OFF, "");
    else if (found == PT_PYTHON_UNFIT)
        say(PT_PYTHON_REFUSED, "older than 3.8, or without its functions");
    else {
        say(PT_PYTHON_SEEN, "");
        wait_for_event();
    }
}

static void look_again(void)
{
    const int error = errno;
    const enum pt_python_found found = pt_python_api_find();
    if (found == PT_PYTHON_FOUND || found == PT_PYTHON_UNFIT)
        take(found);
    errno = error;
}

/* What an interpreter looks for when it starts, in whichever program: pyvenv.cfg, /usr/lib/python3.11, its encodings,
 * what PyInstaller has unpacked. */
static int is_of_python(const char *bytes, pt_u64 length)
{
    static const char *const parts[] = {"python", "pyvenv", "encodings", "_MEI"};
    for (pt_u64 from = 0; from < length; from++)
        for (pt_u64 i = 0; i < sizeof parts / sizeof *parts; i++) {
            const pt_u64 n = pt_text_length(parts[i]);
            if (n <= length - from && !__builtin_memcmp(bytes + from, parts[i], n))
                return 1;
        }
    return 0;
}

/* To look takes the loader's lock, which a child that another thread forks meanwhile would find taken for ever: not for
 * every name. */
static void look_if_python_starts(const char *bytes, pt_u64 length)
{
    if (is_of_python(bytes, length))
        look_again();
}

/* After the core's (101). */
__attribute__((constructor(103))) static void start(void)
{
    if (pt_switches.off || !pt_image)
        return;
    if (_PyRuntime)
        look_again();
    else if (pt_options.python)
        pt_image->on_new_name = look_if_python_starts; /* gone in a forked child */
}
