package main

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/module"
)

// NewVersion is the command `version`.
func NewVersion(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and the digests of the embedded modules",
		Example: "  shadowcourt version",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE:    func(*cobra.Command, []string) error { return printVersion(s) },
	}
}

func printVersion(s cli.Streams) error {
	info, ok := debug.ReadBuildInfo()
	fmt.Fprintf(s.Out, "shadowcourt %s, ABI %s, %s, %s/%s\n", versionOf(info), abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				fmt.Fprintln(s.Out, "wazero", dep.Version)
			}
		}
	}
	modules, err := module.Embedded()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(s.Out, "%-12s %s\n", name, modules[name].Digest)
	}
	return err
}

// Version is that of the program.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf is the version that the go command notes in what it builds: of the module that was installed, or of the commit.
func versionOf(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
