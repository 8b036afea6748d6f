// Command sbom writes the software bill of materials of a Go program, in CycloneDX JSON:
//
//	go run ./tools/sbom PROGRAM FILE
//
// It lists the Go modules that the linker noted in the program. The same program produces the same bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/shadowcourt/shadowcourt/internal/disk"
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
	if err := write(f, info); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}

// write writes the bill of a program. The same modules give the same bytes.
func write(w io.Writer, info *debug.BuildInfo) error {
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill(info))
}

// bill states the main module as the subject, and Go and all other modules as its components.
func bill(info *debug.BuildInfo) *cyclonedx.BOM {
	components := []cyclonedx.Component{{
		BOMRef: "pkg:golang/std@" + info.GoVersion, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + info.GoVersion,
	}}
	for _, m := range info.Deps {
		components = append(components, component(m, cyclonedx.ComponentTypeLibrary))
	}
	subject := component(&info.Main, cyclonedx.ComponentTypeApplication)
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &subject}
	bom.Components = &components
	return bom
}

// component states one module, with the hash of its zip file as go.sum has it, if it has one.
func component(m *debug.Module, kind cyclonedx.ComponentType) cyclonedx.Component {
	if m.Replace != nil && m.Replace.Sum != "" {
		m = m.Replace
	}
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cyclonedx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
