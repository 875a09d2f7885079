/* SPDX-License-Identifier: MIT
 *
 * A program that is annotated with ITT, with the static part that Intel's library would link into it: a table of
 * functions that INTEL_LIBITTNOTIFY64 fills at the first call. argv[1]: "all", or "foreign" for a table that is not
 * known.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned long long d1, d2, d3;
} id_t_;
struct domain {
    volatile int flags;
    const char *name;
};
typedef struct domain *create_domain(const char *);
typedef void *create_string(const char *);
typedef void *create_counter(const char *, const char *, int);

enum { DOMAIN, STRING, COUNTER, BEGIN, END, OPEN, CLOSE, FRAME, FRAME_END, MARKER, SET, INC, SYNC, N };
static void *functions[N];

static struct api {
    const char *name;
    void **function;
    void *init, *none;
    unsigned group;
} apis[N + 1];
static struct {
    unsigned char magic[8];
    unsigned long version_major, version_minor, version_build;
    volatile long states[3];
    pthread_mutex_t mutex;
    void *library, *handler;
    const char **path;
    struct api *apis;
} global = {{0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
            3,
            0,
            20250807,
            {0},
            PTHREAD_MUTEX_INITIALIZER,
            NULL,
            NULL,
            NULL,
            apis};

static void load(void)
{
    static const char *const names[N] = {"__itt_domain_create",
                                         "__itt_string_handle_create",
                                         "__itt_counter_create_typed",
                                         "__itt_task_begin",
                                         "__itt_task_end",
                                         "__itt_task_begin_overlapped",
                                         "__itt_task_end_overlapped",
                                         "__itt_frame_begin_v3",
                                         "__itt_frame_end_v3",
                                         "__itt_marker",
                                         "__itt_counter_set_value",
                                         "__itt_counter_inc",
                                         "__itt_sync_prepare"};
    for (int i = 0; i < N; i++)
        apis[i] = (struct api){names[i], &functions[i], NULL, NULL, 1};
    const char *path = getenv("INTEL_LIBITTNOTIFY64");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    void (*init)(void *, unsigned) = NULL;
    if (library)
        *(void **)&init = dlsym(library, "__itt_api_init");
    if (init)
        init(&global, ~0u);
}

static void annotate(void)
{
    const id_t_ none = {0, 0, 0}, task = {7, 8, 9};
    struct domain *domain = ((create_domain *)functions[DOMAIN])("loader");
    void *decode = ((create_string *)functions[STRING])("decode"), *wait = ((create_string *)functions[STRING])("wait");
    const int same = domain == ((create_domain *)functions[DOMAIN])("loader") &&
                     decode == ((create_string *)functions[STRING])("decode");
    ((void (*)(void *, id_t_, id_t_, void *))functions[BEGIN])(domain, none, none, decode);
    ((void (*)(void *, id_t_, void *, int))functions[MARKER])(domain, none, wait, 1);
    ((void (*)(void *))functions[END])(domain);
    ((void (*)(void *, id_t_, id_t_, void *))functions[OPEN])(domain, task, none, wait);
    ((void (*)(void *, id_t_))functions[CLOSE])(domain, task);
    for (int i = 0; i < 3; i++)
        ((void (*)(void *, id_t_ *))functions[FRAME])(domain, NULL);
    ((void (*)(void *, id_t_ *))functions[FRAME_END])(domain, NULL);
    ((void (*)(void *, id_t_ *))functions[FRAME_END])(domain, NULL); /* one too many */
    void *loss = ((create_counter *)functions[COUNTER])("loss", "train", 8);
    void *seen = ((create_counter *)functions[COUNTER])("seen", NULL, 1);
    const double value = 0.25;
    ((void (*)(void *, const void *))functions[SET])(loss, &value);
    for (int i = 0; i < 3; i++)
        ((void (*)(void *))functions[INC])(seen);
    ((void (*)(void *))functions[INC])(NULL);
    fprintf(stderr, "%d %s %d\n", same, domain->name, functions[SYNC] == NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "foreign"))
        global.version_major = 2;
    load();
    if (functions[BEGIN])
        annotate();
    puts("done");
    return 0;
}
