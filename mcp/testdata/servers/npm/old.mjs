// A server on the TypeScript SDK 1.23.0 as its examples had it, over Streamable HTTP: it serves requests for any Host and of any Origin.
//
//   node old.mjs PORT
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk-1.23/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk-1.23/server/streamableHttp.js";
import { z } from "zod";

const sessions = new Map();

async function begin() {
  const server = new McpServer({ name: "old", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Repeats a message.", inputSchema: { message: z.string() } },
    ({ message }) => ({ content: [{ type: "text", text: message }] }),
  );
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await server.connect(transport);
  return transport;
}

createServer(async (request, response) => {
  try {
    const id = request.headers["mcp-session-id"];
    if (id && !sessions.has(id)) {
      response.writeHead(404).end();
      return;
    }
    await (sessions.get(id) ?? (await begin())).handleRequest(request, response);
  } catch (err) {
    response.headersSent || response.writeHead(500);
    response.end(String(err));
  }
}).listen(Number(process.argv[2]), "127.0.0.1");
