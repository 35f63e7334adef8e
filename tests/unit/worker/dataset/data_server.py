"""A small HTTP server with faults: data_server.py FOLDER

Prints its port. Serves /FAULT/NAME from FOLDER/NAME and writes a line a request, "NAME RANGE", to
FOLDER/requests. The fault `hold` sends half and waits for the file FOLDER/go.
"""

import http.server
import os
import pathlib
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def begin_of_range(self):
        text = self.headers.get("Range", "")
        return int(text.removeprefix("bytes=").removesuffix("-")) if text else 0

    def send_from(self, body, begin):
        """The answer's head for `body` from `begin` on, and what is to be sent."""
        if begin > 0 and begin >= len(body):
            self.head(416, Content_Range=f"bytes */{len(body)}", Content_Length=0)
            return b""
        rest = body[begin:]
        if begin > 0:
            self.head(206, Content_Length=len(rest),
                      Content_Range=f"bytes {begin}-{len(body) - 1}/{len(body)}")
        else:
            self.head(200, Content_Length=len(rest))
        return rest

    def without_length(self, body):
        self.close_connection = True
        self.head(200, Connection="close")
        return body

    def do_GET(self):
        fault, _, name = self.path.lstrip("/").partition("/")
        begin = self.begin_of_range()
        with open(FOLDER / "requests", "a", encoding="ascii") as log:
            log.write(f"{name} {begin}\n")
        try:
            getattr(self, "serve_" + fault)((FOLDER / name).read_bytes(), begin, name)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve_plain(self, body, begin, _):
        self.wfile.write(self.send_from(body, begin))

    def serve_no_ranges(self, body, _begin, _):
        self.wfile.write(self.send_from(body, 0))

    def cut(self, body, begin, size):
        self.close_connection = True
        self.wfile.write(self.send_from(body, begin)[:size])

    def serve_cut(self, body, begin, _):
        self.cut(body, begin, 70_000)

    def serve_stuck(self, body, begin, _):
        self.cut(body, begin, max(0, 70_000 - begin))

    def serve_cut_no_ranges(self, body, _begin, _):
        self.cut(body, 0, 70_000)

    def serve_hold(self, body, begin, _):
        rest = self.send_from(body, begin)
        self.wfile.write(rest[:len(rest) // 2])
        self.wfile.flush()
        while not (FOLDER / "go").exists():
            time.sleep(0.01)
        self.wfile.write(rest[len(rest) // 2:])

    def serve_silent(self, body, _begin, _):
        self.send_from(body, 0)
        self.wfile.flush()
        while not (FOLDER / "go").exists():
            time.sleep(0.01)

    def serve_flipped(self, body, begin, _):
        wrong = bytes([body[0] ^ 1]) + body[1:]
        self.wfile.write(self.send_from(wrong, begin))

    def serve_shorter(self, body, begin, _):
        self.wfile.write(self.send_from(body[:-1], begin))

    def serve_longer(self, body, begin, _):
        self.wfile.write(self.send_from(body + b"x", begin))

    def serve_shorter_unsaid(self, body, _begin, _):
        self.wfile.write(self.without_length(body[:-1]))

    def serve_endless(self, body, _begin, _):
        self.without_length(b"")
        while True:
            self.wfile.write(body)

    def serve_other_range(self, body, begin, _):
        self.head(206, Content_Length=len(body), Content_Range=f"bytes 0-{len(body) - 1}/{len(body)}")
        self.wfile.write(body)

    def serve_missing(self, *_):
        self.head(404, Content_Length=0)

    def serve_busy_once(self, body, begin, _):
        if len((FOLDER / "requests").read_text("ascii").splitlines()) < 2:
            self.head(503, Content_Length=0)
        else:
            self.wfile.write(self.send_from(body, begin))

    def serve_moved(self, _body, _begin, name):
        self.head(302, Location="/plain/" + name, Content_Length=0)

    def serve_circle(self, _body, _begin, name):
        self.head(302, Location="/circle/" + name, Content_Length=0)

    def serve_to_file(self, _body, _begin, name):
        self.head(302, Location=f"file://{FOLDER / name}", Content_Length=0)

    def serve_long_head(self, body, _begin, _):
        self.head(200, Content_Length=len(body), **{f"X_{i}": "y" * 4000 for i in range(40)})
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that went away is what tests are about."""


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
