// Package host puts classifications on trial: open a [Host] on a pipeline and the modules that play its personas, and try cases.
//
// The host owns the state, the reducers and the traversal; every persona and every evaluator of an edge is a WebAssembly module in a
// sandbox, which gets and gives msgpack artifacts over the contract of package abi.
package host
