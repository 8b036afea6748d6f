package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// NamedFile is a file and what it is on the command line.
type NamedFile struct{ What, Path string }

// File is a file with what it is on the command line. An empty path stands for none.
func File(what, path string) NamedFile { return NamedFile{what, path} }

// CheckOverwrites rejects an output that is also an input, and two outputs to one file, whether the files exist yet or not.
// Terminals, pipes and devices may be both.
func CheckOverwrites(inputs, outputs []NamedFile) error {
	var faults []error
	outputs = slices.DeleteFunc(outputs, func(f NamedFile) bool { return f.Path == "" })
	for i, out := range outputs {
		for _, in := range inputs {
			if in.Path != "" && !disk.Device(out.Path) && disk.Same(out.Path, in.Path) {
				faults = append(faults, fmt.Errorf("%s %q would write over %s that is read", out.What, out.Path, in.What))
			}
		}
		for _, other := range outputs[:i] {
			if disk.Same(other.Path, out.Path) {
				faults = append(faults, fmt.Errorf("%s and %s are the same file, %q", other.What, out.What, other.Path))
			}
		}
	}
	return errors.Join(faults...)
}
