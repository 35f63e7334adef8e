"""A TCP proxy between an agent and the coordinator, which can be cut."""

import os
import selectors
import socket
import struct
import threading

CHUNK = 1 << 16


class _Way:
    """Bytes on their way in one direction of one connection."""

    def __init__(self, source, sink, name):
        self.source, self.sink, self.name = source, sink, name
        self.waiting = bytearray()
        self.source_ended = self.ended = False


class Link:
    """Listens on a port of its own and passes on to `upstream`. Thread-safe.

    Cuts: "silence" holds back both directions, "up" what the agent says, "down" what it is told,
    each without a word to either end; what was held back arrives late, once the cut is healed.
    "reset" breaks every connection and refuses new ones.
    """

    HELD = {"silence": {"up", "down"}, "up": {"up"}, "down": {"down"}}

    def __init__(self):
        self._lock = threading.Lock()
        self._upstream = None
        self._cut = None
        self._withheld = 0  # bytes, connections and refusals since the cut
        self._connections = []  # of two ways each
        self._pending = []  # accepted while silent
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        self._wake, self._waker = os.pipe()
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def lead_to(self, address):
        """Where new connections go from now on; None: nowhere."""
        with self._lock:
            self._upstream = address

    def cut(self, mode):
        """The cut lasts until it is healed."""
        with self._lock:
            assert self._cut is None
            self._cut, self._withheld = mode, 0
            if mode == "reset":
                self._withheld += len(self._connections)
                self._break_all()

    def heal(self):
        """How much the cut kept from passing; 0: nobody noticed it."""
        with self._lock:
            withheld, self._cut = self._withheld, None
            for client in self._pending:
                self._connect(client)
            self._pending = []
        os.write(self._waker, b".")
        return withheld

    @property
    def cut_mode(self):
        with self._lock:
            return self._cut

    @property
    def withheld(self):
        with self._lock:
            return self._withheld

    def serves(self):
        """False if the proxy itself has broken."""
        return self._thread.is_alive()

    def close(self):
        self._closing = True
        os.write(self._waker, b".")
        self._thread.join()
        self._listener.close()
        self._selector.close()
        os.close(self._wake)
        os.close(self._waker)

    def _run(self):
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._wake, selectors.EVENT_READ)
        while not self._closing:
            ready = self._selector.select(0.5)
            with self._lock:
                for key, _ in ready:
                    if key.fileobj is self._listener:
                        self._accept()
                    elif key.fileobj == self._wake:
                        os.read(self._wake, CHUNK)
                    elif key.fileobj.fileno() >= 0:
                        self._read(key.data)
                self._pass_on()
        with self._lock:
            self._break_all()

    def _accept(self):
        client, _ = self._listener.accept()
        if self._cut == "silence":
            self._withheld += 1
            self._pending.append(client)
        else:
            self._connect(client)

    def _connect(self, client):
        upstream = None
        if self._cut == "reset":
            self._withheld += 1
        elif self._upstream:
            host, _, port = self._upstream.rpartition(":")
            try:
                upstream = socket.create_connection((host, int(port)), timeout=1)
            except OSError:
                pass
        if upstream is None:
            _break(client)
            return
        ways = [_Way(client, upstream, "up"), _Way(upstream, client, "down")]
        for way in ways:
            way.source.setblocking(False)
            way.source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(way.source, selectors.EVENT_READ, way)
        self._connections.append(ways)

    def _held(self, way):
        return way.name in self.HELD.get(self._cut, ())

    def _read(self, way):
        try:
            chunk = way.source.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._end_source(way)
        if self._held(way):
            self._withheld += len(chunk) or 1
        way.waiting += chunk

    def _end_source(self, way):
        if not way.source_ended:
            way.source_ended = True
            self._selector.unregister(way.source)

    def _pass_on(self):
        for ways in self._connections[:]:
            for way in ways:
                if not self._held(way):
                    self._write(way)
            if all(way.ended for way in ways):
                self._connections.remove(ways)
                for way in ways:
                    way.source.close()

    def _write(self, way):
        if way.ended:
            return
        if way.waiting:
            # These are small messages: a peer that takes none of them for a while is stopped, and
            # a stopped peer must not stop this thread.
            try:
                sent = way.sink.send(way.waiting)
                del way.waiting[:sent]
            except BlockingIOError:
                return
            except OSError:
                way.waiting.clear()
                self._end_source(way)
        if way.source_ended and not way.waiting:
            way.ended = True
            try:
                way.sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    def _break_all(self):
        for ways in self._connections:
            for way in ways:
                self._end_source(way)
                _break(way.source)
        self._connections = []
        for client in self._pending:
            _break(client)
        self._pending = []


def _break(connection):
    """Ends it with a reset instead of a goodbye."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    connection.close()
