/* SPDX-License-Identifier: MIT
 *
 * Owns: whose code functions of Python are. Threads: any. State: none. Never: takes a package for the program's own
 * where the stack has code that is in none.
 */
#include "owner.h"

#include <ctype.h>
#include <string.h>

#include "util/text/path.h"

/* The scripts that pip, uv and others write: "import sys", "from detector.train import main", "sys.exit(main())". */
#define LAST_LINE_OF_SCRIPT 12

static bool begins(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

/* "/usr/lib/python3.11/json/decoder.py", but not "/home/me/python3/train.py". */
static bool is_standard(const char *file)
{
    for (const char *at = file; (at = strstr(at, "/lib")) != NULL; at++) {
        const char *rest = at + 4;
        rest += !strncmp(rest, "64", 2) ? 2 : 0;
        if (!strncmp(rest, "/python", 7) && isdigit((unsigned char)rest[7]))
            return true;
    }
    return false;
}

/* Behind the folder that packages are installed in; NULL = it is in none. */
static const char *in_packages(const char *file)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *at = strstr(file, folders[i]);
        if (at)
            return at + strlen(folders[i]);
    }
    return NULL;
}

/* A name and 51 digits of a hash, in a folder named by its first two: "/tmp/torchinductor_me/ab/cab4...6k.py". */
static bool is_of_inductor(const char *file)
{
    enum { DIGITS = 51 };
    const char *base = strrchr(file, '/');
    return strstr(file, "/torchinductor_") ||
           (base && base - file > 3 && base[1] == 'c' && base[-3] == '/' && !strncmp(base - 2, base + 2, 2) &&
            strspn(base + 2, "abcdefghijklmnopqrstuvwxyz234567") == DIGITS && !strcmp(base + 2 + DIGITS, ".py"));
}

/* What PyTorch, NumPy, SymPy, attrs and others write and run. By their names: "<ipython-input-1>", "<stdin>" and
 * "<command-7>" of a notebook are the user's. */
static bool is_generated(const char *file)
{
    static const char *const names[] = {"<eval_with_key>",  "<__array_function__", "<lambdifygenerated",
                                        "<attrs generated", "<decorator-gen-",     "<makefun-gen-",
                                        "<template>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(file, names[i]))
            return true;
    return strstr(file, "__autograph_generated_file") || is_of_inductor(file);
}

static enum pt_python_owner owner_of_file(const char *file)
{
    if (begins(file, "<frozen "))
        return PT_OWNER_INTERPRETER;
    if (!strcmp(file, "<string>")) /* a spawned process begins in one, and classes are made of such */
        return PT_OWNER_STANDARD_LIBRARY;
    if (in_packages(file) || is_generated(file))
        return PT_OWNER_PACKAGE;
    return is_standard(file) ? PT_OWNER_STANDARD_LIBRARY : PT_OWNER_USER;
}

bool pt_python_is_library(const char *file)
{
    return owner_of_file(file) < PT_OWNER_USER;
}

/* ---- programs that are installed ---- */

static bool is_script(const char *function, const char *file, pt_u32 line)
{
    const char *base = strrchr(file, '/');
    if (strcmp(function, "<module>") || line > LAST_LINE_OF_SCRIPT || !base || base - file < 4)
        return false;
    return !strncmp(base - 4, "/bin", 4) && !pt_ends_with(base, ".py");
}

/* An installer puts both below one folder: "/venv/bin/train", "/venv/lib/...". pipx and uv put a link into
 * ~/.local/bin, and Python knows the script by its link. A user's own script imports from elsewhere: without this look,
 * pandas would be the program of his /home/me/bin/train. */
static bool are_installed_together(const char *script, const char *package)
{
    static const char *const folders[] = {"/lib/",
                                          "/lib64/",
                                          "/local/lib/", /* Debian */
                                          "/share/pipx/venvs/",
                                          "/pipx/venvs/",
                                          "/share/uv/tools/"};
    const size_t n = (size_t)(strrchr(script, '/') - script) - strlen("/bin");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(script, package, n) && begins(package + n, folders[i]))
            return true;
    return false;
}

static bool is_of_installer(const struct pt_python_program *program, const char *function, const char *file,
                            pt_u32 line)
{
    return program->package && is_script(function, file, line) && are_installed_together(file, program->package);
}

/* `python -m` */
static bool runs_module(const char *function, const char *file)
{
    const bool is_in_runpy = !strcmp(file, "<frozen runpy>") || pt_ends_with(file, "/runpy.py");
    return is_in_runpy && !strcmp(function, "_run_module_as_main");
}

/* How long the name of a package is, which is a folder or one file. */
static size_t name_length(const char *name)
{
    const size_t n = strcspn(name, "/");
    return !name[n] && n > 3 && pt_ends_with(name, ".py") ? n - 3 : n;
}

/* They call a main function that they were given: `@click.command`, `@hydra.main`, `@record`. */
static bool hands_over(const char *name, size_t n)
{
    static const char *const packages[] = {"click",  "typer",     "fire",     "hydra",   "cyclopts",
                                           "loguru", "decorator", "coverage", "debugpy", "torch"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strlen(packages[i]) == n && !strncmp(packages[i], name, n))
            return true;
    return false;
}

void pt_python_look(struct pt_python_program *program, const char *function, const char *file, pt_u32 line)
{
    if (program->has_own)
        return;
    const bool is_beginning = is_of_installer(program, function, file, line) || runs_module(function, file);
    const char *name = in_packages(file);
    const size_t n = name ? name_length(name) : 0;
    program->is_begun |= is_beginning;
    program->has_own |= !is_beginning && owner_of_file(file) == PT_OWNER_USER;
    if (!n || hands_over(name, n))
        return;
    program->package = file;
    program->length = (size_t)(name - file) + n;
}

enum pt_python_owner pt_python_owner_of(const struct pt_python_program *program, const char *function, const char *file,
                                        pt_u32 line)
{
    if (program->has_own || !program->is_begun || !program->package)
        return owner_of_file(file);
    if (is_of_installer(program, function, file, line))
        return PT_OWNER_INTERPRETER;
    const bool is_in_package = !strncmp(file, program->package, program->length) &&
                               (file[program->length] == '/' || !strcmp(file + program->length, ".py"));
    return is_in_package ? PT_OWNER_USER : owner_of_file(file);
}

pt_u32 pt_python_owner_flags(enum pt_python_owner owner, const char *file)
{
    return owner == PT_OWNER_USER && pt_python_is_library(file) ? PT_FRAME_OF_PROGRAM : 0;
}

bool pt_python_is_library_frame(const struct pt_stack_frame *frame)
{
    return frame->flags & PT_FRAME_OF_PYTHON && !(frame->flags & PT_FRAME_OF_PROGRAM) &&
           pt_python_is_library(frame->file);
}
