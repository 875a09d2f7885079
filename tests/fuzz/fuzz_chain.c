/* SPDX-License-Identifier: MIT
 *
 * fuzz_chain.c - a run through everything, in this process: sources, decoding, merging, analyses, metrics, rules, the
 * document, each renderer and each exporter. What an input is: chain_input.h; how one becomes another: chain_mutate.c.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/text/read.h"
#include "model/text/write.h"
#include "report/build/build.h"
#include "report/open.h"
#include "report/render.h"
#include "util/auto.h"
#include "util/mem.h"
#include "chain_export.h"
#include "chain_input.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* Every check stays on. Blocks of a run are reused sooner than by default, and of the stack that allocated one the
 * eight innermost callers are kept: half of the time went into that. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=8";
}

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind;
    return where->level ? remove(path) : 0;
}

static void empty_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

static void make_folder(void)
{
    if (*folder)
        return;
    snprintf(folder, sizeof folder, "%s/fuzz-chain-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
}

/* The trace files of a text. A line that `assemble` refuses is left out, and it is asked again: a mutation that breaks
 * one line should not hide what the others do. */
static int assemble(const uint8_t *data, size_t n)
{
    enum { MOST_BROKEN = 16 };
    PT_AUTO(pt_freep) char *text = pt_malloc(n + 1);
    memcpy(text, data, n);
    text[n] = 0;
    for (int broken = 0; n && broken < MOST_BROKEN; broken++) {
        struct pt_error err = {0};
        PT_AUTO(pt_fclosep) FILE *in = fmemopen(text, n, "r");
        if (!in || pt_session_read_text(in, "input", folder, &err) == 0)
            return in ? 0 : -1;
        char *line = text;
        const char *number = strstr(err.text, "input:");
        for (long i = number ? strtol(number + 6, NULL, 10) : 0; i > 1 && line; i--)
            line = (line = memchr(line, '\n', n - (size_t)(line - text))) ? line + 1 : NULL;
        if (!number || !line)
            return -1;
        char *next = memchr(line, '\n', n - (size_t)(line - text));
        next = next ? next + 1 : text + n;
        memmove(line, next, (size_t)(text + n - next));
        n -= (size_t)(next - line);
    }
    return -1;
}

/* What the launcher noted stands in a comment of the text. */
static void write_run_json(const uint8_t *data, size_t n)
{
    static const char mark[] = "# run.json: ";
    const char *from = memmem(data, n, mark, sizeof mark - 1);
    if (!from)
        return;
    from += sizeof mark - 1;
    const size_t left = n - (size_t)(from - (const char *)data);
    const char *end = memchr(from, '\n', left);
    char path[128];
    snprintf(path, sizeof path, "%s/run.json", folder);
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "we");
    if (!file || fwrite(from, 1, end ? (size_t)(end - from) : left, file) == 0)
        return;
}

enum form {
#define RENDERER(name, file_name) FORM_##name,
#include "report/renderers.def"
#undef RENDERER
    FORM_screen,
    FORM_full,
    FORM_finding,
    FORM__COUNT
};

static void render(const struct pt_doc *doc, enum form form)
{
    static const struct pt_render_options plain = {0},
                                          screen = {.width = 80, .utf8 = true, .color = true, .is_terminal = true},
                                          full = {.width = 120, .utf8 = true, .is_full = true}, one = {.finding = 1};
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    switch (form) {
#define RENDERER(name, file_name)                                                                                      \
    case FORM_##name:                                                                                                  \
        pt_render_##name(doc, &plain, &out);                                                                           \
        break;
#include "report/renderers.def"
#undef RENDERER
    case FORM_screen:
        pt_render_text(doc, &screen, &out);
        break;
    case FORM_full:
        pt_render_text(doc, &full, &out);
        break;
    case FORM_finding:
        if (doc->findings.n)
            pt_render_text(doc, &one, &out);
        break;
    case FORM__COUNT:
        break;
    }
}

static void dump(struct pt_session *session)
{
    struct pt_error err = {0};
    PT_AUTO(pt_fclosep) FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere)
        pt_session_write_text(session, nowhere, &err);
}

/* Inputs that are played by name go into everything; of a million mutated ones each goes into one form of report, one
 * export or the dump: three times as many are tried in an hour, and each form has its share. */
static bool is_played;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct stat st;
    is_played = *argc > 1 && stat((*argv)[*argc - 1], &st) == 0 && S_ISREG(st.st_mode);
    return 0;
}

static pt_u32 drawn_from(const uint8_t *data, size_t size)
{
    pt_u32 hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return hash ^ hash >> 16;
}

static void use(const struct pt_report *report, pt_u32 drawn)
{
    const struct pt_report_options options = {.top = 10};
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report->profile, &report->findings, &options);
    for (pt_u32 form = 0; form < FORM__COUNT; form++)
        if (is_played || form == drawn % FORM__COUNT)
            render(doc, (enum form)form);
}

static void hand_on(struct pt_session *session, pt_u32 drawn)
{
    if (is_played || drawn % 8 == 0)
        dump(session);
    if (is_played)
        chain_export_all(session, folder);
    else if (drawn % 8 != 0)
        chain_export_one(session, folder, drawn / 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_folder();
    const size_t text = chain_text_bytes(data, size), patches = chain_patches(data, size);
    struct pt_report report = {0};
    struct pt_error err = {0};
    if (assemble(data, text) == 0) {
        write_run_json(data, text);
        if (patches)
            chain_apply(folder, data + text + 1, patches);
        if (pt_report_open(folder, &report, &err) == 0) {
            const pt_u32 drawn = drawn_from(data, size);
            use(&report, drawn);
            hand_on(pt_run_session(&report.run), drawn);
        }
        pt_report_close(&report);
    }
    empty_folder();
    return 0;
}
