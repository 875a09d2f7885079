# SPDX-License-Identifier: MIT
"""Programs that hang, and some that are only slow: planted.py NAME. Each says "ready" when it is about to.

The innermost function of each, by its name, is the place that has to be found. `settle` makes a process record an event or
two: from then on it is known where its interpreter is.
"""
import asyncio
import concurrent.futures
import ctypes
import errno
import fcntl
import http.client
import multiprocessing
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time


def settle():
    for _ in range(300):
        os.stat("/")


def ready(*words):
    settle()
    print("ready", *words, flush=True)


# ---- hangs ----


def python_locks():
    one, other, both = threading.Lock(), threading.Lock(), threading.Barrier(3)

    def take(first, second):
        with first:
            both.wait()
            wants_the_other(second)

    def wants_the_other(lock):
        lock.acquire()

    threads = [threading.Thread(target=take, args=pair) for pair in ((one, other), (other, one))]
    for thread in threads:
        thread.start()
    both.wait()
    ready()
    threads[0].join()


def gil_held_by_c():
    def forgets_the_gil():
        ready()
        ctypes.PyDLL(None).sleep(600)

    threading.Thread(target=forgets_the_gil).start()
    while True:
        time.sleep(0.01)


def dead_worker():
    items = multiprocessing.Queue()

    def crunch(out):
        while True:
            time.sleep(600)
            out.put(1)

    worker = multiprocessing.Process(target=crunch, args=(items,))
    worker.start()
    os.kill(worker.pid, signal.SIGKILL)
    ready()
    take_result(items)


def take_result(items):
    return items.get()


def missing_rank():
    barrier = multiprocessing.Barrier(3)

    def all_reduce():
        settle()
        barrier.wait()

    def load_shard():
        settle()
        time.sleep(600)

    ranks = [multiprocessing.Process(target=f) for f in (all_reduce, all_reduce, load_shard)]
    for rank in ranks:
        rank.start()
    ready()
    ranks[0].join()


def import_lock():
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "starts_a_thread.py"), "w", encoding="ascii") as module:
        module.write("import threading\n"
                     "def helper():\n"
                     "    import starts_a_thread\n"
                     "def at_import():\n"
                     "    thread = threading.Thread(target=helper)\n"
                     "    thread.start()\n"
                     "    thread.join()\n"
                     "at_import()\n")
    sys.path.insert(0, folder)
    ready()
    __import__("starts_a_thread")


def lost_future():
    async def answer():
        ready()
        await asyncio.get_running_loop().create_future()

    asyncio.run(answer())


