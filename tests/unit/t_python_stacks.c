/* SPDX-License-Identifier: MIT
 *
 * Stacks of Python, read from outside: of an interpreter that we build in our own memory, as 3.12 would look like, also
 * when it lies. And what becomes of them in a native stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_profile/python/merge.h"
#include "cpu_profile/python/stacks.h"

enum { N_CODES = 3, N_FRAMES = 4, NONE = 0xffff };

struct text {
    pt_u64 head[2], length;
    pt_u32 state, pad;
    pt_u64 pad2;
    char characters[40]; /* at 40 */
};

struct bytes {
    pt_u64 head[2], size, hash;
    pt_u8 data[32];
};

struct code {
    pt_u64 head, type, name, qualified, file, lines;
    pt_u32 first_line, pad;
    pt_u8 instructions[64];
};

struct frame {
    pt_u64 code, previous, instruction;
    pt_u8 owner, pad[7];
};

struct thread {
    pt_u64 next, native_id, frame;
};

/* One instruction of two bytes on each of the lines 0, 1, 2 ... after the first. */
struct interpreter {
    pt_u64 threads;
    struct thread thread;
    struct frame frames[N_FRAMES];
    struct code codes[N_CODES];
    struct text names[N_CODES], file;
    struct bytes lines;
    pt_u64 code_type;
};

struct scene {
    struct interpreter *python;
    struct pt_python_header header;
    struct pt_python_process process;
    struct pt_python_scratch *scratch;
    struct pt_python_names names;
    struct pt_python_stack stack;
};

static pt_u64 at(const void *place)
{
    return (uintptr_t)place;
}

static void set_text(struct text *text, const char *value)
{
    *text = (struct text){.length = strlen(value), .state = 1 << 2 | 1 << 5 | 1 << 6};
    strncpy(text->characters, value, sizeof text->characters - 1);
}

static const struct pt_python_layout layout = {
    .interpreter_threads = offsetof(struct interpreter, threads),
    .thread_next = offsetof(struct thread, next),
    .thread_native_id = offsetof(struct thread, native_id),
    .thread_pthread_id = NONE,
    .thread_frame = offsetof(struct thread, frame),
    .cframe_frame = NONE,
    .frame_code = offsetof(struct frame, code),
    .frame_previous = offsetof(struct frame, previous),
    .frame_instruction = offsetof(struct frame, instruction),
    .frame_owner = offsetof(struct frame, owner),
    .code_name = offsetof(struct code, name),
    .code_qualified_name = offsetof(struct code, qualified),
    .code_file = offsetof(struct code, file),
    .code_first_line = offsetof(struct code, first_line),
    .code_lines = offsetof(struct code, lines),
    .code_instructions = offsetof(struct code, instructions),
    .object_type = offsetof(struct code, type),
    .bytes_size = offsetof(struct bytes, size),
    .bytes_data = offsetof(struct bytes, data),
    .text_length = offsetof(struct text, length),
    .text_state = offsetof(struct text, state),
    .text_ascii = offsetof(struct text, characters),
    .text_compact = offsetof(struct text, characters),
};

/* load < an entry of the interpreter < step < main */
static void begin(struct scene *scene)
{
    static const char *const names[N_CODES] = {"Set.load", "step", "main"};
    *scene = (struct scene){.python = calloc(1, sizeof *scene->python), .scratch = calloc(1, sizeof *scene->scratch)};
    struct interpreter *python = scene->python;
    python->threads = at(&python->thread);
    python->thread = (struct thread){0, (pt_u64)gettid(), at(&python->frames[0])};
    set_text(&python->file, "/app/train.py");
    python->lines.size = 12;
    for (int i = 0; i < 12; i += 3) /* one line more than before, no columns that matter */
        memcpy(python->lines.data + i, (const pt_u8[]){0x80 | 11 << 3, 0, 0}, 3);
    for (int i = 0; i < N_CODES; i++) {
        set_text(&python->names[i], names[i]);
        python->codes[i] = (struct code){.type = at(&python->code_type),
                                         .name = at(&python->names[i]),
                                         .qualified = at(&python->names[i]),
                                         .file = at(&python->file),
                                         .lines = at(&python->lines),
                                         .first_line = 10u * (pt_u32)i};
    }
    const int code_of[N_FRAMES] = {0, -1, 1, 2};
    for (int i = 0; i < N_FRAMES; i++) {
        const struct code *code = code_of[i] < 0 ? NULL : &python->codes[code_of[i]];
        python->frames[i] = (struct frame){.code = at(code),
                                           .instruction = code ? at(code->instructions + 2) : 0,
                                           .previous = i + 1 < N_FRAMES ? at(&python->frames[i + 1]) : 0,
                                           .owner = code ? 0 : 3};
    }
    scene->header = (struct pt_python_header){.state = PT_PYTHON_READY,
                                              .version = 0x030c01f0,
                                              .interpreter = at(python),
                                              .code_type = at(&python->code_type),
                                              .layout = layout};
    assert_true(pt_python_process_open(&scene->process, (pt_u32)getpid(), &scene->header, NULL));
}

