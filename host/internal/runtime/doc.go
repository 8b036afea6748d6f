// Package runtime is what trials, audits, candidates and replays share: the sandbox with its generations of modules, the
// sessions that call them, the broker of their capabilities, and the recorder of what happens, which also steers replays.
package runtime
