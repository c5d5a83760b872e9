// A server whose tool merges two objects, and writes to the prototype of all objects on the way. With the argument "safe" it
// does not.
const safe = process.argv[2] === 'safe'
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n')

function merge(into, from) {
  for (const key of Object.keys(from)) {
    if (safe && (key === '__proto__' || key === 'constructor')) continue
    if (from[key] && typeof from[key] === 'object' && !Array.isArray(from[key])) {
      if (!into[key]) into[key] = {}
      merge(into[key], from[key])
    } else into[key] = from[key]
  }
  return into
}

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v)
const schema = { type: 'object', properties: { base: { type: 'object' }, patch: { type: 'object' } }, required: ['base', 'patch'] }
const tools = [{ name: 'merge_objects', description: 'Merges two objects.', inputSchema: schema, annotations: { readOnlyHint: true, openWorldHint: false } }]

function answer({ id, method, params }) {
  const fail = (code, message) => send({ id, error: { code, message } })
  if (method === 'ping') return send({ id, result: {} })
  if (method === 'initialize') {
    return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'merge', version: '1' } } })
  }
  if (method === 'tools/list') return send({ id, result: { tools } })
  if (method !== 'tools/call') return fail(-32601, 'method not found')
  if (!isObject(params)) return fail(-32602, 'params is no object')
  if (params.name !== 'merge_objects') return fail(-32602, 'unknown tool ' + params.name)
  const { base, patch } = params.arguments ?? {}
  if (!isObject(base) || !isObject(patch)) return send({ id, result: { isError: true, content: [{ type: 'text', text: 'invalid arguments' }] } })
  send({ id, result: { content: [{ type: 'text', text: JSON.stringify(merge(merge({}, base), patch)) }] } })
}

require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  let m
  try { m = JSON.parse(line) } catch { return send({ id: null, error: { code: -32700, message: 'parse error' } }) }
  if (!isObject(m) || !('id' in m) || !('method' in m)) return
  answer(m)
})