static bool look(struct scene *scene)
{
    return pt_python_stack_read(&scene->process, scene->scratch, &scene->names, (pt_u32)gettid(), &scene->stack);
}

static const char *name_at(const struct scene *scene, pt_u32 number)
{
    const char *name = (const char *)scene->names.fresh.items;
    while (--number)
        name += strlen(name) + 1;
    return name;
}

static void end(struct scene *scene)
{
    pt_python_process_close(&scene->process);
    pt_python_names_fini(&scene->names);
    free(scene->scratch);
    free(scene->python);
}

static void frames_have_lines_functions_and_files(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    assert_true(look(&scene));
    assert_int_equal(scene.stack.n, 3);
    assert_false(scene.stack.is_cut);
    assert_string_equal(name_at(&scene, scene.stack.names[0]), "2:0:Set.load:/app/train.py");
    assert_string_equal(name_at(&scene, scene.stack.names[1]), "12:10:step:/app/train.py");
    assert_string_equal(name_at(&scene, scene.stack.names[2]), "22:20:main:/app/train.py");
    const size_t n = scene.names.numbers.n;
    assert_true(look(&scene)); /* known by now */
    assert_int_equal(scene.names.numbers.n, n);
    end(&scene);
}

/* A function is released, and another one takes its place. */
static void code_that_takes_anothers_place_has_its_own_name(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    assert_true(look(&scene));
    scene.python->codes[0].name = scene.python->codes[0].qualified = scene.python->codes[1].name;
    assert_true(look(&scene));
    assert_string_equal(name_at(&scene, scene.stack.names[0]), "2:0:step:/app/train.py");
    end(&scene);
}

/* Workers are forked at each epoch: what their parent was seen to run has its name already, and keeps it when the
 * parent has ended. */
static void a_forked_child_knows_what_its_parent_ran(void **state)
{
    (void)state;
    struct scene scene;
    struct pt_python_process child;
    begin(&scene);
    assert_true(look(&scene));
    assert_true(pt_python_process_open(&child, (pt_u32)getpid(), &scene.header, &scene.process));
    pt_python_process_close(&scene.process);
    scene.process = child;
    set_text(&scene.python->names[0], "not read again");
    assert_true(look(&scene));
    assert_string_equal(name_at(&scene, scene.stack.names[0]), "2:0:Set.load:/app/train.py");
    end(&scene);
}

/* A server with a thread for each request: neither the time between two lists nor what is kept grows with the dead. */
static void threads_that_have_ended_are_forgotten(void **state)
{
    (void)state;
    enum { EVER = 20000, AFTER_NS = 20000000 };
    struct scene scene;
    begin(&scene);
    const pt_u64 own = scene.python->thread.native_id;
    for (pt_u32 i = 1; i <= EVER; i++) {
        scene.python->thread.native_id = own + i;
        pt_python_stack_read(&scene.process, scene.scratch, &scene.names, (pt_u32)own + i, &scene.stack);
    }
    assert_true(scene.process.threads.n < EVER / 2);
    /* The kernel gives a number again, which was known as one without Python. */
    scene.python->thread.native_id = own + EVER - 1;
    const struct pt_map *threads = pt_python_threads(&scene.process, scene.process.listed_ns + AFTER_NS);
    assert_int_equal(*pt_map_find(threads, own + EVER - 1), at(&scene.python->thread));
    end(&scene);
}

static void what_cannot_be_is_no_stack(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.python->frames[2].code = at(&scene.python->lines); /* no code */
    assert_false(look(&scene));
    scene.python->frames[2].code = at(&scene.python->codes[1]);
    scene.python->frames[2].previous = 0xdeadbeef000; /* nowhere */
    assert_false(look(&scene));
    scene.python->frames[2].previous = at(&scene.python->frames[0]); /* a circle */
    assert_true(look(&scene));
    assert_int_equal(scene.stack.n, PT_PYTHON_DEPTH_MAX);
    assert_true(scene.stack.is_cut);
    scene.python->frames[1].previous = at(&scene.python->frames[1]); /* of entries alone: ends, too */
    scene.python->thread.frame = at(&scene.python->frames[1]);
    assert_false(look(&scene));
    scene.python->thread.frame = 0; /* runs no Python now */
    assert_false(look(&scene));
    scene.python->thread.native_id++; /* somebody else's */
    scene.process.listed_ns = 0;
    assert_false(look(&scene));
    end(&scene);
}

static void hostile_texts_and_layouts_do_no_harm(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.python->names[0].length = ~0ull;
    look(&scene);
    scene.python->lines.size = ~0ull;
    scene.python->codes[1].first_line = 0xffffffff;
    look(&scene);
    struct pt_python_header header = scene.header;
    struct pt_python_process process;
    header.layout.thread_frame = 0xfff0;
    assert_false(pt_python_process_open(&process, 1, &header, NULL));
    header.layout.thread_frame = NONE;
    assert_false(pt_python_process_open(&process, 1, &header, NULL));
    header = scene.header;
    header.layout.code_name = 4000;
    assert_false(pt_python_process_open(&process, 1, &header, NULL));
    end(&scene);
}

/* ---- in a native stack ---- */

