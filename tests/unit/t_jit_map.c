/* SPDX-License-Identifier: MIT
 *
 * Names of code that a program made: what its map says, and files that are no map, or not one of this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu_profile/code_bytes.h"
#include "cpu_profile/jit_maps.h"
#include "cpu_file/jit_map.h"
#include "facts/code_kind.h"

static const struct pt_jit_function *name_at(const struct pt_jit_map *map, pt_u64 address)
{
    return pt_jit_map_find(map, address);
}

static void names_are_split_as_their_makers_write_them(void **state)
{
    (void)state;
    static const char text[] = "1000 10 JS:*slowKernel /home/u/hot.js:12:20\n"
                               "1010 10 LazyCompile:~ file:///home/u/a b.mjs:3:1\n"
                               "1020 10 JS:^native\n"
                               "1030 10 py::work:/home/u/a.py\n"
                               "1040 10 long Hot.spin(long)\n"
                               "0x1050 0x10 RegExp:a\x01 b\n"
                               "1060 10 JS:*f node:internal/async_hooks:474:27\n";
    static const struct {
        pt_u64 address;
        const char *name, *file;
        pt_u32 line;
    } want[] = {
        {0x1000, "slowKernel", "/home/u/hot.js", 12},
        {0x101f, "(anonymous)", "file:///home/u/a b.mjs", 3},
        {0x1020, "native", NULL, 0},
        {0x103f, "work", "/home/u/a.py", 0},
        {0x1045, "long Hot.spin(long)", NULL, 0},
        {0x1050, "RegExp:a? b", NULL, 0},
        {0x1066, "f", "node:internal/async_hooks", 474},
    };
    struct pt_jit_map *map = pt_jit_map_of_text(text, sizeof text - 1);
    assert_non_null(map);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct pt_jit_function *found = name_at(map, want[i].address);
        print_message("0x%llx\n", (unsigned long long)want[i].address);
        assert_non_null(found);
        assert_string_equal(found->name, want[i].name);
        assert_int_equal(found->line, want[i].line);
        assert_int_equal(found->file != NULL, want[i].file != NULL);
        if (found->file)
            assert_string_equal(found->file, want[i].file);
    }
    assert_null(name_at(map, 0xfff));
    assert_null(name_at(map, 0x1070));
    pt_jit_map_free(map);
}

static void what_was_written_last_counts(void **state)
{
    (void)state;
    static const char text[] = "1000 100 old\n1040 20 moved\n1000 40 new\nfff 2 edge\n";
    struct pt_jit_map *map = pt_jit_map_of_text(text, sizeof text - 1);
    assert_non_null(map);
    assert_string_equal(name_at(map, 0x1000)->name, "edge");
    assert_string_equal(name_at(map, 0x1010)->name, "new");
    assert_string_equal(name_at(map, 0x1050)->name, "moved");
    assert_null(name_at(map, 0x1070)); /* where the old one was, other code may lie */
    pt_jit_map_free(map);
}

static void nonsense_is_no_map(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n\n\n",
                                        "1000",
                                        "1000 10 cut",
                                        "xyz 10 f\n",
                                        "1000 0 empty\n",
                                        "1000 10\n",
                                        "1000 10 \n",
                                        "ffffffffffffffff 10 over\n",
                                        "11111111111111111 10 long\n",
                                        "-5 10 f\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(pt_jit_map_of_text(texts[i], strlen(texts[i])));
    assert_null(pt_jit_map_of_text("1000 10 a\0b\n", 12));
    char *junk = test_malloc(100000);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100000; i++)
            junk[i] = " 0123456789abcdef\nJS:/~*py:\1\xff"[rand() % 30];
        pt_jit_map_free(pt_jit_map_of_text(junk, 100000));
    }
    test_free(junk);
}

/* ---- the copy ---- */

struct place {
    char folder[64], map[64];
    int fd;
    struct pt_jit_maps maps;
    struct pt_jit_maps_to to;
    struct pt_live_thread thread;
};

