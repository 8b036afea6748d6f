package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// ErrOther: a module is not what its annotations say, or is none of a court.
var ErrOther = errors.New("rejected")

// Source fetches modules. It may be used concurrently.
type Source struct {
	Client *oci.Client
	// Policy decides; nil rejects every reference.
	Policy *Policy
	// Lock pins references; nil pins none.
	Lock *Lock
	// Folder is where relative paths of layouts begin.
	Folder string
	Now    func() time.Time
}

// Module is one that the policy accepted.
type Module struct {
	Artifact *oci.Artifact
	Manifest *abi.Manifest // within the module
	Wasm     []byte
	Decision *Decision
}

// Parse reads a reference. Paths of layouts become absolute, and what they are without links: the policy decides about the folder that is opened.
func (s *Source) Parse(reference string) (moduleref.Ref, error) {
	ref, err := moduleref.Parse(reference)
	if err != nil || !ref.IsLayout() {
		return ref, err
	}
	path := ref.Path()
	if !filepath.IsAbs(path) { // joined by hand: cleaning takes a link and ".." behind it away, which leads elsewhere
		folder, err := filepath.Abs(s.Folder)
		if err != nil {
			return moduleref.Ref{}, err
		}
		path = folder + string(filepath.Separator) + path
	}
	return ref.WithPath(Folder(path)), nil
}

// resolve finds the manifest of a reference, which Parse read as ref: the one that is pinned, if one is. It sends requests: the caller has asked
// whether a rule covers ref.
func (s *Source) resolve(ctx context.Context, reference string, ref moduleref.Ref) (*oci.Artifact, error) {
	pinned := s.Lock.Module(reference)
	if pinned != nil && pinned.Manifest != "" {
		if ref.Digest() != "" && ref.Digest() != pinned.Manifest {
			return nil, fmt.Errorf("%s: %s pins %s", sanitize.Line(reference), LockName, pinned.Manifest)
		}
		ref = ref.WithDigest(pinned.Manifest)
	}
	a, err := s.Client.Resolve(ctx, ref)
	if err == nil && pinned != nil && pinned.Digest != a.Layer.Digest {
		err = fmt.Errorf("%s: its module is %s, and %s pins %s", sanitize.Line(reference), a.Layer.Digest, LockName, pinned.Digest)
	}
	return a, err
}

// SubjectOf is what signatures of an artifact are about.
func SubjectOf(a *oci.Artifact) Subject {
	return Subject{Repository: a.Ref.Repository(), Manifest: a.Digest, Module: a.Layer.Digest, Version: a.Annotations[v1.AnnotationVersion]}
}

// DocumentTypes are the media types of what policies read; bundles of sigstore have had three. What else is attached is not downloaded: however large
// and many bills of materials are, no module is rejected for them.
var DocumentTypes = []string{ //nolint:gochecknoglobals // constant
	TypeSignature, TypeConformance, TypeSimple, "application/vnd.dev.sigstore.bundle.v0.3+json",
	"application/vnd.dev.sigstore.bundle+json;version=0.1", "application/vnd.dev.sigstore.bundle+json;version=0.2",
}

// Documents are what is attached to an artifact that the policy reads, as the registry says now.
func (s *Source) Documents(ctx context.Context, a *oci.Artifact) ([]Document, error) {
	return s.Client.Attachments(ctx, a, DocumentTypes...)
}

// Decide has the policy decide about a module by its manifest alone. use says what the pipeline does with it; the rest is filled in.
func (s *Source) Decide(ctx context.Context, a *oci.Artifact, use Use) (*Decision, error) {
	m, err := Manifest(a.Annotations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Pinned(), err)
	}
	use.Name, use.Asks = m.Name, m.Capabilities
	if known, ok := s.Client.Cached(ctx, a, DocumentTypes...); ok { // keys are revoked by the policy: signatures that it accepts need not be looked for again
		if d, err := s.Policy.Decide(ctx, SubjectOf(a), known, use, s.Now()); err == nil {
			return d, nil
		}
	}
	list, err := s.Documents(ctx, a)
	if err != nil {
		return nil, err
	}
	d, err := s.Policy.Decide(ctx, SubjectOf(a), list, use, s.Now())
	if err != nil {
		return nil, fmt.Errorf("%s is rejected: %w", a.Pinned(), err)
	}
	return d, nil
}

// Module fetches what a reference names, for a use of which Roles and Granted are set. No request is sent before a rule of the policy covers the
// repository.
func (s *Source) Module(ctx context.Context, reference string, use Use) (*Module, error) {
	ref, err := s.Parse(reference)
	if err != nil {
		return nil, err
	}
	if err := s.Policy.Covers(Subject{Repository: ref.Repository()}, use); err != nil { // else whoever writes a pipeline chooses where requests go
		return nil, fmt.Errorf("%s is rejected: %w", ref, err)
	}
	a, err := s.resolve(ctx, reference, ref)
	if err != nil {
		return nil, err
	}
	d, err := s.Decide(ctx, a, use)
	if err != nil {
		return nil, err
	}
	wasm, manifest, err := Fetch(ctx, s.Client, a)
	if err != nil {
		return nil, err
	}
	return &Module{a, manifest, wasm, d}, nil
}

