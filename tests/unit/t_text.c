/* SPDX-License-Identifier: MIT
 *
 * t_text.c - the text form loses nothing: events of every kind, quoting, times; and a session's text comes back as it
 * was.
 */
#include "proftrace/events.h"
#include "helper_files.h"
#include "helper_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/field_value.h"
#include "decode/text.h"
#include "model/text/read.h"
#include "model/text/write.h"
#include "util/auto.h"

static const char *name_string(void *context, pt_u32 id)
{
    static char name[32];
    (void)context;
    snprintf(name, sizeof name, "name-%u", id);
    return name;
}

static pt_u32 id_of_string(void *context, const char *bytes, size_t n)
{
    (void)context, (void)n;
    return (pt_u32)strtoul(bytes + 5, NULL, 10);
}

static pt_u32 name_stack(void *context, pt_u32 id, const pt_u64 **ret_frames)
{
    static pt_u64 frames[2];
    (void)context;
    frames[0] = id;
    frames[1] = ~0ull;
    *ret_frames = frames;
    return 2;
}

static pt_u32 id_of_stack(void *context, const pt_u64 *frames, pt_u32 n)
{
    (void)context;
    return n == 2 && frames[1] == ~0ull ? (pt_u32)frames[0] : 0;
}

static void every_kind_as_a_line(void **state)
{
    (void)state;
    const struct pt_text_names names = {NULL, name_string, name_stack};
    const struct pt_text_ids ids = {NULL, id_of_string, id_of_stack};
    const pt_u64 patterns[] = {0, 1, 4095, 0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull, 0x123456789abcdef0ull};
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
            const struct pt_event_desc *desc = &pt_event_descs[kind];
            struct pt_event event = {.desc = desc, .start_ns = 1234567891, .tag = desc->role == PT_ROLE_UNIT ? -1 : 0},
                            back;
            event.duration_ns = desc->role == PT_ROLE_SPAN ? 512 : 0;
            for (pt_u32 i = 0; i < desc->n_fields; i++) {
                event.tag =
                    desc->fields[i].place == PT_FIELD_TAG && desc->fields[i].unit == PT_UNIT_FD ? -1 : event.tag;
                pt_field_set(&event, &desc->fields[i], patterns[p]);
            }
            PT_AUTO(pt_str_fini) struct pt_str line = {0};
            PT_AUTO(pt_str_fini) struct pt_str label = {0};
            struct pt_error err = {0};
            pt_text_event(&line, &event, "100/101", &names);
            if (pt_text_parse_event(line.text, &back, &label, &ids, &err) < 0)
                fail_msg("%s: %s", line.text, err.text);
            assert_string_equal(label.text, "100/101");
            assert_ptr_equal(back.desc, desc);
            assert_int_equal(back.start_ns, event.start_ns);
            assert_int_equal(back.duration_ns, event.duration_ns);
            for (pt_u32 i = 0; i < desc->n_fields; i++)
                if (pt_field_raw(&back, &desc->fields[i]) != pt_field_raw(&event, &desc->fields[i]))
                    fail_msg("field %s of: %s", desc->fields[i].name, line.text);
        }
}

static const struct pt_field_desc *field_of(const struct pt_event_desc *desc, const char *name)
{
    for (pt_u32 i = 0; i < desc->n_fields; i++)
        if (!strcmp(desc->fields[i].name, name))
            return &desc->fields[i];
    fail_msg("%s has no field %s", desc->name, name);
    return NULL;
}

