/* SPDX-License-Identifier: MIT
 *
 * t_symbols.c - names and lines of a program that the test compiles, and of files that are not it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/trace_file.h"
#include "symbols/elf_image.h"
#include "symbols/symbols.h"

static const char program[] = "__attribute__((noinline)) int leaf(int x) { __asm__(\"\"); return x * 3; }\n"
                              "static inline __attribute__((always_inline)) int\n"
                              "middle(int x)\n"
                              "{\n"
                              "    return leaf(x) + 1;\n"
                              "}\n"
                              "int outer(int x)\n"
                              "{\n"
                              "    return middle(x) + 1;\n"
                              "}\n"
                              "int main(void) { return outer(1); }\n";
static char folder[] = "/tmp/symbols-XXXXXX";
static const pt_u8 our_id[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};

static char *in_folder(const char *name)
{
    static char path[8][128];
    static unsigned turn;
    char *at = path[turn++ % 8];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static int compile(void **state)
{
    (void)state;
    char command[600];
    if (!mkdtemp(folder))
        return -1;
    FILE *file = fopen(in_folder("p.c"), "w");
    if (!file || fputs(program, file) < 0 || fclose(file))
        return -1;
    snprintf(
        command, sizeof command,
        "cd %s && cc -O2 -g -no-pie -fno-ipa-cp -fno-optimize-sibling-calls -Wl,--build-id=0x1122334455667788 p.c -o "
        "full && objcopy --strip-debug full symbols && strip -o bare full && cc -O2 p.c -Wl,--build-id=0x99 -o other",
        folder);
    return system(command) ? -1 : 0;
}

static int clean(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) ? -1 : 0;
}

/* The address behind the first call in `function`, from the program's own symbol table and objdump. */
static pt_u64 return_address_in(const char *function)
{
    char command[300], line[200] = "";
    snprintf(command, sizeof command,
             "objdump -d %s --no-show-raw-insn | awk '/<%s>:/{f=1} f&&/call/{getline; print $1; exit}'",
             in_folder("full"), function);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return strtoull(line, NULL, 16);
}

static const struct pt_frame *frames_of(struct pt_symbols *symbols, const char *path, pt_u64 address, pt_u32 *ret_n)
{
    static struct pt_module module;
    static struct pt_process process;
    module = (struct pt_module){.start = 0x400000, .end = 0x500000, .path = path, .build_id_bytes = sizeof our_id};
    memcpy(module.build_id, our_id, sizeof our_id);
    process = (struct pt_process){.modules = &module, .n_modules = 1};
    return pt_symbolize(symbols, &process, address, 0, ret_n);
}

static void test_inlined_frames(void **state)
{
    (void)state;
    struct pt_symbols *symbols = pt_symbols_open(NULL);
    pt_u32 n;
    const struct pt_frame *frames = frames_of(symbols, in_folder("full"), return_address_in("outer"), &n);
    assert_int_equal(n, 2);
    assert_string_equal(frames[0].function, "middle");
    assert_int_equal(frames[0].line, 5);
    assert_string_equal(frames[1].function, "outer");
    assert_int_equal(frames[1].line, 9);
    assert_non_null(strstr(frames[1].file, "p.c"));
    assert_ptr_equal(frames, frames_of(symbols, in_folder("full"), return_address_in("outer"), &n));
    pt_symbols_close(symbols);
}

static void test_symbol_table_alone(void **state)
{
    (void)state;
    struct pt_symbols *symbols = pt_symbols_open(NULL);
    pt_u32 n;
    const struct pt_frame *frames = frames_of(symbols, in_folder("symbols"), return_address_in("outer"), &n);
    assert_int_equal(n, 1);
    assert_string_equal(frames[0].function, "outer");
    assert_null(frames[0].file);
    pt_symbols_close(symbols);
}

