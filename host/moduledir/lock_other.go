//go:build !unix || aix || solaris

package moduledir

// Lock does nothing on this system: one process at a time must be seen to by
// the caller.
func (*Dir) Lock() (unlock func(), err error) { return func() {}, nil }
