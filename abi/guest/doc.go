// Package guest is the SDK for modules written in Go.
//
// A module is one handler for each kind of call that it serves, and an empty main. The kinds are packages of their own, [node], [contest],
// [edges] and [judge], because the linker then exports exactly what the module imports: a module cannot promise a call that it has no
// handler for, and it carries the codec of no message that it never sees.
//
//	package main
//
//	import (
//		"github.com/shadowcourt/shadowcourt/abi"
//		"github.com/shadowcourt/shadowcourt/abi/guest/node"
//	)
//
//	func init() { node.Handle(indict) }
//
//	func main() {}
//
//	func indict(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) { ... }
//
// Build it as a WASI reactor:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o judge.wasm .
//
// The same package builds natively too, without the exports, so that its judgement can be tested with go test.
//
// Every call begins in pristine memory: what a handler leaves in a package variable is gone at the next call. Only what the host prepares
// the module with stays (SPEC.md §2.19): packages node and contest export shadowcourt_prepare and complete the requests, so handlers see
// whole ones. Modules of the Extism binding use package [prepare]. A request that cannot be decoded never reaches the handler; the module
// answers it with a failure of code [BadRequest] that lists the problems. A panic in a handler is a trap, and ends the trial as a mistrial.
//
// What a module was granted beyond its request (the casebook, the source, the host's log) it asks for with package [capability].
//
// A persona that is granted experiments asks for one by registering a [node.Chooser]: it gives one of the request's offers, and the host
// makes the call again with the result in the case.
//
// A persona that is granted language models asks one by registering a [node.Asker]: it gives a [node.NewCompletion], and the host makes the
// call again with the answer at the end of the request's Completions.
//
// The package imports neither fmt nor reflect nor os, and a module that doesn't either stays near the 1.8 MB of the Go runtime.
package guest
