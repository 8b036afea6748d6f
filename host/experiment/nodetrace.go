package experiment

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	tree "github.com/shadowcourt/shadowcourt/repo"
)

//go:embed definitions/node_trace.cjs
var nodeTrace []byte

const nodeTraceName = "shadowcourt_trace.cjs"

// traceNode has every process of Node.js tell which files it evaluates; native also for what Node.js loads by itself, where the runner leaves
// that to it.
func traceNode(c *isolate.Command, folder string, native bool) error {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Join(folder, nodeTraceName))
	c.Env = prepend(c.Env, "NODE_OPTIONS", `--require="`+quoted+`"`, " ")
	err := os.WriteFile(filepath.Join(folder, nodeTraceName), nodeTrace, 0o600)
	if native {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, "native"), nil, 0o600))
	}
	return err
}

// loadedFiles says whether files of JavaScript were loaded from the tree. A package that the tree has may not come from elsewhere, such as a
// copy in node_modules; other packages there are installed.
func (r *defined) loadedFiles(written []byte, top, source string, env environment) loaded {
	var names []string
	return r.loadedFrom(written, top, env, func(name, file string) foreign {
		if names == nil {
			names = append(r.packagesOf(env.Tree, source), "")
		}
		switch {
		case slices.Contains(names, name) && name != "":
			return ofProject
		case strings.Contains(filepath.ToSlash(file), "/node_modules/"):
			return installedFor
		}
		return unknownFile
	})
}

// packagesOf are the names of the packages that a tree has, which is written into a folder.
func (r *defined) packagesOf(t *tree.Tree, source string) []string {
	if known, ok := r.packages.Load(t); ok {
		return known.([]string) //nolint:forcetypeassert // nothing else is stored
	}
	var names []string
	for _, file := range t.Paths() {
		if path.Base(file) != "package.json" || sourcefile.IsTest(file) || strings.Contains("/"+file, "/node_modules/") {
			continue
		}
		var about struct {
			Name string `json:"name"`
		}
		data, err := plainFile(source, filepath.FromSlash(file), maxMarkerBytes)
		if err == nil && json.Unmarshal(data, &about) == nil && about.Name != "" {
			names = append(names, about.Name)
		}
	}
	r.packages.Store(t, names)
	return names
}
