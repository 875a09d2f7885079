/* SPDX-License-Identifier: MIT
 *
 * Owns: the reading of whole documents. Threads: any. Never: believes a text that is no JSON.
 */
#include "json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/json/json_text.h"
#include "util/str.h"

enum { MOST_BYTES = 64 << 20 };

static int read_text(const char *path, struct pt_str *text, struct pt_error *err)
{
    PT_AUTO(pt_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char bytes[65536];
    struct stat status = {0};
    ssize_t n;
    if (fd < 0)
        return pt_fail_code(err, errno == ENOENT ? 2 : 3, "%s cannot be read: %s", path, strerror(errno));
    /* Not blocking was for the opening only: of a pipe that is written into, all is read. */
    if (fstat(fd, &status) < 0 || fcntl(fd, F_SETFL, 0) < 0)
        return pt_fail_code(err, 3, "%s cannot be read: %s", path, strerror(errno));
    while (((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) && text->n < MOST_BYTES)
        pt_str_bytes(text, bytes, n > 0 ? (size_t)n : 0);
    if (n < 0 || text->n >= MOST_BYTES)
        return pt_fail_code(err, 3, "%s cannot be read: %s", path,
                            n < 0 ? strerror(errno) : "it is larger than 64 MiB");
    return !text->n && S_ISFIFO(status.st_mode)
               ? pt_fail_code(err, 3, "%s cannot be read: it is a pipe that nobody writes into", path)
               : 0;
}

/* The line with the first mark of a merge that git could not do; 0 = none. */
static int conflict_line(const char *text)
{
    static const char *const marks[] = {"<<<<<<< ", ">>>>>>> ", "|||||||"};
    for (int line = 1; text; line++) {
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (!strncmp(text, marks[i], strlen(marks[i])))
                return line;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return 0;
}

cJSON *pt_json_file_read(const char *path, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (read_text(path, &text, err) < 0)
        return NULL;
    const char *json = pt_str_text(&text);
    size_t n = text.n;
    if (n >= 3 && !memcmp(json, "\xef\xbb\xbf", 3)) { /* as editors of Windows begin a file */
        json = text.text + 3;
        n -= 3;
    }
    if (pt_json_text_check(json, n, err) == 0)
        return cJSON_ParseWithLength(json, n);
    const int line = conflict_line(json);
    err->exit_code = 3;
    if (line)
        pt_fail_code(err, 3, "line %d is of a merge conflict: remove the marks and keep the runs of both sides", line);
    pt_error_context(err, "%s", path);
    return NULL;
}
