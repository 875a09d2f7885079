/* SPDX-License-Identifier: MIT
 *
 * utf8.c - Owns: nothing. Threads: any.
 */
#include "utf8.h"

size_t pt_utf8_next(const char *bytes, size_t n, uint32_t *ret_code)
{
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    if (p[0] < 0x80) {
        *ret_code = p[0];
        return 1;
    }
    const size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > n)
        return 0;
    uint32_t code = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return length;
}
