//go:build unix

package record

import "syscall"

// openNow has a pipe open at once, whether somebody has its other end or not.
const openNow = syscall.O_NONBLOCK