class Fuse:
    """The kernel's side of a file system with one file, whose contents are never sent."""
    INIT, LOOKUP, GETATTR, OPEN, READ = 26, 1, 3, 14, 15

    def __init__(self, folder):
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        data = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0".encode()
        if ctypes.CDLL(None, use_errno=True).mount(b"stuck", folder.encode(), b"fuse.stuck", 0, data):
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=self.serve, daemon=True).start()

    def attributes(self, inode, mode):
        return struct.pack("<6Q10I", inode, 4096, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def serve(self):
        while True:
            request = os.read(self.fd, 1 << 20)
            _, opcode, unique, inode = struct.unpack_from("<IIQQ", request)
            if opcode == self.READ:
                continue
            body = error = None
            if opcode == self.INIT:
                body = struct.pack("<4I2H2I9I", 7, 31, 0, 0, 0, 0, 4096, 1, *[0] * 9)[:64]
            elif opcode == self.LOOKUP:
                body = struct.pack("<4Q2I", 2, 0, 1, 1, 0, 0) + self.attributes(2, 0o100644)
            elif opcode == self.GETATTR:
                body = struct.pack("<Q2I", 1, 0, 0) + self.attributes(inode, 0o40755 if inode == 1 else 0o100644)
            elif opcode == self.OPEN:
                body = struct.pack("<Q2I", 1, 1, 0)
            else:
                error, body = -errno.ENOSYS, b""
            os.write(self.fd, struct.pack("<IiQ", 16 + len(body), error or 0, unique) + body)


def stuck_file_system():
    folder = sys.argv[2]
    server = os.fork()
    if server == 0:
        Fuse(folder)
        time.sleep(600)
    while not os.path.ismount(folder):
        if os.waitpid(server, os.WNOHANG)[0]:
            print("impossible here: the file system cannot be mounted", flush=True)
            return
        time.sleep(0.01)
    fd = os.open(os.path.join(folder, "shard-7"), os.O_RDONLY)
    ready()
    read_shard(fd)


def read_shard(fd):
    return os.read(fd, 4096)


def silent_name_server():
    """In a network namespace of its own, with a name server of its own that never answers."""
    nobody = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    set_flags, up_and_running = 0x8914, 0x41
    fcntl.ioctl(nobody, set_flags, struct.pack("16sh14x", b"lo", up_and_running))
    nobody.bind(("127.0.0.1", 53))
    ready()
    find_host()


def find_host():
    return socket.getaddrinfo("data.example.com", 80)


def locked_file():
    path = sys.argv[2]
    if os.fork() == 0:
        with open(path, "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            time.sleep(600)
    with open(path, "w", encoding="ascii") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                break
            fcntl.flock(file, fcntl.LOCK_UN)
        ready()
        save_checkpoint(file)


def save_checkpoint(file):
    fcntl.flock(file, fcntl.LOCK_EX)


def child_whose_output_nobody_reads():
    with subprocess.Popen(["sh", "-c", "while :; do echo much too much; done"], stdout=subprocess.PIPE) as child:
        ready()
        wait_for_child(child)


def wait_for_child(child):
    child.wait()


def executor_in_itself():
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        def outer():
            ready()
            return pool.submit(int).result()
        pool.submit(outer).result()


def queue_without_producer():
    items = queue.Queue()

    def consume():
        while True:
            items.get()

    consumers = [threading.Thread(target=consume) for _ in range(2)]
    for thread in consumers:
        thread.start()
    ready()
    consumers[0].join()


def silent_server():
    """The server's one thread waits for a lock that it has itself."""
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        lock = threading.Lock()

        def handle():
            connection, _ = listener.accept()
            with connection, lock:
                settle()
                lock.acquire()
        handle()
    connection = http.client.HTTPConnection(*listener.getsockname())
    listener.close()
    connection.request("GET", "/batch")
    ready()
    fetch(connection)


def fetch(connection):
    return connection.getresponse()


def fifo_without_writer():
    path = os.path.join(tempfile.mkdtemp(), "samples")
    os.mkfifo(path)
    ready()
    open_samples(path)


def open_samples(path):
    return open(path, "rb")


def no_memory():
    """Reads its file over and over in a cgroup that has no room for it."""
    import mmap
    path, group = sys.argv[2:4]
    with open(path, "wb") as file:
        file.truncate(1)
        for _ in range(48):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # its pages are to be the cgroup's
    with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as procs:
        procs.write(str(os.getpid()))
    with open(path, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    ready()
    touch(pages)


def touch(pages):
    total, at = 0, 0
    while True:
        at = (at + 7919 * 4096) % (48 << 20)
        total += pages[at]


def killed_loader():
    """A worker of a real DataLoader is killed, and nobody looks after it: with a timeout torch asks for it no sooner."""
    import torch.utils.data

    class Samples(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            settle()
            if index == 3:
                time.sleep(1)  # what it made before has been fetched
                os.kill(os.getpid(), signal.SIGKILL)
            return index

    loader = iter(torch.utils.data.DataLoader(Samples(), num_workers=1, timeout=600))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ready()
    for _ in loader:
        pass


def stuck_loader():
    """A lock that a thread of the main process has while the workers are forked."""
    import torch.utils.data

    lock = threading.Lock()

    def hold():
        with lock:
            time.sleep(600)

    class Samples(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            settle()
            with lock:
                return index

    threading.Thread(target=hold, daemon=True).start()
    while not lock.locked():
        time.sleep(0.01)
    ready()
    for _ in torch.utils.data.DataLoader(Samples(), num_workers=1):
        pass


# ---- only slow ----


def sleeps():
    ready()
    while True:
        time.sleep(0.05)


def computes():
    ready()
    while True:
        sum(range(10000))


def idle_server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ready()
        listener.accept()


def event_loop_with_timer():
    async def tick():
        ready()
        while True:
            await asyncio.sleep(1)
    asyncio.run(tick())


def slow_producer():
    items = queue.Queue()

    def produce():
        while True:
            time.sleep(1)
            items.put(1)

    threading.Thread(target=produce, daemon=True).start()
    ready()
    while True:
        items.get()


def waits_for_input():
    ready()
    sys.stdin.readline()


def waits_to_be_ended():
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    ready()
    stop.wait()


def idle_pool():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(str, range(100)))
        ready()
        while True:
            pool.submit(time.sleep, 0.5).result()


def slow_children():
    def work():
        settle()
        while True:
            time.sleep(0.2)

    children = [multiprocessing.Process(target=work) for _ in range(3)]
    for child in children:
        child.start()
    ready()
    for child in children:
        child.join()


def slow_answer():
    client, server = socket.socketpair()
    if os.fork() == 0:
        client.close()
        while True:
            time.sleep(0.5)
            server.send(b"x")
    server.close()
    ready()
    while True:
        client.recv(1)


def busy_lock():
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                time.sleep(0.01)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    ready()
    threads[0].join()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
