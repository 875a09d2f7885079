/* SPDX-License-Identifier: MIT
 *
 * util/text/fold.h - names that differ in their numbers only are one.
 */
#ifndef PT_UTIL_TEXT_FOLD_H
#define PT_UTIL_TEXT_FOLD_H

#include <stdint.h>

#include "util/str.h"

/* "/data/images-000042.jpg" becomes "/data/images-*.jpg". What is folded already stays. */
void pt_fold_numbers(struct pt_str *out, const char *text);

/* The numbers of a text that another one, which folds to the same, has not: a bit for each, the first one's lowest;
 * those beyond have the last. */
uint64_t pt_numbers_apart(const char *a, const char *b);
/* Folds only those. */
void pt_fold_some_numbers(struct pt_str *out, const char *text, uint64_t which);

#endif