// Fetch gives the module of an artifact. Its manifest has to say what the annotations say, by which a policy decides.
func Fetch(ctx context.Context, client *oci.Client, a *oci.Artifact) ([]byte, *abi.Manifest, error) {
	wasm, err := client.Module(ctx, a)
	if errors.Is(err, oci.ErrMismatch) {
		err = fmt.Errorf("%w: %w", ErrOther, err)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := ManifestOf(wasm)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is %w: %w", a.Pinned(), ErrOther, err)
	}
	if key := differs(a.Annotations, m); key != "" {
		return nil, nil, fmt.Errorf("%s is %w: its annotation %s is not what the manifest within the module says", a.Pinned(), ErrOther, key)
	}
	return wasm, m, nil
}

// ManifestOf reads the manifest that a module has to have.
func ManifestOf(wasm []byte) (*abi.Manifest, error) {
	info, err := module.Inspect(wasm)
	if err != nil {
		return nil, err
	}
	if info.Manifest == nil {
		return nil, errors.Join(errors.New("the module has no manifest; `shadowcourt plugin annotate` writes one"), info.ManifestError)
	}
	return info.Manifest, nil
}

// annotationPrefix begins the keys of what the standard keys of OCI don't say.
const annotationPrefix = "dev.shadowcourt.module."

// field is one of a manifest as an annotation.
type field struct {
	key   string
	write func(*abi.Manifest) string
	read  func(*abi.Manifest, string) error
}

func text(key string, of func(*abi.Manifest) *string) field {
	return field{key, func(m *abi.Manifest) string { return *of(m) }, func(m *abi.Manifest, s string) error { *of(m) = s; return nil }}
}

// words is a list of words with a blank between each two.
func words[T ~string](key string, of func(*abi.Manifest) *[]T) field {
	return field{
		annotationPrefix + key,
		func(m *abi.Manifest) string {
			list := make([]string, len(*of(m)))
			for i, word := range *of(m) {
				list[i] = string(word)
			}
			return strings.Join(list, " ")
		},
		func(m *abi.Manifest, s string) error {
			for word := range strings.FieldsSeq(s) {
				*of(m) = append(*of(m), T(word))
			}
			return nil
		},
	}
}

// limit is a number that is asked for beyond the default.
func limit(key string, of func(*abi.LimitRequest) *int) field {
	return field{
		annotationPrefix + "limits." + key,
		func(m *abi.Manifest) string {
			if m.Limits == nil || *of(m.Limits) == 0 {
				return ""
			}
			return strconv.Itoa(*of(m.Limits))
		},
		func(m *abi.Manifest, s string) (err error) {
			m.Limits = cmp.Or(m.Limits, &abi.LimitRequest{})
			*of(m.Limits), err = strconv.Atoi(s)
			return err
		},
	}
}

// fields of a manifest.
var fields = []field{ //nolint:gochecknoglobals // constant
	text(v1.AnnotationTitle, func(m *abi.Manifest) *string { return &m.Name }),
	text(v1.AnnotationVersion, func(m *abi.Manifest) *string { return &m.Version }),
	text(v1.AnnotationSource, func(m *abi.Manifest) *string { return &m.Source }),
	text(v1.AnnotationLicenses, func(m *abi.Manifest) *string { return &m.Licence }),
	text(annotationPrefix+"abi", func(m *abi.Manifest) *string { return &m.ABI }),
	words("calls", func(m *abi.Manifest) *[]abi.Call { return &m.Calls }),
	words("families", func(m *abi.Manifest) *[]abi.Family { return &m.Families }),
	words("edges", func(m *abi.Manifest) *[]string { return &m.Edges }),
	words("criteria", func(m *abi.Manifest) *[]string { return &m.Criteria }),
	words("capabilities", func(m *abi.Manifest) *[]abi.Capability { return &m.Capabilities }),
	limit("memory_bytes", func(l *abi.LimitRequest) *int { return &l.MemoryBytes }),
	limit("output_bytes", func(l *abi.LimitRequest) *int { return &l.OutputBytes }),
	limit("wall_clock", func(l *abi.LimitRequest) *int { return &l.WallClock }),
	limit("fuel", func(l *abi.LimitRequest) *int { return &l.Fuel }),
}

// Annotations are those of the OCI manifest of a module with a manifest: each field, so that nobody has to download the module to read them.
func Annotations(m *abi.Manifest) map[string]string {
	all := map[string]string{}
	for i := range fields {
		if value := fields[i].write(m); value != "" {
			all[fields[i].key] = value
		}
	}
	return all
}

