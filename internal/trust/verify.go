package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	if p == nil {
		p = &Policy{}
	}
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
