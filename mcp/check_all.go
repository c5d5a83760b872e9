package mcp

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// check makes the scripts of one label. What it draws from r is what may vary from one time to the next.
type check struct {
	label     string
	expensive bool // in time: a process of its own, or a great many bytes or calls
	make      func(b *repertoire, r *teasel.Rand, emit emitter)
}

// emitter takes a script and a name for it, which is unique within a check.
type emitter func(name string, in Script)

// checks are in the order in which they are worth running: those first that cost a few plain requests.
var checks = []check{
	{CheckUndeclared, false, checkUndeclared},
	{CheckCursor, false, checkCursor},
	{CheckPagination, false, checkPagination},
	{CheckRepeat, false, checkRepeat},
	{CheckIDs, false, checkIDs},
	{CheckUnknownName, false, checkUnknownName},
	{CheckVariantKey, false, checkVariantKey},
	{CheckDuplicateKey, false, checkDuplicateKey},
	{CheckValidation, false, checkValidation},
	{CheckProgress, false, checkProgress},
	{CheckCompletion, false, checkCompletion},
	{CheckLogLevel, false, checkLogLevel},
	{CheckCancel, false, checkCancel},
	{CheckTraversal, false, checkTraversal},
	{CheckInjection, false, checkInjection},
	{CheckQuotes, false, checkQuotes},
	{CheckQuotes, false, checkQuotesModes},
	{CheckBatch, false, checkBatch},
	{CheckInvalid, false, checkInvalid},
	{CheckReadOnly, false, checkReadOnly},
	{CheckSameAfterGarbage, false, checkSameAfterGarbage},
	{CheckSameAfterGarbage, true, checkFirstGarbage},
	{CheckReadOnly, true, checkFirstCall},
	{CheckLifecycle, true, checkLifecycle},
	{CheckPollution, true, checkPollution},
	{CheckEOF, true, checkEOF},
	{CheckTraversal, true, checkTraversalModes},
	{CheckInjection, true, checkInjectionModes},
	{CheckGrowthMemory, true, checkGrowthMemory},
	{CheckShapeTime, true, checkShapeTime},
	{CheckGrowthTime, true, checkGrowthTime},
	{CheckLarge, true, checkLarge},
	{CheckLarge, true, checkHuge},
}

// lists are the requests that have pages, with the capability they belong to.
var lists = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}

// eachList passes on the list requests that the server declares.
func eachList(b *repertoire, visit func(method string)) {
	for _, m := range lists {
		if b.session.Has(capabilityOf(m)) {
			visit(m)
		}
	}
}

// some returns at most n of the tools, every time others.
func someTools(b *repertoire, r *teasel.Rand, n int) []*callable {
	if len(b.tools) <= n {
		return b.tools
	}
	picked := make([]*callable, 0, n)
	for _, i := range r.Perm(len(b.tools))[:n] {
		picked = append(picked, b.tools[i])
	}
	return picked
}

// quick is some, without tools that take their time.
func quickTools(b *repertoire, r *teasel.Rand, n int) []*callable {
	return slices.DeleteFunc(slices.Clone(someTools(b, r, n)), func(c *callable) bool { return c.Slow })
}

// cursorParams are the parameters of a list from a cursor on.
func cursorParams(cursor *mutate.JSON) *mutate.JSON {
	return mutate.NewObject(member("cursor", cursor))
}

// chunk is how many steps a script of a check has at most, where they do not need each other. What it shows is run
// again several times, and each step that gets no answer takes time then.
const chunk = 10

// chunks passes on a list of steps in scripts of at most n.
func chunks(steps []Step, n int, visit func(part int, steps []Step)) {
	for part := 0; len(steps) > 0; part++ {
		size := min(n, len(steps))
		visit(part, steps[:size:size])
		steps = steps[size:]
	}
}
