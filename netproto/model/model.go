package model

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// A Model is the description of one protocol: the messages that are sent and those that are expected, the fields they
// consist of, and the states a dialogue goes through. [Load] makes one; it is read only afterwards, so that any number of
// goroutines may use it.
type Model struct {
	ID        string // short name, such as mqtt
	Title     string
	Doc       string
	File      string // where it was read from
	Enums     []*Enum
	Types     []*Type
	Messages  []*Message // what is sent, in the order of the file
	Responses []*Message // what the other side sends, in the order of the file
	States    []*State   // the first one is the initial state; none: the protocol has no declared states
	Seeds     []Seed

	Connection Connection
	Framing    Framing
	Bootstrap  []Step     // sent once after a connection was made, before the first dialogue
	Teardown   []Step     // sent once before a connection is closed
	Heartbeat  *Heartbeat // nil: none
}

// A Message is one kind of message.
type Message struct {
	Name     string
	Doc      string
	Type     *Type
	When     *Expr     // has to hold after parsing, or the bytes are another message; nil: nothing has to
	Code     *Expr     // of a response: what tells the states of the server apart; nil: its name does
	Captures []Capture // of a response: values that later messages use

	outer    Field      // what the outermost node of a message is
	defaults *yaml.Node // values of fields unless a seed has others; nil: none
	late     bool       // some field can be computed only when the message is sent
	line     int
}

// Late reports whether some field gets its value only when the message is sent, such as one taken from a response.
func (m *Message) Late() bool { return m.late }

// A Capture takes a value out of a response.
type Capture struct {
	Name       string
	From       *Expr
	Transforms []Transform
}

// A State is a state of the protocol as the model declares it.
type State struct {
	Name        string
	Doc         string
	Transitions []Transition
}

// A Transition is a message that makes sense in a state, and where it leads.
type Transition struct {
	Send    string   // name of a message
	Expect  []string // names of responses, any of which will do; none: any response or none will do
	Silence bool     // no response is expected
	When    *Expr    // chooses between To and Else; nil: To
	To      string   // state after an expected response for which When holds; "": the same
	Else    string   // state after any other response; "": the same
	Timeout string   // state when no response comes though one is expected; "": the same
}

// Transport says how the server is reached.
type Transport uint8

// The transports.
const (
	TransportInvalid Transport = iota
	TCP
	UDP
	Unix
	TLS
	Stdio
)

var transportNames = [...]string{"invalid", "tcp", "udp", "unix", "tls", "stdio"}

func (t Transport) String() string {
	if int(t) < len(transportNames) {
		return transportNames[t]
	}
	return "transport?"
}

// Stream reports whether the transport carries bytes without message borders.
func (t Transport) Stream() bool { return t != UDP }

// Connection says how the server of a protocol is usually reached. What the user says on the command line goes first.
type Connection struct {
	Transport Transport // TCP unless the model says otherwise
	Port      int       // the protocol's own port; 0: unknown
	Keep      bool      // dialogues share one connection as long as it holds; false: a new connection for each
	Greeting  bool      // the server speaks first
	Follow    bool      // over UDP: the server answers from another port, and what comes after goes there
}

// FramingKind says how the end of a response in a stream is recognised.
type FramingKind uint8

// The ways of framing. FramingModel takes the first response model that fits.
const (
	FramingInvalid FramingKind = iota
	FramingModel
	FramingDelimiter
	FramingLength
	FramingQuiet // a response ends when the server falls silent
)

var framingNames = [...]string{"invalid", "model", "delimiter", "length", "quiet"}

func (k FramingKind) String() string {
	if int(k) < len(framingNames) {
		return framingNames[k]
	}
	return "framing?"
}

// Framing says how a stream of responses is taken apart. A datagram is always one response.
type Framing struct {
	Kind      FramingKind
	Delimiter []byte // ends a response and belongs to it
	At        int    // offset of the length in bytes
	Width     int    // of the length in bytes: 1, 2, 4 or 8
	Little    bool   // byte order of the length
	Add       int    // what has to be added to the length to get that of the whole response
}

// A Step is a message that is sent outside of what is fuzzed.
type Step struct {
	Send     string // name of a message, which is sent as the first seed has it, or else with its default values
	Expect   []string
	Attempts int           // at least 1
	Delay    time.Duration // between attempts
}

// A Heartbeat keeps a connection alive.
type Heartbeat struct {
	Send     string
	Expect   []string
	Every    time.Duration
	Failures int // unanswered ones in a row after which the connection is given up; at least 1
}

// A Seed is a dialogue that the server accepts.
type Seed struct {
	Name     string
	Doc      string
	Messages []SeedMessage
}

// A SeedMessage is one message of a seed.
type SeedMessage struct {
	Message *Message // nil: bytes without a model
	Tree    Tree
	Client  int // that sends it, from 0 on; each has a connection of its own
	node    *yaml.Node
}

// MaxClients is how many clients a seed has at most.
const MaxClients = 4
