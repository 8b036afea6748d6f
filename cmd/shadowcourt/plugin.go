package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/outfile"
)

func newPlugin(s stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Short:   "Inspect, list, annotate, export, measure and swap modules",
		Example: "  shadowcourt plugin list",
		Args:    noSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginInspect(s), newPluginList(s), newPluginAnnotate(s), newPluginExport(s), newPluginBench(s), newPluginSwap(s), newPluginRollback(s))
	cmd.AddCommand(newPluginCheck(s), newPluginNew(s))
	return cmd
}

func newPluginInspect(s stdio) *cobra.Command {
	var format, pipelineFile, cache string
	var describe bool
	cmd := &cobra.Command{
		Use:   "inspect FILE|NAME",
		Short: "Show what a module is, without running it",
		Long: `Show the manifest, imports, exports, size and digests of a .wasm file, or of an embedded
module by its name, and which of the capabilities that it asks for the pipelines would
grant. Nothing of the module is compiled or run, but with --describe: then it is run with
nothing granted, and asked a small request of every kind that it has a function for.`,
		Example: "  shadowcourt plugin inspect challenger\n  shadowcourt plugin inspect clerk --describe",
		Args:    exactArgs(1, "one file or the name of an embedded module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			wasm, err := readModule(args[0])
			if err != nil {
				return err
			}
			info, err := module.Inspect(wasm)
			if err != nil {
				return inputError(fmt.Errorf("%s: %w", args[0], err))
			}
			granted, err := grantsOf(info, pipelineFile)
			if err != nil {
				return err
			}
			var described []module.Description
			if describe {
				if cache == "none" {
					cache = ""
				}
				if described, err = module.Describe(cmd.Context(), wasm, cache); err != nil {
					return inputError(fmt.Errorf("%s: %w", args[0], err))
				}
			}
			switch format {
			case "json":
				return printInfoJSON(s, info, granted, described)
			case "table":
				printInfo(s, info, granted)
				if describe {
					printDescribed(s, described)
				}
				return nil
			default:
				return inputError(fmt.Errorf("--format %q: use table or json", format))
			}
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "table or json")
	cmd.Flags().StringVar(&pipelineFile, "pipeline", "", "pipeline whose grants are looked at (default: the shipped ones)")
	cmd.Flags().BoolVar(&describe, "describe", false, "run the module with nothing granted, and say what it answers")
	cacheFlag(cmd.Flags(), &cache, "folder for compiled modules, or none")
	return cmd
}

// readFile reads a module, or a manifest, which is smaller.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return module.Read(f, name)
}

// readModule reads a file, or an embedded module when the name is none's.
func readModule(name string) ([]byte, error) {
	wasm, err := readFile(name)
	if err == nil || filepath.Base(name) != name || strings.Contains(name, ".") {
		return wasm, inputError(err)
	}
	modules, embedErr := bundle.FS()
	if embedErr != nil {
		return nil, embedErr
	}
	if wasm, embedErr = fs.ReadFile(modules, name+".wasm"); embedErr != nil {
		return nil, inputError(fmt.Errorf("%s is neither a file nor an embedded module", name))
	}
	return wasm, nil
}

func printInfo(s stdio, info *module.Info, granted map[abi.Capability][]string) {
	line := func(key, value string) {
		if value == "" {
			value = "none"
		}
		fmt.Fprintf(s.out, "%-13s %s\n", key, value)
	}
	if m := info.Manifest; m != nil {
		line("name", inert.Line(m.Name))
		line("version", inert.Line(m.Version))
		line("abi", inert.Line(m.ABI))
		line("calls", join(m.Calls))
		line("families", join(m.Families))
		line("edges", inert.Line(strings.Join(m.Edges, " ")))
		line("criteria", inert.Line(strings.Join(m.Criteria, " ")))
		line("capabilities", join(m.Capabilities))
		line("granted", grantLine(m.Capabilities, granted))
		line("source", inert.Line(m.Source))
		line("licence", inert.Line(m.Licence))
	} else if info.ManifestError != nil {
		line("manifest", "cannot be read: "+inert.Line(info.ManifestError.Error()))
	} else {
		line("manifest", "none; write one with `shadowcourt plugin annotate`")
	}
	line("binding", info.Binding)
	line("size", fmt.Sprintf("%d bytes", info.Size))
	line("digest", info.Digest)
	line("code digest", info.CodeDigest)
	line("exports", inert.Line(strings.Join(info.Exports, " ")))
	line("imports", inert.Line(strings.Join(info.Imports, " ")))
}

