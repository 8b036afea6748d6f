package pipeline

import (
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

// ModuleFile is the name of a module's file in a file system with modules: NAME.wasm. References are escaped, so that each is one name.
func ModuleFile(module string) string {
	if IsReference(module) {
		module = url.PathEscape(module)
	}
	return module + ".wasm"
}

// reference checks a module that is named by a reference.
func (v *validator) reference(path, module string) {
	if !IsReference(module) {
		return
	}
	if m := reference.FindStringSubmatch(module); len(module) > maxReference || m == nil || m[1] == "" && m[2] == "" {
		v.FailAt(path, CodeBadReference, "%q: use oci://HOST/REPOSITORY or oci-layout:FOLDER, with :TAG, @sha256:DIGEST (64 hex digits) or both behind it",
			strictyaml.Clip(module))
	}
}

// unpinned warns of a reference without a digest.
func (l *linter) unpinned(path, module string) {
	if m := reference.FindStringSubmatch(module); IsReference(module) && m != nil && m[2] == "" {
		l.warn(path, WarnUnpinned, "who has the registry decides what this is: add @sha256:…, or write `shadowcourt lock`")
	}
}
