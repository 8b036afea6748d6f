// Command gen writes package abi/codec from the types of package abi. Run it with `go generate ./abi`.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	os.Exit(run(".", os.Stderr))
}

// run writes the generated files below dir, the folder of package abi.
func run(dir string, stderr io.Writer) int {
	m, err := model.Load(dir)
	if err == nil {
		err = write(dir, m)
	}
	if err != nil {
		fmt.Fprintln(stderr, "gen:", err)
		return 1
	}
	return 0
}

// write puts the files in place and removes those that are no longer generated.
func write(dir string, m *model.Model) error {
	files, err := render(m)
	if err != nil {
		return err
	}
	old, err := generated(dir)
	if err != nil {
		return err
	}
	for _, name := range old {
		if files[name] == nil {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generated lists the generated files that are there, below dir.
func generated(dir string) ([]string, error) {
	var out []string
	for _, pattern := range []string{"codec/*_gen.go", "codec/*_gen_test.go"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return nil, err
			}
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out, nil
}
