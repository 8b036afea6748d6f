// Package court tries one case at a time: it decides whether there is a trial
// at all, takes the case through the pipeline, cuts what each persona may see,
// assigns the contest calls, conducts the hearing, holds the limits, and ends
// every trial with a status, never with a lost case.
//
// It knows no domain and no wasm: who plays the personas is behind [invoker.Modules],
// who classified the case is behind [Light].
package court
