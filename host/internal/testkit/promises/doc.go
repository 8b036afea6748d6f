// Package promises shows that the host keeps what abi/SPEC.md says of fields that depend on each other: each rule of §9, and
// each sentence with a "must", has a test that goes through the decoder, the court, the Light path or the state. It also lists the parsers
// of bytes that others wrote, each with its fuzz target. It has no code of its own.
package promises
