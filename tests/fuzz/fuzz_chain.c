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

static void render(const struct pt_report *report)
{
    const struct pt_report_options options = {.top = 10};
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_report_build(&report->profile, &report->findings, &options);
    const struct pt_render_options plain = {0},
                                   screen = {.width = 80, .utf8 = true, .color = true, .is_terminal = true},
                                   full = {.width = 120, .utf8 = true, .is_full = true}, one = {.finding = 1};
    const struct pt_render_options *const of_text[] = {&plain, &screen, &full, &one};
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
#define RENDERER(name, file_name)                                                                                      \
    pt_str_clear(&out);                                                                                                \
    pt_render_##name(doc, &plain, &out);
#include "report/renderers.def"
#undef RENDERER
    for (size_t i = 1; i < sizeof of_text / sizeof of_text[0]; i++)
        if (!of_text[i]->finding || doc->findings.n) {
            pt_str_clear(&out);
            pt_render_text(doc, of_text[i], &out);
        }
}

static void dump(struct pt_session *session)
{
    struct pt_error err = {0};
    PT_AUTO(pt_fclosep) FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere)
        pt_session_write_text(session, nowhere, &err);
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
            render(&report);
            struct pt_session *session = pt_run_session(&report.run);
            dump(session);
            chain_export(session, folder);
        }
        pt_report_close(&report);
    }
    empty_folder();
    return 0;
}
