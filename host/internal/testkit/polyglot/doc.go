// Package polyglot holds modules that were written in other languages to the contract, in the real sandbox: the guest SDKs below sdk/
// against the test vectors, the modules below examples/judges, examples/readers and examples/evaluator, and what `shadowcourt plugin new`
// makes. It is tests alone; `make sdk-tests` runs them, under the build tag sdk, because they need compilers that a Go programmer need not
// have.
package polyglot
