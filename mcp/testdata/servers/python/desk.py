"""A small MCP server on the official Python SDK, or with fastmcp on FastMCP: over standard input and output, or over HTTP.

    desk.py [fastmcp] [--http PORT [--json]] [--token TOKEN]

With --token, FastMCP serves only requests that carry it: Authorization: Bearer TOKEN.
"""

import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sdk", nargs="?", choices=["mcp", "fastmcp"], default="mcp")
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--json", action="store_true", help="responses over HTTP are JSON, not event streams")
    parser.add_argument("--token")
    args = parser.parse_args()
    if args.sdk == "fastmcp":
        server = fastmcp_server(args.token)
    else:
        server = mcp_server(args)
    add(server)
    run(server, args)


def mcp_server(args):
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:  # before 2.0
        from mcp.server.fastmcp import FastMCP

        return FastMCP("desk", port=args.http or 8000, json_response=args.json, log_level="WARNING")
    return MCPServer("desk", log_level="WARNING")


def fastmcp_server(token):
    from fastmcp import FastMCP

    auth = None
    if token:
        from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

        auth = StaticTokenVerifier(tokens={token: {"client_id": "teasel", "scopes": []}})
    return FastMCP("desk", auth=auth)


def add(server):
    notes = {}

    @server.tool()
    def echo(message: str) -> str:
        """Repeats a message."""
        return message

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two integers."""
        return a + b

    @server.tool()
    def convert(value: float, unit: str = "km") -> str:
        """Converts a length to metres."""
        factors = {"mm": 0.001, "m": 1.0, "km": 1000.0}
        if unit not in factors:
            raise ValueError(f"unknown unit {unit!r}, expected one of {sorted(factors)}")
        return f"{value * factors[unit]} m"

    @server.tool()
    def open_note(title: str) -> dict[str, str]:
        """Opens a note and returns its handle."""
        handle = f"note-{len(notes) % 100}"
        notes[handle] = [title[:100]]
        return {"handle": handle}

    @server.tool()
    def append_note(handle: str, line: str) -> int:
        """Adds a line to a note and returns how many it has."""
        if handle not in notes:
            raise ValueError("no open note with this handle")
        notes[handle] = [*notes[handle], line[:100]][-100:]
        return len(notes[handle])

    @server.resource("notes://{handle}")
    def note(handle: str) -> str:
        """The text of a note."""
        return "\n".join(notes.get(handle, []))

    @server.prompt()
    def review(subject: str) -> str:
        """Asks for a review."""
        return f"Please review {subject}."


def run(server, args):
    more = {}
    if type(server).__module__.startswith("fastmcp"):
        more["show_banner"] = False
        if args.http:
            more |= {"host": "127.0.0.1", "port": args.http, "log_level": "warning", "json_response": args.json}
    elif args.http and type(server).__name__ == "MCPServer":
        more |= {"port": args.http, "json_response": args.json}
    server.run(transport="streamable-http" if args.http else "stdio", **more)


main()