/* Stripped, another build, no ELF, no file, a device, a pipe, /proc: a frame that only names the module. */
static void test_files_that_cannot_be_used(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "mkfifo %s; ln -s /proc/self/exe %s", in_folder("pipe"), in_folder("link"));
    assert_int_equal(system(command), 0);
    const char *const paths[] = {in_folder("bare"),
                                 in_folder("other"),
                                 in_folder("p.c"),
                                 in_folder("missing"),
                                 in_folder("pipe"),
                                 "/dev/zero",
                                 "/proc/self/exe",
                                 "/proc/self/root/proc/self/exe",
                                 ""};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct pt_symbols *symbols = pt_symbols_open(NULL);
        pt_u32 n;
        const struct pt_frame *frames = frames_of(symbols, paths[i], return_address_in("outer"), &n);
        assert_int_equal(n, 1);
        assert_null(frames[0].function);
        assert_string_equal(frames[0].module, paths[i]);
        pt_symbols_close(symbols);
    }
}

/* The number that nm wrote for a symbol of x.so, before it was stripped. */
static pt_u64 address_in_library(const char *symbol)
{
    char command[300], line[64] = "";
    snprintf(command, sizeof command, "awk '$3 == \"%s\" {print $1}' %s", symbol, in_folder("x.nm"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return strtoull(line, NULL, 16);
}

static void same_text(const char *got, const char *want)
{
    if (want)
        assert_true(got && !strcmp(got, want));
    else
        assert_null(got);
}

/* A stripped library has the names that it exports. Each is that of its own code: not of what lies between two of them,
 * and one that has no size (as _init has none) ends with its section. What lies between is near the one behind it: in
 * the same section, with two functions between at most. Where the file says more names, even if not this one, there is
 * no such hint. */
static void test_exported_names_end_where_their_code_ends(void **state)
{
    (void)state;
    static const char library[] =
        "__asm__(\".section .aaa, \\\"ax\\\"\\n.globl opening\\n.type opening, @function\\n\"\n"
        "        \"opening: nop\\nnop\\nret\\n.text\");\n"
        "__asm__(\".section .aaa, \\\"ax\\\"\\n.globl sized\\n.type sized, @function\\nsized: nop\\n.size sized, "
        "1\\n\"\n"
        "        \".type last, @function\\nlast: nop\\nret\\n.size last, 2\\n.text\");\n"
        "#define F(name, n) __attribute__((noinline)) static int name(int x) { __asm__(\"\"); return x * n; }\n"
        "F(far_off, 3) F(hidden, 5) F(third, 7) F(fourth, 11)\n"
        "int exported(int x) { return far_off(x) + hidden(x) + third(x) + fourth(x); }\n"
        "__asm__(\".type behind, @function\\nbehind: ret\\n.size behind, 1\");\n";
    static const struct {
        const char *file, *at, *name, *near;
        int offset;
    } want[] = {{"x.so", "opening", "opening", NULL, 2},
                {"x.so", "exported", "exported", NULL, 4},
                {"x.so", "hidden", NULL, "exported", 2},
                {"x.so", "far_off", NULL, NULL, 0},
                {"x.so", "last", NULL, NULL, 1},
                {"x.some.so", "hidden", NULL, NULL, 2},
                {"x.some.so", "exported", "exported", NULL, 4}};
    char command[900];
    FILE *file = fopen(in_folder("x.c"), "w");
    assert_true(file && fputs(library, file) >= 0 && !fclose(file));
    snprintf(command, sizeof command,
             "cd %s && cc -O2 -fno-toplevel-reorder -shared -fPIC -Wl,--build-id=0x1122334455667788 x.c -o x.so && nm "
             "x.so >x.nm && "
             "objcopy -N hidden x.so x.some.so && strip x.so",
             folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(in_folder("names"), 0700), 0);
    struct pt_symbols *symbols = pt_symbols_open(in_folder("names"));
    for (size_t i = 0; i < 2 * sizeof want / sizeof *want; i++) {
        const size_t row = i % (sizeof want / sizeof *want);
        pt_u32 n;
        if (i && !row) { /* once more, as they were kept */
            pt_symbols_close(symbols);
            symbols = pt_symbols_open(in_folder("names"));
        }
        const struct pt_frame *frames =
            pt_symbolize_file(symbols, in_folder(want[row].file), our_id, sizeof our_id,
                              address_in_library(want[row].at) + (pt_u64)want[row].offset, &n);
        print_message("%s of %s\n", want[row].at, want[row].file);
        assert_int_equal(n, 1);
        same_text(frames[0].function, want[row].name);
        same_text(frames[0].near, want[row].near);
    }
    pt_symbols_close(symbols);
}

static void test_address_without_a_module(void **state)
{
    (void)state;
    struct pt_symbols *symbols = pt_symbols_open(NULL);
    const pt_u64 addresses[] = {0, 1, 0x3fffff, 0x600000, ~0ull};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        pt_u32 n;
        const struct pt_frame *frames = frames_of(symbols, in_folder("full"), addresses[i], &n);
        assert_int_equal(n, 1);
        assert_null(frames[0].function);
        assert_null(frames[0].module);
    }
    pt_symbols_close(symbols);
}

/* Damaged copies of the program: any answer will do, but there has to be one. */
/* What a program asks dlopen for, in the constants of this one; and what is no such name. */
static void test_names_of_libraries(void **state)
{
    static const char *volatile const texts[] = {"libptbare.so", "/lib/libptversion.so.1.2", "see libpttext.so.1 there",
                                                 "libptdots.so..", "notlibptprefix.so.1"};
    char path[256];
    struct pt_elf_image image;
    (void)state;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0 && texts[0]);
    path[n] = 0;
    assert_true(pt_elf_image_open(&image, path, NULL, PT_ELF_ANY_BUILD));
    assert_true(pt_elf_image_names_library(&image, "libptbare.so."));
    assert_true(pt_elf_image_names_library(&image, "libptversion.so."));
    assert_false(pt_elf_image_names_library(&image, "libpttext.so."));
    assert_false(pt_elf_image_names_library(&image, "libptdots.so."));
    assert_false(pt_elf_image_names_library(&image, "libptprefix.so."));
    assert_false(pt_elf_image_names_library(&image, "libptnowhere.so."));
    pt_elf_image_close(&image);
}

