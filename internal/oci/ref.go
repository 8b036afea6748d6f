package oci

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry"
)

// Schemes of references.
const (
	schemeRegistry = "oci://"
	schemeLayout   = "oci-layout:"
)

const (
	maxRef       = 4096 // bytes
	maxHost      = 255
	maxRepoBytes = 255
	defaultTag   = "latest"
)

var (
	hostForm   = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	tagForm    = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	algorithm  = regexp.MustCompile(`^sha[0-9]+:`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Ref names a module in a registry, oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:HEX], or in a folder with an OCI image layout,
// oci-layout:PATH[:TAG][@sha256:HEX]. With a digest the tag is for people: the digest alone decides. With neither the tag is "latest".
//
// Refs are comparable; the zero value names nothing.
type Ref struct {
	host string // empty for a layout
	repo string // or the layout's path
	tag  string
	hex  string // digest, with its algorithm
}

// IsRef says whether a text is meant as a reference: it has one of the two schemes.
func IsRef(text string) bool {
	return strings.HasPrefix(text, schemeRegistry) || strings.HasPrefix(text, schemeLayout)
}

// Parse reads a reference. Only digests of sha256 are taken.
func Parse(text string) (Ref, error) {
	wrong := func(why string) (Ref, error) {
		return Ref{}, fmt.Errorf("reference %s: %s: use oci://HOST/REPOSITORY[:TAG][@sha256:HEX] or oci-layout:FOLDER[:TAG][@sha256:HEX]", quoted(text), why)
	}
	if len(text) > maxRef {
		return wrong("it is too long")
	}
	var r Ref
	rest, isLayout := strings.CutPrefix(text, schemeLayout)
	if !isLayout {
		var ok bool
		if rest, ok = strings.CutPrefix(text, schemeRegistry); !ok {
			return wrong("it has no scheme")
		}
	}
	if name, digest, ok := cutLast(rest, "@"); ok && (!isLayout || algorithm.MatchString(digest)) {
		if !digestForm.MatchString(digest) {
			return wrong("the digest is not sha256: and 64 digits in lower case")
		}
		rest, r.hex = name, digest
	}
	if name, tag, ok := cutLast(rest, ":"); ok && !strings.ContainsAny(tag, `/\`) {
		if !tagForm.MatchString(tag) {
			return wrong("the tag must have 1 to 128 letters, digits, '_', '.' or '-'")
		}
		rest, r.tag = name, tag
	}
	if isLayout {
		if rest == "" || strings.ContainsFunc(rest, func(c rune) bool { return c < ' ' }) {
			return wrong("the folder is missing, or has control characters")
		}
		r.repo = rest
		return r, nil
	}
	host, repo, _ := strings.Cut(rest, "/")
	r.host, r.repo = strings.ToLower(host), repo
	if !hostForm.MatchString(r.host) || len(host) > maxHost || (registry.Reference{Registry: r.host}).ValidateRegistry() != nil {
		return wrong("the registry is not a host, or a host and a port")
	}
	if len(repo) > maxRepoBytes || (registry.Reference{Repository: repo}).ValidateRepository() != nil {
		return wrong("the repository must be words in lower case, with '/' between them")
	}
	return r, nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// String is the reference as [Parse] reads it.
func (r Ref) String() string {
	text := schemeRegistry
	if r.IsLayout() {
		text = schemeLayout
	}
	text += r.Repository()
	if r.tag != "" {
		text += ":" + r.tag
	}
	if r.hex != "" {
		text += "@" + r.hex
	}
	return text
}

// IsLayout says whether the reference is that of a folder.
func (r Ref) IsLayout() bool { return r.host == "" }

// Registry is the host, with the port where one is given; empty for a layout.
func (r Ref) Registry() string { return r.host }

// Repository is HOST/REPOSITORY, or the path of the layout.
func (r Ref) Repository() string {
	if r.IsLayout() {
		return r.repo
	}
	return r.host + "/" + r.repo
}

// Tag is the tag, if the reference has one.
func (r Ref) Tag() string { return r.tag }

// Digest is such as sha256:HEX, if the reference has one.
func (r Ref) Digest() string { return r.hex }

// WithDigest is the reference with another digest; empty for none.
func (r Ref) WithDigest(digest string) Ref { r.hex = digest; return r }

// WithTag is the reference with another tag, and without a digest.
func (r Ref) WithTag(tag string) Ref { r.tag, r.hex = tag, ""; return r }

// name is the tag or "latest".
func (r Ref) name() string { return cmp.Or(r.tag, defaultTag) }

// oras is the repository as the library has it. It maps docker.io to the host that serves it.
func (r Ref) oras() registry.Reference {
	return registry.Reference{Registry: r.host, Repository: r.repo}
}

// loopback says whether a host, with or without a port, is this machine: localhost, 127.0.0.0/8 or ::1.
func loopback(host string) bool {
	if at, err := netip.ParseAddrPort(host); err == nil {
		return at.Addr().Unmap().IsLoopback()
	}
	name, _, _ := strings.Cut(host, ":")
	if name == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

var errNoRef = errors.New("the reference is empty")
