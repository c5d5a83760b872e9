package check

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// Check makes the scripts of one label. What it draws from r is what may vary from one time to the next.
type Check struct {
	Label     string
	Expensive bool // in time: a process of its own, or a great many bytes or calls
	Make      func(b *session.Catalog, r *teasel.Rand, emit Emitter)
}

// Emitter takes a script and a name for it, which is unique within a check.
type Emitter func(name string, in script.Script)

// All are in the order in which they are worth running: those first that cost a few plain requests.
var All = []Check{
	{Undeclared, false, checkUndeclared},
	{Cursor, false, checkCursor},
	{Pagination, false, checkPagination},
	{Repeat, false, checkRepeat},
	{IDs, false, checkIDs},
	{HTTP, false, checkHTTP},
	{Sessions, false, checkSessions},
	{SessionState, false, checkSessionState},
	{GrowthFiles, false, checkGrowthFiles},
	{InFlight, false, checkInFlight},
	{KeptOpen, false, checkKeptOpen},
	{Stateless, false, checkStateless},
	{BareClient, false, checkBareClient},
	{Subscriptions, false, checkSubscriptions},
	{UnknownName, false, checkUnknownName},
	{VariantKey, false, checkVariantKey},
	{DuplicateKey, false, checkDuplicateKey},
	{Validation, false, checkValidation},
	{Progress, false, checkProgress},
	{Questions, false, checkAnswers},
	{Tasks, false, checkTasks},
	{Completion, false, checkCompletion},
	{LogLevel, false, checkLogLevel},
	{Cancel, false, checkCancel},
	{Traversal, false, checkTraversal},
	{Injection, false, checkInjection},
	{Quotes, false, checkQuotes},
	{Quotes, false, checkQuotesModes},
	{Batch, false, checkBatch},
	{Invalid, false, checkInvalid},
	{ReadOnly, false, checkReadOnly},
	{SameAfterGarbage, false, checkSameAfterGarbage},
	{SameAfterGarbage, true, checkFirstGarbage},
	{ReadOnly, true, checkFirstCall},
	{Lifecycle, true, checkLifecycle},
	{Pollution, true, checkPollution},
	{Versions, true, checkVersions},
	{EarlierRequests, true, checkEarlier},
	{EOF, true, checkEOF},
	{Traversal, true, checkTraversalModes},
	{Injection, true, checkInjectionModes},
	{GrowthMemory, true, checkRepeatedCall},
	{GrowthMemory, true, checkEndedSessions},
	{ShapeTime, true, makeShapeTime},
	{GrowthTime, true, checkGrowthTime},
	{SideBySide, false, checkBeside},
	{Used, true, checkUsed},
	{Large, true, checkLarge},
	{Large, true, checkHuge},
}

// Lists are the requests that have pages, with the capability they belong to.
var Lists = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}

// EachList passes on the list requests that the server declares.
func EachList(b *session.Catalog, visit func(method string)) {
	for _, m := range Lists {
		if b.Session.Has(session.CapabilityOf(m)) {
			visit(m)
		}
	}
}

// someTools returns at most n of the tools, every time others.
func someTools(b *session.Catalog, r *teasel.Rand, n int) []*session.Operation {
	return draw(b.Tools, r, n)
}

func draw(tools []*session.Operation, r *teasel.Rand, n int) []*session.Operation {
	if len(tools) <= n {
		return tools
	}
	picked := make([]*session.Operation, 0, n)
	for _, i := range r.Perm(len(tools))[:n] {
		picked = append(picked, tools[i])
	}
	return picked
}

// quickTools returns at most n of the tools that do not take their time and of which use is true, every time others.
func quickTools(b *session.Catalog, r *teasel.Rand, n int, use func(*session.Operation) bool) []*session.Operation {
	return draw(slices.DeleteFunc(slices.Clone(b.Tools), func(t *session.Operation) bool { return t.Slow || !use(t) }), r, n)
}

func anyTool(*session.Operation) bool { return true }

// CursorParams are the parameters of a list from a cursor on.
func CursorParams(cursor *mutate.JSON) *mutate.JSON {
	return mutate.NewObject(jsonrpc.Member("cursor", cursor))
}

// chunk is how many steps a script of a check has at most, where they do not need each other. What it shows is run
// again several times, and each step that gets no answer takes time then.
const chunk = 10

// Chunks passes on a list of steps in scripts of at most n.
func Chunks(steps []script.Step, n int, visit func(part int, steps []script.Step)) {
	for part := 0; len(steps) > 0; part++ {
		size := min(n, len(steps))
		visit(part, steps[:size:size])
		steps = steps[size:]
	}
}
