// Package model describes network protocols: the messages, the fields they consist of, and the states of a dialogue. It
// reads the description from a YAML file whose words are those of Kaitai Struct, takes messages apart, and computes the
// fields that follow from others, such as lengths and checksums, whenever something was changed.
package model
