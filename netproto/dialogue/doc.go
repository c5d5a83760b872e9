// Package dialogue has the input of network fuzzing, a [Dialogue] of messages, and all that is known of it without a
// server: how it is written to disk ([Codec]), how it is changed, and what the responses mean ([Session]).
package dialogue
