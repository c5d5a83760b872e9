#!/usr/bin/env python3
# This program sends what a finding of teasel is about, without teasel. It needs nothing but Python's standard library.
#
# WHAT
import atexit
import base64
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

DATA = json.loads(r"""JSON""")
PATIENCE = DATA["timeout"]  # seconds for an answer
ids, answers, heads, last_id = {}, {}, {}, 1000000  # by step
asked, used = {}, set()  # what the server asked last, and the steps that have answered something


def capture(step, pointer):
    """Return the value that an answer has at a JSON pointer, or the nth word of it: "/a/0#2"."""
    value = (answers.get(step) or {}).get("result") if step != "asked" else asked.get("params")
    word = re.search(r"#(\d+)$", pointer)
    path = pointer[: word.start()] if word else pointer
    for name in path.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        try:
            if isinstance(value, str):
                value = json.loads(value)
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    if word and value is not None:
        text = value if isinstance(value, str) else json.dumps(value)
        words = [w.rstrip(".:") for w in re.findall(r"[A-Za-z0-9_.:-]+", text)]
        words = [w for w in words if len(w) > 2 or any(c.isdigit() for c in w)]
        value = words[int(word.group(1))] if int(word.group(1)) < len(words) else None
    return value


def change_last(text):
    """Return the text with another one in the place of its last ASCII letter or digit."""
    for i in range(len(text) - 1, -1, -1):
        for letters in ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"):
            if text[i] in letters:
                return text[:i] + letters[(letters.index(text[i]) + 1) % len(letters)] + text[i + 1 :]
    return text


def altered(text):
    """Return a text that says something else: of base64 that holds a text, that one is changed."""
    first = text.split(".")[0]
    for padding in ("", "=" * (-len(first) % 4)):
        for alphabet in (b"+/", b"-_"):
            try:
                inner = base64.b64decode(first + padding, alphabet, True).decode()
            except ValueError:
                continue
            changed = change_last(inner)
            if inner.isprintable() and changed != inner:
                code = base64.b64encode(changed.encode(), alphabet).decode()
                return (code.rstrip("=") if padding else code) + text[len(first) :]
    half = (len(first) + 1) // 2
    changed = change_last(text[:half])
    return changed + text[half:] if changed != text[:half] else change_last(text)


def head_of(step, name):
    """Return what the response to a step has in its head; Last-Event-ID is the id of its first event."""
    return (heads.get(step) or {}).get(name.lower(), "")


def place_canary():
    """Make the file that no server has any business to read, and return what stands for it."""
    folder = "/var/tmp/teasel-canary-%010d-00" % os.getpid()
    os.mkdir(folder, 0o700)
    atexit.register(shutil.rmtree, folder)
    path = os.path.join(folder, "canary.txt")
    with open(path, "w") as f:
        f.write(DATA["canary"] + "\n")
    return {b"@{canary}": path, b"@{canary:rel}": path[1:], b"@{canary:uri}": "file://" + path, b"@{canary:dir}": folder}