static void test_damaged_files(void **state)
{
    (void)state;
    FILE *file = fopen(in_folder("full"), "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 17];
    const size_t n_bytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    srandom(1);
    for (int round = 0; round < 300; round++) {
        char *path = in_folder("damaged");
        static unsigned char damaged[sizeof bytes];
        memcpy(damaged, bytes, n_bytes);
        for (int i = random() % 30; i >= 0; i--)
            damaged[(size_t)random() % n_bytes] = (unsigned char)(random() % 3 ? random() : 0xff);
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(damaged, 1, random() % 10 ? n_bytes : (size_t)random() % n_bytes, file);
        fclose(file);
        struct pt_symbols *symbols = pt_symbols_open(NULL);
        for (pt_u64 address = 0x401000; address < 0x401200; address += 5) {
            pt_u32 n;
            assert_non_null(frames_of(symbols, path, address, &n));
            assert_true(n > 0);
        }
        pt_symbols_close(symbols);
    }
}

/* ---- what is kept in the run directory ---- */

static void in_shell(const char *what)
{
    char command[600];
    snprintf(command, sizeof command, "cd %s && %s", folder, what);
    assert_int_equal(system(command), 0);
}

static char *shown(const char *cache_folder, const char *program_path)
{
    static char text[4096];
    size_t used = 0;
    *text = 0;
    struct pt_symbols *symbols = pt_symbols_open(cache_folder);
    for (pt_u64 address = 0x401000; address < 0x401200; address += 5) {
        pt_u32 n;
        const struct pt_frame *frames = frames_of(symbols, program_path, address, &n);
        for (pt_u32 i = 0; i < n && frames[i].function; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s:%u|", frames[i].function,
                                     frames[i].file ? frames[i].file : "-", frames[i].line);
        assert_true(used < sizeof text);
    }
    pt_symbols_close(symbols);
    return text;
}

static char *kept_in(const char *cache_folder)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/symbols.cache", cache_folder);
    return path;
}

