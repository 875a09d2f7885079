/* SPDX-License-Identifier: MIT
 *
 * document.c - Owns: reading a JSON file into memory. Threads: any. Never: waits for a FIFO that a stage left, reads
 * more than PT_DOCUMENT_MAX_MIB.
 */
#include "document.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "util/auto.h"
#include "util/fd.h"
#include "util/json/json_text.h"
#include "util/json/json_walk.h"
#include "util/text/utf8.h"

static int cannot_open(const char *path, struct pt_error *err)
{
    char cwd[PATH_MAX];
    const int cause = errno;
    if (cause != ENOENT && cause != ENOTDIR)
        return pt_fail_code(err, 2, "cannot be opened: %s; check its permissions and the path", strerror(cause));
    if (*path == '/' || !getcwd(cwd, sizeof cwd))
        return pt_fail_code(err, 2, "there is no such file; check the path");
    return pt_fail_code(err, 2, "there is no such file; the path is relative to %s", cwd);
}

static int open_document(const char *path, bool regular, struct stat *ret_stat, struct pt_error *err)
{
    /* O_NONBLOCK: opening a FIFO in the place of a report would block until a process writes to it. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0));
    if (fd < 0)
        return cannot_open(path, err);
    if (fstat(fd, ret_stat) < 0)
        pt_fail_code(err, 2, "cannot be read: %s", strerror(errno));
    else if (S_ISDIR(ret_stat->st_mode))
        pt_fail_code(err, 2, "this is a directory; name the file in it");
    else if (regular && !S_ISREG(ret_stat->st_mode))
        pt_fail_code(err, 2, "this is not a regular file; name the JSON file");
    else
        return fd;
    close(fd);
    return -1;
}

static int read_text(int fd, struct pt_str *text, struct pt_error *err)
{
    if (pt_fd_read_all(fd, (size_t)PT_DOCUMENT_MAX_MIB << 20, text) == 0)
        return 0;
    if (errno == EFBIG)
        return pt_fail_code(err, 2, "larger than %d MiB; is this the right file?", PT_DOCUMENT_MAX_MIB);
    return pt_fail_code(err, 2, "cannot be read: %s", strerror(errno));
}

/* Editors of other systems put one in front; JSON has none. */
static void drop_byte_order_mark(struct pt_str *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t length = sizeof mark - 1;
    if (text->n < length || memcmp(text->text, mark, length) != 0)
        return;
    memmove(text->text, text->text + length, text->n - length + 1);
    text->n -= length;
}

static bool holds_any(const struct pt_str *text, const char *const *words)
{
    for (; words && *words; words++)
        if (memmem(pt_str_text(text), text->n, *words, strlen(*words)))
            return true;
    return !words;
}

static int parse(struct pt_document *document, bool report, struct pt_error *err)
{
    struct pt_str *text = &document->text;
    if (text->n >= 2 && (!memcmp(text->text, "\xff\xfe", 2) || !memcmp(text->text, "\xfe\xff", 2)))
        return pt_fail_code(err, 2, "this is UTF-16; save the file as UTF-8");
    if (strspn(pt_str_text(text), " \t\r\n") == text->n)
        return pt_fail_code(err, 2, "the file is empty; the smallest JSON document is {}");
    const int checked =
        report ? pt_json_text_check_python(text->text, text->n, err) : pt_json_text_check(text->text, text->n, err);
    if (checked < 0)
        return -1;
    if (report) {
        struct pt_str clean = {0};
        pt_json_text_without_nan(text->text, text->n, &clean);
        pt_str_fini(text);
        *text = clean;
    }
    document->json = cJSON_ParseWithLength(text->text, text->n + 1);
    if (!document->json)
        return pt_fail_code(err, 2, "cannot be parsed as JSON; check it with another reader");
    return 0;
}

static int read_document(const char *path, bool report, struct pt_document *ret_document, struct pt_error *err)
{
    struct stat about;
    PT_AUTO(pt_closep) int fd = open_document(path, report, &about, err);
    *ret_document = (struct pt_document){0};
    if (fd < 0 || read_text(fd, &ret_document->text, err) < 0)
        return -1;
    drop_byte_order_mark(&ret_document->text);
    ret_document->modified = about.st_mtim;
    return 0;
}

static int read_and_parse(const char *path, bool report, const char *const *words, struct pt_document *ret_document,
                          struct pt_error *err)
{
    if (read_document(path, report, ret_document, err) == 0 &&
        (!holds_any(&ret_document->text, words) || parse(ret_document, report, err) == 0))
        return 0;
    pt_document_fini(ret_document);
    return pt_error_context(err, "%s", path);
}

int pt_document_read(const char *path, struct pt_document *ret_document, struct pt_error *err)
{
    return read_and_parse(path, false, NULL, ret_document, err);
}

int pt_document_read_report(const char *path, struct pt_document *ret_document, struct pt_error *err)
{
    return read_and_parse(path, true, NULL, ret_document, err);
}

int pt_document_read_report_with(const char *path, const char *const *words, struct pt_document *ret_document,
                                 struct pt_error *err)
{
    return read_and_parse(path, true, words, ret_document, err);
}

void pt_document_fini(struct pt_document *document)
{
    cJSON_Delete(document->json);
    pt_str_fini(&document->text);
    *document = (struct pt_document){0};
}

/* At most 40 bytes of it, cut between characters. */
static void describe_string(const char *text, struct pt_str *out)
{
    enum { SHOWN_BYTES = 40 };
    const size_t length = strlen(text);
    size_t shown = length;
    if (length > SHOWN_BYTES)
        for (shown = SHOWN_BYTES; shown && ((unsigned char)text[shown] & 0xc0) == 0x80;)
            shown--;
    pt_str_add(out, "the string \"");
    pt_str_bytes(out, text, shown);
    pt_str_add(out, shown < length ? "...\"" : "\"");
}

void pt_document_describe(const cJSON *item, struct pt_str *out)
{
    if (cJSON_IsString(item))
        describe_string(item->valuestring, out);
    else if (cJSON_IsNumber(item))
        pt_str_printf(out, "the number %.15g", item->valuedouble);
    else if (cJSON_IsBool(item))
        pt_str_add(out, cJSON_IsTrue(item) ? "true" : "false");
    else if (cJSON_IsNull(item))
        pt_str_add(out, "null");
    else
        pt_str_add(out, cJSON_IsArray(item) ? "a list" : "an object");
}
