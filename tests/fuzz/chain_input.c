/* SPDX-License-Identifier: MIT
 *
 * chain_input.c - Owns: the form of an input, and the trace files of a directory while patches change them. Threads:
 * one. Never: fails: what does not fit is left as it is.
 */
#include "chain_input.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/schema_text.h"
#include "util/auto.h"
#include "util/mem.h"
#include "chain_patch.h"

size_t chain_text_bytes(const pt_u8 *data, size_t size)
{
    const pt_u8 *end = size ? memchr(data, 0, size) : NULL;
    return end ? (size_t)(end - data) : size;
}

size_t chain_patches(const pt_u8 *data, size_t size)
{
    const size_t text = chain_text_bytes(data, size), left = size > text ? size - text - 1 : 0;
    const size_t n = left / sizeof(struct chain_patch);
    return n < CHAIN_PATCHES_MAX ? n : CHAIN_PATCHES_MAX;
}

static void load(int folder, const char *name, struct chain_file *file)
{
    struct stat st;
    PT_AUTO(pt_closep) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    file->name = pt_strdup(name);
    file->bytes = pt_malloc((size_t)st.st_size + 1);
    const ssize_t got = read(fd, file->bytes, (size_t)st.st_size);
    file->n = got > 0 ? (size_t)got : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct chain_file *)a)->name, ((const struct chain_file *)b)->name);
}

static void load_all(int folder, struct chain_run *run)
{
    DIR *all = fdopendir(dup(folder));
    for (struct dirent *entry; all && (entry = readdir(all)) && run->n < CHAIN_FILES_MAX;)
        if (strstr(entry->d_name, PT_FILE_SUFFIX)) {
            load(folder, entry->d_name, &run->files[run->n]);
            run->n += run->files[run->n].name != NULL;
        }
    if (all)
        closedir(all);
    qsort(run->files, run->n, sizeof run->files[0], by_name); /* the same whatever the directory's order */
}

static void save(int folder, const char *name, const struct chain_file *file)
{
    PT_AUTO(pt_closep) int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, file->bytes, file->n) != (ssize_t)file->n)
        abort(); /* the place is full: nothing that follows would mean anything */
}

static void append_head(struct chain_file *shared, const struct chain_file *file)
{
    if (!shared->n) {
        const size_t schema = (sizeof pt_schema_text - 1 + PT_PAGE_BYTES - 1) & ~(size_t)(PT_PAGE_BYTES - 1);
        struct pt_small_header header = {.magic = PT_SMALL_MAGIC,
                                         .format_version = PT_FORMAT_VERSION,
                                         .heads_offset = (pt_u32)(PT_PAGE_BYTES + schema),
                                         .schema_offset = PT_PAGE_BYTES,
                                         .schema_bytes = sizeof pt_schema_text - 1};
        shared->n = header.heads_offset;
        shared->bytes = pt_calloc(1, shared->n);
        memcpy(shared->bytes, &header, sizeof header);
        memcpy(shared->bytes + PT_PAGE_BYTES, pt_schema_text, header.schema_bytes);
    }
    shared->bytes = pt_realloc(shared->bytes, shared->n + PT_HEAD_BYTES);
    chain_head_of(file, shared->bytes + shared->n);
    shared->n += PT_HEAD_BYTES;
}

static void change(struct chain_run *run, const struct chain_patch *patch)
{
    const pt_u32 part = patch->part % CHAIN_PART__COUNT;
    struct chain_patch sane = *patch;
    struct chain_file *file = &run->files[patch->file % run->n];
    sane.part = (pt_u8)part;
    if (part == CHAIN_TWIN && run->n < CHAIN_FILES_MAX) {
        struct chain_file *twin = &run->files[run->n++];
        char name[64];
        snprintf(name, sizeof name, "twin-%zu-1" PT_FILE_SUFFIX, run->n);
        *twin = (struct chain_file){.name = pt_strdup(name), .bytes = pt_malloc(file->n + 1), .n = file->n};
        memcpy(twin->bytes, file->bytes, file->n);
    } else if (part != CHAIN_TWIN && part != CHAIN_SHARED) {
        chain_patch_file(file, &sane);
    }
}

static void share(struct chain_run *run, const struct chain_patch *patches, size_t n)
{
    for (size_t i = 0; i < run->n; i++)
        if (run->files[i].is_small && run->files[i].n >= sizeof(struct pt_file_header))
            append_head(&run->shared, &run->files[i]);
    for (size_t i = 0; i < n && run->shared.n; i++)
        if (patches[i].part % CHAIN_PART__COUNT == CHAIN_SHARED) {
            struct chain_patch bytes = patches[i];
            bytes.part = CHAIN_BYTES;
            chain_patch_file(&run->shared, &bytes);
        }
}

void chain_apply(const char *directory, const pt_u8 *data, size_t n)
{
    struct chain_patch patches[CHAIN_PATCHES_MAX];
    struct chain_run run = {0};
    PT_AUTO(pt_closep) int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memcpy(patches, data, n * sizeof patches[0]);
    load_all(folder, &run);
    for (size_t i = 0; i < n && run.n; i++)
        change(&run, &patches[i]);
    share(&run, patches, n);
    for (size_t i = 0; i < run.n; i++) {
        if (run.files[i].is_small)
            unlinkat(folder, run.files[i].name, 0);
        else
            save(folder, run.files[i].name, &run.files[i]);
        free(run.files[i].name);
        free(run.files[i].bytes);
    }
    if (run.shared.n)
        save(folder, PT_SMALL_PREFIX "2-1" PT_SMALL_SUFFIX, &run.shared);
    free(run.shared.bytes);
}
