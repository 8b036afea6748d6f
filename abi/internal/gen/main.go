// Command gen writes what is generated from the types of package abi: the codec of Go, the JSON Schemas, the test vectors, and the
// messages of the SDKs in other languages. Run it with `go generate ./abi`.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the generated files of dir, the folder of package abi, and removes those that are no longer generated.
func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	stale, err := stale(dir, files)
	if err != nil {
		return err
	}
	for _, name := range stale {
		err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
	}
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644))
	}
	return err
}

// contents are files by their path below the folder of package abi.
type contents map[string][]byte

func generate(dir string) (contents, error) {
	m, err := model.Load(dir)
	if err != nil {
		return nil, err
	}
	files := contents{}
	return files, errors.Join(files.codec(m), files.schemas(m), files.vectors(m), files.sdks(m))
}

// stale lists the files below dir that were generated once and are no longer.
func stale(dir string, files contents) ([]string, error) {
	var list []string
	for _, pattern := range []string{"codec/*_gen.go", "codec/*_gen_test.go", "schema/json/*", "testdata/vectors/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				return nil, err
			}
			if files[filepath.ToSlash(rel)] == nil {
				list = append(list, rel)
			}
		}
	}
	return list, nil
}
