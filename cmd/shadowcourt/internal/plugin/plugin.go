// Package plugin is the command about modules, with its subcommands.
package plugin

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// New is the command `plugin`.
func New(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Short:   "Write, inspect, measure, swap, sign and publish modules",
		Example: "  shadowcourt plugin inspect challenger",
		Args:    cli.NoSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginNew(s), newPluginAnnotate(s), newPluginCheck(s), newPluginBench(s), newPluginInspect(s), newPluginExport(s), newPluginSwap(s), newPluginRollback(s))
	cmd.AddCommand(newPluginPush(s), newPluginPull(s), newPluginCopy(s), newPluginVerify(s))
	cmd.AddCommand(
		cli.Removed("diff", "`plugin inspect` shows what each version asks for, and `plugin verify` what the trust policy decides"),
		cli.Removed("list", "`shadowcourt version` lists the embedded modules, and `plugin inspect` describes a module"),
		cli.Removed("publish", "use `plugin push --reproducible DIR REF`"),
		cli.Removed("search", "look in the registry's own catalog, and run `plugin inspect REF`"),
		cli.Removed("sign", "use `plugin pull REF --output FILE` and `plugin push FILE REF --key KEY`, which adds the signature"),
	)
	return cmd
}

func newPluginInspect(s cli.Streams) *cobra.Command {
	var form format
	var pipelineFile, cache string
	var describe bool
	var own open.Trust
	cmd := &cobra.Command{
		Use:   "inspect FILE|NAME|REF",
		Short: "Show what a module is, without running it",
		Long: `Show the manifest, imports, exports, size and digests of a .wasm file, or of an embedded
module by its name, and which of the capabilities that it asks for the pipelines would
grant. Nothing of the module is compiled or run, but with --describe: then it is run with
nothing granted, and asked a small request of every kind that it has a function for.

Of a reference (oci://... or oci-layout:...) show what the registry says, and what the trust
policy decides about each role that the module can play. The module is not downloaded.`,
		Example: "  shadowcourt plugin inspect challenger\n  shadowcourt plugin inspect clerk --describe\n  shadowcourt plugin inspect oci-layout:layout:clerk",
		Args:    cli.ExactArgs(1, "one file, the name of an embedded module, or a reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if moduleref.Is(args[0]) {
				for _, flag := range []string{"describe", "pipeline"} {
					if cmd.Flags().Changed(flag) {
						return cli.InputError(fmt.Errorf("--%s needs the module: `shadowcourt plugin pull` downloads it", flag))
					}
				}
				return runInspectRef(cmd.Context(), s, args[0], form, &own)
			}
			wasm, err := open.Module(args[0])
			if err != nil {
				return err
			}
			info, err := module.Inspect(wasm)
			if err != nil {
				return cli.InputError(fmt.Errorf("%s: %w", args[0], err))
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
					return cli.InputError(fmt.Errorf("%s: %w", args[0], err))
				}
			}
			if form == "json" {
				return printInfoJSON(s, info, granted, described)
			}
			printInfo(s, info, granted)
			if describe {
				printDescribed(s, described)
			}
			return nil
		},
	}
	form.flag(cmd.Flags())
	own.PolicyFlag(cmd.Flags())
	cmd.Flags().StringVar(&pipelineFile, "pipeline", "", "pipeline whose grants are looked at (default: the shipped ones)")
	cmd.Flags().BoolVar(&describe, "describe", false, "run the module with nothing granted, and say what it answers")
	open.CacheFlag(cmd.Flags(), &cache, "folder for compiled modules, or none")
	return cmd
}

func printInfo(s cli.Streams, info *module.Info, granted map[abi.Capability][]string) {
	line := func(key, value string) { fmt.Fprintf(s.Out, "%-13s %s\n", key, sanitize.Log(cmp.Or(value, "none"))) }
	if m := info.Manifest; m != nil {
		manifestOf(m).show(line)
		line("granted", grantLine(m.Capabilities, granted))
	} else if info.ManifestError != nil {
		line("manifest", "cannot be read: "+sanitize.Line(info.ManifestError.Error()))
	} else {
		line("manifest", "none; write one with `shadowcourt plugin annotate`")
	}
	line("binding", info.Binding)
	line("size", fmt.Sprintf("%d bytes", info.Size))
	line("digest", info.Digest)
	line("code digest", info.CodeDigest)
	line("exports", sanitize.Line(strings.Join(info.Exports, " ")))
	line("imports", sanitize.Line(strings.Join(info.Imports, " ")))
}

