// Package knowledge lets the modules of a host ask a casebook and the source
// of the module under test: it states what those packages know in the terms of
// the contract.
package knowledge
