/* SPDX-License-Identifier: MIT
 *
 * redact.h - arguments without the secrets in them, before they are stored or shown.
 *
 * Recognised: values of options, variables, query parameters and headers whose name says password, token, secret, API
 * key and the like; "Bearer x"; user:password@ in URLs; access keys that are known by their shape (AKIA..., ghp_...,
 * sk-...). The name stays and the value becomes "***", so that a reader sees what was there.
 */
#ifndef PT_UTIL_TEXT_REDACT_H
#define PT_UTIL_TEXT_REDACT_H

/* One argument, given the one before it (NULL = none): `--token abc` is two. A new string, NULL when memory is out. */
char *pt_redact_argument(const char *argument, const char *previous);

#endif
