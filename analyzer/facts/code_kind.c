/* SPDX-License-Identifier: MIT
 *
 * Owns: telling code by its names. Threads: any. Never: opens a file.
 */
#include "code_kind.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "cpu_file/interpreter.h"
#include "util/text/path.h"

struct row {
    const char *name;
    enum pt_code_kind kind;
    bool is_whole;
};

static const struct row files[] = {
#define IN_FILE(beginning, kind) {beginning, PT_CODE_##kind, false},
#define FUNCTION(name, kind)
#define FAMILY(beginning, kind)
#define JIT_IN(beginning, name)
#define JIT_BY(beginning, name)
#include "code_kind.def"
#undef IN_FILE
#undef FUNCTION
#undef FAMILY
#undef JIT_IN
#undef JIT_BY
    {NULL, PT_CODE_OTHER, false},
};

static const struct row functions[] = {
#define IN_FILE(beginning, kind)
#define FUNCTION(name, kind) {name, PT_CODE_##kind, true},
#define FAMILY(beginning, kind) {beginning, PT_CODE_##kind, false},
#define JIT_IN(beginning, name)
#define JIT_BY(beginning, name)
#include "code_kind.def"
#undef IN_FILE
#undef FUNCTION
#undef FAMILY
#undef JIT_IN
#undef JIT_BY
    {NULL, PT_CODE_OTHER, false},
};

static const struct generator {
    const char *function, *file, *name; /* one of the first two */
} generators[] = {
#define IN_FILE(beginning, kind)
#define FUNCTION(name, kind)
#define FAMILY(beginning, kind)
#define JIT_IN(beginning, name) {NULL, beginning, name},
#define JIT_BY(beginning, name) {beginning, NULL, name},
#include "code_kind.def"
#undef IN_FILE
#undef FUNCTION
#undef FAMILY
#undef JIT_IN
#undef JIT_BY
};

/* A whole name may have arguments behind it, or what a compiler adds: free.part.0. The first byte decides for nearly
 * all: every frame of every stack asks here, a quarter of a report once went into it. */
static bool fits(const struct row *row, const char *name)
{
    if (row->name[0] != name[0])
        return false;
    const size_t n = strlen(row->name);
    return !strncmp(name, row->name, n) && (!row->is_whole || !name[n] || name[n] == '(' || name[n] == '.');
}

static enum pt_code_kind kind_of(const struct row *rows, const char *name, const char *plain)
{
    for (; rows->name; rows++)
        if (fits(rows, name) || fits(rows, plain))
            break;
    return rows->kind;
}

enum pt_code_kind pt_code_of_file(const char *path)
{
    const char *base = path ? pt_base_name(path) : "";
    return pt_is_interpreter(base) ? PT_CODE_PYTHON : kind_of(files, base, base);
}

const char *pt_code_name_in_libc(const char *name)
{
    const char *plain = name + strspn(name, "_");
    plain += !strncmp(plain, "GI_", 3) ? 3 : 0;
    plain += strspn(plain, "_");
    plain += !strncmp(plain, "libc_", 5) ? 5 : !strncmp(plain, "glibc_", 6) ? 6 : 0;
    return *plain ? plain : name;
}

enum pt_code_kind pt_code_of_function(const char *name)
{
    return kind_of(functions, name, pt_code_name_in_libc(name));
}

static bool begins(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

const char *pt_code_jit_of(const char *path, const char *function)
{
    const char *base = path ? pt_base_name(path) : "";
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
        const struct generator *one = &generators[i];
        if (one->function ? function && begins(function, one->function) : begins(base, one->file))
            return one->name;
    }
    return NULL;
}

int pt_code_plain_length(const char *name)
{
    const char *end = strrchr(name, ')');
    int depth = 0;
    size_t at = end ? (size_t)(end - name) + 1 : 0;
    while (at) {
        at--;
        depth += (name[at] == ')') - (name[at] == '(');
        if (!depth)
            break;
    }
    const bool is_whole = at && !depth && (!end[1] || end[1] == ' ') && name[at - 1] != ' ' && name[at - 1] != ':' &&
                          !(at >= 8 && !strncmp(name + at - 8, "operator", 8));
    return (int)(is_whole ? at : strlen(name));
}

enum pt_code_hint pt_code_hint_of(const char *name, enum pt_code_kind file, bool is_same_file)
{
    if (!is_same_file && (pt_code_serves(file) || file == PT_CODE_PYTHON || file == PT_CODE_LOADER))
        return PT_CODE_SAYS_NOTHING;
    return pt_code_of_function(name) == PT_CODE_CARRIER ? PT_CODE_CARRIES : PT_CODE_SAYS;
}

/* Our hooks hand over to their slow paths, so that no frame is called malloc; those have no name when stripped. */
bool pt_code_is_allocator(enum pt_code_kind file, const char *source, const char *function)
{
    const bool is_hook =
        file == PT_CODE_TRACER && (*function == '[' || (source && !strncmp(pt_base_name(source), "heap", 4)));
    return is_hook || file == PT_CODE_ALLOCATOR || pt_code_of_function(function) == PT_CODE_ALLOCATOR;
}

pt_u32 pt_frame_flags(enum pt_code_kind file)
{
    return (pt_code_serves(file) ? PT_FRAME_SERVES : 0u) | (file == PT_CODE_PYTHON ? PT_FRAME_IS_PYTHON : 0u) |
           (file == PT_CODE_SCRIPT ? PT_FRAME_OF_PYTHON : 0u) | (file == PT_CODE_CUT ? PT_FRAME_IS_CUT : 0u) |
           (file == PT_CODE_JIT ? PT_FRAME_IS_JIT : 0u);
}

bool pt_code_is_program_directory(const char *path)
{
    static const char *const exact[] = {"/usr", "/usr/lib", "/lib", "/usr/local", "/usr/local/lib", "/usr/bin", "/bin"};
    static const char *const parts[] = {"/site-packages", "/dist-packages",        "/lib/python",
                                        "/__pycache__",   "/lib/x86_64-linux-gnu", "/lib64"};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!strcmp(path, exact[i]))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

bool pt_code_is_program_file(const char *path)
{
    static const char *const endings[] = {".py", ".pyc", ".pyo", ".pth", ".so", "/pyvenv.cfg", "/ld.so.cache"};
    const char *library = strstr(path, ".so.");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (pt_ends_with(path, endings[i]))
            return true;
    return (library && isdigit((unsigned char)library[4])) || strstr(path, "/site-packages/") ||
           strstr(path, "/dist-packages/") || strstr(path, "/lib/python");
}
