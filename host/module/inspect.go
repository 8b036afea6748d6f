// Package module looks at modules without a trial: it inspects and annotates them, checks them against the pipelines and
// rubrics that name them, measures their calls, and manages the cache of compiled modules. It reads profiles, too.
package module

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Info describes a module; nothing of it has to run for that.
type Info struct {
	Digest     string `json:"digest"`
	CodeDigest string `json:"code_digest"`
	Size       int    `json:"size"`
	// Binding is "direct" or "extism".
	Binding string `json:"binding"`
	// Imports as "module.name", exports by name, in file order.
	Imports []string `json:"imports"`
	Exports []string `json:"exports"`
	// Calls for which there is an export.
	Calls []abi.Call `json:"calls"`
	// Manifest is nil when the module has none, or none that can be read.
	Manifest *abi.Manifest `json:"-"`
	// ManifestError says why a manifest could not be read; nil otherwise.
	ManifestError error `json:"-"`
}

// Read reads a module, and rejects one of more than abi.DefaultModuleBytes without holding it. name is for messages.
func Read(r io.Reader, name string) ([]byte, error) { return court.ReadModule(r, name) }

// Inspect reads a module's sections and manifest. Nothing is compiled or run.
func Inspect(wasm []byte) (*Info, error) {
	info, err := sandbox.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	return describe(info), nil
}

// Embedded inspects the modules that are built into this program, by name. The error may be bundle.ErrNotBuilt.
func Embedded() (map[string]*Info, error) {
	files, err := court.Embedded()
	if err != nil {
		return nil, err
	}
	modules := make(map[string]*Info, len(files))
	for name, file := range files {
		info, err := file.Inspect()
		if err != nil {
			return nil, fmt.Errorf("embedded module %s: %w", name, err)
		}
		modules[name] = describe(info)
	}
	return modules, nil
}

func describe(info sandbox.Info) *Info {
	m := &Info{
		Digest: info.Digest.String(), CodeDigest: info.CodeDigest.String(), Size: info.Size,
		Binding: string(info.Binding), Imports: []string{}, Exports: []string{}, Calls: info.Calls,
	}
	for _, i := range info.Imports {
		m.Imports = append(m.Imports, i.Module+"."+i.Name)
	}
	for _, e := range info.Exports {
		m.Exports = append(m.Exports, e.Name)
	}
	if info.ManifestBytes != nil {
		manifest, err := codec.DecodeManifest(info.ManifestBytes, len(info.ManifestBytes))
		if m.ManifestError = err; err == nil {
			m.Manifest = &manifest
		}
	}
	return m
}

// Head gives what [Inspect] needs of a module, with the digests of the whole: no code and no data. Package bundle holds heads
// beside the embedded modules. The error is that of Inspect.
func Head(wasm []byte) ([]byte, error) { return sandbox.HeadOf(wasm) }

// Annotate gives the module with the manifest of a YAML file in its custom section, replacing the one it had. Lists
// that the file leaves out are empty. file is the name for messages.
func Annotate(wasm []byte, file string, manifest []byte) ([]byte, error) {
	var m abi.Manifest
	err := strictyaml.Message(file, manifest, func(message []byte) (err error) {
		m, err = codec.DecodeManifest(message, len(message))
		return err
	}, "families", "edges", "criteria", "capabilities")
	if err != nil {
		return nil, quoted(err)
	}
	if faults := registry.ManifestFaults(&m); len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s", file, strings.Join(faults, "\n"+file+": "))
	}
	annotated, err := wasmfile.Annotate(wasm, abi.ManifestSection, codec.AppendManifest(nil, &m))
	if err != nil {
		return nil, fmt.Errorf("annotate: %w", err)
	}
	return annotated, nil
}

// quoted says of numbers where strings are asked for how YAML makes them strings.
func quoted(err error) error {
	faults, _ := errors.AsType[strictyaml.Errors](err)
	for _, p := range faults {
		if p.Code == abi.CodeWrongType && (p.Path == "version" || p.Path == "abi") {
			p.Message += "; quote it, as in " + p.Path + `: "1.0"`
		}
	}
	return err
}

// CacheUsage is what a folder for compiled modules holds.
type CacheUsage struct {
	Entries int   // compiled modules
	Bytes   int64 // that they take together
}

// MaxCacheBytes is what compiled modules may take together in a folder, 1 GiB; of more, those are removed that were used longest ago.
const MaxCacheBytes = sandbox.DefaultCacheBytes

// MeasureCache tells what a folder for compiled modules holds; nothing when it is not there.
func MeasureCache(dir string) (CacheUsage, error) {
	use, err := sandbox.MeasureCache(dir)
	return CacheUsage(use), err
}

// ClearCache removes all compiled modules from a folder, and returns what they took. Open hosts keep working.
func ClearCache(dir string) (CacheUsage, error) {
	use, err := sandbox.ClearCache(dir)
	return CacheUsage(use), err
}

// Granted says what pipelines would grant a module of that name of the capabilities that it asks for, each with the
// names of the pipelines that grant it. A capability that none grants has an empty list.
func Granted(name string, asked []abi.Capability, defs ...*pipeline.Definition) map[abi.Capability][]string {
	granted := make(map[abi.Capability][]string, len(asked))
	for _, capability := range asked {
		granted[capability] = []string{}
		for _, def := range defs {
			for i := range def.Personas {
				p := &def.Personas[i]
				if p.Module == name && slices.Contains(p.Grants, capability) && !slices.Contains(granted[capability], def.Pipeline) {
					granted[capability] = append(granted[capability], def.Pipeline)
				}
			}
		}
	}
	return granted
}
