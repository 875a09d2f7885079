# SPDX-License-Identifier: MIT
"""What a planted bottleneck needs around it: control groups, a slow device, servers that take their time, a double of the GPU driver.

Each is a context manager that gives what the command is started with (environment, words before it, what its process does first),
or raises Skip with the reason why this machine cannot have it."""
import contextlib
import glob
import os
import shutil
import socket
import struct
import subprocess
import threading
import time

CGROUPS = "/sys/fs/cgroup"
DOUBLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fakenvml")


class Skip(Exception):
    pass


class Start:
    def __init__(self, environment=None, prefix=(), first=None):
        self.environment, self.prefix, self.first = environment or {}, list(prefix), first


@contextlib.contextmanager
def nothing(_folder):
    yield Start()


# ---- control groups ----
@contextlib.contextmanager
def malloc_that_keeps(_folder):
    """glibc's malloc as the advice about large blocks sets it, in threads that hold many of them."""
    yield Start(environment={"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "4294967296"})


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


@contextlib.contextmanager
def group(controller, settings):
    """A control group of version 1 (its own hierarchy) or 2 (one for all), with files set to values."""
    is_old = os.path.isdir(f"{CGROUPS}/{controller}")
    path = os.path.join(CGROUPS, controller if is_old else "", f"planted-{os.getpid()}")
    try:
        if not is_old:
            put(f"{CGROUPS}/cgroup.subtree_control", f"+{'io' if controller == 'blkio' else controller}")
        os.mkdir(path)
    except OSError as error:
        raise Skip(f"no control group for {controller} here: {error}") from error
    try:
        for name, value in settings[0 if is_old else 1]:
            put(f"{path}/{name}", value)
        yield Start(first=lambda: put(f"{path}/cgroup.procs", str(os.getpid())))
    except OSError as error:
        raise Skip(f"{path}: {error}") from error
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(path)
                break
            time.sleep(0.1)


def tenth_of_a_cpu(_folder):
    return group("cpu", ([("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")], [("cpu.max", "10000 100000")]))


def two_hundred_mebibytes(_folder):
    return group("memory", ([("memory.limit_in_bytes", str(200 << 20))], [("memory.max", str(200 << 20))]))


def disk_of(folder):
    """The number of the whole disk."""
    name = os.path.basename(os.path.realpath(f"/sys/dev/block/{device_of(folder)}"))
    if not os.path.exists(f"/sys/dev/block/{device_of(folder)}"):
        raise Skip(f"{folder} is on no disk")
    number = device_of(folder)
    if os.path.exists(f"/sys/dev/block/{number}/partition"):
        name = os.path.basename(os.path.dirname(os.path.realpath(f"/sys/dev/block/{number}")))
        with open(f"/sys/block/{name}/dev", encoding="ascii") as file:
            number = file.read().strip()
    return number


def slow_device(folder):
    """10 MB/s from the disk that holds the folder."""
    number = disk_of(folder)
    return group("blkio", ([("blkio.throttle.read_bps_device", f"{number} 10000000")], [("io.max", f"{number} rbps=10000000")]))


def slow_writes(folder):
    """10 MB/s to the disk that holds the folder."""
    number = disk_of(folder)
    return group("blkio", ([("blkio.throttle.write_bps_device", f"{number} 10000000")], [("io.max", f"{number} wbps=10000000")]))


OF_THE_DISK = (slow_device, slow_writes)  # they hold back whatever is on that disk: libraries, too


@contextlib.contextmanager
def little_memory_and_swap(folder):
    """A group of 128 MiB, and swap space for what does not fit: a file, for as long as the command runs."""
    path = os.path.join(folder, "swap")
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        for _ in range(256):
            file.write(b"\0" * (1 << 20))
    try:
        for command in (["mkswap", path], ["swapon", path]):
            subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skip(f"no swap space of our own here: {error}") from error
    limit = str(128 << 20)
    try:
        with group("memory", ([("memory.limit_in_bytes", limit)], [("memory.max", limit)])) as start:
            yield start
    finally:
        subprocess.run(["swapoff", path], check=True)


def device_of(folder):
    device = os.stat(folder).st_dev
    return f"{os.major(device)}:{os.minor(device)}"


# ---- clients ----
def ask(port, stop):
    """Ten questions and answers on a connection, then the next one."""
    while not stop.is_set():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            for _ in range(10):
                connection.sendall(b"question")
                if stop.is_set() or not connection.recv(64):
                    break
        time.sleep(0.005)


@contextlib.contextmanager
def clients(_folder):
    """Three clients of a server on PLANTED_PORT, for as long as it runs. They are no part of what is recorded."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    stop = threading.Event()
    threads = [threading.Thread(target=ask, args=(port, stop)) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield Start(environment={"PLANTED_PORT": str(port)})
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# ---- other programs ----
@contextlib.contextmanager
def busy_machine(_folder):
    """Two programs that compute for each CPU."""
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield Start()
    finally:
        for other in others:
            other.kill()
            other.wait()


# ---- servers ----
def answer_later(connection):
    with connection:
        if connection.recv(1024):
            time.sleep(0.05)
            connection.sendall(b"x" * 1000)


def accept_all(listener):
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=answer_later, args=(listener.accept()[0],), daemon=True).start()


@contextlib.contextmanager
def slow_server(_folder):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        threading.Thread(target=accept_all, args=(listener,), daemon=True).start()
        yield Start(environment={"PLANTED_PORT": str(listener.getsockname()[1])})
        listener.shutdown(socket.SHUT_RDWR)


def resolve_later(server, query, client):
    time.sleep(0.1)
    question = query[12:query.index(b"\0", 12) + 5]
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([127, 0, 0, 1])
    header = query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1, 0, 0)
    with contextlib.suppress(OSError):
        server.sendto(header + question + record, client)


def resolve_all(server, is_over):
    server.settimeout(0.1)
    while not is_over.is_set():
        with contextlib.suppress(TimeoutError):
            query, client = server.recvfrom(1024)
            threading.Thread(target=resolve_later, args=(server, query, client), daemon=True).start()


@contextlib.contextmanager
def slow_resolver(folder):
    """A name server on a loopback address, and a mount namespace in which resolv.conf names it."""
    address, config = f"127.9.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}", os.path.join(folder, "resolv.conf")
    put(config, f"nameserver {address}\noptions timeout:5\n")
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        server.bind((address, 53))
        subprocess.run(["unshare", "-m", "mount", "--bind", config, "/etc/resolv.conf"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        server.close()
        raise Skip(f"no name server of our own here: {error}") from error
    is_over = threading.Event()
    thread = threading.Thread(target=resolve_all, args=(server, is_over))
    thread.start()
    try:
        yield Start(prefix=["unshare", "-m", "sh", "-c", f'mount --bind {config} /etc/resolv.conf && exec "$@"', "sh"])
    finally:
        is_over.set()
        thread.join()
        server.close()


# ---- libraries ----
@contextlib.contextmanager
def blas(provider):
    """Debian's folder of a library that multiplies matrices, before all others."""
    found = glob.glob(f"/usr/lib/*/{provider}/libblas.so.3")
    if not found:
        raise Skip(f"Debian's {provider} is not installed")
    yield Start(environment={"LD_LIBRARY_PATH": os.path.dirname(found[0])})


def reference_blas(_folder):
    return blas("blas")


def openblas(_folder):
    return blas("openblas-pthread")


# ---- GPU ----
@contextlib.contextmanager
def gpu(folder, percent):
    script = os.path.join(folder, "gpu")
    put(script, f"device Planted\nutil 10 {percent}\nmem 1073741824\n")
    made = subprocess.run(["cc", "-shared", "-fPIC", "-o", os.path.join(folder, "libnvidia-ml.so.1"),
                           os.path.join(DOUBLES, "fakenvml.c")], capture_output=True, check=False)
    if made.returncode or not shutil.which("cc"):
        raise Skip("the double of the driver cannot be built")
    runtime = os.path.join(folder, "libcudart.so.12")
    built = subprocess.run(["cc", "-x", "c", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", "-o", runtime, "-"], check=False,
                           input=b"int cudaDeviceSynchronize(void) { return 0; }", capture_output=True)
    if built.returncode:
        raise Skip("the double of the runtime cannot be built")
    yield Start(environment={"FAKENVML": script, "LD_LIBRARY_PATH": folder})


def idle_gpu(folder):
    return gpu(folder, 40)


def busy_gpu(folder):
    return gpu(folder, 97)