static void test_what_was_found_is_kept(void **state)
{
    (void)state;
    char without[4096], command[400];
    struct stat st;
    assert_int_equal(mkdir(in_folder("run"), 0700), 0);
    strcpy(without, shown(NULL, in_folder("full")));
    assert_non_null(strstr(without, "outer"));
    assert_string_equal(shown(in_folder("run"), in_folder("full")), without);
    assert_int_equal(stat(kept_in(in_folder("run")), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    snprintf(command, sizeof command, "head -n 1 %s | grep -q '^proftrace symbols [0-9]*$'", kept_in(in_folder("run")));
    assert_int_equal(system(command), 0); /* for any version of ours: another may have no file to look at */
    /* The file may not even be readable now: it is not opened. */
    const pt_i64 before = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
    assert_string_equal(shown(in_folder("run"), in_folder("full")), without);
    assert_int_equal(stat(kept_in(in_folder("run")), &st), 0);
    assert_true(before == st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec);
    /* Another program in its place: nothing of the old one holds. */
    in_shell("cp full moved && sleep 0.02");
    char *const of_moved = shown(in_folder("run"), in_folder("moved"));
    assert_non_null(strstr(of_moved, "outer"));
    in_shell("cp symbols moved");
    assert_null(strstr(shown(in_folder("run"), in_folder("moved")), "p.c"));
    in_shell("cp bare moved");
    assert_string_equal(shown(in_folder("run"), in_folder("moved")), "");
}

/* A run that was copied to another machine: its programs are not there, or are of another build. */
static void test_what_was_found_outlives_the_file(void **state)
{
    (void)state;
    char without[4096];
    pt_u32 n;
    assert_int_equal(mkdir(in_folder("copied"), 0700), 0);
    in_shell("cp full gone");
    strcpy(without, shown(in_folder("copied"), in_folder("gone")));
    assert_non_null(strstr(without, "p.c"));
    assert_int_equal(unlink(in_folder("gone")), 0);
    /* The address of another report is not known, and written with those that are. */
    struct pt_symbols *symbols = pt_symbols_open(in_folder("copied"));
    assert_null(frames_of(symbols, in_folder("gone"), 0x401001, &n)->function);
    pt_symbols_close(symbols);
    assert_string_equal(shown(in_folder("copied"), in_folder("gone")), without);
    setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
    assert_string_equal(shown(in_folder("copied"), in_folder("gone")), without);
    unsetenv("DEBUGINFOD_URLS");
    in_shell("cp other gone");
    assert_string_equal(shown(in_folder("copied"), in_folder("gone")), without);
    /* Where there is a file of that build again, it says what was not known. */
    in_shell("cp symbols gone");
    assert_non_null(strstr(shown(in_folder("copied"), in_folder("gone")), "outer -:0"));
}

static const char *name_of_session(struct pt_session *session, const char *path, pt_u64 address)
{
    static char name[64];
    pt_u32 n;
    struct pt_symbols *symbols = pt_symbols_of_session(session);
    const char *found = pt_symbolize_file(symbols, path, NULL, 0, address, &n)->function;
    snprintf(name, sizeof name, "%s", found ? found : "?");
    pt_symbols_close(symbols);
    return name;
}

/* Without a build-id its time tells: one that the run built is the run's, one that was built after it is another. */
static void test_a_file_that_was_built_after_the_run(void **state)
{
    (void)state;
    in_shell("mkdir run2 run3 && cp p.c q.c && sed -i s/outer/inner/ q.c && for i in p q; do cc -O2 -g -no-pie "
             "-fno-ipa-cp -fno-optimize-sibling-calls -Wl,--build-id=none $i.c -o no-id-$i && touch -d @1705320100 "
             "no-id-$i; done && cp -p no-id-p no-id");
    const pt_u64 address = return_address_in("outer");
    struct pt_session session = {
        .path = in_folder("run2"), .start_realtime_ns = 1705320000000000000, .duration_ns = 200000000000};
    char *path = in_folder("no-id");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    in_shell("cp no-id-q no-id");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    assert_string_equal(name_of_session(&session, path, address + 1), "?");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    /* So is one that was built before the run, and brought here after it: cp -p, rsync. */
    in_shell("touch -d @1705310000 no-id");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    assert_string_equal(name_of_session(&session, path, address + 2), "?");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    /* A copy of the run's own, as in another venv: it names what was kept as the run's did. */
    in_shell("cp no-id-p no-id && touch -d @1705310000 no-id");
    assert_string_equal(name_of_session(&session, path, address + 3), "outer");
    in_shell("cp -p no-id-p no-id");
    assert_string_equal(name_of_session(&session, path, address + 2), "outer");
    in_shell("cp no-id-q no-id");
    session.path = in_folder("run3");
    assert_string_equal(name_of_session(&session, path, address), "?");
    in_shell("cp -p no-id-p no-id");
    assert_string_equal(name_of_session(&session, path, address), "outer");
    in_shell("cp no-id-q no-id");
    session.path = in_folder("nowhere");
    assert_string_equal(name_of_session(&session, path, address), "?");
    /* The clock was set forward before the run built it; a window has cut 90 s of the process's life. */
    struct pt_process process = {.start_ns = 190000000000, .cut_ns = 90000000000}, *processes[] = {&process};
    process.start_realtime_ns = ((pt_u64)time(NULL) - 50) * 1000000000;
    session.processes = processes, session.n_processes = 1;
    assert_string_equal(name_of_session(&session, path, address), "inner");
    session.n_processes = 0, session.n_before_window = 1; /* it had ended before the window */
    assert_string_equal(name_of_session(&session, path, address), "inner");
    session.start_realtime_ns = 0;
    assert_string_equal(name_of_session(&session, path, address), "inner");
}

static void test_a_damaged_cache_is_none(void **state)
{
    (void)state;
    static char bytes[1 << 16];
    char without[4096];
    strcpy(without, shown(NULL, in_folder("full")));
    if (access(in_folder("run"), F_OK))
        assert_int_equal(mkdir(in_folder("run"), 0700), 0);
    shown(in_folder("run"), in_folder("full"));
    FILE *file = fopen(kept_in(in_folder("run")), "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(n > 100 && n < sizeof bytes);
    for (size_t i = 0; i < n; i += 7) {
        bytes[i] ^= 0x5a;
        file = fopen(kept_in(in_folder("run")), "wb");
        assert_non_null(file);
        fwrite(bytes, 1, i % 3 ? n : i, file);
        fclose(file);
        bytes[i] ^= 0x5a;
        assert_string_equal(shown(in_folder("run"), in_folder("full")), without);
    }
}

/* No folder, one that is a file, a link in place of the cache, a pipe: as if there was none, and nothing is written
 * elsewhere. */
static void test_a_cache_that_cannot_be_used(void **state)
{
    (void)state;
    char without[4096], command[400];
    strcpy(without, shown(NULL, in_folder("full")));
    assert_string_equal(shown(in_folder("nowhere"), in_folder("full")), without);
    assert_string_equal(shown(in_folder("p.c"), in_folder("full")), without);
    snprintf(command, sizeof command,
             "cd %s && mkdir linked piped && echo precious >target && ln -s ../target linked/symbols.cache && mkfifo "
             "piped/symbols.cache",
             folder);
    assert_int_equal(system(command), 0);
    assert_string_equal(shown(in_folder("linked"), in_folder("full")), without);
    assert_string_equal(shown(in_folder("piped"), in_folder("full")), without);
    snprintf(command, sizeof command, "grep -q precious %s", in_folder("target"));
    assert_int_equal(system(command), 0);
}

int main(void)
{
    if (system("cc --version >/dev/null 2>&1 && objdump --version >/dev/null 2>&1")) {
        puts("SKIP: no compiler and binutils here");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inlined_frames),
        cmocka_unit_test(test_symbol_table_alone),
        cmocka_unit_test(test_files_that_cannot_be_used),
        cmocka_unit_test(test_exported_names_end_where_their_code_ends),
        cmocka_unit_test(test_address_without_a_module),
        cmocka_unit_test(test_names_of_libraries),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_what_was_found_is_kept),
        cmocka_unit_test(test_what_was_found_outlives_the_file),
        cmocka_unit_test(test_a_file_that_was_built_after_the_run),
        cmocka_unit_test(test_a_damaged_cache_is_none),
        cmocka_unit_test(test_a_cache_that_cannot_be_used),
    };
    return cmocka_run_group_tests(tests, compile, clean);
}
