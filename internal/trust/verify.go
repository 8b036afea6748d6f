package trust

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The most documents of a module that are read, and the most bytes of each.
const (
	MaxDocuments     = 64
	MaxDocumentBytes = 1 << 20
)

// The forms of cosign's signatures. Bundles have the media types of several versions with one prefix.
const (
	TypeSimple       = "application/vnd.dev.cosign.simplesigning.v1+json"
	bundleTypePrefix = "application/vnd.dev.sigstore.bundle"
)

var errUnknown = errors.New("the policy names no key that made it")

// Signature is what is known of a document that is a signature. Nothing of it is proven unless Signer is set.
type Signature struct {
	Type string `json:"type"` // media type of the document
	// Signer is the name of the key in the policy; empty if it names none whose signature this is.
	Signer string `json:"signer,omitempty"`
	// KeyID is the id of the public key, or the identity and the issuer of a certificate; empty if the document does not tell.
	KeyID string `json:"key,omitempty"`
	// At is when it was signed: as the signer says, or a log or timestamp authority. Zero if nobody says.
	At time.Time `json:"at,omitzero"`
	// Kit is the result of the conformance kit that was signed; nil for a signature of the module.
	Kit *Kit `json:"kit,omitempty"`
	// Why says why the signature does not count, whichever rule asks for it; empty if it does.
	Why string `json:"why,omitempty"`
	// Counts says whether the signature is valid, by a key of the policy that is neither revoked nor expired.
	Counts bool `json:"counts"`

	keys   []int  // indexes in the policy; several where more than one key has the identity, and the one that decides first
	field  string // of the key that decides
	module *signedModule
}

// Kit is a result of the conformance kit. Tests are its checks.
type Kit struct {
	Passed                   bool
	PassedTests, FailedTests []string
}

// String is passed or failed.
func (k *Kit) String() string {
	if k.Passed {
		return "passed"
	}
	return "failed"
}

// MarshalText is [Kit.String].
func (k *Kit) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// isSignature says whether documents of a media type are signatures, or signed results.
func isSignature(mediaType string) bool {
	return mediaType == TypeSignature || mediaType == TypeConformance || mediaType == TypeSimple || strings.HasPrefix(mediaType, bundleTypePrefix)
}

// Verify says of each document that is a signature who made it, and whether it counts. Others are left out. Errors are in [Signature.Why]. With the zero
// time, dates don't matter.
func (p *Policy) Verify(ctx context.Context, s Subject, documents []Document, now time.Time) []Signature {
	p = cmp.Or(p, &Policy{})
	v := &verifier{policy: p, subject: s, now: now}
	var all []Signature
	for _, d := range documents {
		if !isSignature(d.Type) {
			continue
		}
		sig := Signature{Type: d.Type}
		err := fmt.Errorf("only %d signatures are read", MaxDocuments)
		if len(all) < MaxDocuments {
			err = v.verify(ctx, d, &sig)
		}
		switch {
		case err != nil:
			sig.Kit, sig.module, sig.Why = nil, nil, sanitize.Cut(sanitize.Line(err.Error()), 500)
		default:
			slices.SortStableFunc(sig.keys, func(a, b int) int { return cmp.Compare(p.keys[a].rank(now), p.keys[b].rank(now)) })
			k := &p.keys[sig.keys[0]]
			sig.Signer = k.Name
			sig.field, sig.Why = k.why(now)
		}
		sig.Counts = sig.Why == ""
		all = append(all, sig)
	}
	return all
}

// verifier verifies the documents of one module.
type verifier struct {
	policy  *Policy
	subject Subject
	now     time.Time
}

