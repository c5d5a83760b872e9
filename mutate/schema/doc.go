// Package schema makes JSON values from a JSON Schema: values that conform to it, values that break one keyword of it at
// a time, just outside of what is allowed, and values that conform but are hostile to whoever reads them.
//
// It understands draft 2020-12 and, because peers send them, the forms of the earlier drafts: definitions, items as an
// array, dependencies, exclusiveMinimum as a boolean, and OpenAPI's nullable. A schema's own $schema decides which
// keywords count; without one it is 2020-12, or 2019-09 where items is an array. A reference to another document is never
// fetched. format and contentEncoding, which the newer drafts only call annotations, are asserted.
//
// A schema is compiled once into goals. A goal is a set of subschemas that one value must meet together, say what a
// property's own schema, a $ref beside it and a patternProperties ask of the same member. Its keywords are merged into
// variants: one for each way through anyOf, oneOf, if and dependentSchemas, with no choice left but that of the value.
// Drawing from a variant meets its bounds by construction, so that nothing has to be validated, except where a keyword
// can only be sampled and checked: not, the exclusive half of oneOf where the branches are not visibly disjoint, several
// patterns on one string. Every goal keeps a witness, a value that validated at compile time, for when sampling fails.
//
// What is meant to break a keyword is validated by an independent library, github.com/santhosh-tekuri/jsonschema, whose
// report must name that keyword at that place.
//
// Nothing drawn names a host outside this machine and the names and addresses reserved for documentation, or a file
// whose loss would hurt, unless the schema itself does, in enum, default, examples or pattern.
package schema
