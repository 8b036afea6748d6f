package plugin

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt"
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// languages and roles of `plugin new`, each with a folder of templates.
func newLanguages() []string { return []string{"go", "rust", "typescript", "c"} }

func newRoles() []string { return []string{"judge", "persona", "edge"} }

// pluginName is what the tools of all languages take for a name, and what fits where C writes the manifest.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

const maxPluginName = 31

// sdkFolder is where the guest SDK stands in a new module, and the name of its package.
const sdkFolder = "shadowcourt"

func newPluginNew(s cli.Streams) *cobra.Command {
	var language, role string
	cmd := &cobra.Command{
		Use:   "new NAME --lang LANGUAGE --role ROLE",
		Short: "Begin a module: a folder that builds at once",
		Long: `Make a folder NAME with a small module that does something sensible, its tests, a README
that says how to build it, and the guest SDK of the language. It builds at once with the
language's own tools. Nothing that exists is overwritten.

A judge scores texts under audit. A persona takes part in a trial: the one that is made reads
the documents at discover. An edge is an evaluator: it says whether an edge of the graph fires.`,
		Example: "  shadowcourt plugin new my-judge --lang rust --role judge",
		Args:    cli.ExactArgs(1, "the module's name"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if len(name) > maxPluginName || !pluginName.MatchString(name) || name == sdkFolder {
				return cli.InputError(fmt.Errorf("%s is no name for a module: use lower-case letters, digits and single dashes, %d at most, a letter first, and not %s",
					sanitize.Line(name), maxPluginName, sdkFolder))
			}
			for _, f := range []struct {
				flag, value string
				known       []string
			}{{"--lang", language, newLanguages()}, {"--role", role, newRoles()}} {
				switch known := strings.Join(f.known, ", "); {
				case f.value == "":
					return cli.InputError(fmt.Errorf("%s is missing: use %s", f.flag, known))
				case !slices.Contains(f.known, f.value):
					return cli.InputError(fmt.Errorf("%s %s: use %s", f.flag, sanitize.Line(f.value), known))
				}
			}
			files, err := scaffold(plugin{Name: name, Language: language, Role: role})
			if err != nil {
				return err
			}
			if err := writeFolder(name, files); err != nil {
				return cli.InputError(err)
			}
			fmt.Fprintf(s.Err, "%s: %s in %s, %d files; %s says how to build it\n",
				name, role, language, len(files), filepath.Join(name, "README.md"))
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", strings.Join(newLanguages(), ", "))
	cmd.Flags().StringVar(&role, "role", "", strings.Join(newRoles(), ", "))
	return cmd
}

// writeFolder writes files below a folder that must not be there yet. Where that fails half-way the folder is taken away again.
func writeFolder(dir string, files map[string][]byte) (err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
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

// templates of `plugin new`: LANGUAGE/common for every role, LANGUAGE/ROLE for one, any/ for all languages. Each file's name ends in .tmpl,
// and what a template inserts stands between <% and %>.
//
//go:embed plugin_new
var newTemplates embed.FS

// plugin is what the templates see.
type plugin struct{ Name, Language, Role string }

// ABI is the version of the contract.
func (plugin) ABI() string { return abi.Version }

// Ident is the name as an identifier.
func (p plugin) Ident() string { return strings.ReplaceAll(p.Name, "-", "_") }

func scaffold(p plugin) (map[string][]byte, error) {
	files := map[string][]byte{}
	seat := "any/court"
	if p.Role == "judge" {
		seat = "any/judge"
	} else {
		court, err := p.court()
		if err != nil {
			return nil, err
		}
		files["court.yaml"] = court
	}
	for _, part := range []string{path.Join(p.Language, "common"), path.Join(p.Language, p.Role), "any/common", seat} {
		if err := fill(files, path.Join("plugin_new", part), p); err != nil {
			return nil, err
		}
	}
	root, folder := "sdk/"+p.Language, sdkFolder // of the SDK, in the repository and in the new folder
	if p.Language == "go" {
		root, folder = "abi", sdkFolder+"/abi"
	}
	err := fs.WalkDir(shadowcourt.SDKs, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if strings.HasPrefix(name, "abi/codec/host") {
			return nil // the new folder's programs and tests use the guest's codec, which needs no other module
		}
		content, err := shadowcourt.SDKs.ReadFile(name)
		files[path.Join(folder, strings.TrimPrefix(name, root))] = bytes.TrimPrefix(content, []byte("//go:build wasm\n\n"))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("SDK of %s: %w", p.Language, err)
	}
	return files, nil
}

// seatTemplate is the end of every README: how the module is seated.
const seatTemplate = "plugin_new/seat.md.tmpl"

func fill(files map[string][]byte, root string, p plugin) error {
	return fs.WalkDir(newTemplates, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := newTemplates.ReadFile(name)
		if err != nil {
			return err
		}
		t, err := template.New(name).Delims("<%", "%>").Option("missingkey=error").ParseFS(newTemplates, seatTemplate)
		if err != nil {
			return err
		}
		if t, err = t.Parse(string(text)); err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, p); err != nil {
			return err
		}
		to := strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), ".tmpl")
		files[strings.ReplaceAll(to, "dot.", ".")] = out.Bytes()
		return nil
	})
}

// WASM is the file that the build leaves.
func (p plugin) WASM() string {
	switch p.Language {
	case "rust":
		return "target/wasm32-unknown-unknown/release/" + p.Ident() + ".wasm"
	case "go":
		return p.Name + ".wasm"
	}
	return "build/" + p.Name + ".wasm"
}

// Asker is what the SDK asks language models with.
func (p plugin) Asker() string {
	return map[string]string{
		"go": "`node.HandleModels`", "rust": "`serve_node_models!`", "c": "`SC_NODE_MODELS`", "typescript": "`serveNodeModels`",
	}[p.Language]
}

// Seat is what a candidate takes the place of: the persona, or the module of an edge.
func (p plugin) Seat() string {
	if p.Role == "persona" {
		return "reader"
	}
	return p.Name
}

// court is the shipped court with the module in it.
func (p plugin) court() ([]byte, error) {
	const head = "# The court that tries uncertain classifications of test failures (D0 to D4).\n"
	edits := [][2]string{{head, "# The shipped court with the module " + p.Name + " in it.\n"}, {"try docket.jsonl --pipeline pipelines/defect-court.yaml", "try case.jsonl --pipeline court.yaml --modules modules"}, {"graph pipelines/defect-court.yaml", "graph court.yaml"}}
	if p.Role == "persona" {
		edits = append(
			edits,
			[2]string{"\nzones:\n", "  # Reads the documents. The hearing stays with bulwark.\n  reader:\n    name: Reader\n    element: earth\n    role: bench\n    alignment: bench\n    module: " + p.Name + "\n\nzones:\n"},
			[2]string{"    family: discover\n    persona: bulwark\n", "    family: discover\n    persona: reader\n"},
		)
	} else {
		edits = append(edits, [2]string{"    evaluator: HD1\n", "    evaluator: confident # a rule of " + p.Name + "\n    module: " + p.Name + "\n"})
	}
	text, err := pipelines.FS.ReadFile(pipelines.DefectCourt)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if bytes.Count(text, []byte(e[0])) != 1 {
			return nil, fmt.Errorf("%s: %q does not stand there once", pipelines.DefectCourt, e[0])
		}
		text = bytes.Replace(text, []byte(e[0]), []byte(e[1]), 1)
	}
	return text, nil
}