// Manifest reads what [Annotations] wrote. Nothing of it is proven: the manifest within the module counts.
func Manifest(annotations map[string]string) (*abi.Manifest, error) {
	m := &abi.Manifest{}
	for i := range fields {
		value, there := annotations[fields[i].key]
		if !there {
			continue
		}
		if err := fields[i].read(m, value); err != nil {
			return nil, fmt.Errorf("annotation %s: %q is no number", fields[i].key, sanitize.Cut(value, 50))
		}
	}
	if m.Name == "" || m.ABI == "" || len(m.Calls) == 0 {
		return nil, fmt.Errorf("its annotations do not describe a module of a court: %s, %sabi and %scalls are missing", v1.AnnotationTitle, annotationPrefix, annotationPrefix)
	}
	return m, nil
}

// differs names a field in which annotations are not those of a manifest, one of what it asks for first; empty if there is none.
func differs(annotations map[string]string, m *abi.Manifest) string {
	own := Annotations(m)
	for _, f := range slices.Backward(fields) {
		if annotations[f.key] != own[f.key] {
			return f.key
		}
	}
	return ""
}

// LockName is the name of the lock file, which stands beside the pipeline.
const LockName = "shadowcourt.lock"

// maxLockBytes is far beyond a file with all modules that a pipeline can name.
const maxLockBytes = 1 << 20

// CodeBadDigest: a digest that is not "sha256:" and 64 hex digits.
const CodeBadDigest abi.Code = "bad_digest"

// Lock is the file that pins the modules of a pipeline by their digests.
type Lock struct {
	// Modules are sorted by name, each once.
	Modules []Pin `yaml:"modules"`

	path   string
	places strictyaml.Places
}

// Pin is a module that is pinned.
type Pin struct {
	// Name is as the pipeline has it: a name, or a reference.
	Name string `yaml:"module" write:"always"`
	// Manifest is the digest of the OCI manifest that a reference stands for; empty for others.
	Manifest string `yaml:"manifest"`
	// Digest of the wasm file.
	Digest string `yaml:"digest" write:"always"`
}

// FindLock reads a lock file; nil where there is none. Its error has all faults with their places.
func FindLock(path string) (*Lock, error) {
	data, err := strictyaml.ReadFile(path, maxLockBytes, strictyaml.Open)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is pinned
	}
	if err != nil {
		return nil, err
	}
	return ParseLock(path, data)
}

// ParseLock is [FindLock] for bytes; path is for messages.
func ParseLock(path string, data []byte) (*Lock, error) {
	r := &strictyaml.Reader{File: path}
	f := &Lock{path: path}
	if root := r.Document(data, maxLockBytes); root != nil {
		r.Struct(root, "", f, nil)
		for i := range f.Modules {
			m, at := &f.Modules[i], strictyaml.IndexPath("modules", i)
			r.Required(at+".module", m.Name)
			r.Required(at+".digest", m.Digest)
			for _, of := range []struct{ key, digest string }{{"manifest", m.Manifest}, {"digest", m.Digest}} {
				if of.digest != "" && !record.Digest(of.digest).Valid() {
					r.FailAt(at+"."+of.key, CodeBadDigest, "%q: use sha256: and 64 hex digits", strictyaml.Clip(of.digest))
				}
			}
			if slices.ContainsFunc(f.Modules[:i], func(o Pin) bool { return o.Name == m.Name }) {
				r.FailAt(at+".module", strictyaml.CodeDuplicateKey, "%q is pinned twice", strictyaml.Clip(m.Name))
			}
		}
	}
	f.places = r.Places
	return f, r.Err()
}

// Bytes is the text of the file. Equal modules in any order give equal bytes.
func (f *Lock) Bytes() ([]byte, error) {
	slices.SortFunc(f.Modules, func(a, b Pin) int { return strings.Compare(a.Name, b.Name) })
	text, err := strictyaml.Marshal(f)
	return append([]byte("# Written by `shadowcourt lock`. Commit it, and run with --locked.\n"), text...), err
}

// Module gives what is pinned of a module; nil for one that is not, and where f is nil.
func (f *Lock) Module(name string) *Pin {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.Modules, func(m Pin) bool { return m.Name == name }); i >= 0 {
		return &f.Modules[i]
	}
	return nil
}

// Check rejects each module that is not pinned, or has another digest. digests are those of the wasm files by module name.
func (f *Lock) Check(digests map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		i := slices.IndexFunc(f.Modules, func(m Pin) bool { return m.Name == name })
		if i < 0 {
			faults = append(faults, fmt.Errorf("%s: %s is not in it", f.path, strictyaml.Clip(name)))
			continue
		}
		if pinned := f.Modules[i].Digest; pinned != digests[name] {
			at := f.places.At(strictyaml.IndexPath("modules", i) + ".digest")
			faults = append(faults, fmt.Errorf("%s:%d:%d: %s is %s, and %s is pinned", f.path, at.Line, at.Column, strictyaml.Clip(name), digests[name], pinned))
		}
	}
	return errors.Join(faults...)
}