static void names_stand_for_numbers(void **state)
{
    (void)state;
    static const struct {
        pt_u8 event;
        const char *field;
        pt_i64 value;
        const char *text;
    } cases[] = {
        {PT_EV_io_open, "flags", O_RDONLY, "O_RDONLY"},
        {PT_EV_io_open, "flags", O_RDWR | O_CREAT | O_CLOEXEC, "O_RDWR|O_CREAT|O_CLOEXEC"},
        {PT_EV_io_open, "flags", O_RDONLY | O_SYNC, "O_RDONLY|O_SYNC"},
        {PT_EV_io_open, "flags", O_WRONLY | O_TMPFILE | 0x80000000, "O_WRONLY|O_TMPFILE|0x80000000"},
        {PT_EV_io_seek, "whence", SEEK_END, "SEEK_END"},
        {PT_EV_io_seek, "whence", 99, "99"},
        {PT_EV_heap_sample, "function", PT_EV_heap_calloc, "heap_calloc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pt_event_desc *desc = pt_event_desc_by_id(cases[i].event);
        const struct pt_field_desc *field = field_of(desc, cases[i].field);
        struct pt_event event = {.desc = desc};
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_field_set(&event, field, (pt_u64)cases[i].value);
        pt_text_field(&text, &event, field, NULL);
        assert_string_equal(text.text, cases[i].text);
    }
}

/* A stack of Python reads as its places; one that holds an address, too, and a name that is not there, stays as it is.
 */
static pt_u32 python_stack(void *context, pt_u32 id, const pt_u64 **ret_frames)
{
    static pt_u64 frames[3];
    (void)context, (void)id;
    frames[0] = pt_python_frame(7);
    frames[1] = pt_python_frame(8);
    frames[2] = 0x1234;
    *ret_frames = frames;
    return 3;
}

static pt_u32 id_of_python_stack(void *context, const pt_u64 *frames, pt_u32 n)
{
    (void)context;
    return n == 3 && frames[0] == pt_python_frame(7) && frames[1] == pt_python_frame(8) && frames[2] == 0x1234 ? 5 : 0;
}

static void frames_of_python_have_names(void **state)
{
    (void)state;
    const struct pt_text_names names = {NULL, name_string, python_stack};
    const struct pt_text_ids ids = {NULL, id_of_string, id_of_python_stack};
    struct pt_event event = {.desc = pt_event_desc_by_id(PT_EV_python_place), .aux = 5}, back;
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    PT_AUTO(pt_str_fini) struct pt_str label = {0};
    struct pt_error err = {0};
    pt_text_event(&line, &event, "1/1", &names);
    assert_non_null(strstr(line.text, "stack=[\"name-7\" \"name-8\" 0x1234]"));
    assert_int_equal(pt_text_parse_event(line.text, &back, &label, &ids, &err), 0);
    assert_int_equal(back.aux, 5);
}

static struct pt_field_value value_of(pt_u8 id, const char *name, pt_i64 value)
{
    const struct pt_event_desc *desc = pt_event_desc_by_id(id);
    struct pt_event event = {.desc = desc};
    pt_field_set(&event, field_of(desc, name), (pt_u64)value);
    return pt_field_value(&event, field_of(desc, name));
}

static void values_say_how_to_show_them(void **state)
{
    (void)state;
    assert_int_equal(value_of(PT_EV_io_read, "result", 4096).form, PT_FORM_SIGNED);
    assert_string_equal(value_of(PT_EV_io_read, "result", -ENOENT).error, "ENOENT");
    assert_int_equal(value_of(PT_EV_io_read, "result", -4000).form, PT_FORM_SIGNED); /* no errno */
    assert_true(value_of(PT_EV_io_read, "fd", -1).is_absent);
    assert_false(value_of(PT_EV_io_read, "fd", 0).is_absent);
    assert_true(value_of(PT_EV_io_read, "path", 0).is_absent);
    assert_int_equal(value_of(PT_EV_io_read, "path", 7).form, PT_FORM_STRING);
    assert_int_equal(value_of(PT_EV_io_open, "flags", -1).bits, 0xffffffff);
    assert_int_equal(value_of(PT_EV_gpu_copy, "kinds", -1).bits, 0xffffff);
    assert_true(value_of(PT_EV_counter, "value", 0x3fe0000000000000).real == 0.5);
}

static void quoting_keeps_every_byte(void **state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = 0;
    PT_AUTO(pt_str_fini) struct pt_str quoted = {0};
    PT_AUTO(pt_str_fini) struct pt_str back = {0};
    pt_text_quote(&quoted, all);
    for (size_t i = 0; i < quoted.n; i++)
        assert_true((unsigned char)quoted.text[i] >= 0x20);
    assert_ptr_equal(pt_text_unquote(quoted.text, &back), quoted.text + quoted.n);
    assert_string_equal(back.text, all);
    pt_str_clear(&quoted);
    pt_text_quote(&quoted, "\xc3\xa9\xe2\x80\xae\xff");
    assert_string_equal(quoted.text, "\"\xc3\xa9\\xe2\\x80\\xae\\xff\"");
}

static void times_are_exact(void **state)
{
    (void)state;
    pt_i64 ns;
    assert_non_null(pt_text_seconds("12.345678901 ", &ns));
    assert_int_equal(ns, 12345678901);
    assert_non_null(pt_text_seconds("-0.5", &ns));
    assert_int_equal(ns, -500000000);
    assert_non_null(pt_text_seconds("7", &ns));
    assert_int_equal(ns, 7000000000);
    assert_null(pt_text_seconds("1.2345678901", &ns));
    assert_null(pt_text_seconds("99999999999999999999", &ns));
    assert_null(pt_text_seconds("x", &ns));
}

/* Write a session as text, assemble it, write that as text. */
static void session_text_comes_back(void **state)
{
    (void)state;
    struct pt_trace_writer *w = helper_sample();
    struct pt_session *session = helper_session(w);
    struct pt_error err = {0};
    char *first = NULL, *second = NULL;
    size_t n_first, n_second;
    FILE *out = open_memstream(&first, &n_first);
    assert_int_equal(pt_session_write_text(session, out, &err), 0);
    fclose(out);
    pt_session_close(session);

    struct helper_file file = helper_file("", 0);
    FILE *in = fmemopen(first, n_first, "r");
    if (pt_session_read_text(in, "text", file.path, &err) < 0)
        fail_msg("%s", err.text);
    fclose(in);
    session = pt_session_open(file.path, &err);
    assert_non_null(session);
    out = open_memstream(&second, &n_second);
    assert_int_equal(pt_session_write_text(session, out, &err), 0);
    fclose(out);
    assert_string_equal(first, second);
    pt_session_close(session);
    helper_close(&file);
    free(first);
    free(second);
    pt_trace_writer_free(w);
}

static bool has_note(const struct pt_session *session, const char *note)
{
    for (pt_u32 i = 0; i < session->n_notes; i++)
        if (!strcmp(session->notes[i], note))
            return true;
    return false;
}

/* Options without effect are notes, near to one of ours or not; what a damaged file holds is none. */
static void ignored_options_are_notes(void **state)
{
    (void)state;
    static const char text[] = "process 1 ignored_options=\"PROFTRACE_HEEP PROFTRACE_HEAP=fulll = PROFTRACE_ELSE_TOKEN "
                               "PROFTRACE_HEAP=full PROFTRACE_NVTX "
                               "PROFTRACE_COMMAND PROFTRACE_HEAP=full "
                               "PROFTRACE_WINDOW=skip_first=10,active=10,repeat=1 "
                               "PROFTRACE_WINDOW=skip_first=10,wait=5,warmup=5,ac\"\n"
                               "0.1 +0.1 1/1 io_read fd=3\n";
    struct helper_file file = helper_file("", 0);
    struct pt_error err = {0};
    char *back = NULL;
    size_t n;
    FILE *in = fmemopen((char *)(size_t)text, strlen(text), "r"), *out = open_memstream(&back, &n);
    assert_int_equal(pt_session_read_text(in, "text", file.path, &err), 0);
    fclose(in);
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    assert_int_equal(session->n_notes, 7);
    assert_int_equal(session->n_ignored_options, 7);
    /* What an older library did not know is right here. */
    assert_true(has_note(session, "PROFTRACE_HEAP=full had no effect in the library that recorded (version 0.0.0); "
                                  "record with the library of this version"));
    assert_true(has_note(session, "PROFTRACE_NVTX had no effect in the library that recorded (version 0.0.0); record "
                                  "with the library of this version"));
    /* The library cut it where it was right so far. */
    assert_true(has_note(session,
                         "PROFTRACE_WINDOW=skip_first=10,active=10,repeat=1... had no effect in the library "
                         "that recorded (version 0.0.0); correct its end or shorten it, or record with the library "
                         "of this version"));
    assert_true(has_note(session,
                         "PROFTRACE_WINDOW=skip_first=10,wait=5,warmup=5,ac... had no effect in the library "
                         "that recorded (version 0.0.0); correct its end or shorten it, or record with the library "
                         "of this version"));
    assert_true(has_note(session, "PROFTRACE_HEEP is no option and has no effect; did you mean PROFTRACE_HEAP?"));
    assert_true(has_note(
        session, "PROFTRACE_ELSE_TOKEN is no option and has no effect; docs/options.md and libproftrace(7) have all "
                 "of them"));
    assert_true(has_note(session, "PROFTRACE_HEAP=fulll is not understood and has no effect; did you mean full?"));
    assert_int_equal(pt_session_write_text(session, out, &err), 0);
    fclose(out);
    assert_non_null(strstr(back, " ignored_options=\"PROFTRACE_HEEP PROFTRACE_HEAP=fulll = PROFTRACE_ELSE_TOKEN "));
    pt_session_close(session);
    helper_close(&file);
    free(back);
}

/* As of a version that names io_read otherwise. */
static void forget_a_kind(const char *path)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char *name = memmem(bytes, n, "io_read ", 8);
    assert_non_null(name);
    memcpy(name, "io_reed ", 8);
    write_bytes(path, bytes, n);
}

