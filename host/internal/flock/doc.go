// Package flock locks files against other processes. A lock ends with its file, so that a process that is killed leaves none.
package flock

import "errors"

// ErrLocked: another process has locked the file.
var ErrLocked = errors.New("another process has locked the file")
