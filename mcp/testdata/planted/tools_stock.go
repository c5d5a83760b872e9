package main

import (
	"fmt"
	"math"
)

const skuEnum = `"enum":["bolt-m4","bolt-m6","nut-m4","nut-m6","washer","discontinued"]`

func stockTools() []tool {
	return []tool{
		{
			name: "reserve_stock", title: "Reserve stock", hints: addsOnly,
			description: "Reserves pieces of an article.",
			input: `{"type":"object","properties":{"sku":{"type":"string",` + skuEnum + `},` +
				`"quantity":{"type":"integer","minimum":1,"maximum":2147483647}},"required":["sku","quantity"],"additionalProperties":false}`,
			call: (*session).reserveStock,
		},
		{
			name: "stock_level", title: "Stock level", hints: readsOnly,
			description: "Says how many pieces of an article there are.",
			input:       `{"type":"object","properties":{"sku":{"type":"string",` + skuEnum + `}},"required":["sku"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"available":{"type":"integer","minimum":0},"status":{"type":"string","enum":["in_stock","sold_out"]}},` +
				`"required":["available","status"],"additionalProperties":false}`,
			call: (*session).stockLevel,
		},
		{
			name: "convert_units", title: "Convert units", hints: readsOnly,
			description: "Converts a length.",
			input: `{"type":"object","properties":{"value":{"type":"number","minimum":-1e12,"maximum":1e12},` +
				`"from":{"type":"string","enum":["mm","cm","m","inch"]},"to":{"type":"string","enum":["mm","cm","m","inch"]}},` +
				`"required":["value","from","to"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"value":{"type":"number"},"unit":{"type":"string"}},"required":["value","unit"],"additionalProperties":false}`,
			call:   (*session).convertUnits,
		},
		{
			name: "record_rating", title: "Record rating", hints: addsOnly,
			description: "Records a customer's rating; its weight in percent tells how much it counts.",
			input: `{"type":"object","properties":{"stars":{"type":"integer","minimum":1,"maximum":5},` +
				`"weight":{"type":"integer","minimum":0,"maximum":100}},"required":["stars","weight"],"additionalProperties":false}`,
			launch: (*session).recordRating,
		},
		{
			name: "import_items", title: "Import items", hints: addsOnly,
			description: "Imports articles.",
			input: `{"type":"object","properties":{"format":{"type":"string","enum":["csv","json","legacy"]},` +
				`"items":{"type":"array","items":{"type":"string","maxLength":100},"maxItems":50}},"required":["format","items"],"additionalProperties":false}`,
			call: (*session).importItems,
		},
		{
			name: "insert_at", title: "Insert at", hints: addsOnly,
			description: "Inserts a note into the list of notes. The index -1 means the end.",
			input: `{"type":"object","properties":{"index":{"type":"integer","minimum":-1,"maximum":1000},` +
				`"note":{"type":"string","maxLength":200}},"required":["index","note"],"additionalProperties":false}`,
			call: (*session).insertAt,
		},
		{
			name: "quote_price", title: "Quote price", hints: readsOnly,
			description: "Quotes the price of one pallet. XXX stands for no currency.",
			input:       `{"type":"object","properties":{"currency":{"type":"string","enum":["EUR","USD","GBP","JPY","CHF","XXX"]}},"required":["currency"],"additionalProperties":false}`,
			call:        (*session).quotePrice,
		},
		{
			name: "add_tag", title: "Add tag", hints: sameAgain,
			description: "Tags the warehouse.",
			input: `{"type":"object","properties":{"tag":{"type":"string","minLength":1,"maxLength":40},"priority":{"type":"integer","minimum":0,"maximum":9}},` +
				`"required":["tag","priority"],"additionalProperties":false}`,
			call: func(*session, args) answer { return say("The tag is set.") },
		},
	}
}

func (s *session) reserveStock(a args) answer {
	quantity := a.int("quantity")
	if s.has("crash-at-int32-max") {
		reserveSlots(quantity)
	}
	return say(fmt.Sprintf("%s of %s reserved.", plural(quantity, "piece"), a.str("sku")))
}

func (s *session) stockLevel(a args) answer {
	sku := a.str("sku")
	if s.has("output-schema") && sku == "discontinued" {
		return structure(levelOfNothing)
	}
	available := 100 - 10*len(sku)
	status := "in_stock"
	if available <= 0 {
		available, status = 0, "sold_out"
	}
	return structure(object("available", available, "status", status))
}

func (s *session) convertUnits(a args) answer {
	inMetres := map[string]float64{"mm": 0.001, "cm": 0.01, "m": 1, "inch": 0.0254}
	from, to, v := a.str("from"), a.str("to"), a.float("value")
	if from == to {
		if s.has("structured-missing") {
			return say("Nothing to convert.")
		}
		return structure(object("value", v, "unit", to))
	}
	converted := v * inMetres[from] / inMetres[to]
	if converted == 0 {
		converted = math.Abs(converted)
	}
	return structure(object("value", converted, "unit", to))
}

// recordRating replies before it does its books.
func (s *session) recordRating(r *request, a args) (raw, *failure) {
	s.reply(r, say("Thank you for "+plural(a.int("stars"), "star")+".").encode(s), nil)
	if s.has("crash-after-reply") {
		s.traces.average(a.int("stars"), a.int("weight"))
	}
	return nil, nil
}

func (s *session) importItems(a args) answer {
	items := a.strs("items")
	if s.has("silent-exit") {
		exitOnNothing(a.str("format"), items)
	}
	s.log("info", "import", fmt.Sprintf("imported %s", plural(len(items), "item")))
	return say(plural(len(items), "item") + " imported as " + a.str("format") + ".")
}

func (s *session) insertAt(a args) answer {
	index := a.int("index")
	if s.has("crash-by-assertion") {
		assertIndex(index)
	}
	at := s.store.insertNote(index, a.str("note"))
	return say(fmt.Sprintf("The note is number %d of %d.", at+1, len(s.store.notes)))
}

func (s *session) quotePrice(a args) answer {
	currency := a.str("currency")
	if currency == "XXX" {
		if s.has("secret-leak") {
			return refuse(refusedWithSecrets())
		}
		return refuse("There is no price without a currency.")
	}
	return say("A pallet costs 120 " + currency + ".")
}
