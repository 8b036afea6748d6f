package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
)

// What cosign writes.
const (
	cosignPredicate   = "https://sigstore.dev/cosign/sign/v1"
	cosignType        = "cosign container image signature" // of the older form; newer versions write the type of the predicate there
	cosignSignature   = "dev.cosignproject.cosign/signature"
	cosignCertificate = "dev.sigstore.cosign/certificate"
)

func (k *key) parseRoot(data []byte) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it can't be read: %v", fault)
		}
	}()
	k.root, err = root.NewTrustedRootFromJSON(data)
	return err
}

// simple is the payload of cosign's older signatures.
type simple struct {
	Critical struct {
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
}

// verifySimple verifies an older signature of cosign.
func (v *verifier) verifySimple(d Document, s *Signature) error {
	sig, err := base64.StdEncoding.DecodeString(d.Annotations[cosignSignature])
	if err != nil || len(sig) == 0 {
		return errors.New("the annotation " + cosignSignature + " is no signature in base64")
	}
	for i := range v.policy.keys {
		if k := &v.policy.keys[i]; k.verifies(d.Data, sig) {
			s.keys, s.KeyID = []int{i}, k.id
			var payload simple
			if err := json.Unmarshal(d.Data, &payload); err != nil {
				return err
			}
			if t := payload.Critical.Type; t != cosignType && t != cosignPredicate {
				return errors.New("the key has signed something else than an image")
			}
			if payload.Critical.Image.Digest != v.subject.Manifest {
				return otherManifest(payload.Critical.Image.Digest)
			}
			return nil
		}
	}
	if d.Annotations[cosignCertificate] != "" {
		return errors.New("keyless signatures are verified as bundles only: sign with cosign 3, or with --new-bundle-format")
	}
	return errUnknown
}

// verifies says whether a signature over a message is of a public key.
func (k *key) verifies(message, sig []byte) bool {
	switch public := k.public.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(public, message, sig)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(public, sum[:], sig)
	}
	return false
}

// verifyBundle verifies a bundle of sigstore: by a public key, or by the certificate of an identity.
func (v *verifier) verifyBundle(d Document, s *Signature) error {
	b := new(bundle.Bundle)
	if err := b.UnmarshalJSON(d.Data); err != nil {
		return err
	}
	digest, err := hex.DecodeString(strings.TrimPrefix(v.subject.Manifest, "sha256:"))
	if err != nil {
		return err
	}
	content, err := b.VerificationContent()
	if err != nil {
		return err
	}
	// The subjects of a statement are compared below, so that a signature of something else is told from one by an unknown key.
	artifact := verify.WithoutArtifactUnsafe()
	message := b.GetMessageSignature()
	if message != nil {
		artifact = verify.WithArtifactDigest("sha256", digest)
		if other := message.GetMessageDigest().GetDigest(); !bytes.Equal(other, digest) {
			return otherManifest("sha256:" + hex.EncodeToString(other))
		}
	}
	check := v.byKey
	if content.Certificate() != nil {
		check = v.byIdentity
	}
	found, err := check(b, artifact, s)
	if err != nil || message != nil {
		return err
	}
	// Else what the signer has said of the module, such as where it comes from or what is wrong with it, would count as a signature.
	switch st := found.Statement; {
	case st.GetType() != statementType || st.GetPredicateType() != cosignPredicate:
		return fmt.Errorf("it is a statement of the type %.100q and not a signature", st.GetPredicateType())
	case len(st.GetSubject()) != 1:
		return errors.New("it has not one subject")
	case "sha256:"+st.GetSubject()[0].GetDigest()["sha256"] != v.subject.Manifest:
		return otherManifest("sha256:" + st.GetSubject()[0].GetDigest()["sha256"])
	}
	return nil
}

// byKey finds the public key that made a bundle. Entries of a log do not matter: the key is what the policy trusts.
func (v *verifier) byKey(b *bundle.Bundle, artifact verify.ArtifactPolicyOption, s *Signature) (*verify.VerificationResult, error) {
	last := errUnknown
	for i := range v.policy.keys {
		k := &v.policy.keys[i]
		switch {
		case k.public == nil:
			continue
		case k.record != nil && b.GetMessageSignature() != nil:
			last = errors.New("by a key of Ed25519 only statements about the manifest are verified, as cosign 3 signs them, and this is a signature of the manifest itself")
			continue
		}
		public, err := signature.LoadDefaultVerifier(k.public)
		if err != nil {
			return nil, err
		}
		material := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
			return root.NewExpiringKey(public, time.Time{}, time.Time{}), nil
		})
		if found, err := verified(b, material, artifact, verify.WithKey(), verify.WithNoObserverTimestamps()); err == nil {
			s.keys, s.KeyID = []int{i}, k.id
			return found, nil
		}
	}
	return nil, last
}

// byIdentity verifies a certificate by the trusted roots, and finds all keys that name its identity: those with a root by which it holds, and those that
// are revoked, with whichever root.
func (v *verifier) byIdentity(b *bundle.Bundle, artifact verify.ArtifactPolicyOption, s *Signature) (*verify.VerificationResult, error) {
	faults := make(map[*root.TrustedRoot]error)
	var found *verify.VerificationResult
	last := errors.New("it has a certificate, and the policy names no identities")
	for i := range v.policy.keys {
		k := &v.policy.keys[i]
		if _, done := faults[k.root]; done || k.root == nil {
			continue
		}
		opts := []verify.VerifierOption{verify.WithObserverTimestamps(1)}
		if len(k.root.RekorLogs()) > 0 {
			opts = append(opts, verify.WithTransparencyLog(1))
		}
		if len(k.root.CTLogs()) > 0 {
			opts = append(opts, verify.WithSignedCertificateTimestamps(1))
		}
		// The identity is compared below, so that an unknown one can be told.
		result, err := verified(b, k.root, artifact, verify.WithoutIdentitiesUnsafe(), opts...)
		if faults[k.root] = err; err != nil {
			last = err
		} else if found == nil {
			found = result
		}
	}
	if found == nil {
		return nil, last
	}
	who := found.Signature.Certificate
	s.KeyID = who.SubjectAlternativeName + " of " + who.Issuer
	if len(found.VerifiedTimestamps) > 0 {
		s.At = found.VerifiedTimestamps[0].Timestamp
	}
	for i := range v.policy.keys {
		k := &v.policy.keys[i]
		if k.root != nil && (faults[k.root] == nil || k.Revoked != "") && who.Issuer == k.Issuer && k.isIdentity(who.SubjectAlternativeName) {
			s.keys = append(s.keys, i)
		}
	}
	if len(s.keys) == 0 {
		return nil, errUnknown
	}
	return found, nil
}

func (k *key) isIdentity(name string) bool {
	if k.Identity != "" {
		return name == k.Identity
	}
	return k.identity.MatchString(name)
}

func verified(b *bundle.Bundle, material root.TrustedMaterial, artifact verify.ArtifactPolicyOption, who verify.PolicyOption, opts ...verify.VerifierOption) (*verify.VerificationResult, error) {
	v, err := verify.NewVerifier(material, append(opts, verify.WithoutStatementPredicate())...)
	if err != nil {
		return nil, err
	}
	return v.Verify(b, verify.NewPolicy(artifact, who))
}
