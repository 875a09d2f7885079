/* SPDX-License-Identifier: MIT
 *
 * The network as a client sees it: requests one after another, by host, and how long names took to resolve.
 *
 * Threads: one. State: one small struct per host or name and stage, at most MAX_NAMES each. Never: counts an idle
 * server as waiting: what listens, and connections that were accepted, by whom they ever are served, do not count; nor
 * do those between the ranks of a training, which exchange what they have: exchanges.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/channels.h"
#include "facts/network/ends.h"
#include "facts/python.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "facts/path/split_time.h"
#include "facts/workers.h"
#include "profile/layers_missing.h"
#include "util/hash.h"
#include "util/id_map.h"
#include "exchanges.h"

enum { MAX_NAMES = 4096, MAX_ROWS = 50, MOST_CONNECTIONS = 65536 };

struct net_name {     /* a host, or a name that was looked up */
    const char *text; /* NULL = those above MAX_NAMES */
    pt_u32 stage;
    bool is_query, is_of_peers;
    pt_u64 calls, failed, connects, bytes, ns;
    pt_i64 longest_ns; /* of a whole request, with the connecting before it; of a call that got no answer */
};

/* From the first call of a request to the last of its answer. */
struct net_connection {
    pt_u64 asked; /* requests of the process when it was sent; 0 = it was answered */
    pt_u64 ns;    /* in its calls */
    size_t host;  /* index, plus 1 */
    bool has_sent, has_answer;
};

struct stage_net {
    struct pt_split_time wait, resolve;
    struct pt_time_union asking; /* when anybody waited */
    pt_u64 requests, connects, bytes, wait_ns, answered_ns, queries, failed_queries, query_ns;
    pt_u64 sent_bytes;                     /* of bytes */
    pt_u64 in_python_loop_ns, by_grpc_ns;  /* of wait_ns */
    pt_u64 answered, overlapping_requests; /* first answers; requests on other connections before those */
};

struct network {
    struct pt_profile *profile;
    struct stage_net *stages;
    PT_VEC(struct net_name);
    struct pt_map by_text;  /* -> index, plus 1 */
    struct pt_id_map by_id; /* process, string id -> the same; also NOT_OURS */
    struct pt_connection_ends ends;
    struct pt_exchanges exchanges;
    struct pt_map clients;       /* own address of who connected -> process, plus 1 */
    struct pt_map servers;       /* the other side's of who accepted -> process, plus 1 */
    struct pt_map by_descriptor; /* process, descriptor -> index in connections, plus 1 */
    struct {
        PT_VEC(struct net_connection);
    } connections;
    struct pt_map requests; /* process -> requests */
    struct pt_intern texts;
};

#define NOT_OURS UINT64_MAX

static pt_u64 name_of(struct network *network, pt_u32 stage, const char *text, bool is_query)
{
    const char *interned = pt_intern_text(&network->texts, text);
    const pt_u64 kind = (pt_u64)stage << 1 | is_query;
    pt_u64 key = pt_hash_pair((uintptr_t)interned, kind);
    if (network->n >= MAX_NAMES && !pt_map_find(&network->by_text, key)) {
        interned = NULL;
        key = pt_hash_pair(0, kind);
    }
    pt_u64 *slot = pt_map_at(&network->by_text, key);
    if (!*slot) {
        pt_vec_push(network, ((struct net_name){.text = interned, .stage = stage, .is_query = is_query}));
        *slot = network->n;
    }
    return *slot;
}

/* Of whom it is not known which end it has, events being lost, nothing is said: a client's next request would be taken
 * for an answer. */
static bool may_ask(const struct network *network, const struct pt_process *process, const char *path)
{
    if (pt_channel_of_path(path) != PT_CHANNEL_NETWORK)
        return false;
    const enum pt_connection_end end = pt_connection_end_of(&network->ends, process, path);
    return end != PT_END_SERVER && end != PT_END_LOST;
}

