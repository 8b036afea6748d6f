package pipeline

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The schemes of references to modules.
const (
	schemeRegistry = "oci://"
	schemeLayout   = "oci-layout:"
)

// maxReference is how many bytes a reference has at most.
const maxReference = 1_000

// reference is the form of one: where the module lies, then a tag, a digest, or both.
var reference = regexp.MustCompile(`^(?:oci://[a-zA-Z0-9.\-\[\]:]+(?:/[a-z0-9._\-]+)+?|oci-layout:.+?)(:[A-Za-z0-9_][A-Za-z0-9._\-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// IsReference says whether a module is named by a reference to a registry or to a folder with an OCI image layout, such as
// oci://registry.example/judges/reader:v1@sha256:…, and not by the name of its file. The host does not fetch what is referred to: who opens
// it does, and gives it the module as [ModuleFile].
func IsReference(module string) bool {
	return strings.HasPrefix(module, schemeRegistry) || strings.HasPrefix(module, schemeLayout)
}

// ModuleFile is the name of a module's file in a file system with modules: NAME.wasm, or the reference, escaped so that it is one name, and
// .oci: no other name of a module is that of what a reference stands for.
func ModuleFile(module string) string {
	if IsReference(module) {
		return url.PathEscape(module) + ".oci"
	}
	return module + ".wasm"
}

// BadModule says what is wrong with the name of a module; empty if nothing.
func BadModule(module string) string {
	const use = "use oci://HOST/REPOSITORY or oci-layout:FOLDER, with :TAG, @sha256:DIGEST (64 hex digits) or both behind it"
	if !IsReference(module) {
		if strings.Contains(module, "//") {
			return fmt.Sprintf("%q is neither the name of a module nor a reference: for a reference %s", strictyaml.Clip(module), use)
		}
		return ""
	}
	if m := reference.FindStringSubmatch(module); len(module) > maxReference || m == nil || m[1] == "" && m[2] == "" {
		return fmt.Sprintf("%q: %s", strictyaml.Clip(module), use)
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
	if m := reference.FindStringSubmatch(module); IsReference(module) && m != nil && m[2] == "" {
		l.warn(path, WarnUnpinned, "who has the registry decides what this is: add @sha256:…, or write `shadowcourt lock`")
	}
}
