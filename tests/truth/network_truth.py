# SPDX-License-Identifier: MIT
"""Counts and bytes of waits and of the network are true: servers and their clients on the loopback, compared with strace
(strace_case.py tells how). The last words of a server that is killed are not compared: a call that never returned is none."""
import os
import shlex
import socket

from strace_case import StraceCase

PYTHON = "/usr/bin/python3"
# Ends after its threads: one that is killed between the return of a read and the record of it would be one read short.
SERVE = """
import http.server, signal, sys
server = http.server.ThreadingHTTPServer
server.daemon_threads = False
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
http.server.test(http.server.SimpleHTTPRequestHandler, server, port=0, bind='127.0.0.1')
"""
SERVER = f"{PYTHON} -u -c {shlex.quote(SERVE)} >port 2>log & p=$!; "
PORT = "for i in $(seq 200); do grep -q port port && break; sleep 0.05; done; u=http://127.0.0.1:$(grep -o 'port [0-9]*' port | cut -d' ' -f2); "
STOP = "kill $p; wait $p; true"


def free_ports():
    """One may be taken since the kernel gave it: then the next one is tried. Who answers must be our own server."""
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports = " ".join(str(server.getsockname()[1]) for server in servers)
    for server in servers:
        server.close()
    return ports


def redis_server():
    """Shell that starts one: $p, at $port."""
    return (f"for port in {free_ports()}; do redis-server --save '' --port $port --bind 127.0.0.1 >log 2>&1 & p=$!;"
            " for i in $(seq 600); do sleep 0.1; kill -0 $p 2>/dev/null || break; redis-cli -p $port ping 2>/dev/null | grep -q PONG && kill -0 $p && break 2;"
            " done; done; ")


def git_daemon():
    """Shell that starts one: $p, at $port."""
    return (f"for port in {free_ports()}; do git daemon --reuseaddr --listen=127.0.0.1 --port=$port --base-path=$PWD >log 2>&1 & p=$!;"
            " for i in $(seq 100); do git ls-remote -q git://127.0.0.1:$port/repo >/dev/null 2>&1 && kill -0 $p && break 2; sleep 0.1; done; kill $p; done; ")


URLLIB = """
import http.server, socket, subprocess, threading, urllib.request
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, args=(0.05,)).start()
url = f'http://127.0.0.1:{server.server_port}/'
print(sum(len(urllib.request.urlopen(url + f'f{i}').read()) for i in range(30)))
child = "import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1] + 'f7').read()))"
print(subprocess.run(['/usr/bin/python3', '-c', child, url], capture_output=True).stdout)
server.shutdown()
a, b = socket.socketpair(); a.sendmsg([b'1', b'23']); print(b.recvmsg(10)[0]); b.sendall(b'4'); a.recv_into(bytearray(9))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0)); u.sendto(b'5678', u.getsockname()); print(u.recvfrom(3)[0])
u.setblocking(False)
try: u.recv(1)
except BlockingIOError: print('nothing')
"""

ASYNCIO = """
import asyncio
async def serve(reader, writer):
    while data := await reader.read(100): writer.write(data.upper()); await writer.drain()
    writer.close()
async def ask(port, n):
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    for i in range(n): writer.write(b'question'); await reader.readexactly(8); await asyncio.sleep(0.001)
    writer.close(); await writer.wait_closed()
async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    await asyncio.gather(*(ask(server.sockets[0].getsockname()[1], 5) for _ in range(10)))
    process = await asyncio.create_subprocess_exec('sleep', '0.05'); print(await process.wait())
    server.close(); await server.wait_closed()
asyncio.run(main())
"""

SIGNALS = """
import os, select, signal, time
signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
for i in range(5): signal.pause(); time.sleep(0.03); select.select([], [], [], 0.03); select.poll().poll(30)
signal.setitimer(signal.ITIMER_REAL, 0); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGALRM])
os.kill(os.getpid(), signal.SIGUSR1); print(signal.sigwait([signal.SIGUSR1])); print(signal.sigtimedwait([signal.SIGUSR1], 0.01))
for i in range(3):
    if os.fork() == 0: time.sleep(0.01); os._exit(i)
print(sorted([os.WEXITSTATUS(os.wait()[1]), os.WEXITSTATUS(os.wait()[1]), os.waitid(os.P_ALL, 0, os.WEXITED).si_status]))
try: os.wait3(os.WNOHANG)
except ChildProcessError: print('none')
"""

