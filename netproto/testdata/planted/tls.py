# A server over TLS that answers each line with OK. From a message with the byte 0xff on it does as the mode says with those that
# connect: close, garbage (it sends what is no TLS) or stall (it says nothing).
import socket
import ssl
import sys

mode, port, certificate, key = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(50)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
bad = len(sys.argv) > 5
kept = []
while True:
    raw, _ = listener.accept()
    try:
        if bad and mode == "close":
            raw.recv(1000)
            raw.close()
            continue
        if bad and mode == "garbage":
            raw.recv(1000)
            raw.sendall(b"x" * 50)
            raw.close()
            continue
        if bad and mode == "stall":
            kept.append(raw)
            continue
        s = context.wrap_socket(raw, server_side=True)
        while True:
            data = s.recv(4096)
            if not data:
                break
            bad = bad or b"\xff" in data
            s.sendall(b"OK\n")
        s.close()
    except OSError as e:
        print(e, file=sys.stderr, flush=True)
