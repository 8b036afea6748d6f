// Package state holds the typed state of a traversal and the reducers that alone change it.
//
// A node gives an abi.Update; Apply merges it. The reducers of the keyed channels (evidences, judgements, criterion_results, metadata) are
// associative, commutative and idempotent, and entries of the append channels (opinions, artifacts, contests, errors) are keyed by their
// position, so that updates that do not contradict each other give the same state in any order, in any split, and however often each is
// repeated. The state is a snapshot: what was merged away is not kept.
//
// Apply is all or nothing: a rejected update leaves the state as it was. Every value is validated by the strict decoder of abi/codec, also
// when it comes from the host's own code, so nothing that a module could not have sent gets in. A rejection is fatal to the traversal: what
// modules send was validated before it became an update, so the fault lies with the graph or the host.
//
// The package is pure: no clock, no randomness, no input or output, no log.
package state
