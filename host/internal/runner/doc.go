// Package runner runs trials and audits: it binds court, Light path, candidate and audit to the modules of a runtime, and
// states what comes of them as results and records.
package runner