/* The host behind a descriptor; NULL when it is no connection, or not the end of one who asks. */
static struct net_name *host_of(struct network *network, const struct pt_event *e, pt_u32 path)
{
    if (!path)
        return NULL;
    pt_u64 *slot = pt_id_map_at(&network->by_id, e->process->index, path);
    if (!*slot) {
        const char *text = pt_process_string(e->process, path);
        const bool is_ours = may_ask(network, e->process, text);
        const pt_u64 name =
            is_ours ? name_of(network, pt_profile_stage_of(network->profile, e->process), text, false) : NOT_OURS;
        slot = pt_id_map_at(&network->by_id, e->process->index, path);
        *slot = name;
    }
    return *slot == NOT_OURS || network->items[*slot - 1].is_of_peers ? NULL : &network->items[*slot - 1];
}

static struct net_connection *connection_of(struct network *network, const struct pt_event *e)
{
    const pt_u32 descriptor = (pt_u32)pt_descriptor_number(e); /* of a copy, that of the connection, not of the file */
    pt_u64 *slot = pt_map_at(&network->by_descriptor, (pt_u64)e->process->index << 32 | descriptor);
    if (!*slot) {
        pt_vec_push(&network->connections, (struct net_connection){0});
        *slot = network->connections.n;
    }
    return &network->connections.items[*slot - 1];
}

static void waited(struct network *network, const struct pt_event *e, struct net_name *host)
{
    struct stage_net *stage = &network->stages[host->stage];
    struct net_connection *connection = connection_of(network, e);
    host->ns += (pt_u64)e->duration_ns;
    connection->ns += (pt_u64)e->duration_ns;
    host->longest_ns = e->duration_ns > host->longest_ns ? e->duration_ns : host->longest_ns;
    connection->host = (size_t)(host - network->items) + 1;
    stage->wait_ns += (pt_u64)e->duration_ns;
    stage->by_grpc_ns += pt_exchanges_by_grpc(&network->exchanges, e->process) ? (pt_u64)e->duration_ns : 0;
    pt_time_union_add(&stage->asking, e->start_ns, pt_event_end_ns(e));
    pt_split_time_add(&stage->wait, network->profile->facts->paths, e, e->start_ns);
}

/* The wait of an event loop is none of a connection, until the next call shows whose answer ended it. */
static void waited_in_loop(struct network *network, const struct pt_event *e, struct net_name *host)
{
    const struct pt_loop_answer *loop = &network->profile->facts->call.loop;
    const pt_i64 ns = loop->wait.end_ns - loop->wait.start_ns;
    struct net_connection *connection = connection_of(network, e);
    if (!loop->is_known || loop->wait.part != PT_PART_network || ns <= 0)
        return;
    struct stage_net *stage = &network->stages[host->stage];
    host->ns += (pt_u64)ns;
    connection->ns += (pt_u64)ns;
    stage->wait_ns += (pt_u64)ns;
    stage->in_python_loop_ns += pt_process_has_python(e->process) ? (pt_u64)ns : 0;
    stage->by_grpc_ns += pt_exchanges_by_grpc(&network->exchanges, e->process) ? (pt_u64)ns : 0;
    pt_time_union_add(&stage->asking, loop->wait.start_ns, loop->wait.end_ns);
    pt_split_time_add_span(&stage->wait, network->profile->facts->paths, e, &loop->wait);
}

/* A request is over when the next one begins, or the descriptor becomes another connection. */
static void end_request(struct network *network, struct net_connection *connection)
{
    struct net_name *host = connection->host ? &network->items[connection->host - 1] : NULL;
    const pt_i64 ns = (pt_i64)connection->ns;
    if (host && connection->has_answer) {
        network->stages[host->stage].answered_ns += connection->ns;
        host->longest_ns = ns > host->longest_ns ? ns : host->longest_ns;
    }
    *connection = (struct net_connection){0};
}

/* The number of open requests cannot be derived from waiting calls: an event loop never waits in one. */
static void request_or_answer(struct network *network, const struct pt_event *e, struct net_name *host, bool sends)
{
    struct stage_net *stage = &network->stages[host->stage];
    struct net_connection *connection = connection_of(network, e);
    pt_u64 *requests = pt_map_at(&network->requests, e->process->index);
    if (sends && connection->has_answer && !connection->has_sent)
        end_request(network, connection);
    if (sends && !connection->asked) {
        connection->asked = ++*requests;
    } else if (!sends && connection->asked) {
        stage->answered++;
        stage->overlapping_requests += *requests - connection->asked;
        connection->asked = 0;
    }
    if (!sends && connection->has_sent) {
        host->calls++;
        stage->requests++;
        connection->has_answer = true;
    }
    connection->has_sent = sends;
}

