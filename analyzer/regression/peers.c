/* SPDX-License-Identifier: MIT
 *
 * Owns: what makes runs comparable. Threads: one. Never: takes a run whose figures differ for another reason than the
 * program.
 */
#include "peers.h"

#include <math.h>
#include <string.h>

#include "report/run_document.h"

/* Two runs, and what the reader calls them. */
struct pair {
    const cJSON *a, *b;
    const char *name_a, *name_b;
};

static const char *text_or(const cJSON *entry, const char *key, const char *other)
{
    const char *text = pt_member_text(entry, key);
    return text ? text : other;
}

static const char *other_text(struct pt_doc *doc, const struct pair *of, const char *key, const char *label)
{
    const char *a = text_or(of->a, key, "none"), *b = text_or(of->b, key, "none");
    return strcmp(a, b) != 0 ? pt_doc_format(doc, "another %s: %s has %s, %s %s", label, of->name_a, a, of->name_b, b)
                             : NULL;
}

static const char *other_machine(struct pt_doc *doc, const struct pair *of)
{
    return other_text(doc, of, "host", "machine");
}

/* What a count depends on, too. NULL = nothing differs. */
static const char *other_circumstances(struct pt_doc *doc, const struct pair *of)
{
    static const char *const same[][2] = {{"tool", "version of proftrace"}, {"dataset", "dataset"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *why = other_text(doc, of, same[i][0], same[i][1]);
        if (why)
            return why;
    }
    const double a = pt_member_number(of->a, "cpus"), b = pt_member_number(of->b, "cpus");
    return isfinite(a) && isfinite(b) && a != b
               ? pt_doc_format(doc, "another machine: %s has %.0f CPUs, %s %.0f", of->name_a, a, of->name_b, b)
               : NULL;
}

double pt_peers_untraced(const cJSON *entry)
{
    const double n = pt_member_number(entry, "untraced");
    return isfinite(n) ? n : 0;
}

/* What a process does that is not traced is in no count: with more of them than before a run seems to do less, with
 * fewer more. */
static const char *other_untraced(struct pt_doc *doc, const struct pt_peers *peers, const cJSON *entry)
{
    const double own = pt_peers_untraced(entry);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < peers->n; i++) {
        low = fmin(low, pt_peers_untraced(peers->items[i].run));
        high = fmax(high, pt_peers_untraced(peers->items[i].run));
    }
    if (own >= low && own <= high)
        return NULL;
    return pt_doc_format(doc,
                         "%.0f process%s not traced, and %.0f in the baseline: counts lack what they do. "
                         "`proftrace info` says why",
                         own, own == 1 ? " was" : "es were", own > high ? high : low);
}

struct pt_peers pt_peers_of(struct pt_doc *doc, const cJSON *runs, const cJSON *entry)
{
    struct pt_peers peers = {0};
    const cJSON *run;
    const char *first_why = NULL, *machine = NULL;
    size_t n_here = 0, n_all = 0;
    cJSON_ArrayForEach(run, runs)
    {
        const struct pair pair = {run, entry, "the baseline", "the run"};
        const char *why = other_circumstances(doc, &pair), *elsewhere = other_machine(doc, &pair);
        n_all++;
        if (why) {
            first_why = first_why ? first_why : why;
            continue;
        }
        pt_vec_push(&peers, ((struct pt_peer){run, !elsewhere}));
        n_here += !elsewhere;
        machine = machine ? machine : elsewhere;
    }
    if (!peers.n)
        peers.reason = first_why;
    else if (first_why)
        peers.left_out =
            pt_doc_format(doc, "%zu of %zu runs of the baseline are left out: %s", n_all - peers.n, n_all, first_why);
    if (peers.n && !n_here)
        peers.no_times = machine;
    if (peers.n && !peers.reason)
        peers.reason = other_untraced(doc, &peers, entry);
    return peers;
}

const char *pt_peers_differ(struct pt_doc *doc, const cJSON *first, const cJSON *entry, size_t n, bool with_times)
{
    const struct pair pair = {first, entry, "run 1", pt_doc_format(doc, "run %zu", n)};
    const char *why = other_circumstances(doc, &pair);
    if (!why && with_times)
        why = other_machine(doc, &pair);
    if (!why && pt_peers_untraced(first) != pt_peers_untraced(entry))
        why = pt_doc_format(doc, "%.0f processes of run 1 were not traced, of run %zu %.0f", pt_peers_untraced(first),
                            n, pt_peers_untraced(entry));
    return why;
}

bool pt_peers_are_alike(struct pt_doc *doc, const cJSON *a, const cJSON *b, bool with_machine)
{
    const struct pair pair = {a, b, "one", "the other"};
    return !other_circumstances(doc, &pair) && !(with_machine && other_machine(doc, &pair));
}