NODE = """
const http = require('http'), cp = require('child_process'); let left = 20;
const server = http.createServer((q, r) => r.end('x'.repeat(5000))).listen(0, '127.0.0.1', () => { const port = server.address().port;
for (let i = 0; i < 20; i++) http.get({port, agent: false}, r => { r.resume(); r.on('end', () => { if (!--left) {
console.log(cp.execSync('echo hi').toString()); server.close() } }) }) })
"""

JAVA = """
import java.net.*; import java.nio.*; import java.nio.channels.*; import java.util.*;
public class Net { public static void main(String[] a) throws Exception {
 ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
 Thread t = new Thread(() -> { try (Socket c = s.accept()) { c.getOutputStream().write(c.getInputStream().readNBytes(4)); } catch (Exception e) { throw new RuntimeException(e); } });
 t.start(); try (Socket c = new Socket(s.getInetAddress(), s.getLocalPort())) { c.getOutputStream().write("java".getBytes());
 System.out.println(new String(c.getInputStream().readAllBytes())); } t.join();
 Selector selector = Selector.open(); ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
 channel.configureBlocking(false); channel.register(selector, SelectionKey.OP_ACCEPT);
 SocketChannel client = SocketChannel.open(channel.getLocalAddress()); selector.select(5000); SocketChannel other = channel.accept();
 client.write(ByteBuffer.wrap("nio".getBytes())); ByteBuffer b = ByteBuffer.allocate(9); System.out.println(other.read(b)); selector.select(20); Thread.sleep(20);
 } }
"""


def files(work):
    for i in range(40):
        with open(f"{work}/f{i}", "w", encoding="ascii") as f:
            f.write(f"line {i}\n" * i * 40)


def repository(work):
    files(work)
    with open(f"{work}/make.sh", "w", encoding="ascii") as f:
        f.write("git init -q repo; cp f* repo; cd repo; git add .; git -c user.name=a -c user.email=a@b commit -qm1; touch .git/git-daemon-export-ok")
    os.system(f"cd {work} && HOME={work} sh make.sh >/dev/null 2>&1")


def java_source(work):
    with open(f"{work}/Net.java", "w", encoding="ascii") as f:
        f.write(JAVA)
    os.system(f"cd {work} && javac Net.java 2>/dev/null")


class NetworkTruth(StraceCase):
    def test_python_server_and_clients(self):
        self.compare([PYTHON, "-c", URLLIB], files, seen=("socket", "connect", "accept", "receive", "send", "poll", "child", "setup"))

    def test_python_asyncio(self):
        self.compare([PYTHON, "-c", ASYNCIO], seen=("socket", "connect", "accept", "receive", "send", "poll"))

    def test_python_signals_and_children(self):
        self.compare([PYTHON, "-c", SIGNALS], seen=("signal", "sleep", "poll", "child"))

    def test_curl_and_wget(self):
        self.need("curl", "wget")
        self.compare(["bash", "-c", SERVER + PORT + "curl -s $u/f1 $u/f2 $u/f30 | wc -c; wget -q -O- $u/f9 | wc -c; " + STOP], files,
                     seen=("socket", "connect", "accept", "receive", "send", "poll", "child"), before_us="/etc/gnutls/config")

    def test_redis(self):
        self.need("redis-server", "redis-benchmark")
        self.compare(["bash", "-c", redis_server() + "redis-benchmark -p $port -n 300 -c 5 -q -t set,get,lpush >bench; redis-cli -p $port dbsize >size;"
                      " redis-cli -p $port shutdown nosave; wait $p; true"], seen=("socket", "connect", "accept", "poll"))

    def test_git_daemon(self):
        self.need("git")
        self.compare(["bash", "-c", git_daemon() + "git clone -q git://127.0.0.1:$port/repo clone; ls clone | wc -l; " + STOP],
                     repository, seen=("socket", "connect", "accept", "poll", "child"))

    def test_node(self):
        self.compare(["node", "-e", NODE], seen=("socket", "connect", "accept", "poll"))

    def test_java(self):
        self.need("javac")
        self.compare(["java", "-Xint", "-XX:+UseSerialGC", "-cp", ".", "Net"], java_source, seen=("socket", "connect", "accept", "poll"))

    def test_bash(self):
        self.compare(["bash", "-c", "for i in 1 2 3; do (sleep 0.0$i; exit $i) & done; wait -n; echo $?; wait; read -t 0.05 x <&-; sleep 0.02;"
                      " echo a | cat | wc -c; exec 7<>/dev/tcp/127.0.0.1/1; : $(true)"], seen=("child", "sleep", "socket"))