/* ---- whom a connection joins ---- */

/* Ranks of a training: what one of them waits for is no answer to a request. */
static void join(struct network *network, const char *server, pt_u64 client_index, pt_u64 server_index)
{
    const struct pt_session *session = network->profile->session;
    const struct pt_process *client = session->processes[client_index - 1];
    const pt_u32 stage = pt_profile_stage_of(network->profile, client);
    if (!pt_are_peers(client, session->processes[server_index - 1]) || !server || !*server)
        return;
    const pt_u64 name = name_of(network, stage, server, false); /* it may move the items */
    network->items[name - 1].is_of_peers = true;
}

static void note_ends(struct network *network, const struct pt_event *e)
{
    const bool connects = e->desc->kind == PT_KIND_net_connect;
    const char *client =
        pt_process_string(e->process, connects ? pt_event_as(e, net_connect)->local : pt_event_as(e, net_accept)->peer);
    const char *server =
        pt_process_string(e->process, connects ? pt_event_as(e, net_connect)->peer : pt_event_as(e, net_accept)->local);
    pt_connection_ends_note(&network->ends, e);
    if (!client || !*client || network->clients.n + network->servers.n >= MOST_CONNECTIONS)
        return;
    const pt_u64 hash = pt_channel_hash(e->process, client);
    *pt_map_at(connects ? &network->clients : &network->servers, hash) = (pt_u64)e->process->index + 1;
    const pt_u64 *other = pt_map_find(connects ? &network->servers : &network->clients, hash);
    if (other)
        join(network, server, connects ? (pt_u64)e->process->index + 1 : *other,
             connects ? *other : (pt_u64)e->process->index + 1);
}

/* Of a window: what was joined before it. */
static void note_earlier(struct network *network)
{
    const struct pt_session *session = network->profile->session;
    for (pt_u32 i = 0; i < session->n_earlier; i++)
        if (session->earlier[i].process->index < session->n_processes)
            note_ends(network, &session->earlier[i]);
        else /* of a process that had ended, which has no stage */
            pt_connection_ends_note(&network->ends, &session->earlier[i]);
}

/* ---- events ---- */

static void connected(struct network *network, const struct pt_event *e)
{
    struct net_name *host = host_of(network, e, pt_event_as(e, net_connect)->peer);
    if (!host)
        return;
    end_request(network, connection_of(network, e));
    host->connects++;
    network->stages[host->stage].connects++;
    waited(network, e, host);
}

static void moved(struct network *network, const struct pt_event *e, pt_u32 path, bool sends, pt_i64 bytes)
{
    struct net_name *host = pt_channel_of_event(e) == PT_CHANNEL_NETWORK ? host_of(network, e, path) : NULL;
    if (!host || pt_exchanges_with_ranks(&network->exchanges, e))
        return;
    if (!sends)
        waited_in_loop(network, e, host);
    if (bytes > 0) {
        request_or_answer(network, e, host, sends);
        host->bytes += (pt_u64)bytes;
        network->stages[host->stage].bytes += (pt_u64)bytes;
        network->stages[host->stage].sent_bytes += sends ? (pt_u64)bytes : 0;
    }
    waited(network, e, host);
}

static void resolved(struct network *network, const struct pt_event *e)
{
    const pt_u32 stage_index = pt_profile_stage_of(network->profile, e->process);
    struct stage_net *stage = &network->stages[stage_index];
    const char *text = pt_process_string(e->process, pt_event_as(e, net_resolve)->name);
    const pt_u64 index = name_of(network, stage_index, text ? text : "", true);
    struct net_name *name = &network->items[index - 1];
    name->calls++;
    name->failed += e->result < 0;
    name->ns += (pt_u64)e->duration_ns;
    if (e->duration_ns > name->longest_ns)
        name->longest_ns = e->duration_ns;
    stage->queries++;
    stage->failed_queries += e->result < 0;
    stage->query_ns += (pt_u64)e->duration_ns;
    pt_split_time_add(&stage->resolve, network->profile->facts->paths, e, e->start_ns);
}

