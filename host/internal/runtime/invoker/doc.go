// Package invoker calls modules by what a graph needs of them: the modules of personas for artifacts, those that evaluate
// edges, and judges. It holds what court, Light path and audit have in common: requests begin and parameters are encoded in
// one way, calls that failed on the host's own side are repeated once, rejected artifacts are logged, and a failure names
// module, digest, node and cause.
//
// It knows no wasm: the sandbox is behind [Modules].
package invoker
