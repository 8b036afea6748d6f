// Package sandbox runs modules that nobody trusts. It is the only importer of wazero.
//
// An [Engine] loads modules: a file is read by package wasmfile, checked against the contract without running anything, compiled (or taken
// from the compile cache), and tried once. A [Module] serves calls. Every call runs in pristine memory, under the limits of its engine,
// with no authority beyond the bytes of the request: no files, no network, no environment, a clock and a random stream that are the same in
// every call.
//
// What a module may do wrong is a [LoadError] with all its faults, or a [CallError] with a stable cause. Guest bytes never panic the host.
//
// Engines and modules are safe for concurrent use.
package sandbox
