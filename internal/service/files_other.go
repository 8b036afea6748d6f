//go:build !unix

package service

// fileLimit is how many files the process may have open: these systems have no such limit.
func fileLimit() int { return 2 * mostConnections }