/* A run of another version may have thousands of files. */
static void files_of_another_version_have_one_note(void **state)
{
    (void)state;
    struct pt_error err = {0};
    const char *note =
        "s written by another version; kinds of events that this one does not know are left out: io_reed";
    for (int n = 1; n <= 3; n++) {
        char text[100], path[100];
        const int length = snprintf(text, sizeof text, "process %d trace_id=0x%x\n", n, n);
        FILE *in = fmemopen(text, (size_t)length, "r");
        assert_int_equal(pt_session_read_text(in, "text", ".", &err), 0);
        fclose(in);
        snprintf(path, sizeof path, "process-%d-%016x.ptr", n, n);
        forget_a_kind(path);
        struct pt_session *session = pt_session_open(".", &err);
        assert_non_null(session);
        assert_int_equal(session->n_notes, 1);
        snprintf(text, sizeof text, n == 1 ? "process-1-%016x.ptr:" : "%d trace files were", n);
        assert_memory_equal(session->notes[0], text, strlen(text));
        assert_non_null(strstr(session->notes[0], note + 1));
        pt_session_close(session);
    }
}

/* Where phases or stacks of Python are missing, a note says why. */
static void python_that_was_not_seen_is_a_note(void **state)
{
    (void)state;
    static const char text[] =
        "process 1 python=no_stacks python_version=50856432 python_note=\"other \\x1b offsets\"\n";
    struct helper_file file = helper_file("", 0);
    struct pt_error err = {0};
    char *back = NULL;
    size_t n;
    FILE *in = fmemopen((char *)(size_t)text, strlen(text), "r"), *out = open_memstream(&back, &n);
    assert_int_equal(pt_session_read_text(in, "text", file.path, &err), 0);
    fclose(in);
    struct pt_session *session = pt_session_open(file.path, &err);
    assert_non_null(session);
    assert_int_equal(session->n_notes, 1);
    assert_true(has_note(session, "CPython 3.8.1 was seen without its stacks, so no places in Python are known: "
                                  "\"other \\x1b offsets\""));
    assert_int_equal(pt_session_write_text(session, out, &err), 0);
    fclose(out);
    assert_non_null(strstr(back, " python=no_stacks python_version=50856432 python_note=\"other \\x1b offsets\""));
    pt_session_close(session);
    helper_close(&file);
    free(back);
}

