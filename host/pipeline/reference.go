package pipeline

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// IsReference says whether a module is named by a reference to a registry or to a folder with an OCI image layout, such as
// oci://registry.example/judges/reader:v1@sha256:…, and not by the name of its file. The host does not fetch what is referred to: who opens
// it does, and gives it the module as [ModuleFile].
func IsReference(module string) bool { return moduleref.Is(module) }

// ModuleFile is the name of a module's file in a file system with modules: NAME.wasm, or the reference, escaped so that it is one name, and
// .oci: no other name of a module is that of what a reference stands for.
func ModuleFile(module string) string {
	if IsReference(module) {
		return url.PathEscape(module) + ".oci"
	}
	return module + ".wasm"
}

// BadModule says what is wrong with the name of a module; empty if nothing. A reference needs a tag or a digest.
func BadModule(module string) string {
	if !IsReference(module) {
		if strings.Contains(module, "//") {
			return fmt.Sprintf("%q is neither the name of a module nor a reference: for a reference %s", strictyaml.Clip(module), moduleref.Use)
		}
		return ""
	}
	if ref, err := moduleref.Parse(module); err != nil || ref.Tag() == "" && ref.Digest() == "" {
		return fmt.Sprintf("%q: %s", strictyaml.Clip(module), moduleref.Use)
	}
	return ""
}

// reference checks the name of a module.
func (v *validator) reference(path, module string) {
	if bad := BadModule(module); bad != "" {
		v.FailAt(path, CodeBadReference, "%s", bad)
	}
}

// unpinned warns of a reference without a digest.
func (l *linter) unpinned(path, module string) {
	if ref, err := moduleref.Parse(module); err == nil && ref.Digest() == "" {
		l.warn(path, WarnUnpinned, "who has the registry decides what this is: add @sha256:…, or write `shadowcourt lock`")
	}
}
