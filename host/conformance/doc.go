// Package conformance holds a module, in whatever language it is written, to
// the contract of abi/SPEC.md, in the sandbox that trials use. A test of a
// module needs one line:
//
//	conformance.Check(t, wasm)
//
// What is tried and what counts as a failure is package abitest's; loading a
// module is this one's. The two are apart because the contract must not know
// the host, and another host may bring a sandbox of its own to the same cases.
package conformance
