// Command genschema writes the JSON Schemas of abi/schema/json from the model
// of package abi: one file for each type, complete in itself.
package main

//go:generate go run . -dir ../../schema/json

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	dir := flag.String("dir", "schema/json", "where the schemas are written")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
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
	there, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range there {
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
