package main

import (
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/outfile"
)

// namedFile is a file and what it is on the command line.
type namedFile struct{ what, path string }

// checkOverwrites rejects an output that is also an input, and two outputs to one file.
func checkOverwrites(inputs, outputs []namedFile) error {
	var faults []error
	for i, out := range outputs {
		for _, in := range inputs {
			if in.path != "" && outfile.Exists(out.path) && outfile.Same(out.path, in.path) {
				faults = append(faults, fmt.Errorf("%s %q would write over %s that is read", out.what, out.path, in.what))
			}
		}
		for _, other := range outputs[:i] {
			if outfile.Same(other.path, out.path) {
				faults = append(faults, fmt.Errorf("%s and %s are the same file, %q", other.what, out.what, other.path))
			}
		}
	}
	return errors.Join(faults...)
}