static void begin(void *state, struct pt_profile *profile)
{
    struct network *network = state;
    network->profile = profile;
    network->stages = pt_calloc(profile->stages.n, sizeof *network->stages);
    pt_exchanges_init(&network->exchanges, profile->session, &profile->facts->ids);
    note_earlier(network);
}

static void event(void *state, const struct pt_event *e)
{
    struct network *network = state;
    /* All transfers have { i32 result, u32 path, ... } as io_read has. */
    const struct pt_ev_io_read *fields = (const struct pt_ev_io_read *)(const void *)e->payload;
    switch (e->desc->kind) {
    case PT_KIND_net_connect:
        note_ends(network, e);
        connected(network, e);
        break;
    case PT_KIND_net_accept:
        note_ends(network, e);
        break;
    case PT_KIND_python_place:
        pt_exchanges_note(&network->exchanges, e);
        break;
    case PT_KIND_net_resolve:
        resolved(network, e);
        break;
    case PT_KIND_io_read:
    case PT_KIND_io_readv:
    case PT_KIND_net_receive:
        moved(network, e, fields->path, false, fields->result);
        break;
    case PT_KIND_io_write:
    case PT_KIND_io_writev:
    case PT_KIND_net_send:
        moved(network, e, fields->path, true, fields->result);
        break;
    case PT_KIND_io_copy:
        moved(network, e, pt_copies_to_channel(e) ? pt_event_as(e, io_copy)->to_path : fields->path,
              pt_copies_to_channel(e), fields->result);
        break;
    case PT_KIND_wait_poll:
        moved(network, e, pt_event_as(e, wait_poll)->path, false, 0);
        break;
    default:
        break;
    }
}

/* ---- results ---- */

static int by_time(const void *a, const void *b)
{
    const struct net_name *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return strcmp(x->text ? x->text : "", y->text ? y->text : "");
}

struct host_row {
    const char *host;
    pt_u64 requests, connections, bytes;
    double total_s, longest_s;
};

static const struct pt_column host_columns[] = {
    PT_COLUMN(struct host_row, host, TEXT, "Host"),
    PT_COLUMN(struct host_row, requests, COUNT, "Requests"),
    PT_COLUMN(struct host_row, connections, COUNT, "Connections"),
    PT_COLUMN(struct host_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct host_row, longest_s, SECONDS, "Longest"),
    PT_COLUMN(struct host_row, bytes, BYTES, "Bytes"),
};
static const struct pt_table_kind by_host = {PT_VIEW_hosts, .most = MAX_ROWS, PT_COLUMNS(host_columns)};

struct name_row {
    const char *name;
    pt_u64 queries, failed;
    double total_s, longest_s;
};

static const struct pt_column name_columns[] = {
    PT_COLUMN(struct name_row, name, TEXT, "Name"),
    PT_COLUMN(struct name_row, queries, COUNT, "Queries"),
    PT_COLUMN(struct name_row, failed, COUNT, "Failed"),
    PT_COLUMN(struct name_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct name_row, longest_s, SECONDS, "Longest"),
};
static const struct pt_table_kind by_name = {PT_VIEW_names, .most = MAX_ROWS, PT_COLUMNS(name_columns)};

static void tables(const struct network *network, pt_u32 stage)
{
    struct pt_metrics *metrics = &network->profile->metrics;
    struct pt_rows hosts = pt_rows(metrics, pt_scope_stage(stage), &by_host);
    struct pt_rows names = pt_rows(metrics, pt_scope_stage(stage), &by_name);
    for (size_t i = 0; i < network->n; i++) {
        const struct net_name *name = &network->items[i];
        if (name->stage != stage || !pt_rows_have_room(name->is_query ? &names : &hosts))
            continue;
        const char *text = name->text ? pt_metrics_text(metrics, name->text) : "(others)";
        const double total_s = (double)name->ns / 1e9, longest_s = (double)name->longest_ns / 1e9;
        if (name->is_query)
            pt_rows_add(&names, &(struct name_row){
                                    .name = text,
                                    .queries = name->calls,
                                    .failed = name->failed,
                                    .total_s = total_s,
                                    .longest_s = longest_s,
                                });
        else
            pt_rows_add(&hosts, &(struct host_row){
                                    .host = text,
                                    .requests = name->calls,
                                    .connections = name->connects,
                                    .total_s = total_s,
                                    .longest_s = longest_s,
                                    .bytes = name->bytes,
                                });
    }
}

