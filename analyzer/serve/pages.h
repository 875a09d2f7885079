/* SPDX-License-Identifier: MIT
 *
 * pages.h - which page an address is: the list of runs, a run, two of them side by side, metrics.
 *
 *     /                       all runs, the newest first; ?filter=TEXT
 *     /runs/NAME              its report
 *     /timelines/NAME         its timeline for Perfetto, to be saved
 *     /compare?a=NAME&b=NAME  what changed between two
 *     /metrics                the newest run that has ended, for Prometheus; ?run=NAME
 */
#ifndef PT_SERVE_PAGES_H
#define PT_SERVE_PAGES_H

#include "kept_heads.h"
#include "server.h"

struct pt_pages {
    const char *directory; /* of the runs */
    const char *token;     /* goes into each address */
    struct pt_kept_heads *kept;
};

/* `context` is a struct pt_pages. */
void pt_pages_answer(void *context, const struct pt_http_request *request, struct pt_page *ret_page);

/* The name of a run as a part of an address. */
void pt_pages_put_name(struct pt_str *out, const char *name);

#endif
