/* SPDX-License-Identifier: MIT
 *
 * Owns: how a text that is too long is shortened. Threads: any. Never: splits a character; shows two files of one
 * folder as the same text if the width suffices for their names.
 */
#include "width.h"

#include <stdbool.h>
#include <string.h>

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

unsigned pt_text_width(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += begins_character(*text);
    return width;
}

size_t pt_text_prefix(const char *text, unsigned characters)
{
    size_t bytes = 0;
    for (; text[bytes]; bytes++)
        if (begins_character(text[bytes]) && !characters--)
            break;
    return bytes;
}

/* The beginning of the last folders and the file that fit into `width` characters; else of the end of the file's
 * name. */
static const char *end_of_path(const char *text, unsigned width)
{
    const char *least = text + pt_text_prefix(text, pt_text_width(text) - width), *from = least;
    while (*from && *from != '/')
        from++;
    return *from && from[1] ? from : least;
}

void pt_text_shorten(struct pt_str *out, const char *text, unsigned width, const char *ellipsis)
{
    const unsigned taken = pt_text_width(ellipsis), keep = width > taken ? width - taken : 0;
    if (pt_text_width(text) <= width) {
        pt_str_add(out, text);
    } else if (*text == '/' && !strchr(text, ' ')) {
        pt_str_add(out, ellipsis);
        pt_str_add(out, end_of_path(text, keep));
    } else {
        pt_str_bytes(out, text, pt_text_prefix(text, keep));
        pt_str_add(out, ellipsis);
    }
}
