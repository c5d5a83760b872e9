package model

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of the format, for editors and for programs that write models. What it accepts
// may still be wrong in ways that a schema cannot say; [Load] is the judge.
func Schema() []byte { return append([]byte(nil), schema...) }
