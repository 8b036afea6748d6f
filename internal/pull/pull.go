// Package pull fetches modules that are named by references, when the trust policy has accepted them: first the manifest, by its digest where
// one is pinned, then what is attached to it, then the policy decides, and only then comes the module, which has to be what the manifest says.
// It also reads and writes the lock file, in which the modules of a pipeline are pinned.
package pull

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// ErrOther: a module is not what its annotations say, or is none of a court.
var ErrOther = errors.New("rejected")

// Source fetches modules. It may be used concurrently.
type Source struct {
	Client *oci.Client
	// Policy decides; nil rejects every reference.
	Policy *trust.Policy
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
	Decision *trust.Decision
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
	return ref.WithPath(trust.Folder(path)), nil
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

// Subject is what signatures of an artifact are about.
func Subject(a *oci.Artifact) trust.Subject {
	return trust.Subject{Repository: a.Ref.Repository(), Manifest: a.Digest, Module: a.Layer.Digest, Version: a.Annotations[v1.AnnotationVersion]}
}

// DocumentTypes are the media types of what policies read; bundles of sigstore have had three. What else is attached is not downloaded: however large
// and many bills of materials are, no module is rejected for them.
var DocumentTypes = []string{ //nolint:gochecknoglobals // constant
	trust.TypeSignature, trust.TypeConformance, trust.TypeSimple, "application/vnd.dev.sigstore.bundle.v0.3+json",
	"application/vnd.dev.sigstore.bundle+json;version=0.1", "application/vnd.dev.sigstore.bundle+json;version=0.2",
}

// Documents are what is attached to an artifact that the policy reads, as the registry says now.
func (s *Source) Documents(ctx context.Context, a *oci.Artifact) ([]trust.Document, error) {
	attached, err := s.Client.Attachments(ctx, a, DocumentTypes...)
	return documents(attached), err
}

func documents(attached []oci.Attachment) (list []trust.Document) {
	for i := range attached {
		d := &attached[i]
		list = append(list, trust.Document{Type: d.Type, Annotations: d.Annotations, Data: d.Data})
	}
	return list
}

// Decide has the policy decide about a module by its manifest alone. use says what the pipeline does with it; the rest is filled in.
func (s *Source) Decide(ctx context.Context, a *oci.Artifact, use trust.Use) (*trust.Decision, error) {
	m, err := Manifest(a.Annotations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Pinned(), err)
	}
	use.Name, use.Asks = m.Name, m.Capabilities
	if known, ok := s.Client.Cached(ctx, a, DocumentTypes...); ok { // keys are revoked by the policy: signatures that it accepts need not be looked for again
		if d, err := s.Policy.Decide(ctx, Subject(a), documents(known), use, s.Now()); err == nil {
			return d, nil
		}
	}
	list, err := s.Documents(ctx, a)
	if err != nil {
		return nil, err
	}
	d, err := s.Policy.Decide(ctx, Subject(a), list, use, s.Now())
	if err != nil {
		return nil, fmt.Errorf("%s is rejected: %w", a.Pinned(), err)
	}
	return d, nil
}

// Module fetches what a reference names, for a use of which Roles and Granted are set. No request is sent before a rule of the policy covers the
// repository.
func (s *Source) Module(ctx context.Context, reference string, use trust.Use) (*Module, error) {
	ref, err := s.Parse(reference)
	if err != nil {
		return nil, err
	}
	if err := s.Policy.Covers(trust.Subject{Repository: ref.Repository()}, use); err != nil { // else whoever writes a pipeline chooses where requests go
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
