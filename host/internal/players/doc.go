// Package players asks those who play a walk: the modules of personas for
// artifacts, and those that evaluate edges. It holds what court and Light path
// do alike: requests begin and parameters are stated in one way, calls that
// failed on the host's own side are made once more, refused artifacts are
// logged, and a failure names module, digest, node and cause.
//
// It knows no wasm: who plays is behind [Modules].
package players