def expand(step, line):
    """Replace the placeholders of a line: "@id" by a new id, "@id:0" by that of a step, "@{0:/a}" by what an answer has."""
    global last_id

    def fresh(_):
        global last_id
        last_id += 1
        return str(last_id).encode()

    for name, value in CANARY.items():
        line = line.replace(name, value.encode())
    line = line.replace(b"@{huge}", b"a" * DATA["huge"]).replace(b"@{unique}", UNIQUE)
    line = re.sub(rb'"@id"', fresh, line)

    def earlier(m):
        value = json.dumps(ids.get(int(m.group(1)), 0))
        return (json.dumps(value) if m.group(2) and value[0] != '"' else value).encode()

    line = re.sub(rb'"@id:(\d+)(:s)?"', earlier, line)
    line = line.replace(b'"@asked"', json.dumps(asked.get("id", 0)).encode())

    def form(m):
        fields = asked.get("params", {}).get("requestedSchema", {}).get("properties", {})
        return json.dumps({name: json.loads(json.loads(b'"' + m.group(1) + b'"')) for name in fields}).encode()

    line = re.sub(rb'"@\{fill:([^}]*)\}"', form, line)

    def part(m):
        if m.group(1) == b"altered":
            value = capture("asked", m.group(2).decode())
            return None if value is None else altered(value if isinstance(value, str) else json.dumps(value))
        return capture("asked" if m.group(1) == b"asked" else int(m.group(1)), m.group(2).decode())

    def whole(m):
        value = part(m)
        return json.dumps("" if value is None else value).encode()

    line = re.sub(rb'"@\{(\d+|asked|altered):([^}"]*)\}"', whole, line)

    def inside(m):
        value = part(m)
        text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        return json.dumps(text)[1:-1].encode()

    line = re.sub(rb"@\{(\d+|asked|altered):([^}]*)\}", inside, line)
    try:
        message = json.loads(line)
        if isinstance(message, dict) and "id" in message:
            ids[step] = message["id"]
    except ValueError:
        pass
    return line


UNIQUE = b"%x" % time.time_ns()
CANARY = place_canary() if DATA["canary"] else {}


