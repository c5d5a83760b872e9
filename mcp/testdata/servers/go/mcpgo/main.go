// Command mcpgo is a small MCP server on mark3labs/mcp-go, over stdio, with
// the SDK's default options: it checks only what the library checks by itself.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/teaselfuzz/teasel/mcp/testdata/servers/go/desk"
)

func main() {
	s := server.NewMCPServer("teasel-mcpgo", "1.0.0",
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(units{}),
	)
	addSums(s)
	addNotes(s)
	addTexts(s)
	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}

// addSums adds the tools that keep nothing.
func addSums(s *server.MCPServer) {
	pure := mcp.WithReadOnlyHintAnnotation(true)

	s.AddTool(mcp.NewTool("echo", pure, mcp.WithDescription("Repeats a message."),
		mcp.WithString("message", mcp.Required(), mcp.Description("what to echo")),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		m, err := req.RequireString("message")
		return textOr(m, err)
	})

	operand := []mcp.PropertyOption{
		mcp.Required(), mcp.Min(-desk.AddLimit), mcp.Max(desk.AddLimit), mcp.Description("an operand"),
	}
	s.AddTool(mcp.NewTool("add", pure, mcp.WithDescription("Adds two integers."),
		mcp.WithInteger("a", operand...), mcp.WithInteger("b", operand...),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a, err := req.RequireInt("a")
		if err != nil {
			return textOr("", err)
		}
		b, err := req.RequireInt("b")
		return textOr(fmt.Sprint(a+b), err)
	})

	s.AddTool(mcp.NewTool("summarize", pure, mcp.WithDescription("Describes a list of numbers."),
		mcp.WithArray("numbers", mcp.Required(), mcp.WithNumberItems(), mcp.MinItems(1), mcp.MaxItems(100)),
		mcp.WithOutputSchema[desk.Summary](),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		numbers, err := req.RequireFloatSlice("numbers")
		if err != nil {
			return textOr("", err)
		}
		sum, err := desk.Summarize(numbers)
		if err != nil {
			return textOr("", err)
		}
		return mcp.NewToolResultStructuredOnly(sum), nil
	})

	s.AddTool(mcp.NewTool("convert", pure, mcp.WithDescription("Converts a length."),
		mcp.WithNumber("value", mcp.Required(), mcp.Description("the length")),
		mcp.WithString("from", mcp.Required(), mcp.Enum(desk.Units...), mcp.Description("unit of the value")),
		mcp.WithString("to", mcp.Required(), mcp.Enum(desk.Units...), mcp.Description("unit wanted")),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		value, err := req.RequireFloat("value")
		if err != nil {
			return textOr("", err)
		}
		to := req.GetString("to", "")
		v, err := desk.Convert(value, req.GetString("from", ""), to)
		return textOr(fmt.Sprintf("%g %s", v, to), err)
	})
}

// addNotes adds the tools, and the resource template, around one store.
func addNotes(s *server.MCPServer) {
	notes := new(desk.Notes)
	additive := mcp.WithDestructiveHintAnnotation(false)
	handle := mcp.WithString("handle", mcp.Required(), mcp.Description("from open_note"))

	s.AddTool(mcp.NewTool("open_note", additive, mcp.WithDescription("Starts a note and returns its handle."),
		mcp.WithString("title", mcp.Required(), mcp.Description("first line of the note")),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		title, err := req.RequireString("title")
		if err != nil {
			return textOr("", err)
		}
		h, err := notes.Open(title)
		return textOr(h, err)
	})
	s.AddTool(mcp.NewTool("append_note", additive, mcp.WithDescription("Adds a line to an open note."),
		handle, mcp.WithString("line", mcp.Required(), mcp.Description("the line to add")),
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		line, err := req.RequireString("line")
		if err != nil {
			return textOr("", err)
		}
		n, err := notes.Append(req.GetString("handle", ""), line)
		return textOr(fmt.Sprintf("%d bytes", n), err)
	})
	s.AddTool(mcp.NewTool("close_note", additive, mcp.WithDescription("Ends a note and returns its text."),
		handle,
	), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		t, err := notes.Close(req.GetString("handle", ""))
		return textOr(t, err)
	})
	s.AddResourceTemplate(mcp.NewResourceTemplate("note:///{handle}", "note",
		mcp.WithTemplateDescription("An open note."), mcp.WithTemplateMIMEType("text/plain"),
	), func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		uri := req.Params.URI
		t, err := notes.Text(strings.TrimPrefix(uri, "note:///"))
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: t}}, nil
	})
}

// addTexts adds the static resource and the prompt.
func addTexts(s *server.MCPServer) {
	s.AddResource(mcp.NewResource("desk://manual", "manual",
		mcp.WithResourceDescription("How to use the notes."), mcp.WithMIMEType("text/plain"),
	), func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{
			mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: desk.Manual},
		}, nil
	})
	s.AddPrompt(mcp.NewPrompt("review", mcp.WithPromptDescription("Asks for a review."),
		mcp.WithArgument("subject", mcp.RequiredArgument(), mcp.ArgumentDescription("what to review")),
		mcp.WithArgument("unit", mcp.ArgumentDescription("unit of length to use")),
	), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return mcp.NewGetPromptResult("A review", []mcp.PromptMessage{
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(desk.ReviewPrompt(a["subject"], a["unit"]))),
		}), nil
	})
}

// units completes the unit argument of the review prompt.
type units struct{}

var _ server.PromptCompletionProvider = units{}

func (units) CompletePromptArgument(
	_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext,
) (*mcp.Completion, error) {
	values := []string{}
	if prompt == "review" && arg.Name == "unit" {
		values = desk.CompleteUnit(arg.Value)
	}
	return &mcp.Completion{Values: values, Total: len(values)}, nil
}

// textOr is a tool's text, or its error as the tool's own.
func textOr(s string, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	return mcp.NewToolResultText(s), nil
}
