// Package moduledir keeps a folder of modules, NAME.wasm each, whose files are
// replaced as a whole and can be got back.
//
// What is replaced is kept in DIR/.history/NAME: one file for each content,
// DIGEST.wasm, and the file `order` with the digests of what stood in the place
// before, a line each, the last one being the one before. A rollback puts that
// one back and takes its line away, so that a second rollback goes back further
// and never forward again to what was rolled back; that stays in the history and
// is got by its digest. The file `left` has the digest of each, those that left
// their place longest ago first: in this order [Dir.Prune] removes them, and
// nothing else does.
//
// The file `.history/generation` says which change is under way, so that readers
// of several modules, and those that come after an interrupted change, never
// take a mix of two sets, see [Generation].
//
// A file appears under its name only when it is complete and on the disk. When
// the machine stops at any moment, the folder has the module before or the new
// one, and the history at most names the one that is in place, which a rollback
// passes over.
package moduledir