// verify sets what a valid document tells. A fault of a parser is an error of the document, and does not end the process.
func (v *verifier) verify(ctx context.Context, d Document, s *Signature) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it can't be verified: %v", fault)
		}
	}()
	switch err := v.subject.check(); {
	case err != nil:
		return err
	case len(d.Data) > MaxDocumentBytes:
		return fmt.Errorf("it is larger than %d bytes", MaxDocumentBytes)
	case d.Type == TypeSignature, d.Type == TypeConformance:
		return v.verifyOurs(d, s)
	case d.Type == TypeSimple:
		return v.verifySimple(d, s)
	}
	return v.verifyBundle(ctx, d, s)
}

// The media types of documents that are attached to modules.
const (
	TypeSignature   = "application/vnd.shadowcourt.signature.v1+json"
	TypeConformance = "application/vnd.shadowcourt.conformance.v1+json"
)

// The types of the statements within; that of the result of the kit is in-toto's.
const (
	modulePredicate = "https://shadowcourt.dev/attestations/module/v1"
	resultPredicate = "https://in-toto.io/attestation/test-result/v0.1"

	statementType = "https://in-toto.io/Statement/v1"
	manifestType  = "application/vnd.oci.image.manifest.v1+json"
)

// Subject is what is signed. The caller checks that the manifest is the one of the digest, and that its only layer is the module.
type Subject struct {
	// Repository is HOST[:PORT]/REPOSITORY, or [moduleref.Layout] and the absolute path of a folder.
	Repository string `json:"repository"`
	// Manifest is the digest of the OCI manifest, and Module that of the module's file: "sha256:" and 64 hex digits.
	Manifest string `json:"manifest"`
	Module   string `json:"module"`
	// Version is what the OCI manifest says of the module; a signature of ours has to say the same. [Sign] takes that of the module's manifest.
	Version string `json:"version,omitempty"`
}

// Document is a file that is attached to a module. Its bytes are untrusted.
type Document = oci.Attachment

