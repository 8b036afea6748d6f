// Package abitest checks that codecs and modules keep the contract.
//
// Run checks a codec against the test vectors of abi/testdata: every message
// is accepted or rejected as SPEC.md says, with the same canonical bytes or the
// same problems in the same order.
//
// RunModule is the conformance kit: it holds a module, in whatever language it
// is written, to what SPEC.md says of it. It makes the requests (plain, random,
// as large as they come, changed, malformed) and judges what comes back, and
// names the clause that each failure breaks. It runs nothing itself: who has a
// sandbox hands it a Subjects. Package host/conformance does so with the host's,
// checks the loading too, and has the function that a test of a module calls.
package abitest
