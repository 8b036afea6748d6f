//go:build mutants

// Command runner checks the rewritten decoder against the vectors, with one check off at a time, and prints the numbers of those that no
// vector notices. It is only built in the overlay that the test of package mutants makes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	"github.com/shadowcourt/shadowcourt/abi/internal/testkit/mutants"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
)

func main() {
	os.Exit(run(os.Stdin, os.Stdout, os.Stderr))
}

func run(stdin io.Reader, stdout, stderr io.Writer) int {
	var sites []mutants.Site
	err := json.NewDecoder(stdin).Decode(&sites)
	var sets []vectors.Set
	if err == nil {
		sets, err = vectors.Sets()
	}
	if err == nil && noticed(sets, "") {
		err = errors.New("a vector fails with every check on")
	}
	if err != nil {
		fmt.Fprintln(stderr, "runner:", err)
		return 1
	}
	survivors := []int{}
	for _, s := range sites {
		abi.Mutant = s.Number
		if !noticed(sets, s.Type) {
			survivors = append(survivors, s.Number)
		}
	}
	if err := json.NewEncoder(stdout).Encode(survivors); err != nil {
		fmt.Fprintln(stderr, "runner:", err)
		return 1
	}
	return 0
}

// noticed says whether some vector fails, beginning with those of the type.
func noticed(sets []vectors.Set, goName string) bool {
	first := slices.IndexFunc(sets, func(s vectors.Set) bool { return s.Type == model.WireName(goName) })
	if first >= 0 && fails(sets[first]) {
		return true
	}
	return slices.ContainsFunc(sets, fails)
}

func fails(set vectors.Set) bool {
	for i := range set.Vectors {
		if vectors.Check(set.Type, &set.Vectors[i], decode) != nil {
			return true
		}
	}
	return false
}

// decode is the host's codec; a decoder that panics has been noticed.
func decode(name string, data []byte, limit int) (canonical []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panics")
		}
	}()
	t, ok := codec.Lookup(name)
	if !ok {
		return nil, errors.New("no type " + name)
	}
	return t.Canonical(data, limit)
}