// statement is an in-toto Statement v1 about a module.
type statement struct {
	Type          string          `json:"_type"`
	Subject       []resource      `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// resource is an in-toto ResourceDescriptor. The media type keeps statements about modules and lines of records apart, though the same keys
// sign both: see [record.SealEnvelope].
type resource struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest"`
	MediaType   string            `json:"mediaType,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

// signedModule is the predicate of a signature of ours.
type signedModule struct {
	Module       string           `json:"module"`
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Capabilities []abi.Capability `json:"capabilities"` // asked for
	SignedAt     time.Time        `json:"signed_at"`
}

// result is in-toto's predicate test-result.
type result struct {
	Result        string     `json:"result"` // PASSED or FAILED
	Configuration []resource `json:"configuration"`
	PassedTests   []string   `json:"passedTests"`
	WarnedTests   []string   `json:"warnedTests"`
	FailedTests   []string   `json:"failedTests"`
}

// Sign signs a module with the key of a record's writer. The manifest is the one within the module.
func Sign(key *record.Key, s Subject, m *abi.Manifest, now time.Time) (Document, error) {
	return seal(key, s, TypeSignature, modulePredicate, &signedModule{s.Module, m.Name, m.Version, append([]abi.Capability{}, m.Capabilities...), now.UTC().Truncate(time.Second)})
}

// SignReport signs what the conformance kit found in a module.
func SignReport(key *record.Key, s Subject, report *abitest.Report) (Document, error) {
	if report.Digest != s.Module {
		return Document{}, fmt.Errorf("the report is about %s and not about the module %s", report.Digest, s.Module)
	}
	tested := resourceOf("module", s.Module)
	tested.Annotations = map[string]any{"roles": report.Roles, "seed": report.Seed, "cases": report.Cases}
	r := result{Result: "PASSED", Configuration: []resource{tested}, PassedTests: []string{}, WarnedTests: []string{}, FailedTests: []string{}}
	for _, check := range report.Checks {
		switch check.Status {
		case abitest.Passed:
			r.PassedTests = append(r.PassedTests, string(check.ID))
		case abitest.Failed:
			r.Result, r.FailedTests = "FAILED", append(r.FailedTests, string(check.ID))
		case abitest.Skipped:
		}
	}
	return seal(key, s, TypeConformance, resultPredicate, &r)
}

// check says whether both digests are ones.
func (s *Subject) check() error {
	for _, d := range []string{s.Manifest, s.Module} {
		if !moduleref.IsDigest(d) {
			return fmt.Errorf("%q is no digest: want sha256: and 64 hex digits", d)
		}
	}
	return nil
}

func resourceOf(name, digest string) resource {
	return resource{Name: name, Digest: map[string]string{"sha256": record.Digest(digest).Hex()}}
}

func seal(key *record.Key, s Subject, mediaType, predicateType string, predicate any) (Document, error) {
	if err := s.check(); err != nil {
		return Document{}, err
	}
	subject := resourceOf(s.Repository, s.Manifest)
	subject.MediaType = manifestType
	inner, err := json.Marshal(predicate)
	if err != nil {
		return Document{}, err
	}
	text, err := json.Marshal(&statement{statementType, []resource{subject}, predicateType, inner})
	if err != nil {
		return Document{}, err
	}
	envelope, err := record.SealEnvelope(key, text)
	return Document{Type: mediaType, Data: envelope}, err
}

// parseStatement reads a statement that a key has signed, and checks that it is about the subject.
func parseStatement(text []byte, s Subject, predicateType string, predicate any) error {
	var st statement
	if err := strict(text, &st); err != nil {
		return err
	}
	switch {
	case st.Type != statementType || st.PredicateType != predicateType || len(st.Subject) != 1 || st.Subject[0].MediaType != manifestType:
		return fmt.Errorf("the key has signed something else than a statement of the type %s about one module", predicateType)
	case "sha256:"+st.Subject[0].Digest["sha256"] != s.Manifest:
		return otherManifest("sha256:" + st.Subject[0].Digest["sha256"])
	}
	return strict(st.Predicate, predicate)
}

// strict decodes JSON that has no other fields than into, and none twice: readers that take another of the two would read something else.
func strict(text []byte, into any) error {
	if !json.Valid(text) { // bounds the depth, too
		return errors.New("its statement is no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	return sanitize.UniqueKeys(json.NewDecoder(bytes.NewReader(text)), true)
}

func otherManifest(digest string) error {
	return fmt.Errorf("it is of another manifest, %.80q", digest)
}

// clockSkew is how far the clock of a signer may be ahead.
const clockSkew = 24 * time.Hour

var errOtherModule = errors.New("it is of another module than the layer of the manifest")

// verifyOurs verifies a signature of ours.
func (v *verifier) verifyOurs(d Document, s *Signature) error {
	text, id, err := record.OpenEnvelope(d.Data, func(id string) *record.Key {
		i := slices.IndexFunc(v.policy.keys, func(k key) bool { return k.id == id })
		if i < 0 {
			return nil
		}
		s.keys = []int{i}
		return v.policy.keys[i].record
	})
	s.KeyID = id
	if s.keys == nil && id != "" {
		return errUnknown
	}
	if err != nil {
		return err
	}
	if d.Type == TypeConformance {
		var r result
		if err := parseStatement(text, v.subject, resultPredicate, &r); err != nil {
			return err
		}
		if len(r.Configuration) != 1 || "sha256:"+r.Configuration[0].Digest["sha256"] != v.subject.Module {
			return errOtherModule
		}
		s.Kit = &Kit{Passed: r.Result == "PASSED" && len(r.FailedTests) == 0, PassedTests: r.PassedTests, FailedTests: r.FailedTests}
		return nil
	}
	s.module = new(signedModule)
	if err := parseStatement(text, v.subject, modulePredicate, s.module); err != nil {
		return err
	}
	s.At = s.module.SignedAt
	if !v.now.IsZero() && s.At.After(v.now.Add(clockSkew)) {
		return fmt.Errorf("it says that it was signed at %s, which is yet to come", s.At.UTC().Format(time.RFC3339))
	}
	if s.module.Module != v.subject.Module {
		return errOtherModule
	}
	return nil
}
