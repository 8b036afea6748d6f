// Command gensdk writes the messages of the guest SDKs, in Rust, C and
// TypeScript, from the types of package abi: what a module reads and writes,
// and nothing of the host's own state. The codecs that these descriptions
// drive are written by hand, one small one in each language, below sdk/.
package main

//go:generate go run . -dir ../../../sdk

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

func main() {
	dir := flag.String("dir", "sdk", "the folder of the guest SDKs")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gensdk:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	m, err := model.Load("")
	if err != nil {
		return err
	}
	files, err := render(m)
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