static void set_metrics(const struct network *network, pt_u32 stage)
{
    struct pt_metrics *metrics = &network->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct stage_net *s = &network->stages[stage];
    const double waited_s = (double)s->asking.total_ns / 1e9;
    const double total_s = (double)s->wait_ns / 1e9;
    const double on_their_way = s->answered ? 1 + (double)s->overlapping_requests / (double)s->answered : 1;
    const char *why = pt_profile_why_not_recorded(network->profile, stage, 1 << PT_LAYER_IO | 1 << PT_LAYER_NET);
    pt_metrics_set(metrics, scope, "net.request.calls", why ? pt_unknown(why) : pt_integer(s->requests));
    pt_metrics_set(metrics, scope, "net.connect.calls", pt_integer(s->connects));
    pt_metrics_set(metrics, scope, "net.bytes", pt_integer(s->bytes));
    pt_metrics_set(metrics, scope, "net.sent.percent",
                   s->bytes ? pt_real(100 * (double)s->sent_bytes / (double)s->bytes)
                            : pt_unknown("nothing went over the network"));
    pt_metrics_set(metrics, scope, "net.wait_s", pt_real(total_s));
    pt_metrics_set(metrics, scope, "net.in_python_loop.percent",
                   s->wait_ns ? pt_real(100 * (double)s->in_python_loop_ns / (double)s->wait_ns)
                              : pt_unknown("nothing was asked of the network"));
    pt_metrics_set(metrics, scope, "net.by_grpc.percent",
                   s->wait_ns ? pt_real(100 * (double)s->by_grpc_ns / (double)s->wait_ns)
                              : pt_unknown("nothing was asked of the network"));
    pt_metrics_set(metrics, scope, "net.at_once",
                   waited_s > 0 ? pt_real(fmax(total_s / waited_s, on_their_way))
                                : pt_unknown("nothing was asked of the network"));
    pt_metrics_set(metrics, scope, "net.request.mean_s",
                   s->requests ? pt_real((double)s->answered_ns / 1e9 / (double)s->requests)
                               : pt_unknown("no requests"));
    pt_metrics_set(metrics, scope, "net.cost_s", pt_split_time_cost(&s->wait, network->profile, stage));
    pt_metrics_set(metrics, scope, "net.resolve.calls", pt_integer(s->queries));
    pt_metrics_set(metrics, scope, "net.resolve.failed.calls", pt_integer(s->failed_queries));
    pt_metrics_set(metrics, scope, "net.resolve.mean_s",
                   s->queries ? pt_real((double)s->query_ns / 1e9 / (double)s->queries) : pt_unknown("no queries"));
    pt_metrics_set(metrics, scope, "net.resolve.cost_s", pt_split_time_cost(&s->resolve, network->profile, stage));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct network *network = state;
    for (size_t i = 0; i < network->connections.n; i++)
        end_request(network, &network->connections.items[i]);
    if (network->n)
        qsort(network->items, network->n, sizeof *network->items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        set_metrics(network, stage);
        tables(network, stage);
    }
    free(network->items);
    free(network->stages);
    pt_map_fini(&network->by_text);
    pt_id_map_fini(&network->by_id);
    pt_connection_ends_fini(&network->ends);
    pt_exchanges_fini(&network->exchanges);
    pt_map_fini(&network->clients);
    pt_map_fini(&network->servers);
    pt_map_fini(&network->by_descriptor);
    free(network->connections.items);
    pt_map_fini(&network->requests);
    pt_intern_fini(&network->texts);
}

const struct pt_analysis pt_analysis_network = {
    .name = "network",
    .summary = "requests by host, and how long names took to resolve",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_NET | PT_CATEGORY_WAIT | PT_CATEGORY_PYTHON,
    .state_size = sizeof(struct network),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
