// Command sbom writes the software bill of materials of a Go program, in CycloneDX JSON:
//
//	go run ./tools/sbom PROGRAM FILE
//
// It lists the Go modules that the linker noted in the program. The same program produces the same bytes.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sbom"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("expected PROGRAM and FILE, got %d arguments", len(args))
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	f, err := disk.Create(args[1])
	if err != nil {
		return err
	}
	if err := sbom.Write(f, info); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}