static void begin(struct place *place)
{
    *place = (struct place){.folder = "/tmp/jit-maps-XXXXXX"};
    assert_non_null(mkdtemp(place->folder));
    place->fd = open(place->folder, O_RDONLY | O_DIRECTORY);
    place->to = (struct pt_jit_maps_to){place->fd, 3, 1000000000};
    place->thread.shown = (struct pt_cpu_thread){.number = 7, .pid = (pt_u32)getpid()};
    snprintf(place->map, sizeof place->map, "/tmp/perf-%d.map", getpid());
    unlink(place->map);
}

static bool copies(struct place *place)
{
    *pt_map_at(&place->maps.pids, (pt_u64)getpid()) = 1;
    pt_jit_maps_copy(&place->maps, &place->to, &place->thread);
    const bool is_there = unlinkat(place->fd, "jit-3-7.map", 0) == 0;
    unlink(place->map);
    return is_there;
}

static void write_map(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("1000 10 f\n", file);
    fclose(file);
}

/* DVC and git-annex make runs of links. */
static void a_map_of_a_run_may_be_a_link(void **state)
{
    char folder[] = "/tmp/jit-maps-XXXXXX", map[64], other[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(map, sizeof map, "%s/jit-3-7.map", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    write_map(other);
    assert_int_equal(symlink("other", map), 0);
    struct pt_jit_map *read = pt_jit_map_read(folder, 3, 7);
    assert_non_null(read);
    assert_non_null(pt_jit_map_find(read, 0x1004));
    pt_jit_map_free(read);
    unlink(map);
    unlink(other);
    rmdir(folder);
}

static void only_the_process_s_own_file_is_copied(void **state)
{
    (void)state;
    struct place place;
    char other[80];
    struct stat status;
    begin(&place);
    snprintf(other, sizeof other, "%s/other", place.folder);
    write_map(other);
    assert_false(copies(&place)); /* there is none */
    write_map(place.map);
    assert_true(copies(&place));
    assert_int_equal(symlink(other, place.map), 0);
    assert_false(copies(&place));
    assert_int_equal(link(other, place.map), 0);
    assert_false(copies(&place));
    assert_int_equal(mkfifo(place.map, 0600), 0);
    assert_false(copies(&place));
    write_map(place.map);
    assert_int_equal(stat(place.map, &status), 0);
    place.thread.shown.start_ns = ((pt_u64)status.st_mtim.tv_sec + 5) * 1000000000u;
    assert_false(copies(&place)); /* of an earlier process of that number */
    place.thread.shown.start_ns = 0;
    write_map(place.map);
    if (geteuid() == 0 && chown(place.map, 12345, 12345) == 0)
        assert_false(copies(&place));
    write_map(place.map);
    pt_jit_maps_copy(&place.maps, &place.to, &place.thread); /* it never ran such code since */
    assert_int_not_equal(unlinkat(place.fd, "jit-3-7.map", 0), 0);
    unlink(place.map);
    unlink(other);
    rmdir(place.folder);
    close(place.fd);
    pt_map_fini(&place.maps.pids);
}

/* ---- calls ---- */

static void calls_are_told_by_their_bytes(void **state)
{
    (void)state;
    static const struct {
        pt_u8 code[8];
        pt_u32 n;
        enum pt_call_before call;
    } want[] = {
        {{0xe8, 1, 2, 3, 4}, 5, PT_CALL_BY_NAME},
        {{0xff, 0x15, 1, 2, 3, 4}, 6, PT_CALL_BY_NAME},       /* by the table of other libraries' functions */
        {{0xff, 0xd0}, 2, PT_CALL_BY_POINTER},                /* call *%rax */
        {{0x41, 0xff, 0xd4}, 3, PT_CALL_BY_POINTER},          /* call *%r12 */
        {{0xff, 0x10}, 2, PT_CALL_BY_POINTER},                /* call *(%rax) */
        {{0xff, 0x50, 0x18}, 3, PT_CALL_BY_POINTER},          /* call *0x18(%rax) */
        {{0x41, 0xff, 0x54, 0x24, 8}, 5, PT_CALL_BY_POINTER}, /* call *8(%r12) */
        {{0xff, 0x14, 0xc8}, 3, PT_CALL_BY_POINTER},          /* call *(%rax,%rcx,8) */
        {{0xff, 0x90, 0, 1, 0, 0}, 6, PT_CALL_BY_POINTER},
        {{0xff, 0x94, 0xc8, 0, 1, 0, 0}, 7, PT_CALL_BY_POINTER},
        {{0x48, 0x89, 0xc3}, 3, PT_NO_CALL},
        {{0xff, 0xe0}, 2, PT_NO_CALL},       /* jmp *%rax */
        {{0xff, 0x75, 0x08}, 3, PT_NO_CALL}, /* push */
    };
    pt_u8 *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct pt_code_module module = {.path = ""};
    struct pt_mapping mapping = {(pt_u64)(uintptr_t)page, (pt_u64)(uintptr_t)page + 4096, 0, &module};
    struct pt_image image = {.items = &mapping, .n = 1};
    struct pt_code_modules modules = {0};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        memset(page, 0x90, 64);
        memcpy(page + 32, want[i].code, want[i].n);
        print_message("row %zu\n", i);
        assert_int_equal(pt_call_before(&modules, &image, (pt_u32)getpid(), (pt_u64)(uintptr_t)page + 32 + want[i].n),
                         want[i].call);
    }
    assert_int_equal(pt_call_before(&modules, &image, (pt_u32)getpid(), (pt_u64)(uintptr_t)page + 3), PT_NO_CALL);
    assert_int_equal(pt_call_before(&modules, &image, (pt_u32)getpid(), 0), PT_NO_CALL);
    munmap(page, 4096);
}

static void callers_tell_who_made_code(void **state)
{
    (void)state;
    static const struct {
        const char *path, *function, *generator;
    } want[] = {
        {"/usr/lib/libdnnl.so.2.6", NULL, "oneDNN"},
        {"/opt/torch/lib/libtorch_cpu.so", "dnnl::impl::cpu::x64::jit_uni_eltwise", "oneDNN"},
        {"/opt/torch/lib/libtorch_cpu.so", "fbgemm::GenerateKernel", "FBGEMM"},
        {"/opt/torch/lib/libtorch_cpu.so", "at::native::add", NULL},
        {"/usr/lib/libLLVM-14.so.1", NULL, "LLVM"},
        {"/opt/numba/_dispatcher.cpython-311-x86_64-linux-gnu.so", NULL, "LLVM"},
        {"/usr/bin/node", NULL, "V8"},
        {"/usr/lib/jvm/lib/server/libjvm.so", "JavaCalls::call_helper", "JVM"},
        {"/usr/lib/libluajit-5.1.so.2", NULL, "LuaJIT"},
        {"/usr/lib/libpcre2-8.so.0", "pcre2_match_8", "PCRE2"},
        {"/usr/lib/libffi.so.8", NULL, "libffi"},
        {"/usr/bin/python3.11", NULL, NULL},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const char *found = pt_code_jit_of(want[i].path, want[i].function);
        print_message("row %zu\n", i);
        assert_int_equal(found != NULL, want[i].generator != NULL);
        if (found)
            assert_string_equal(found, want[i].generator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_split_as_their_makers_write_them),
        cmocka_unit_test(what_was_written_last_counts),
        cmocka_unit_test(nonsense_is_no_map),
        cmocka_unit_test(a_map_of_a_run_may_be_a_link),
        cmocka_unit_test(only_the_process_s_own_file_is_copied),
        cmocka_unit_test(calls_are_told_by_their_bytes),
        cmocka_unit_test(callers_tell_who_made_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