static void python_takes_the_place_of_its_interpreter(void **state)
{
    (void)state;
    struct pt_code_modules modules = {0};
    static const char *const paths[] = {"/usr/bin/python3.12", "/opt/lib/libjpeg.so.62", "/usr/lib/libc.so.6"};
    pt_u32 numbers[3];
    for (int i = 0; i < 3; i++) {
        struct pt_code_module *module = pt_code_module_of(&modules, paths[i], 0);
        pt_code_module_use(&modules, module, 0);
        numbers[i] = module->number;
    }
    const struct pt_python_stack python = {.n = 2, .names = {7, 8}};
    const int whole[] = {1, 0, 0, 1, 0, 2}, outside[] = {1, 2};
    struct pt_unwound stack = {.n = 6};
    for (pt_u32 i = 0; i < 6; i++)
        stack.frames[i] = (struct pt_code_place){numbers[whole[i]], i};
    pt_python_merge(&modules, &python, &stack);
    assert_int_equal(stack.n, 4);
    assert_int_equal(stack.frames[0].module, numbers[1]);
    assert_int_equal(stack.frames[1].module, PT_CPU_MODULE_PYTHON);
    assert_int_equal(stack.frames[1].address, 7);
    assert_int_equal(stack.frames[2].address, 8);
    assert_int_equal(stack.frames[3].module, numbers[2]);
    for (pt_u32 is_cut = 0; is_cut < 2; is_cut++) { /* never in the interpreter; or nobody knows */
        stack = (struct pt_unwound){.n = 2, .is_cut = is_cut};
        for (pt_u32 i = 0; i < 2; i++)
            stack.frames[i] = (struct pt_code_place){numbers[outside[i]], i};
        pt_python_merge(&modules, &python, &stack);
        assert_int_equal(stack.n, is_cut ? 4 : 2);
        assert_false(stack.is_cut);
    }
    stack = (struct pt_unwound){.n = PT_CPU_DEPTH_MAX, .is_cut = true};
    for (pt_u32 i = 0; i < stack.n; i++)
        stack.frames[i] = (struct pt_code_place){numbers[i + 2 < stack.n ? 1 : 0], i};
    pt_python_merge(&modules, &(struct pt_python_stack){.n = 9}, &stack);
    assert_int_equal(stack.n, PT_CPU_DEPTH_MAX);
    assert_true(stack.is_cut);
    pt_code_modules_fini(&modules);
}

/* The interpreter's loop (a), what it calls on its way (b), a library that calls back (c): libc a b c a b a libc, with
 * two functions of Python in the first call, one in the second and two in the third. */
static void what_lies_between_two_calls_of_the_interpreter_stays_there(void **state)
{
    (void)state;
    struct pt_code_modules modules = {0};
    static const char *const paths[] = {"/usr/bin/python3.12", "/usr/lib/libffi.so.8", "/usr/lib/libc.so.6"};
    static const struct {
        int module;
        bool is_loop;
    } native[] = {{2, false}, {0, true}, {0, false}, {1, false}, {0, true}, {0, false}, {0, true}, {2, false}};
    enum { N = sizeof native / sizeof *native };
    struct pt_unwound stack = {.n = N};
    bool is_loop[N];
    for (int i = 0; i < 3; i++)
        pt_code_module_use(&modules, pt_code_module_of(&modules, paths[i], 0), 0);
    for (pt_u32 i = 0; i < N; i++) {
        stack.frames[i] = (struct pt_code_place){pt_code_module_of(&modules, paths[native[i].module], 0)->number, i};
        is_loop[i] = native[i].is_loop;
    }
    struct pt_python_stack python = {
        .n = 5, .names = {10, 11, 12, 13, 14}, .was_entered = {false, true, true, false, true}};
    assert_true(pt_python_merge_all(&modules, &python, is_loop, &stack));
    static const pt_u64 wanted[] = {0, 10, 11, 3, 12, 13, 14, 7};
    assert_int_equal(stack.n, 8);
    for (pt_u32 i = 0; i < stack.n; i++)
        assert_int_equal(stack.frames[i].address, wanted[i]);
    /* Two stacks that are not of one instant have another number of calls. */
    struct pt_unwound other = {.n = N};
    python.was_entered[1] = false;
    assert_false(pt_python_merge_all(&modules, &python, is_loop, &other));
    python.was_entered[1] = python.is_cut = true;
    assert_false(pt_python_merge_all(&modules, &python, is_loop, &other));
    assert_int_equal(other.n, N);
    pt_code_modules_fini(&modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_lines_functions_and_files),
        cmocka_unit_test(code_that_takes_anothers_place_has_its_own_name),
        cmocka_unit_test(a_forked_child_knows_what_its_parent_ran),
        cmocka_unit_test(threads_that_have_ended_are_forgotten),
        cmocka_unit_test(what_cannot_be_is_no_stack),
        cmocka_unit_test(hostile_texts_and_layouts_do_no_harm),
        cmocka_unit_test(python_takes_the_place_of_its_interpreter),
        cmocka_unit_test(what_lies_between_two_calls_of_the_interpreter_stays_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
