// Package moduleref reads references to modules. It alone knows their form; it opens nothing.
package moduleref

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The schemes of references.
const (
	Registry = "oci://"
	Layout   = "oci-layout:"
)

// Use tells people the form of a reference.
const Use = "use oci://HOST/REPOSITORY or oci-layout:FOLDER, with :TAG, @sha256:DIGEST or both behind it; HOST, REPOSITORY and DIGEST (64 hex digits) are in lower case"

// The most bytes of a reference, and of a registry and a repository in it.
const (
	maxBytes     = 4096
	maxPartBytes = 255
)

const (
	tagForm    = `\w[\w.-]{0,127}`
	digestForm = `sha256:[0-9a-f]{64}`
	words      = `[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`
	behind     = `(?::(` + tagForm + `))?(?:@(` + digestForm + `))?$`
)

var (
	inRegistry = regexp.MustCompile(`^oci://((?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?)/(` + words + `(?:/` + words + `)*)` + behind)
	inLayout   = regexp.MustCompile(`^oci-layout:()([^\x00-\x1f]+?)` + behind)
	algorithm  = regexp.MustCompile(`@sha[0-9]+:[^@]*$`)
	wholeHash  = regexp.MustCompile(`^` + digestForm + `$`)
)

// Ref names a module in a registry, oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:HEX], or in a folder with an OCI image layout,
// oci-layout:FOLDER[:TAG][@sha256:HEX]. With a digest the tag is for people: the digest alone decides. With neither the tag is "latest".
//
// Refs are comparable; the zero value names nothing.
type Ref struct {
	host   string // empty for a layout
	path   string // the repository in the registry, or the folder
	tag    string
	digest string
}

// Is says whether a text is meant as a reference: it has one of the two schemes.
func Is(text string) bool {
	return strings.HasPrefix(text, Registry) || strings.HasPrefix(text, Layout)
}

// IsDigest says whether a text is sha256: and 64 hex digits.
func IsDigest(text string) bool { return wholeHash.MatchString(text) }

// Parse reads a reference. Its error tells the form.
func Parse(text string) (Ref, error) {
	m := inRegistry.FindStringSubmatch(text)
	if m == nil {
		m = inLayout.FindStringSubmatch(text)
	}
	why := ""
	switch {
	case !Is(text):
		why = "it has no scheme: "
	case len(text) > maxBytes:
		why = "it is too long: "
	case m != nil && m[1] == "" && (m[4] == "" && algorithm.MatchString(text) || m[3] == "" && strings.LastIndex(m[2], ":") > strings.LastIndexAny(m[2], `/\`)):
		// a folder whose name ends like a digest or a tag that is none
	case m != nil && len(m[1]) <= maxPartBytes && (m[1] == "" || len(m[2]) <= maxPartBytes):
		return Ref{strings.ToLower(m[1]), m[2], m[3], m[4]}, nil
	}
	return Ref{}, fmt.Errorf("reference %q: %s%s", sanitize.Cut(sanitize.Line(strings.ToValidUTF8(text, "?")), 300), why, Use)
}

// String is the reference as [Parse] reads it.
func (r Ref) String() string {
	text := r.Repository()
	if !r.IsLayout() {
		text = Registry + text
	}
	if r.tag != "" {
		text += ":" + r.tag
	}
	if r.digest != "" {
		text += "@" + r.digest
	}
	return text
}

// IsLayout says whether the reference is that of a folder.
func (r Ref) IsLayout() bool { return r.host == "" }

// Host is the registry, with the port where one is given; empty for a layout.
func (r Ref) Host() string { return r.host }

// Path is that of the repository in its registry, or of the layout's folder.
func (r Ref) Path() string { return r.path }

// Repository is what policies are about: HOST/REPOSITORY, or [Layout] and the folder.
func (r Ref) Repository() string {
	if r.IsLayout() {
		return Layout + r.path
	}
	return r.host + "/" + r.path
}

// Tag is the tag, if the reference has one.
func (r Ref) Tag() string { return r.tag }

// Digest is such as sha256:HEX, if the reference has one.
func (r Ref) Digest() string { return r.digest }

// WithDigest is the reference with another digest; empty for none.
func (r Ref) WithDigest(digest string) Ref { r.digest = digest; return r }

// WithTag is the reference with another tag, and without a digest.
func (r Ref) WithTag(tag string) Ref { r.tag, r.digest = tag, ""; return r }

// WithPath is the reference to another repository of the registry, or to another folder.
func (r Ref) WithPath(path string) Ref { r.path = path; return r }
