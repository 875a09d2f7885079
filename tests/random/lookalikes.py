# SPDX-License-Identifier: MIT
"""Programs without a problem that have much in common with those that have one. No finding may promise more than a twentieth."""
import contextlib
import socket
import threading
import time

import surroundings as around

from causes import cause


@contextlib.contextmanager
def light_clients(folder):
    """A port for the server that is looked at, and somebody who asks it now and then, from outside."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    is_over = threading.Event()

    def ask():
        while not is_over.is_set():
            time.sleep(0.04)
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"x")
                connection.recv(100)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield around.Start(environment={"RANDOM_PORT": str(port)})
    finally:
        is_over.set()
        thread.join()


CLIENTS = (light_clients, light_clients)

cause("server", "python", "", """
connection, _ = listener.accept()
with connection:
    connection.recv(100)
    truth.compute(2)
    connection.sendall(b"y" * $size)
""", setup="""
import socket
listener = socket.create_server(("127.0.0.1", int(os.environ["RANDOM_PORT"])))
""", amounts={"size": [10, 5000]}, parts=(30, 50), has_rest=False, around=CLIENTS)
cause("server_with_threads", "python", "", """
connection, _ = listener.accept()
thread = threading.Thread(target=$helper, args=(connection,))
thread.start()
""", setup="""
import socket
import threading
listener = socket.create_server(("127.0.0.1", int(os.environ["RANDOM_PORT"])))


def $helper(connection):
    with connection:
        connection.recv(100)
        truth.compute(2)
        connection.sendall(b"y")
""", parts=(30, 50), has_rest=False, around=CLIENTS, places=("main",))
cause("server_that_forks", "c", "", """
    static int listener = -1;
    if (listener < 0) {
        const int one = 1;
        struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("RANDOM_PORT"))),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
        listener = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(listener, (struct sockaddr *)&name, sizeof name) || listen(listener, 16))
            abort();
    }
    const int connection = accept(listener, NULL, NULL);
    if (!fork()) {
        char request[100];
        if (read(connection, request, sizeof request) > 0) {
            truth_compute(2);
            if (write(connection, "y", 1) < 0)
                _exit(1);
        }
        _exit(0);
    }
    close(connection);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
""", setup="""
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
""", parts=(30, 50), has_rest=False, around=CLIENTS, places=("main",))
cause("server_with_selectors", "python", "", """
server = socket.create_server(("127.0.0.1", int(os.environ["RANDOM_PORT"])))
selector = selectors.DefaultSelector()
selector.register(server, selectors.EVENT_READ)
answered = 0
while answered < 40:
    for key, _ in selector.select(timeout=0.5):
        if key.fileobj is server:
            selector.register(server.accept()[0], selectors.EVENT_READ)
            continue
        if key.fileobj.recv(100):
            key.fileobj.sendall(b"y")
            answered += 1
        selector.unregister(key.fileobj)
        key.fileobj.close()
""", setup="""
import selectors
import socket
""", parts=(1,), has_rest=False, around=CLIENTS)

cause("balanced_pool", "python", "", """
with multiprocessing.Pool(2) as pool:
    pool.map(truth.compute, [$ms] * 60, chunksize=1)
""", setup="import multiprocessing", amounts={"ms": [15, 30]}, parts=(1,), has_rest=False, places=("main",), cpus=2)
cause("balanced_threads", "c", "", """
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, $helper, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
""", setup="""
static pthread_barrier_t barrier;
static void *$helper(void *unused)
{
    for (int i = 0; i < 40; i++) {
        for (volatile long j = 0; j < $ms * 500000; j++)
            ;
        pthread_barrier_wait(&barrier);
    }
    return unused;
}
""", amounts={"ms": [20, 40]}, parts=(1,), has_rest=False, places=("main",), cpus=2)
cause("grows_then_stays", "c", "", """
    static char *blocks[60];
    const int n = part < 3 ? 20 : 0;
    for (int i = 0; i < n; i++)
        blocks[part * 20 + i] = memset(malloc(1 << 20), 1, 1 << 20);
    truth_compute($ms);
""", amounts={"ms": [100, 200]}, parts=(12,), has_rest=False, places=("main", "thread"))
cause("caches_then_stays", "python", "", """
if part < 3:
    cache.extend(bytes([part]) * (1 << 20) for _ in range(20))
truth.compute($ms)
""", setup="cache = []", amounts={"ms": [100, 200]}, parts=(12,), has_rest=False, places=("main",))
cause("reads_well", "python", "", """
with open(f"data-{part}.bin", "rb") as file:
    while block := file.read(1 << 20):
        sum(block[::64])
truth.compute(20)
""", prepare="""
for part in range($parts):
    open(f"data-{part}.bin", "wb").write(bytes(8 << 20))
""", parts=(10,), has_rest=False)
cause("writes_lines", "python", "", """
with open(f"out-{part}.txt", "w") as file:
    for i in range(20_000):
        file.write(f"{i} {i * i % 1000} a line of a result\\n")
truth.compute(50)
""", parts=(20,), has_rest=False)
cause("imports", "python", "", """
import argparse, asyncio, csv, ctypes, decimal, difflib, doctest, email.mime.text, fractions, http.server, json, logging.config
import multiprocessing.pool, pydoc, sqlite3, statistics, tarfile, unittest.mock, urllib.request, xml.dom.minidom, zipfile
truth.compute(300)
""", parts=(1,), has_rest=False, places=("main",))
cause("computes", "c", "", """
    truth_compute($ms);
""", amounts={"ms": [150, 300]}, parts=(10,), has_rest=False)
cause("computes", "python", "", """
truth.compute($ms)
""", amounts={"ms": [150, 300]}, parts=(10,), has_rest=False)
cause("few_sleeps", "python", "", """
time.sleep(0.002)
truth.compute(150)
""", parts=(10, 15), has_rest=False)
cause("queue", "python", "", """
work = queue.Queue(4)
thread = threading.Thread(target=$helper, args=(work,))
thread.start()
for i in range(60):
    work.put(i)
work.put(None)
thread.join()
""", setup="""
import queue
import threading


def $helper(work):
    while work.get() is not None:
        truth.compute($ms)
""", amounts={"ms": [15, 30]}, parts=(1,), has_rest=False, places=("main",))
cause("small_files_once", "python", "", """
for i in range(100):
    with open(f"files/{part * 100 + i}.txt", "rb") as file:
        file.read()
truth.compute(150)
""", prepare="""
import os
os.mkdir("files")
for i in range(1500):
    open(f"files/{i}.txt", "w").write("x" * 3000)
""", parts=(10,), has_rest=False)
cause("short_locks", "c", "", """
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, $helper, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
""", setup="""
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *$helper(void *unused)
{
    for (int i = 0; i < 2000; i++) {
        for (volatile long j = 0; j < 300000; j++)
            ;
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
""", parts=(1,), has_rest=False, places=("main",), cpus=2)
