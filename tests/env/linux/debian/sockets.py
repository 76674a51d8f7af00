# Servers and clients on the loopback device, in threads and in an event loop.
import asyncio
import http.server
import os
import select
import socket
import socketserver
import struct
import threading
import urllib.request


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"page {self.path}\n".encode() * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


def pages():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for name in "one", "two", "three":
            with opener.open(f"http://127.0.0.1:{server.server_address[1]}/{name}") as answer:
                print(answer.status, sum(answer.read()))
        server.shutdown()


async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(number, **where):
    reader, writer = await (asyncio.open_unix_connection(**where) if "path" in where else asyncio.open_connection(**where))
    lines = []
    for i in range(5):
        writer.write(f"line {i} of client {number}\n".encode())
        lines.append((await reader.readline()).decode().strip())
    writer.close()
    await writer.wait_closed()
    return lines


async def loop():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for lines in await asyncio.gather(*(ask(i, host="127.0.0.1", port=port) for i in range(10))):
        print(lines)
    server.close()
    server = await asyncio.start_unix_server(answer, "socket")
    for lines in await asyncio.gather(*(ask(i, path="socket") for i in range(3))):
        print(lines)
    server.close()
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.05)
    except asyncio.TimeoutError:
        print("late")


def datagrams():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        one.bind(("127.0.0.1", 0))
        two.settimeout(100)
        two.connect(one.getsockname())
        for i in range(3):
            two.send(struct.pack("<IQ", i, i * i))
        print([struct.unpack("<IQ", one.recv(100)) for i in range(3)])
        one.sendto(b"back", two.getsockname())
        print(two.recvmsg(100)[0], select.select([one], [], [], 0.01))
        one.settimeout(0.05)
        try:
            one.recv(10)
        except TimeoutError as error:
            print("timeout", error)


def errors():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        name = one.getsockname()
    for call in (lambda: socket.create_connection(name), lambda: socket.socket(socket.AF_UNIX).connect("none"),
                 lambda: socket.socket().listen() or socket.socket().accept()):
        try:
            call()
        except OSError as error:
            print(type(error).__name__, error)
    print(socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM))


pages()
asyncio.run(loop())
datagrams()
errors()
os.path.exists("socket") and os.unlink("socket")