def show(mark, raw):
    text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    print(mark, text if len(text) <= 2000 else text[:2000] + " ... (%d characters)" % len(text), flush=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


OWN_HOME

def start(port, **pipes):
    if DATA["warning"]:
        print("warning:", DATA["warning"], file=sys.stderr, flush=True)
    fill = lambda s: s.replace("{port}", str(port))
    env = dict(os.environ, **(own_home() if DATA["own_home"] else {}))
    env.update((k, fill(v)) for k, v in DATA["env"].items())
    return subprocess.Popen([fill(a) for a in DATA["command"]], env=env, cwd=DATA["dir"] or None, **pipes)


def ended(process):
    """Say what has become of the server, and return whether it has ended."""
    status = process.poll()
    show("!", "the server is still there" if status is None else "the server ended with status %d" % status)
    process.kill()
    return status is not None


class Stdio:
    """A server over standard input and output."""

    def __init__(self):
        self.process = start(0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.flying = []  # steps with requests that no answer was waited for
        self.heard = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for raw in self.process.stdout:
            show("<", raw.rstrip(b"\n"))
            take(self, raw)
            with self.heard:
                self.heard.notify_all()

    def send(self, step, line, s):
        try:
            self.process.stdin.write(line + (b"" if s["nonewline"] else b"\n"))
            self.process.stdin.flush()
            if s["close"]:
                self.process.stdin.close()
        except OSError as e:
            show("!", "the server takes nothing more: %s" % e)
            return
        if s["nowait"] and step in ids:  # the next request follows at once
            self.flying.append(step)
            return
        if step not in ids:
            time.sleep(0.05)
            return
        began = time.time()
        self.wait(lambda: step in answers, PATIENCE)
        if step not in answers:
            show("!", "no answer")
        elif time.time() - began >= 0.05:
            show("!", "answered after %.2f s" % (time.time() - began))
        self.wait(lambda: all(n in answers for n in self.flying), 0.5)
        self.flying.clear()

    def wait(self, over, seconds):
        until = time.time() + seconds
        with self.heard:
            while not over() and time.time() < until and self.process.poll() is None:
                self.heard.wait(0.05)

    def end(self):
        time.sleep(1)
        return ended(self.process)


class HTTP:
    """A server over Streamable HTTP."""

    def __init__(self):
        port = free_port() if DATA["command"] else 0
        self.process = start(port) if DATA["command"] else None
        self.url = urllib.parse.urlsplit(DATA["url"].replace("{port}", str(port)))
        self.session = self.version = None
        self.flying = []  # requests that no answer is waited for
        for _ in range(300):
            try:
                self.connect().close()
                break
            except OSError:
                time.sleep(0.1)

    def connect(self):
        port = self.url.port or {"http": 80, "https": 443}[self.url.scheme]
        s = socket.create_connection((self.url.hostname, port), timeout=PATIENCE)
        if self.url.scheme == "https":
            context = ssl.create_default_context()
            if DATA["insecure"]:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            s = context.wrap_socket(s, server_hostname=self.url.hostname)
        return s

    def head(self, line, changes):
        method, target = "POST", self.url.path or "/"
        target += "?" + self.url.query if self.url.query else ""
        lines = changes.split("\n")
        if lines[0] and ":" not in lines[0] and lines[0][0] != "+":
            method, _, other = lines.pop(0).partition(" ")
            target = other or target
        fields = [["Host", self.url.netloc], ["Accept", "application/json, text/event-stream"], ["Content-Type", "application/json"],
                  ["Content-Length", str(len(line))]]
        if method in ("GET", "DELETE") and not line:
            del fields[2:]
        fields += [["Mcp-Session-Id", self.session]] if self.session else []
        fields += [["MCP-Protocol-Version", self.version]] if self.version else []
        behind = []
        for change in DATA["header"] + lines:
            name, colon, value = change.partition(":")
            value = re.sub(r"\$\{(\w+)\}", lambda m: os.environ[m.group(1)], value.strip())
            if change[:1] == "+":
                behind.append(change[1:])
            elif colon:
                old = [f for f in fields if f[0].lower() == name.lower()]
                for f in old:
                    f[1] = value
                if not old:
                    fields.append([name, value])
        fields = [f for f in fields if f[1]]
        text = "%s %s HTTP/1.1\r\n" % (method, target) + "".join("%s: %s\r\n" % tuple(f) for f in fields)
        return method, (text + "".join(b + "\r\n" for b in behind) + "\r\n").encode("utf-8", "surrogateescape")

    def send(self, step, line, s):
        method, head = self.head(line, re.sub(r"@\{(\d+):([^}]*)\}", lambda m: head_of(int(m.group(1)), m.group(2)), s["head"]))
        if s["head"]:
            show(">", head.rstrip())
        if s["nowait"] and step >= 0:  # the next request follows at once, on another connection
            self.flying.append(threading.Thread(target=self.exchange, args=(step, method, head, line, s), daemon=True))
            self.flying[-1].start()
            return
        began = time.time()
        self.exchange(step, method, head, line, s)
        if time.time() - began >= 0.05:
            show("!", "after %.2f s" % (time.time() - began))
        for other in self.flying:
            other.join(PATIENCE)
        self.flying.clear()

    def exchange(self, step, method, head, line, s):
        try:
            with self.connect() as c:
                c.sendall(head + line)
                if s["close"]:
                    show("!", "the connection is cut")
                    return
                r = http.client.HTTPResponse(c, method=method)
                r.begin()
                self.session = self.session or r.getheader("Mcp-Session-Id")
                heads[step] = {k.lower(): v for k, v in r.getheaders()}
                show("<", "%d %s" % (r.status, r.reason))
                events = (r.getheader("Content-Type") or "").startswith("text/event-stream")
                for raw in [] if method == "GET" else r:  # line by line: what the server asks is answered meanwhile
                    if events and raw.startswith(b"id:"):
                        heads[step].setdefault("last-event-id", raw[3:].decode().strip())
                    raw = (raw[5:] if raw.startswith(b"data:") else b"") if events else raw
                    if raw.strip():
                        show("<", raw.strip())
                        take(self, raw)
        except (OSError, http.client.HTTPException) as e:
            show("!", "no response: %r" % e)

    def end(self):
        if self.process:
            time.sleep(0.5)
            return ended(self.process)


def fill(form):
    """Return what a form may be filled in with."""
    kinds = {"boolean": True, "integer": form.get("minimum", 1), "number": form.get("minimum", 1), "array": [], "object": {}}
    formats = {"email": "a@example.com", "uri": "http://example.com/", "date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z"}
    if form.get("type") == "object":
        return {k: fill(v) for k, v in form.get("properties", {}).items()}
    for choice in [[form[k]] for k in ("default", "const") if k in form] + [form.get("enum", []), [o.get("const") for o in form.get("oneOf", [])]]:
        if choice:
            return choice[0]
    if form.get("type") == "array" and form.get("minItems"):
        return [fill(form.get("items", {}))] * form["minItems"]
    return kinds.get(form.get("type"), formats.get(form.get("format"), "a" * max(form.get("minLength", 1), 1)))


def answer(method, params):
    """Return what a client answers that can do what it is asked; None: there is no such method."""
    if method == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "teasel"}, "model": "teasel", "stopReason": "endTurn"}
    if method == "elicitation/create":
        return {"action": "accept", "content": fill(params.get("requestedSchema", {"type": "object"}))} if params.get("mode") != "url" else {"action": "accept"}
    return {"roots/list": {"roots": []}, "ping": {}}.get(method)


