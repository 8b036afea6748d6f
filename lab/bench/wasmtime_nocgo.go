//go:build !cgo

package main

import "errors"

// Wasmtime needs cgo.
func Wasmtime([]byte) (warm, fresh Call, closed func(), err error) {
	return nil, nil, nil, errors.New("wasmtime's Go package needs cgo")
}
