// Package flock locks files against other processes. A lock ends with its file, so that a process that is killed leaves none.
// Only Linux was tested: macOS has the code of Linux, Windows its own, and of both it is known that they compile.
package flock

import "errors"

// ErrLocked: another process has locked the file.
var ErrLocked = errors.New("another process has locked the file")
