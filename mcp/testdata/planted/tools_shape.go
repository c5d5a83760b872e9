package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
)

func shapeTools() []tool {
	return []tool{
		{
			name: "render_thumbnail", title: "Render thumbnail", hints: readsOnly,
			description: "Says how large a thumbnail will be.",
			input: `{"type":"object","properties":{"width":{"type":"integer","minimum":1,"maximum":4096},` +
				`"height":{"type":"integer","minimum":1,"maximum":4096}},"required":["width","height"],"additionalProperties":false}`,
			call: (*session).renderThumbnail,
		},
		{
			name: "allocate_grid", title: "Allocate grid", hints: readsOnly,
			description: "Says how many cells a grid needs.",
			input: `{"type":"object","properties":{"rows":{"type":"integer","minimum":1,"maximum":1000000},` +
				`"columns":{"type":"integer","minimum":1,"maximum":1000}},"required":["rows","columns"],"additionalProperties":false}`,
			call: (*session).allocateGrid,
		},
		{
			name: "make_avatar", title: "Make avatar", hints: readsOnly,
			description: "Draws an avatar.",
			input:       `{"type":"object","properties":{"shape":{"type":"string","enum":["square","circle","diamond"]}},"required":["shape"],"additionalProperties":false}`,
			call:        (*session).makeAvatar,
		},
		{
			name: "sample_content", title: "Sample content", hints: readsOnly,
			description: "Shows each kind of content that a tool can answer with.",
			input: `{"type":"object","properties":{"kind":{"type":"string","enum":["text","image","audio","resource","link"]}},` +
				`"required":["kind"],"additionalProperties":false}`,
			call: (*session).sampleContent,
		},
		{
			name: "configure", title: "Configure", hints: sameAgain,
			description: "Checks a configuration of the cache, in steps, and says how far it came.",
			input: `{"type":"object","properties":{"mode":{"type":"string","enum":["basic","standard","advanced"]},` +
				`"options":{"type":"object","properties":{"cache":{"type":"object","properties":{"level":{"type":"integer","minimum":0,"maximum":9}}}}},` +
				`"tags":{"type":"array","items":{"type":"string","maxLength":40},"maxItems":20}},"required":["mode"],"additionalProperties":false}`,
			call: (*session).configure,
		},
	}
}

func (s *session) renderThumbnail(a args) answer {
	if s.has("crash-by-signal") {
		dieAtWidth(a.int("width"))
	}
	return say(fmt.Sprintf("The thumbnail has %s.", plural(a.int("width")*a.int("height"), "pixel")))
}

func (s *session) allocateGrid(a args) answer {
	if s.has("out-of-memory") {
		outOfMemoryAt(a.int("rows"))
	}
	return say(fmt.Sprintf("The grid needs %s.", plural(a.int("rows")*a.int("columns"), "cell")))
}

// onePixel is a PNG of one pixel.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func (s *session) makeAvatar(a args) answer {
	data := onePixel
	if s.has("bad-base64") && a.str("shape") == "circle" {
		data = notBase64
	}
	return answer{content: []raw{
		textItem("A " + a.str("shape") + " in one pixel."),
		object("type", "image", "data", data, "mimeType", "image/png"),
	}}
}

func (s *session) sampleContent(a args) answer {
	// A WAV file with a single sample.
	const oneSample = "RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"
	var item raw
	switch kind := a.str("kind"); {
	case kind == "image":
		item = object("type", "image", "data", onePixel, "mimeType", "image/png",
			"annotations", object("audience", []string{"user"}, "priority", 0.5))
	case kind == "audio" && s.since("2025-03-26"):
		item = object("type", "audio", "data", base64.StdEncoding.EncodeToString([]byte(oneSample)), "mimeType", "audio/wav")
	case kind == "resource":
		item = object("type", "resource", "resource", object("uri", "file:///readme.md", "mimeType", "text/markdown", "text", files["readme.md"]))
	case kind == "link" && s.since("2025-06-18"):
		item = object("type", "resource_link", "uri", "file:///readme.md", "name", "readme.md", "mimeType", "text/markdown")
	case kind == "text":
		return say("A sample of text: äöü, 日本, \U0001F9F5.")
	default:
		return refuse("Protocol version " + s.version + " has no content of this kind.")
	}
	return answer{content: []raw{item}}
}

// configure answers differently at each stage, so that whoever watches the answers can climb.
func (s *session) configure(a args) answer {
	cache := a.v.get("options").get("cache")
	tags := a.strs("tags")
	level := -1
	if v := cache.get("level"); v != nil {
		level = int(v.decimal().integer())
	}
	switch {
	case a.str("mode") != "advanced":
		return say("Mode " + a.str("mode") + " has nothing to configure.")
	case !a.v.get("options").isObject():
		return say("Advanced mode: no options given.")
	case !cache.isObject():
		return say("Advanced mode: options without a cache.")
	case level < 0:
		return say("Advanced mode: a cache without a level.")
	case level < 4 || level > 6:
		return say("Advanced mode: cache level " + strconv.Itoa(level) + " is kept in memory.")
	case len(tags) == 0:
		return say("Advanced mode: the cache on disk has no tags.")
	case len(tags) < 3:
		return say("Advanced mode: the cache on disk has only " + plural(len(tags), "tag") + ".")
	}
	if s.has("deep-condition") {
		diskCache(level, tags)
	}
	return say("Advanced mode: the cache on disk is ready.")
}