def next_answer(question):
    """Return the next step for what the server asks, filled in, and how often it is sent; None: there is none."""
    for n, s in enumerate(DATA["steps"]):
        if s["asked"] == question["method"] and n not in used:
            used.add(n)
            asked.clear()
            asked.update(question)
            return expand(-1, text_of(s)), max(s["times"], 1)
    return None


def reply(server, question):
    found = next_answer(question)
    if found:
        line, times = found
    else:
        result = answer(question["method"], question.get("params") or {})
        rest = {"error": {"code": -32601, "message": "method not found"}} if result is None else {"result": result}
        line, times = json.dumps({"jsonrpc": "2.0", "id": question["id"], **rest}).encode(), 1
    for _ in range(times if line else 0):
        show(">", line)
        server.send(-1, line, {"nowait": True, "nonewline": False, "close": False, "head": ""})


def with_input(line, result):
    """Return a request again, with the input that its result asks for; None: the script gives none."""
    request, responses = json.loads(line), {}
    for name, question in (result.get("inputRequests") or {}).items():
        found = next_answer({"id": 0, **question})
        responses[name] = answer(question["method"], question.get("params") or {})
        if found:
            try:
                responses[name] = json.loads(found[0])["result"]
            except (ValueError, KeyError, TypeError):
                del responses[name]
    state = result.get("requestState")
    found = next_answer({"id": 0, "method": "input_required", "params": result})
    if found and not found[0]:
        return None
    request["params"].update(inputResponses=responses)
    if found or state is not None:
        request["params"]["requestState"] = json.loads(found[0]) if found else state
    request["id"] = "@id"
    return json.dumps(request).encode()


def text_of(s):
    return base64.b64decode(s["base64"]) if "base64" in s else s["line"].encode()


def take(server, raw):
    """Keep an answer for the step that it answers, and answer what the server asks."""
    try:
        message = json.loads(raw)
    except ValueError:
        return
    if isinstance(message, dict) and "method" in message and "id" in message:
        reply(server, message)
    if isinstance(message, dict) and "method" not in message:
        for step, i in ids.items():
            if i == message.get("id") and type(i) is type(message.get("id")):
                answers.setdefault(step, message)


def main():
    server = HTTP() if DATA["url"] else Stdio()
    for n, s in enumerate(DATA["steps"]):
        step = n - DATA["handshake"]  # references count without the handshake
        for _ in range(max(s["times"], 1) if not s["asked"] else 0):
            text = text_of(s)
            for _ in range(9):
                answers.pop(step, None)
                line = expand(step, text)
                if line or not s["head"]:
                    show(">", line)
                server.send(step, line, s)
                result = (answers.get(step) or {}).get("result")
                if not isinstance(result, dict) or result.get("resultType") != "input_required":
                    break
                text = with_input(line, result)
                if text is None:
                    break
        if isinstance(server, HTTP) and n + 1 == DATA["handshake"] - 1:
            server.version = (answers.get(step, {}).get("result") or {}).get("protocolVersion")
    return server.end()


if __name__ == "__main__":
    sys.exit(main())
