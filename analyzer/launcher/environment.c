/* SPDX-License-Identifier: MIT
 *
 * environment.c - Owns: the child's environment vector. Threads: main only. Never: changes the launcher's own.
 *
 * The variables keep their order and a changed one keeps its place, so that `env` inside and outside differ in nothing
 * but what we added.
 */
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/limits.h"
#include "proftrace/options.h"
#include "util/auto.h"
#include "library.h"

static bool has_name(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return !strncmp(entry, name, length) && entry[length] == '=';
}

/* Set one variable in a vector that has room for one more; `assignment` is taken over. */
static void put(char **environment, const char *name, char *assignment)
{
    char **at = environment;
    while (*at && !has_name(*at, name))
        at++;
    if (!*at)
        at[1] = NULL;
    free(*at);
    *at = assignment;
}

static int put_value(char **environment, const char *name, const char *value, struct pt_error *err)
{
    char *assignment;
    if (!value)
        return 0;
    if (asprintf(&assignment, "%s=%s", name, value) < 0)
        return pt_fail(err, "out of memory");
    put(environment, name, assignment);
    return 0;
}

bool pt_environment_is_ours(const char *path, size_t length)
{
    const size_t name_length = strlen(PT_LIBRARY_NAME);
    return length >= name_length && !memcmp(path + length - name_length, PT_LIBRARY_NAME, name_length) &&
           (length == name_length || path[length - name_length - 1] == '/');
}

static bool names_ours(const char *users)
{
    for (const char *word = users; *word;) {
        const size_t length = strcspn(word, " :");
        if (pt_environment_is_ours(word, length))
            return true;
        word += length + (word[length] != 0);
    }
    return false;
}

struct names {
    const char *const *items;
    size_t n;
};

/* A word of LD_PRELOAD whose file's name begins with one of them. */
static bool is_one_of(const struct names *names, const char *word, size_t length)
{
    const char *slash = memrchr(word, '/', length);
    const char *base = slash ? slash + 1 : word;
    for (size_t i = 0; i < names->n; i++)
        if (!strncmp(base, names->items[i], strlen(names->items[i])))
            return true;
    return false;
}

/* The word before which ours goes: an allocator, whose malloc would go past our hooks, or ours itself, where the user
 * has put it; but nothing goes before a sanitizer. Else the end. */
static const char *place_of_ours(const char *users)
{
    static const char *const allocators[] = {
#define ALLOCATOR_FILE(beginning) beginning,
#include "proftrace/allocators.def"
#undef ALLOCATOR_FILE
    };
    static const char *const sanitizers[] = {
#define SANITIZER(beginning) beginning,
#include "proftrace/sanitizers.def"
#undef SANITIZER
    };
    const struct names of_allocators = {allocators, sizeof allocators / sizeof *allocators},
                       of_sanitizers = {sanitizers, sizeof sanitizers / sizeof *sanitizers};
    const char *place = NULL, *word = users;
    while (*word) {
        const size_t length = strcspn(word, " :");
        if (is_one_of(&of_sanitizers, word, length))
            place = NULL;
        else if (!place && (is_one_of(&of_allocators, word, length) || pt_environment_is_ours(word, length)))
            place = word;
        word += length + (word[length] != 0);
    }
    return place ? place : word;
}

static void take_out(char **environment, const char *name)
{
    char **at = environment;
    while (*at && !has_name(*at, name))
        at++;
    free(*at);
    for (; *at; at++)
        at[0] = at[1];
}

static char *add_word(char *end, const char *word, size_t length)
{
    memcpy(end, word, length);
    end[length] = ':';
    return length ? end + length + 1 : end;
}

/* The user's libraries in their order, and ours at its place. With "" for ours, the user's alone. */
static char *preload_list(const char *users, const char *ours)
{
    char *list = malloc(strlen(users) + strlen(ours) + 3);
    if (!list)
        return NULL;
    const char *place = place_of_ours(users), *word = users;
    char *end = list;
    for (; *word;) {
        const size_t length = strcspn(word, " :");
        if (word == place)
            end = add_word(end, ours, strlen(ours));
        if (!pt_environment_is_ours(word, length))
            end = add_word(end, word, length);
        word += length + (word[length] != 0);
    }
    if (word == place)
        end = add_word(end, ours, strlen(ours));
    end[end > list ? -1 : 0] = 0;
    return list;
}

/* NULL = not set; "" is a value. */
static const char *value_or_null(char **environment, const char *name)
{
    for (; *environment; environment++)
        if (has_name(*environment, name))
            return *environment + strlen(name) + 1;
    return NULL;
}

static int put_preload(char **environment, const char *library, struct pt_error *err)
{
    const char *users = value_or_null(environment, "LD_PRELOAD");
    if (!library && (!users || !names_ours(users)))
        return 0;
    PT_AUTO(pt_freep) char *list = preload_list(users ? users : "", library ? library : "");
    if (!list)
        return pt_fail(err, "out of memory");
    if (library || *list)
        return put_value(environment, "LD_PRELOAD", list, err);
    take_out(environment, "LD_PRELOAD");
    return 0;
}

/* A switch as the library reads it. */
static bool is_off(const char *value)
{
    return value && pt_option_switch(value) == 0;
}

/* How CUDA, NVTX and ITT find the library in a program that loses LD_PRELOAD on its way. Somebody else's value stays;
 * ours of another installation does not, nor does ours where the program has to run without us. */
static int put_injection(char **environment, const char *library, struct pt_error *err)
{
    static const struct {
        const char *variable, *option;
    } rows[] = {{"CUDA_INJECTION64_PATH", "PROFTRACE_CUDA"},
                {"NVTX_INJECTION64_PATH", "PROFTRACE_NVTX"},
                {"INTEL_LIBITTNOTIFY64", "PROFTRACE_ITT"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = value_or_null(environment, rows[i].variable);
        const bool is_ours = value && pt_environment_is_ours(value, strlen(value));
        if (!library && is_ours)
            take_out(environment, rows[i].variable);
        if (library && (!value || !*value || is_ours) && !is_off(value_or_null(environment, rows[i].option)) &&
            put_value(environment, rows[i].variable, library, err) < 0)
            return -1;
    }
    return 0;
}

char **pt_environment_make(char *const *inherited, const struct pt_environment_request *request, struct pt_error *err)
{
    size_t n = 0;
    while (inherited[n])
        n++;
    enum { OURS = 7 };
    PT_AUTO(pt_environment_freep) char **environment = calloc(n + request->n_more + OURS + 1, sizeof *environment);
    if (!environment) {
        pt_fail(err, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!(environment[i] = strdup(inherited[i]))) {
            pt_fail(err, "out of memory");
            return NULL;
        }
    for (size_t i = 0; i < request->n_more; i++)
        if (put_value(environment, request->more[i].name, request->more[i].value, err) < 0)
            return NULL;
    if (put_preload(environment, request->library, err) < 0 ||
        put_value(environment, "PROFTRACE_SESSION", request->session, err) < 0 ||
        put_value(environment, "PROFTRACE_HEAP", request->heap, err) < 0 ||
        put_value(environment, "PROFTRACE_STAGE", request->stage, err) < 0 ||
        put_injection(environment, request->library, err) < 0)
        return NULL;
    char **made = environment;
    environment = NULL;
    return made;
}

void pt_environment_free(char **environment)
{
    if (!environment)
        return;
    for (char **entry = environment; *entry; entry++)
        free(*entry);
    free(environment);
}
