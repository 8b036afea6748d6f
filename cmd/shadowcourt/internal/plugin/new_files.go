package plugin

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt"
	"github.com/shadowcourt/shadowcourt/abi"
)

// templates of `plugin new`: LANGUAGE/common for every role, LANGUAGE/ROLE for
// one, any/ for all languages. Each file's name ends in .tmpl, and what a template inserts stands
// between <% and %>.
//
//go:embed plugin_new
var newTemplates embed.FS

// plugin is what the templates see.
type plugin struct{ Name, Language, Role string }

// ABI is the version of the contract.
func (plugin) ABI() string { return abi.Version }

// Ident is the name as an identifier.
func (p plugin) Ident() string { return strings.ReplaceAll(p.Name, "-", "_") }

// vendored says where in the repository a language's SDK stands, and which of
// its files are copied to the folder shadowcourt.
type vendored struct{ root, folder string }

func sdkOf(language string) vendored {
	if language == "go" {
		return vendored{"abi", sdkFolder + "/abi"}
	}
	return vendored{"sdk/" + language, sdkFolder}
}

// scaffold gives the files of a new module, by path below its folder.
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
	for _, part := range []string{path.Join(p.Language, "common"), path.Join(p.Language, p.Role), seat} {
		if err := fill(files, path.Join("plugin_new", part), p); err != nil {
			return nil, err
		}
	}
	sdk := sdkOf(p.Language)
	err := fs.WalkDir(shadowcourt.SDKs, sdk.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if strings.HasPrefix(name, "abi/codec/host") {
			return nil // the new folder's programs and tests use the guest's codec, which needs no other module
		}
		content, err := shadowcourt.SDKs.ReadFile(name)
		files[path.Join(sdk.folder, strings.TrimPrefix(name, sdk.root))] = bytes.TrimPrefix(content, []byte("//go:build wasm\n\n"))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("SDK of %s: %w", p.Language, err)
	}
	return files, nil
}

// seatTemplate is the end of every README: how the module is seated.
const seatTemplate = "plugin_new/seat.md.tmpl"

// fill renders the templates of a folder.
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
