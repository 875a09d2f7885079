/* SPDX-License-Identifier: MIT
 *
 * sha256.h - the hash by which a page's policy knows its own style sheet (FIPS 180-4, base64 as CSP writes it).
 */
#ifndef PT_UTIL_SHA256_H
#define PT_UTIL_SHA256_H

#include <stddef.h>

enum { PT_SHA256_BASE64_SIZE = 45 };

void pt_sha256_base64(const void *bytes, size_t n, char ret_text[static PT_SHA256_BASE64_SIZE]);

#endif
