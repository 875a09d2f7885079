/* SPDX-License-Identifier: MIT
 *
 * Owns: the sockets, and the processes that make pages. Threads: main only; one loop. Never: listens beyond loopback,
 * answers without the token, waits for one client while others ask.
 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proftrace/types.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"

extern char **environ;

enum { MOST_CLIENTS = 32, MOST_PAGE_BYTES = 256 << 20 };
/* A browser sends its request at once; a page of a long run takes a while to make, and over loopback none to send. */
#define HEAD_PATIENCE_NS 5000000000u
#define PAGE_PATIENCE_NS 180000000000u
#define SEND_PATIENCE_NS 20000000000u
#define END_PATIENCE_NS 2000000000u

enum state { UNUSED, READING, MAKING, SENDING, ENDING, LEFT /* the page is made, and nobody waits for it */ };

struct client {
    enum state state;
    int fd, pipe_fd;
    pid_t pid; /* makes the page; 0 = nobody does */
    pt_u64 due_ns;
    char head[PT_HTTP_HEAD_MOST];
    size_t n_head, sent;
    bool is_head;
    const char *type;
    struct pt_str made, out;
};

static volatile sig_atomic_t must_end;

static void note_end(int number)
{
    must_end = number;
}

/* ---- one client ---- */

static void close_client(struct client *client)
{
    if (client->pid) {
        kill(client->pid, SIGKILL);
        waitpid(client->pid, NULL, 0);
    }
    if (client->pipe_fd >= 0)
        close(client->pipe_fd);
    if (client->fd >= 0)
        close(client->fd);
    pt_str_fini(&client->made);
    pt_str_fini(&client->out);
    *client = (struct client){.fd = -1, .pipe_fd = -1};
}

/* Nothing that a page refers to is fetched from elsewhere, nothing of it is kept, and no address with a token leaves.
 */
static void send_page(struct client *client, int status, const char *type, const struct pt_str *body)
{
    pt_str_printf(&client->out,
                  "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                  "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                  "X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n%s\r\n",
                  status, pt_http_status_text(status), type, body->n, status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (!client->is_head)
        pt_str_bytes(&client->out, pt_str_text(body), body->n);
    client->state = SENDING;
    client->due_ns = pt_monotonic_ns() + SEND_PATIENCE_NS;
}

static void send_status(struct client *client, int status)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_printf(&text, "%d %s\n", status, pt_http_status_text(status));
    send_page(client, status, "text/plain; charset=utf-8", &text);
}

/* ---- who may ask ---- */

/* In a time that tells nothing of how much of it was right. */
static bool is_token(const struct pt_server *server, const char *given)
{
    unsigned different = strlen(given) != PT_TOKEN_BYTES - 1;
    for (size_t i = 0; i < PT_TOKEN_BYTES - 1 && !different; i++)
        different |= !given[i];
    if (different)
        return false;
    for (size_t i = 0; i < PT_TOKEN_BYTES - 1; i++)
        different |= (unsigned char)(given[i] ^ server->token[i]);
    return !different;
}

/* A page from elsewhere whose name was made to mean 127.0.0.1 has another Host. */
static bool is_our_host(const struct pt_server *server, const char *host)
{
    enum { HTTP_PORT = 80 }; /* clients leave it out */
    char own[2][32];
    if (server->port == HTTP_PORT && (!strcmp(host, "127.0.0.1") || !strcmp(host, "localhost")))
        return true;
    snprintf(own[0], sizeof own[0], "127.0.0.1:%d", server->port);
    snprintf(own[1], sizeof own[1], "localhost:%d", server->port);
    return !strcmp(host, own[0]) || !strcmp(host, own[1]);
}

static int check(const struct pt_server *server, const struct pt_http_request *request)
{
    char token[PT_TOKEN_BYTES + 1];
    if (!is_our_host(server, request->host))
        return 421;
    if (*request->bearer)
        return is_token(server, request->bearer) ? 0 : 403;
    if (!pt_http_query(request, "token", token, sizeof token))
        return 403;
    return is_token(server, token) ? 0 : 403;
}

/* ---- making a page ---- */

