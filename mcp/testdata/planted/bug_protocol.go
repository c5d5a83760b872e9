package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// idAsString: id-as-string.
func idAsString(id value) value {
	if !id.isNumber() {
		return id
	}
	return value(`"` + string(id) + `"`)
}

// roundedID: id-rounded. The id has been through a float64.
func roundedID(id value) value {
	f := id.float()
	if !id.isNumber() || math.Abs(f) < 1<<53 || math.IsInf(f, 0) {
		return id
	}
	format := byte('f')
	if math.Abs(f) >= 1e21 {
		format = 'g'
	}
	return value(strconv.FormatFloat(f, format, -1, 64))
}

// falsy: dropped-falsy-id. An id that counts as false in many languages looks like none.
func falsy(id value) bool { return string(id) == "0" || string(id) == `""` }

// debugPrint: stdout-noise.
var debugPrint = raw("DEBUG search: empty page")

// cutBytes: invalid-utf8. It counts bytes where it should count characters.
func cutBytes(s string, n int) string { return s[:min(n, len(s))] }

// anyCase: case-insensitive-keys.
func anyCase(name string) string { return strings.ToLower(name) }

// forgetAfterGarbage: state-after-garbage.
func forgetAfterGarbage(list []raw) []raw { return list[:len(list)-1] }

// errorWithoutMessage: error-without-message.
var errorWithoutMessage = raw(`,"error":{"code":-32602}}`)

// errorWithStringCode: error-code-string.
var errorWithStringCode = raw(`,"error":{"code":"-32602","message":"Unknown prompt"}}`)

// resultAndError: result-and-error.
var resultAndError = raw(`,"result":{"completion":{"values":[]}},"error":{"code":-32602,"message":"Unknown type of ref"}}`)

// inFamily: unknown-method-success. A router that looks at the first half only.
func inFamily(method string) bool {
	family, rest, _ := strings.Cut(method, "/")
	return rest != "" && slices.Contains([]string{"tools", "resources", "prompts", "completion", "logging"}, family)
}

// answerCancelled: cancelled-answered.
func answerCancelled(r *request) {
	r.to.send(failed(r.id, &failure{code: -32800, message: "Request cancelled"}))
}

// levelOfNothing: output-schema. available should be an integer, and the status is not in the enum.
var levelOfNothing = raw(`{"available":"none","status":"discontinued"}`)

// notBase64: bad-base64.
const notBase64 = "iVBORw0KGgo*AAAANSUhEUgAA"

// countThePeek: read-only-lie.
func countThePeek(st *store) { st.counter = min(st.counter+1, counterLimit) }

// inherited: inherited-name, inherited-key. The tools and lots are looked up in objects with a prototype.
func inherited(name string) bool {
	return slices.Contains([]string{"constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"}, name)
}

func inheritedFailure(name string) *failure {
	return &failure{
		code:    codeInternal,
		message: "tool.handler is not a function",
		data:    object("name", name, "type", "TypeError"),
	}
}

// settingsOfAnother: wrong-resource-uri.
var settingsOfAnother = raw(`{"uri":"app://defaults","mimeType":"application/json","text":"{}"}`)

// invalidRole: invalid-role. MCP has only user and assistant.
const invalidRole = "system"
