package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// languages and roles of `plugin new`, each with a folder of templates.
func newLanguages() []string { return []string{"go", "rust", "typescript", "c"} }

func newRoles() []string { return []string{"judge", "persona", "edge"} }

// pluginName is what the tools of all languages take for a name, and what
// fits where C writes the manifest.
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
			if err := oneOf("--lang", language, newLanguages()); err != nil {
				return err
			}
			if err := oneOf("--role", role, newRoles()); err != nil {
				return err
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

func oneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	if value == "" {
		return cli.InputError(fmt.Errorf("%s is missing: use %s", flag, strings.Join(known, ", ")))
	}
	return cli.InputError(fmt.Errorf("%s %s: use %s", flag, sanitize.Line(value), strings.Join(known, ", ")))
}

// writeFolder writes files below a folder that must not be there yet. Where
// that fails half-way the folder is taken away again.
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
