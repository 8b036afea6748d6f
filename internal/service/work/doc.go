// Package work tries the cases of the docket service: it takes batches from the queue of the store, opens hosts on the generation
// of modules that each batch has, gives them the casebook at the revision of the docket, and hands verdicts and signed records
// back in the transaction that completes the batch.
//
// A worker may be killed at any moment: a batch that it had is tried by another one, and of two workers with one batch only one
// can complete it.
package work
