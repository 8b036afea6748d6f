package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// writeBill writes the software bill of materials of a Go program in CycloneDX JSON: the Go modules that the linker noted in it. The same
// program gives the same bytes.
func writeBill(program, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill(info)); err != nil {
		return err
	}
	return disk.Replace(file, text.Bytes())
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
