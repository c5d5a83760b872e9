// Command gosdk is a small MCP server on the official Go SDK: over stdio, or over HTTP with -http ADDRESS, and -json for answers that are
// one JSON text instead of an event stream.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/teaselfuzz/teasel/mcp/testdata/servers/go/desk"
)

func main() {
	address := flag.String("http", "", "address to listen at; empty: standard input and output")
	asJSON := flag.Bool("json", false, "over HTTP, answer with JSON and not with event streams")
	stateless := flag.Bool("stateless", false, "over HTTP, have no sessions, as 2026-07-28 wants it")
	flag.Parse()
	server := mcp.NewServer(&mcp.Implementation{Name: "teasel-gosdk", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler: complete,
	})
	addSums(server)
	addNotes(server)
	addTexts(server)
	if *address != "" {
		h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: *asJSON, Stateless: *stateless})
		log.Fatal(http.ListenAndServe(*address, h))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
		log.Print(err)
	}
}

type echoIn struct {
	Message string `json:"message" jsonschema:"what to echo"`
}

type addIn struct {
	A int `json:"a" jsonschema:"first operand"`
	B int `json:"b" jsonschema:"second operand"`
}

type summarizeIn struct {
	Numbers []float64 `json:"numbers" jsonschema:"the numbers to describe"`
}

type convertIn struct {
	Value float64 `json:"value" jsonschema:"the length"`
	From  string  `json:"from" jsonschema:"unit of the value"`
	To    string  `json:"to" jsonschema:"unit wanted"`
}

// addSums adds the tools that keep nothing.
func addSums(server *mcp.Server) {
	pure := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}

	mcp.AddTool(server, &mcp.Tool{
		Name: "echo", Description: "Repeats a message.", Annotations: pure,
	}, func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
		return text(in.Message), nil, nil
	})

	mcp.AddTool(server, &mcp.Tool{
		Name: "add", Description: "Adds two integers.", Annotations: pure,
		InputSchema: schemaFor[addIn](func(p map[string]*jsonschema.Schema) {
			for _, name := range []string{"a", "b"} {
				p[name].Minimum = new(float64(-desk.AddLimit))
				p[name].Maximum = new(float64(desk.AddLimit))
			}
		}),
	}, func(_ context.Context, _ *mcp.CallToolRequest, in addIn) (*mcp.CallToolResult, any, error) {
		return text(fmt.Sprint(in.A + in.B)), nil, nil
	})

	mcp.AddTool(server, &mcp.Tool{
		Name: "summarize", Description: "Describes a list of numbers.", Annotations: pure,
		InputSchema: schemaFor[summarizeIn](func(p map[string]*jsonschema.Schema) {
			p["numbers"].Types, p["numbers"].Type = nil, "array"
			p["numbers"].MinItems, p["numbers"].MaxItems = new(1), new(100)
		}),
	}, func(_ context.Context, _ *mcp.CallToolRequest, in summarizeIn) (*mcp.CallToolResult, desk.Summary, error) {
		s, err := desk.Summarize(in.Numbers)
		return nil, s, err
	})

	mcp.AddTool(server, &mcp.Tool{
		Name: "convert", Description: "Converts a length.", Annotations: pure,
		InputSchema: schemaFor[convertIn](func(p map[string]*jsonschema.Schema) {
			for _, u := range desk.Units {
				p["from"].Enum = append(p["from"].Enum, u)
				p["to"].Enum = append(p["to"].Enum, u)
			}
		}),
	}, func(_ context.Context, _ *mcp.CallToolRequest, in convertIn) (*mcp.CallToolResult, any, error) {
		v, err := desk.Convert(in.Value, in.From, in.To)
		return text(fmt.Sprintf("%g %s", v, in.To)), nil, err
	})
}

type openIn struct {
	Title string `json:"title" jsonschema:"first line of the note"`
}

type openOut struct {
	Handle string `json:"handle" jsonschema:"what append_note and close_note want"`
}

type appendIn struct {
	Handle string `json:"handle" jsonschema:"from open_note"`
	Line   string `json:"line" jsonschema:"the line to add"`
}

type appendOut struct {
	Size int `json:"size" jsonschema:"bytes in the note now"`
}

type closeIn struct {
	Handle string `json:"handle" jsonschema:"from open_note"`
}

// addNotes adds the tools, and the resource template, around one store.
func addNotes(server *mcp.Server) {
	var notes desk.Notes
	additive := &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}

	mcp.AddTool(server, &mcp.Tool{
		Name: "open_note", Description: "Starts a note and returns its handle.", Annotations: additive,
	}, func(_ context.Context, _ *mcp.CallToolRequest, in openIn) (*mcp.CallToolResult, openOut, error) {
		h, err := notes.Open(in.Title)
		return nil, openOut{h}, err
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "append_note", Description: "Adds a line to an open note.", Annotations: additive,
	}, func(_ context.Context, _ *mcp.CallToolRequest, in appendIn) (*mcp.CallToolResult, appendOut, error) {
		n, err := notes.Append(in.Handle, in.Line)
		return nil, appendOut{n}, err
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "close_note", Description: "Ends a note and returns its text.", Annotations: additive,
	}, func(_ context.Context, _ *mcp.CallToolRequest, in closeIn) (*mcp.CallToolResult, any, error) {
		s, err := notes.Close(in.Handle)
		return text(s), nil, err
	})
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "note", Description: "An open note.", MIMEType: "text/plain", URITemplate: "note:///{handle}",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		s, err := notes.Text(req.Params.URI[len("note:///"):])
		if err != nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return contents(req.Params.URI, s), nil
	})
}

// addTexts adds the static resource and the prompt.
func addTexts(server *mcp.Server) {
	server.AddResource(&mcp.Resource{
		Name: "manual", Description: "How to use the notes.", MIMEType: "text/plain", URI: "desk://manual",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return contents(req.Params.URI, desk.Manual), nil
	})
	server.AddPrompt(&mcp.Prompt{
		Name: "review", Description: "Asks for a review.",
		Arguments: []*mcp.PromptArgument{
			{Name: "subject", Description: "what to review", Required: true},
			{Name: "unit", Description: "unit of length to use"},
		},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
			Role: "user", Content: &mcp.TextContent{Text: desk.ReviewPrompt(a["subject"], a["unit"])},
		}}}, nil
	})
}

// complete completes the unit argument of the review prompt.
func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	values := []string{}
	if req.Params.Ref.Name == "review" && req.Params.Argument.Name == "unit" {
		values = desk.CompleteUnit(req.Params.Argument.Value)
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

// schemaFor infers T's schema and lets narrow tighten its properties. It
// panics on a T that has none, which is a mistake in this program.
func schemaFor[T any](narrow func(map[string]*jsonschema.Schema)) *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err)
	}
	narrow(s.Properties)
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func contents(uri, s string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: s}}}
}