static void wrong_text_is_named_by_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"process 1\n0.1 +0.1 1/1 io_reed fd=3\n", "text:2: no event is called 'io_reed'"},
        {"process 1\n0.1 +0.1 1/1 io_read fx=3\n", "text:2: io_read has no field 'fx'"},
        {"process 1\n0.1 +0.1 1/1 io_read path=\"a\n", "text:2: field 'path' of io_read cannot be read"},
        {"process 1\n0.1 +0.1 2/1 io_read fd=3\n", "text:2: no process line for '2' stands before this"},
        {"process 1 start=x\n", "text:1: start='x' is not a time in seconds"},
        {"process 1 rank=2147483647\n", "text:1: rank=2147483647 is too large"},
        {"# nothing\n", "no process line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pt_error err = {0};
        FILE *in = fmemopen((char *)(size_t)cases[i].text, strlen(cases[i].text), "r");
        assert_int_equal(pt_session_read_text(in, "text", "/dev/null", &err), -1);
        fclose(in);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.exit_code, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_as_a_line),
        cmocka_unit_test(frames_of_python_have_names),
        cmocka_unit_test(names_stand_for_numbers),
        cmocka_unit_test(values_say_how_to_show_them),
        cmocka_unit_test(quoting_keeps_every_byte),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(session_text_comes_back),
        cmocka_unit_test(ignored_options_are_notes),
        cmocka_unit_test_setup_teardown(files_of_another_version_have_one_note, enter_directory, leave_directory),
        cmocka_unit_test(python_that_was_not_seen_is_a_note),
        cmocka_unit_test(wrong_text_is_named_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
