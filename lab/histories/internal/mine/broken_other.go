//go:build !linux

package mine

import "errors"

// Private does nothing here.
func Private() error { return nil }

func breakEnvironment(string) (func() error, error) { return nil, errors.New("this needs Linux") }
