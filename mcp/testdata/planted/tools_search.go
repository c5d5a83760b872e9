package main

import (
	"fmt"
	"strconv"
	"strings"
)

const placeEnum = `"enum":["gate","office","hall","ramp","yard","dock","tower","depot"]`

func searchTools() []tool {
	return []tool{
		{
			name: "search_items", title: "Search items", hints: readsOnly,
			description: "Searches the articles by a part of their name.",
			input: `{"type":"object","properties":{"query":{"type":"string","maxLength":200},` +
				`"limit":{"type":"integer","minimum":0,"maximum":50,"default":10}},"required":["query"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}},"count":{"type":"integer"}},` +
				`"required":["items","count"],"additionalProperties":false}`,
			call: (*session).searchItems,
		},
		{
			name: "check_filter", title: "Check filter", hints: readsOnly,
			description: "Says whether a text has the form NAME=VALUE.",
			input:       `{"type":"object","properties":{"filter":{"type":"string","maxLength":65536,"examples":["color=red"]}},"required":["filter"],"additionalProperties":false}`,
			call:        (*session).checkFilter,
		},
		{
			name: "check_code", title: "Check code", hints: readsOnly,
			description: "Says whether an article's code is letters with a digit at the end.",
			input:       `{"type":"object","properties":{"code":{"type":"string","maxLength":26,"examples":["bolt7"]}},"required":["code"],"additionalProperties":false}`,
			call:        (*session).checkCode,
		},
		{
			name: "find_route", title: "Find route", hints: readsOnly,
			description: "Finds the way between two places of the site.",
			input: `{"type":"object","properties":{"from":{"type":"string",` + placeEnum + `},"to":{"type":"string",` + placeEnum + `}},` +
				`"required":["from","to"],"additionalProperties":false}`,
			call: (*session).findRoute,
		},
		{
			name: "sample_series", title: "Sample series", hints: readsOnly,
			description: "Says how many samples lie between start and end.",
			input: `{"type":"object","properties":{"start":{"type":"integer","minimum":-1000000,"maximum":1000000},` +
				`"end":{"type":"integer","minimum":-1000000,"maximum":1000000},"step":{"type":"integer","minimum":-1000,"maximum":1000}},` +
				`"required":["start","end","step"],"additionalProperties":false}`,
			call: (*session).sampleSeries,
		},
		{
			name: "find_supplier", title: "Find supplier", hints: readsOnly,
			description: "Says in which city a supplier is.",
			input:       `{"type":"object","properties":{"name":{"type":"string","maxLength":80,"examples":["Hale & Sons"]}},"required":["name"],"additionalProperties":false}`,
			call:        (*session).findSupplier,
		},
		{
			name: "pick_lot", title: "Pick lot", hints: readsOnly,
			description: "Says how many pieces are in a lot.",
			input:       `{"type":"object","properties":{"lot_id":{"type":"string","maxLength":40,"examples":["lot-7"]}},"required":["lot_id"],"additionalProperties":false}`,
			call:        (*session).pickLot,
		},
		{
			name: "name_shelf", title: "Name shelf", hints: readsOnly,
			description: "Says what the shelf at a position is called.",
			input:       `{"type":"object","properties":{"position":{"type":"integer","minimum":0,"maximum":99}},"required":["position"],"additionalProperties":false}`,
			call:        (*session).nameShelf,
		},
	}
}

func (s *session) findSupplier(a args) answer {
	name := a.str("name")
	if s.has("sql-injection") {
		value, failure := readLiteral("'" + name + "'")
		if failure != "" {
			return refuse("The database refused the query: " + failure)
		}
		name = value
	}
	switch name {
	case "Hale & Sons":
		return say("Leeds")
	case "O'Neill":
		return say("Cork")
	}
	return say("There is no such supplier.")
}

func (s *session) searchItems(a args) answer {
	limit := 10
	if a.has("limit") {
		limit = a.int("limit")
	}
	if s.has("stdout-noise") && limit == 0 {
		s.out.send(debugPrint)
	}
	found := []string{}
	for _, name := range []string{"bolt M4", "bolt M6", "nut M4", "nut M6", "washer"} {
		if len(found) < limit && strings.Contains(name, a.str("query")) {
			found = append(found, name)
		}
	}
	return structure(object("items", found, "count", len(found)))
}

func (s *session) checkFilter(a args) answer {
	filter := a.str("filter")
	at := strings.IndexByte(filter, '=')
	if s.has("quadratic-time") {
		at = matchBacktracking(filter)
	}
	if at < 0 {
		return say("This is no filter.")
	}
	return say("This is a filter on a name of " + plural(length(filter[:at]), "character") + ".")
}

func (s *session) checkCode(a args) answer {
	code := a.str("code")
	letters := strings.TrimLeft(code, "abcdefghijklmnopqrstuvwxyz")
	ok := len(letters) == 1 && letters[0] >= '0' && letters[0] <= '9'
	if s.has("exponential-time") {
		ok = matchNested(code)
	}
	if !ok {
		return say("This is no code.")
	}
	return say("This is a code.")
}

func (s *session) findRoute(a args) answer {
	from, to := a.str("from"), a.str("to")
	if s.has("hang-one-call") && from == "depot" && to == "depot" {
		return answer{silent: true}
	}
	if from == to {
		return say("You are there.")
	}
	return say("Walk from the " + from + " to the " + to + ".")
}

func (s *session) sampleSeries(a args) answer {
	start, end, step := a.int("start"), a.int("end"), a.int("step")
	if s.has("endless-loop") {
		spinOnZero(start, end, step)
	}
	if step == 0 {
		return refuse("The step must not be 0.")
	}
	n := 0
	if (end-start)*step >= 0 {
		n = (end-start)/step + 1
	}
	return say(fmt.Sprintf("%s from %s on.", plural(n, "sample"), strconv.Itoa(start)))
}

func (s *session) pickLot(a args) answer {
	id := a.str("lot_id")
	if id == "lot-7" {
		return say("120 pieces.")
	}
	if s.has("inherited-key") && inherited(id) {
		return say("undefined pieces.")
	}
	return refuse("There is no such lot.")
}

func (s *session) nameShelf(a args) answer {
	names := []string{"bolts", "nuts", "washers"}
	at := a.int("position")
	if s.has("exception-in-error") {
		return nameCarelessly(names, at)
	}
	if at >= len(names) {
		return refuse("There is no such shelf.")
	}
	return say(names[at])
}
