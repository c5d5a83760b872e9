package session

import (
	"github.com/teaselfuzz/teasel/mutate"
)

// Versions are the protocol versions that have the initialize handshake, oldest first.
var Versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// Session is what a server said of itself: in the handshake and in its lists. It is read once, before the campaign,
// and never changed afterwards.
type Session struct {
	Asked        string // protocol version we asked for
	Version      string // protocol version the server chose
	Stateless    bool   // its version is [StatelessVersion]
	Undiscovered bool   // of those: it has no server/discover, so that Initialize and Capabilities are what its lists show
	Ping         string // the request that stands for ping, with a placeholder for its id; "": [PingLine]
	HTTP         bool   // a message is an HTTP request
	Events       bool   // of HTTP: HTTP+SSE of 2024-11-05
	HasID        bool   // of HTTP: the server gave the session an id
	Capabilities *mutate.JSON
	ServerInfo   *mutate.JSON
	Initialize   *mutate.JSON // the whole result of initialize
	Instructions string
	Tools        []Tool
	Resources    []Resource
	Templates    []Resource // URI is a URI template
	Prompts      []Prompt
	Pages        map[string]int      // by the method of a list: how many pages it has
	Completions  map[string][]string // by the name of an argument or variable: what completion/complete offers for it
	Learned      map[string][]string // by the name of an argument: values that the server shows under it; see Visit.Learn of package server
	Mirrors      map[string][]Mirror // by the name of a tool: what the head of a call repeats over HTTP
	Trouble      []string            // what went wrong while the lists were read, a sentence each

	// Direct is the command of the server itself, if the target's command has a launcher before it, such as npx. The
	// processes of a campaign are started with it, in the environment that the launcher gave. nil: there is none.
	Direct  []string
	Process *Launch
}

// Tool is one item of tools/list.
type Tool struct {
	Name         string
	Description  string
	InputSchema  *mutate.JSON // nil: missing
	OutputSchema *mutate.JSON // nil: none
	Annotations  *mutate.JSON // nil: none
	Root         *mutate.JSON // the whole item
	Unmarked     bool         // its annotations say nothing: see [Session.WeighAnnotations]
}

// Resource is one item of resources/list or resources/templates/list.
type Resource struct {
	URI  string
	Name string
	Root *mutate.JSON
}

// Prompt is one item of prompts/list.
type Prompt struct {
	Name        string
	Description string
	Arguments   []PromptArgument
	Root        *mutate.JSON
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name        string
	Description string
	Required    bool
}

// Tool returns the tool of that name, nil if there is none.
func (s *Session) Tool(name string) *Tool {
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}

// Has reports whether the server declared the capability.
func (s *Session) Has(capability string) bool {
	return s.Capabilities.Get(capability) != nil
}

// Launch is how a process was started.
type Launch struct {
	Args []string // the program, as a path, and its arguments
	Env  []string // NAME=value
	Dir  string   // working directory
}
