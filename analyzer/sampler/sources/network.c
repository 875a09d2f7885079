/* SPDX-License-Identifier: MIT
 *
 * sources/network.c - Owns: what went through the network interfaces: /proc/net/dev, which is that of our own network
 * namespace. Threads: main only. Never: says which process it was: the kernel does not count that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/small_file.h"
#include "source.h"

enum { INTERFACES_MAX = 256, NAME_SIZE = 16, FIELD_RECEIVED = 0, FIELD_SENT = 8 };

struct interface {
    char name[NAME_SIZE];
    pt_u64 received, sent; /* the interface's own counters */
};

struct network {
    int fd;
    char text[65536];
    struct interface interfaces[INTERFACES_MAX];
    size_t n;
    pt_u64 received_bytes, sent_bytes, loopback_bytes; /* since the first sample */
};

static bool open_network(void *state, const struct pt_source_host *host)
{
    struct network *network = state;
    network->fd = pt_small_file_open("%s/net/dev", host->proc);
    if (network->fd >= 0)
        return true;
    for (int i = PT_RESOURCE_net_receive_bytes; i <= PT_RESOURCE_net_loopback_bytes; i++)
        pt_source_unknown(host, (enum pt_resource)i, "%s/net/dev: %s", host->proc, strerror(errno));
    return false;
}

static struct interface *interface_of(struct network *network, const char *name, bool *ret_is_new)
{
    *ret_is_new = false;
    for (size_t i = 0; i < network->n; i++)
        if (!strcmp(network->interfaces[i].name, name))
            return &network->interfaces[i];
    if (network->n == INTERFACES_MAX)
        return NULL;
    *ret_is_new = true;
    struct interface *interface = &network->interfaces[network->n++];
    snprintf(interface->name, sizeof interface->name, "%s", name);
    return interface;
}

/* Counters start at 0 when an interface is made, and again when it is made anew under the same name. */
static pt_u64 grown(pt_u64 now, pt_u64 before)
{
    return now >= before ? now - before : now;
}

static void account(struct network *network, const char *name, const pt_u64 *fields, bool is_first_look)
{
    bool is_new;
    struct interface *interface = interface_of(network, name, &is_new);
    if (!interface)
        return;
    const pt_u64 received = grown(fields[FIELD_RECEIVED], interface->received);
    const pt_u64 sent = grown(fields[FIELD_SENT], interface->sent);
    interface->received = fields[FIELD_RECEIVED];
    interface->sent = fields[FIELD_SENT];
    if (is_first_look)
        return;
    if (!strcmp(name, "lo")) {
        network->loopback_bytes += sent;
        return;
    }
    network->received_bytes += received;
    network->sent_bytes += sent;
}

static void look_at_network(void *state, struct pt_source_look *look)
{
    struct network *network = state;
    if (pt_small_file_read(network->fd, network->text, sizeof network->text) <= 0)
        return;
    char *rest = network->text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *colon = strrchr(line, ':'); /* an alias has one in its name: eth0:1 */
        if (!colon)
            continue;
        *colon = 0;
        pt_u64 fields[FIELD_SENT + 1];
        char *at = colon + 1, *end = at;
        int n = 0;
        for (; n <= FIELD_SENT; n++, at = end) {
            fields[n] = strtoull(at, &end, 10);
            if (end == at)
                break;
        }
        if (n > FIELD_SENT)
            account(network, line + strspn(line, " "), fields, look->interval_s <= 0);
    }
    look->values[PT_RESOURCE_net_receive_bytes] = (double)network->received_bytes;
    look->values[PT_RESOURCE_net_send_bytes] = (double)network->sent_bytes;
    look->values[PT_RESOURCE_net_loopback_bytes] = (double)network->loopback_bytes;
}

static void close_network(void *state)
{
    struct network *network = state;
    if (network->fd >= 0)
        close(network->fd);
}

const struct pt_source pt_source_network = {
    .name = "network",
    .state_size = sizeof(struct network),
    .open = open_network,
    .look = look_at_network,
    .close = close_network,
};
