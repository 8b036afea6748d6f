// Package inquiry is what the personas of the Light path share: it reads the
// documents of a case into clues, quoted word for word, and estimates the
// labels from them.
//
// A clue is a block of lines that names a place in a source file in the form
// in which compilers, runtimes and test frameworks print one, or a line in
// which a signal of the profile stands. What a place tells is whether the test
// or the product broke; which labels of the case these are is a parameter of
// the pipeline (see [Roles]). Everything else that is known of a domain comes
// from the profile.
//
// Everything is a function of the request: two personas that read the same
// case see the same clues. What a document says about itself, or to its
// reader, is never followed; it is only matched.
package inquiry
