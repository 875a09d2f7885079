# SPDX-License-Identifier: MIT
"""Asks a server of its own, in the same process, for what that computes: to ask for several answers at once would bring none of them sooner."""
import http.server
import threading
import urllib.request

import planted


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = str(planted.compute(0.05)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def run():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in range(60):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
            answer.read()
    server.shutdown()


planted.main(run, run)
