// Command genvectors writes the test vectors of abi/testdata/vectors from the
// model of package abi. It shares no code with the codecs: what they must
// answer is worked out here a second time.
package main

//go:generate go run . -dir ../../testdata/vectors

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	dir := flag.String("dir", "testdata/vectors", "where the vectors are written")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "genvectors:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	m, err := model.Load("")
	if err != nil {
		return err
	}
	files, err := generate(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range stale {
		if files[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate gives the content of each vector file by its name.
func generate(m *model.Model) (map[string][]byte, error) {
	files := make(map[string][]byte, len(m.Structs))
	for _, s := range m.Structs {
		set := newSet(s)
		set.valid()
		set.fields()
		set.message()
		set.rules()
		content, err := set.encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.WireName, err)
		}
		files[s.WireName+".json"] = content
	}
	return files, nil
}
