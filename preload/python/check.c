/* SPDX-License-Identifier: MIT
 *
 * check.c - is the layout true? A debug build, a patched interpreter or a later version may differ from its table.
 *
 * Entered once, at boot, in a call from Python code, by the thread that holds the GIL. Walks its stack both ways, by
 * the layout and by the interpreter's own attributes, and compares code objects, files, functions and lines. Asks the
 * kernel before each read that the layout leads to: a wrong offset must not crash the host. Leaves no exception.
 */
#include "core/real/may_be_missing.h"
#include "core/sys.h"
#include "core/text.h"
#include "api.h"
#include "layout.h"

#define MOST_FRAMES 8u
#define MOST_THREADS 4096u

/* One thread, once. */
static char described[PT_PYTHON_TEXT_BYTES];
static char expected[PT_PYTHON_TEXT_BYTES];

/* What is read is shorter than a page. Not process_vm_readv, which some containers forbid. */
static int read_safely(void *unused, pt_u64 address, void *to, pt_u64 bytes)
{
    (void)unused;
    if (!pt_sys_is_readable(address) || !pt_sys_is_readable(address + bytes - 1))
        return -1;
    __builtin_memcpy(to, (const void *)address, bytes);
    return 0;
}

static void add_number(struct pt_text *text, void *object, const char *name)
{
    void *value = pt_python_attribute(object, name);
    const long number = value && value != pt_python_api._Py_NoneStruct ? pt_python_api.PyLong_AsLong(value) : 0;
    pt_python_drop(value);
    pt_text_number(text, number > 0 ? (pt_u64)number : 0, 0);
    pt_text_byte(text, ':');
}

static void add_string(struct pt_text *text, void *object, const char *name, const char *other_name)
{
    long bytes = 0;
    void *value = pt_python_attribute(object, name);
    if (!value && other_name)
        value = pt_python_attribute(object, other_name);
    const char *string = value ? pt_python_api.PyUnicode_AsUTF8AndSize(value, &bytes) : 0;
    if (string)
        pt_text_add(text, string);
    else
        pt_python_api.PyErr_Clear();
    pt_python_drop(value);
}

/* What pt_python_describe should say of a frame object. */
static void expect(void *frame, void *code)
{
    struct pt_text text = {expected, 0, sizeof expected};
    add_number(&text, frame, "f_lineno");
    add_number(&text, code, "co_firstlineno");
    add_string(&text, code, "co_qualname", "co_name");
    pt_text_byte(&text, ':');
    add_string(&text, code, "co_filename", 0);
}

static PT_NOINLINE const char *check_frame(const struct pt_python_view *view, const struct pt_python_point *point,
                                           void *frame)
{
    void *code = pt_python_attribute(frame, "f_code"), *name = pt_python_attribute(code, "co_name"),
         *last = pt_python_attribute(frame, "f_lasti");
    const pt_u16 name_at = view->python->layout.code_name;
    const int is_same = (pt_u64)code == point->code && pt_python_member(view, point->code, name_at) == (pt_u64)name &&
                        last && pt_python_api.PyLong_AsLong(last) == point->instruction;
    expect(frame, code);
    pt_python_drop(last);
    pt_python_drop(name);
    pt_python_drop(code);
    if (!is_same)
        return "frames are not where this version has them";
    const pt_u32 length = pt_python_describe(view, point, described, sizeof described - 1);
    described[length] = 0;
    return pt_text_equal(described, expected) ? 0 : "names or lines are not where this version has them";
}

/* The names that are met at boot are all ASCII. */
static const char *check_texts(const struct pt_python_view *view)
{
    static const char *const texts[] = {"plain", "\xc3\xa9", "\xe2\x82\xac\xc3\xa9", "\xf0\x9f\x98\x80\xe2\x82\xac"};
    int is_same = 1;
    for (pt_u32 i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pt_python_text text = {described, 0, sizeof described - 1};
        void *str = pt_python_api.PyUnicode_FromString(texts[i]);
        is_same &= str && pt_python_put_str(view, (pt_u64)str, &text) == 0;
        pt_python_drop(str);
        described[text.length] = 0;
        is_same &= pt_text_equal(described, texts[i]);
    }
    return is_same ? 0 : "texts are not as this version has them";
}

static const char *check_frames(const struct pt_python_view *view, pt_u64 thread)
{
    pt_u64 at;
    struct pt_python_point point;
    const char *problem = 0;
    void *frame = pt_python_api.PyEval_GetFrame();
    if (!frame || pt_python_first(view, thread, &at) < 0)
        return "the running frame was not found";
    pt_python_api.Py_IncRef(frame);
    for (pt_u32 i = 0; i < MOST_FRAMES && !problem; i++) {
        const int has_point = pt_python_next(view, &at, &point);
        const int has_frame = frame && frame != pt_python_api._Py_NoneStruct;
        if (has_point <= 0 || !has_frame) {
            problem = has_point == has_frame ? 0 : "stacks do not end where the interpreter's end";
            break;
        }
        problem = check_frame(view, &point, frame);
        void *caller = pt_python_attribute(frame, "f_back");
        pt_python_drop(frame);
        frame = caller;
    }
    pt_python_drop(frame);
    return problem;
}

static int holds(const struct pt_python_view *view, pt_u64 thread, pt_u16 member, pt_u64 value)
{
    pt_u64 found;
    return member == PT_PYTHON_NO_MEMBER || (pt_python_word(view, thread + member, &found) == 0 && found == value);
}

static int is_in_list(const struct pt_python_view *view, pt_u64 thread)
{
    const struct pt_python_layout *at = &view->python->layout;
    pt_u64 found;
    if (pt_python_word(view, view->python->interpreter + at->interpreter_threads, &found) < 0)
        return 0;
    for (pt_u32 i = 0; found && found != thread && i < MOST_THREADS; i++)
        if (pt_python_word(view, found + at->thread_next, &found) < 0)
            return 0;
    return found == thread;
}

const char *pt_python_layout_check(const struct pt_python_header *python)
{
    const struct pt_python_view view = {python, read_safely, 0};
    const pt_u64 thread = (pt_u64)pt_python_api.PyGILState_GetThisThreadState();
    /* In all versions the link is followed by the interpreter. */
    if (!thread || !is_in_list(&view, thread) ||
        !holds(&view, thread, python->layout.thread_next + 8, python->interpreter))
        return "threads are not where this version has them";
    if (!holds(&view, thread, python->layout.thread_pthread_id, (pt_u64)pthread_self()) ||
        !holds(&view, thread, python->layout.thread_native_id, (pt_u64)pt_syscall0(SYS_gettid)))
        return "ids of threads are not where this version has them";
    const char *problem = check_texts(&view);
    return problem ? problem : check_frames(&view, thread);
}
