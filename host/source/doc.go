// Package source looks at the source of the module under test: which of its files a failure's log points into, whether
// those are product or test code, what stands there, and what changed since a revision.
//
// Everything is read only, and nothing outside of the given folder is looked at, wherever symbolic links and dots lead;
// the one exception is the git repository that the folder is part of, which may begin further up. All answers are bounded
// and come in an order that depends on nothing but the files.
package source
