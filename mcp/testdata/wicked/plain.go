package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// message is what the plain server reads of a request.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Name            string `json:"name"`
		Cursor          string `json:"cursor"`
		Arguments       struct {
			Message string `json:"message"`
		} `json:"arguments"`
	} `json:"params"`
}

// plain is the server that each way of misbehaving starts from. Its zero value has the one tool echo.
type plain struct {
	// tools is the text of tools/list's array; "" means echo alone.
	tools string
	// override answers a request in place of the server; "" leaves it to the server.
	override func(m *message) string
	// before and after are called with each request, and with its reply's line.
	before func(m *message)
	after  func(m *message, reply string)
	// write replaces the writing of a reply's line.
	write func(reply string)

	mu sync.Mutex
}

const echoTool = `{"name":"echo","description":"Returns the message.",` +
	`"inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]},` +
	`"annotations":{"readOnlyHint":true,"destructiveHint":false}}`

// serve answers stdin until it ends.
func (p *plain) serve() int {
	r := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			p.line(line)
		}
		if err != nil {
			if err != io.EOF {
				return 4
			}
			return 0
		}
	}
}

func (p *plain) line(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		p.emit(&m, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
		return
	}
	if m.ID == nil || m.Method == "" {
		return
	}
	if p.before != nil {
		p.before(&m)
	}
	reply := ""
	if p.override != nil {
		reply = p.override(&m)
	}
	if reply == "" {
		reply = p.answer(&m)
	}
	p.emit(&m, reply)
}

// silence as an override's answer leaves the request without a reply.
const silence = "silence"

func (p *plain) emit(m *message, reply string) {
	if reply == silence {
		return
	}
	if p.write != nil {
		p.write(reply)
	} else {
		p.put(reply)
	}
	if p.after != nil {
		p.after(m, reply)
	}
}

// put writes a line. A client that is gone is no concern of ours.
func (p *plain) put(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(os.Stdout, line+"\n")
}

func (p *plain) answer(m *message) string {
	switch m.Method {
	case "initialize":
		version := m.Params.ProtocolVersion
		switch version {
		case "2024-11-05", "2025-03-26", "2025-06-18":
		default:
			version = "2025-11-25"
		}
		return success(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"wicked","version":"1.0.0"}}`, version))
	case "ping":
		return success(m, `{}`)
	case "tools/list":
		tools := p.tools
		if tools == "" {
			tools = echoTool
		}
		return success(m, `{"tools":[`+tools+`]}`)
	case "tools/call":
		if m.Params.Name == "echo" || p.tools != "" {
			return said(m, m.Params.Arguments.Message)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unknown tool"}}`, m.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
}

func success(m *message, object string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, object)
}

// said answers a call with a text.
func said(m *message, text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(`""`)
	}
	return success(m, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

// tool writes the description of a harmless tool.
func tool(name, inputSchema string) string {
	return fmt.Sprintf(`{"name":%q,"description":"A tool.","inputSchema":%s,"annotations":{"readOnlyHint":true,"destructiveHint":false}}`, name, inputSchema)
}