func printInfoJSON(s cli.Streams, info *module.Info, granted map[abi.Capability][]string, described []module.Description) error {
	out := struct {
		*module.Info
		Manifest  *manifestJSON               `json:"manifest"`
		Error     *string                     `json:"manifest_error,omitempty"`
		Granted   map[abi.Capability][]string `json:"granted"`
		Described []module.Description        `json:"described,omitempty"`
	}{Info: info, Granted: granted, Described: described}
	if m := info.Manifest; m != nil {
		out.Manifest = manifestOf(m)
	}
	if info.ManifestError != nil {
		text := info.ManifestError.Error()
		out.Error = &text
	}
	return writeJSON(s, out)
}

func newPluginAnnotate(s cli.Streams) *cobra.Command {
	var manifest, output string
	cmd := &cobra.Command{
		Use:   "annotate FILE --manifest MANIFEST.yaml",
		Short: "Write a manifest into a module",
		Long: `Write a manifest, given as YAML, into the custom section of a .wasm file. A manifest that
the file has already is replaced; the code stays as it is, and so does its code digest.
Of the lists only calls must be there: families, edges, criteria and capabilities are empty
when they are left out. A manifest that no module may have (a name that occurs twice, families
without node calls, ...) is rejected. What ` + "`plugin check`" + ` would reject of the manifest beside this file is
warned of.`,
		Example: "  shadowcourt plugin annotate bin/modules/challenger.wasm \\\n" +
			"    --manifest plugins/challenger/manifest.yaml --output challenger.wasm",
		Args: cli.ExactArgs(1, "one .wasm file"),
		RunE: func(_ *cobra.Command, args []string) error {
			wasm, err := open.File(args[0])
			if err != nil {
				return cli.InputError(err)
			}
			text, err := open.File(manifest)
			if err != nil {
				return cli.InputError(fmt.Errorf("--manifest: %w", err))
			}
			annotated, err := module.Annotate(wasm, manifest, text)
			if err != nil {
				return cli.InputError(err)
			}
			if output == "" {
				output = args[0]
			}
			if err := disk.Replace(output, annotated); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "%s: %d bytes\n", sanitize.Line(output), len(annotated))
			for _, fault := range conformance.ManifestFaults(annotated) {
				fmt.Fprintf(s.Err, "warning: %s\n", sanitize.Line(fault))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&manifest, "manifest", "manifest.yaml", "the manifest, as YAML")
	cmd.Flags().StringVar(&output, "output", "", "where to write (default: FILE itself)")
	return cmd
}

// grantsOf says of each capability that a module asks for which pipelines would grant it: the shipped ones, or the one that is named.
func grantsOf(info *module.Info, file string) (map[abi.Capability][]string, error) {
	if info.Manifest == nil {
		return map[abi.Capability][]string{}, nil
	}
	files := []string{pipelines.DefectCourt, pipelines.RCAInvestigation}
	var defs []*pipeline.Definition
	if file != "" {
		def, err := open.Pipeline(file)
		if err != nil {
			return nil, err
		}
		defs, files = append(defs, def), nil
	}
	for _, name := range files {
		def, err := pipeline.LoadFS(pipelines.FS, name)
		if err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	return module.Granted(info.Manifest.Name, info.Manifest.Capabilities, defs...), nil
}

// grantLine tells the grants to people.
func grantLine(asked []abi.Capability, granted map[abi.Capability][]string) string {
	var parts []string
	for _, capability := range asked {
		if by := granted[capability]; len(by) > 0 {
			parts = append(parts, string(capability)+" (by "+strings.Join(by, ", ")+")")
		} else {
			parts = append(parts, string(capability)+" by nobody: `grants: ["+string(capability)+"]` of its persona would")
		}
	}
	return sanitize.Line(strings.Join(parts, "; "))
}

func printDescribed(s cli.Streams, list []module.Description) {
	fmt.Fprintln(s.Out, "\nasked, with nothing granted")
	for _, d := range list {
		fmt.Fprintf(s.Out, "  %-26s %-9s %s\n", d.Asked, d.Outcome, sanitize.Line(d.Detail))
	}
}

func newPluginExport(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the embedded modules into a folder",
		Long: `Write the embedded modules into a folder, as NAME.wasm. With modules of your own beside
them, or in the place of some, it is a folder for --modules. A run that watches the folder takes
all of them at once.`,
		Example: "  shadowcourt plugin export modules",
		Args:    cli.ExactArgs(1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			modules, err := bundle.FS()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return cli.InputError(err)
			}
			d, err := moduledir.Open(args[0])
			if err != nil {
				return cli.InputError(err)
			}
			unlock, err := d.Lock()
			if err != nil {
				return err
			}
			defer unlock()
			files := map[string][]byte{}
			err = open.EachModule(modules, func(name string, wasm []byte) error {
				files[name] = wasm
				return nil
			})
			if err != nil {
				return err
			}
			changes, err := d.Put(files)
			if err != nil {
				return err
			}
			for _, c := range changes {
				if _, err := fmt.Fprintln(s.Out, filepath.Join(args[0], c.Name+".wasm")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