static void start_command(struct client *client, char **command)
{
    char *argv[16] = {(char *)(size_t) "proftrace"};
    int fds[2], failed;
    posix_spawn_file_actions_t actions;
    for (int i = 0; command[i]; i++)
        argv[i + 1] = command[i];
    if (pipe2(fds, O_CLOEXEC) < 0) {
        send_status(client, 503);
        return;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    failed = posix_spawn(&client->pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    client->pipe_fd = fds[0];
    client->state = MAKING;
    client->due_ns = pt_monotonic_ns() + PAGE_PATIENCE_NS;
    if (failed) {
        client->pid = 0;
        send_status(client, 503);
    }
}

static void answer(const struct pt_server *server, struct client *client)
{
    struct pt_http_request request;
    struct pt_page page = {.status = 404, .type = "text/plain; charset=utf-8"};
    int status = pt_http_parse(client->head, client->n_head, &request);
    client->is_head = request.is_head;
    if (!status)
        status = check(server, &request);
    if (status) {
        send_status(client, status);
        return;
    }
    server->answer(server->context, &request, &page);
    client->type = page.type;
    if (page.command[0])
        start_command(client, page.command);
    else if (page.status != 200)
        send_status(client, page.status);
    else
        send_page(client, page.status, page.type, &page.body);
    for (int i = 0; page.command[i]; i++)
        free(page.command[i]);
    pt_str_fini(&page.body);
}

static void read_page(struct client *client)
{
    char part[65536];
    const ssize_t n = read(client->pipe_fd, part, sizeof part);
    int status;
    if (n > 0 && client->made.n + (size_t)n <= MOST_PAGE_BYTES) {
        pt_str_bytes(&client->made, part, (size_t)n);
        return;
    }
    if (n < 0 && errno == EINTR)
        return;
    if (n > 0) {
        fprintf(stderr, "proftrace: a page of more than %d MiB is not served; write it with `proftrace export`\n",
                MOST_PAGE_BYTES >> 20);
        kill(client->pid, SIGKILL);
    }
    waitpid(client->pid, &status, 0);
    client->pid = 0;
    close(client->pipe_fd);
    client->pipe_fd = -1;
    if (status || n) /* why, it has said on our stderr */
        send_status(client, 500);
    else
        send_page(client, 200, client->type, &client->made);
}

/* ---- the loop ---- */

static void read_head(const struct pt_server *server, struct client *client)
{
    const ssize_t n =
        recv(client->fd, client->head + client->n_head, sizeof client->head - client->n_head, MSG_DONTWAIT);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            close_client(client);
        return;
    }
    client->n_head += (size_t)n;
    if (pt_http_is_whole(client->head, client->n_head))
        answer(server, client);
    else if (client->n_head == sizeof client->head)
        send_status(client, 431);
}

static void send_some(struct client *client)
{
    const ssize_t n = send(client->fd, pt_str_text(&client->out) + client->sent, client->out.n - client->sent,
                           MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    client->sent += n > 0 ? (size_t)n : 0;
    client->due_ns = pt_monotonic_ns() + SEND_PATIENCE_NS; /* a slow client that reads is no dead one */
    if (n < 0) {
        close_client(client);
    } else if (client->sent == client->out.n) {
        shutdown(client->fd, SHUT_WR);
        client->state = ENDING;
        client->due_ns = pt_monotonic_ns() + END_PATIENCE_NS;
    }
}

/* Closed while it still sends, a client would see a reset connection instead of our answer. */
static void wait_for_end(struct client *client)
{
    char unread[4096];
    const ssize_t n = recv(client->fd, unread, sizeof unread, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_client(client);
}

/* One that is not used; else of those that have asked for nothing yet the one that is here longest; else one that has
 * gone. NULL = all are served. */
static struct client *place_for_one(struct client *clients)
{
    struct client *silent = NULL;
    for (int i = 0; i < MOST_CLIENTS; i++) {
        struct client *client = &clients[i];
        if (client->state == UNUSED)
            return client;
        if (client->state == READING && !client->n_head && (!silent || client->due_ns < silent->due_ns))
            silent = client;
    }
    for (int i = 0; i < MOST_CLIENTS && !silent; i++)
        silent = clients[i].state == LEFT ? &clients[i] : NULL;
    if (silent)
        close_client(silent);
    return silent;
}

static void accept_client(const struct pt_server *server, struct client *clients)
{
    const int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client = fd >= 0 ? place_for_one(clients) : NULL;
    if (client)
        *client =
            (struct client){.state = READING, .fd = fd, .pipe_fd = -1, .due_ns = pt_monotonic_ns() + HEAD_PATIENCE_NS};
    else if (fd >= 0)
        close(fd);
}

static void check_patience(struct client *client, pt_u64 now_ns)
{
    if (client->state == UNUSED || now_ns < client->due_ns)
        return;
    if (client->state == READING && client->n_head) {
        send_status(client, 408);
    } else if (client->state == MAKING) {
        fprintf(stderr,
                "proftrace: a page that takes more than %d s to make is not served; write it with `proftrace report "
                "-o` or `proftrace export`\n",
                (int)(PAGE_PATIENCE_NS / 1000000000));
        kill(client->pid, SIGKILL);
        waitpid(client->pid, NULL, 0);
        client->pid = 0;
        send_status(client, 503);
    } else {
        close_client(client);
    }
}

static struct pollfd wanted_of(const struct client *client)
{
    if (client->state == UNUSED)
        return (struct pollfd){.fd = -1};
    const bool is_made = client->state == MAKING || client->state == LEFT;
    return (struct pollfd){.fd = is_made ? client->pipe_fd : client->fd,
                           .events = client->state == SENDING ? POLLOUT : POLLIN};
}

/* Nobody waits for the page any more. */
static bool has_gone(const struct pollfd *client)
{
    return client->revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Who asks for a page that takes longer than its own patience, as each scrape of Prometheus does, would never get it:
 * what was found for it is kept when it is done. So one page is made to its end, the oldest, which is the nearest to
 * it; one that was asked for again and again would be made as often at once. */
static void leave(struct client *clients, struct client *client)
{
    bool has_other = false;
    for (int i = 0; i < MOST_CLIENTS; i++)
        has_other |= clients[i].state == LEFT;
    if (has_other) {
        close_client(client);
        return;
    }
    close(client->fd);
    client->fd = -1;
    client->state = LEFT;
    pt_str_fini(&client->made);
    client->made = (struct pt_str){0};
}

static void pass_over_page(struct client *client)
{
    char part[65536];
    const ssize_t n = read(client->pipe_fd, part, sizeof part);
    if (n > 0 || (n < 0 && errno == EINTR))
        return;
    waitpid(client->pid, NULL, 0);
    client->pid = 0;
    close_client(client);
}

static void step_client(const struct pt_server *server, struct client *client)
{
    switch (client->state) {
    case READING:
        read_head(server, client);
        break;
    case MAKING:
        read_page(client);
        break;
    case SENDING:
        send_some(client);
        break;
    case ENDING:
        wait_for_end(client);
        break;
    case LEFT:
        pass_over_page(client);
        break;
    case UNUSED:
        break;
    }
}

static void step(const struct pt_server *server, struct client *clients, const sigset_t *unblocked)
{
    struct pollfd fds[1 + 2 * MOST_CLIENTS] = {{.fd = server->fd, .events = POLLIN}}, *ends = fds + 1 + MOST_CLIENTS;
    const struct timespec second = {1, 0};
    for (int i = 0; i < MOST_CLIENTS; i++) {
        fds[i + 1] = wanted_of(&clients[i]);
        ends[i] = (struct pollfd){.fd = clients[i].state == MAKING ? clients[i].fd : -1, .events = POLLRDHUP};
    }
    if (ppoll(fds, 1 + 2 * MOST_CLIENTS, &second, unblocked) < 0)
        return;
    for (int i = 0; i < MOST_CLIENTS; i++) {
        if (has_gone(&ends[i]))
            leave(clients, &clients[i]);
        else if (fds[i + 1].revents)
            step_client(server, &clients[i]);
        check_patience(&clients[i], pt_monotonic_ns());
    }
    if (fds[0].revents)
        accept_client(server, clients);
}

int pt_server_run(struct pt_server *server, struct pt_error *err)
{
    const struct sigaction action = {.sa_handler = note_end};
    sigset_t ends, before;
    PT_AUTO(pt_freep) struct client *clients = pt_calloc(MOST_CLIENTS, sizeof *clients);
    (void)err;
    for (int i = 0; i < MOST_CLIENTS; i++)
        clients[i].fd = clients[i].pipe_fd = -1;
    /* Only while nothing is half done. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    while (!must_end)
        step(server, clients, &before);
    for (int i = 0; i < MOST_CLIENTS; i++)
        if (clients[i].state != UNUSED)
            close_client(&clients[i]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return 0;
}

/* ---- the socket ---- */

int pt_server_make_token(char token[PT_TOKEN_BYTES], struct pt_error *err)
{
    unsigned char random[(PT_TOKEN_BYTES - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return pt_fail(err, "no random bytes: %s", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    return 0;
}

int pt_server_open(struct pt_server *server, int port, struct pt_error *err)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    const int yes = 1;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->fd < 0)
        return pt_fail(err, "cannot make a socket: %s", strerror(errno));
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(server->fd, 64) < 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &n) < 0)
        return pt_fail_code(err, 2, "cannot listen on 127.0.0.1:%d: %s; --port 0 takes one that is free", port,
                            strerror(errno));
    server->port = ntohs(address.sin_port);
    return 0;
}

void pt_server_close(struct pt_server *server)
{
    if (server->fd >= 0)
        close(server->fd);
    server->fd = -1;
}