func printInfoJSON(s stdio, info *module.Info, granted map[abi.Capability][]string, described []module.Description) error {
	type manifest struct {
		Name         string   `json:"name"`
		Version      string   `json:"version"`
		ABI          string   `json:"abi"`
		Calls        []string `json:"calls"`
		Families     []string `json:"families"`
		Edges        []string `json:"edges"`
		Criteria     []string `json:"criteria"`
		Capabilities []string `json:"capabilities"`
		Source       string   `json:"source,omitempty"`
		Licence      string   `json:"licence,omitempty"`
	}
	out := struct {
		*module.Info
		Manifest  *manifest                   `json:"manifest"`
		Error     *string                     `json:"manifest_error,omitempty"`
		Granted   map[abi.Capability][]string `json:"granted"`
		Described []module.Description        `json:"described,omitempty"`
	}{Info: info, Granted: granted, Described: described}
	if m := info.Manifest; m != nil {
		out.Manifest = &manifest{
			m.Name, m.Version, m.ABI, words(m.Calls), words(m.Families), words(m.Edges), words(m.Criteria),
			words(m.Capabilities), m.Source, m.Licence,
		}
	}
	if info.ManifestError != nil {
		text := info.ManifestError.Error()
		out.Error = &text
	}
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func newPluginList(s stdio) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the embedded modules, or those of a folder",
		Example: "  shadowcourt plugin list",
		Args:    exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			modules, err := moduleFS(dir)
			if err != nil {
				return err
			}
			t := table.NewWriter()
			t.SetStyle(listStyle())
			t.SetColumnConfigs([]table.ColumnConfig{
				{Name: "NAME", WidthMax: 16}, {Name: "SERVES", WidthMax: 24, WidthMaxEnforcer: text.WrapSoft},
			})
			t.SuppressTrailingSpaces()
			t.AppendHeader(table.Row{"MODULE", "NAME", "VERSION", "SERVES", "DIGEST"})
			err = eachModule(modules, func(name string, wasm []byte) error {
				t.AppendRow(listRow(name, wasm))
				return nil
			})
			if err != nil {
				return err
			}
			if t.Length() == 0 {
				return inputError(fmt.Errorf("--modules: there is no .wasm file in %s", dir))
			}
			_, err = fmt.Fprintln(s.out, strings.Replace(t.Render(), "──\n", "\n", 1)) // the rule covers the last column's padding too
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "modules", "", "folder with .wasm files (default: the embedded modules)")
	return cmd
}

// listStyle is for 80 columns: the rest `plugin inspect` tells.
func listStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}

func listRow(name string, wasm []byte) table.Row {
	info, err := module.Inspect(wasm)
	if err != nil {
		return table.Row{inert.Line(name), "not wasm", "", inertLine(err.Error()), ""}
	}
	digest := info.Digest[:min(len(info.Digest), len("sha256:")+12)]
	m := info.Manifest
	if m == nil {
		return table.Row{inert.Line(name), "no manifest", "", join(info.Calls), digest}
	}
	serves := append(words(m.Families), words(m.Edges)...)
	return table.Row{
		inert.Line(name), inert.Line(m.Name), inert.Line(m.Version), inert.Line(strings.Join(append(serves, m.Criteria...), " ")), digest,
	}
}

// moduleFS is a folder of modules; empty means the embedded ones.
func moduleFS(dir string) (fs.FS, error) {
	if dir == "" {
		return bundle.FS()
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, inputError(fmt.Errorf("--modules: %w", err))
	}
	if !info.IsDir() {
		return nil, inputError(fmt.Errorf("--modules: %s is no folder", dir))
	}
	return os.DirFS(dir), nil
}

func newPluginAnnotate(s stdio) *cobra.Command {
	var manifest, output string
	cmd := &cobra.Command{
		Use:   "annotate FILE --manifest MANIFEST.yaml",
		Short: "Write a manifest into a module",
		Long: `Write a manifest, given as YAML, into the custom section of a .wasm file. A manifest that
the file has already is replaced; the code stays as it is, and so does its code digest.
Of the lists only calls must be there: families, edges, criteria and capabilities are empty
when they are left out. A manifest that no module may have (a name that stands twice, families
without node calls, ...) is rejected. What ` + "`plugin check`" + ` would reject of the manifest beside this file is
warned of.`,
		Example: "  shadowcourt plugin annotate bin/modules/challenger.wasm \\\n" +
			"    --manifest plugins/challenger/manifest.yaml --output challenger.wasm",
		Args: exactArgs(1, "one .wasm file"),
		RunE: func(_ *cobra.Command, args []string) error {
			wasm, err := readFile(args[0])
			if err != nil {
				return inputError(err)
			}
			text, err := readFile(manifest)
			if err != nil {
				return inputError(fmt.Errorf("--manifest: %w", err))
			}
			annotated, err := module.Annotate(wasm, manifest, text)
			if err != nil {
				return inputError(err)
			}
			if output == "" {
				output = args[0]
			}
			if err := outfile.Replace(output, annotated); err != nil {
				return err
			}
			fmt.Fprintf(s.err, "%s: %d bytes\n", inertLine(output), len(annotated))
			for _, fault := range conformance.ManifestFaults(annotated) {
				fmt.Fprintf(s.err, "warning: %s\n", inertLine(fault))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&manifest, "manifest", "manifest.yaml", "the manifest, as YAML")
	cmd.Flags().StringVar(&output, "output", "", "where to write (default: FILE itself)")
	return cmd
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

func join[T ~string](list []T) string { return inert.Line(strings.Join(words(list), " ")) }
