// Package schema generates JSON values from a JSON Schema: values that conform to it, values that violate one keyword by a small margin, and
// values that conform but are hostile to programs that process them.
//
// It supports draft 2020-12 and, because peers send them, the forms of earlier drafts: definitions, items as an array, dependencies,
// exclusiveMinimum as a boolean, and OpenAPI's nullable. The $schema of a schema selects the draft; without one it is 2020-12, or 2019-09 if
// items is an array. A reference to another document is never fetched. format and contentEncoding, which the newer drafts define as
// annotations, are asserted.
//
// A schema is compiled once into goals. A goal is a set of subschemas that one value must satisfy together, for example a property's own
// schema, a $ref beside it, and a matching patternProperties. Its keywords are merged into variants: one for each combination of branches of
// anyOf, oneOf, if and dependentSchemas. Values drawn from a variant satisfy its bounds by construction and need not be validated, except
// for keywords that can only be sampled and checked: not, the exclusive part of oneOf if the branches are not visibly disjoint, and several
// patterns for one string. Every goal keeps a witness, a value that validated at compile time, which is used if sampling fails.
//
// Values that are to violate a keyword are validated by an independent library, github.com/santhosh-tekuri/jsonschema, whose report must
// name that keyword at that position.
//
// [Checker] uses the same library to judge values that others have made, by schemas that Compile would reject too, and reports only what
// all validators agree on.
//
// Generated values contain only names and addresses of this machine and those reserved for documentation, and no name of a file whose loss
// would do harm, unless the schema itself contains others in enum, default, examples or pattern.
package schema
