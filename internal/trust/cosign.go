package trust

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// What cosign writes.
const (
	cosignPredicate   = "https://sigstore.dev/cosign/sign/v1"
	cosignType        = "cosign container image signature" // of the older form; newer versions write the type of the predicate there
	cosignSignature   = "dev.cosignproject.cosign/signature"
	cosignCertificate = "dev.sigstore.cosign/certificate"
	cosignPayload     = "application/vnd.in-toto+json"
)

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

// bundle is one of sigstore, as far as a signature by a key needs it. What else it holds is read by the program for keyless signatures.
type bundle struct {
	MediaType string `json:"mediaType"`
	Material  struct {
		PublicKey   json.RawMessage `json:"publicKey"`
		Certificate json.RawMessage `json:"certificate"`
		Chain       json.RawMessage `json:"x509CertificateChain"`
		Entries     json.RawMessage `json:"tlogEntries"`
		Timestamps  json.RawMessage `json:"timestampVerificationData"`
	} `json:"verificationMaterial"`
	Message *struct {
		Digest struct {
			Algorithm string `json:"algorithm"`
			Digest    []byte `json:"digest"`
		} `json:"messageDigest"`
		Signature []byte `json:"signature"`
	} `json:"messageSignature"`
	Envelope *struct {
		Payload     []byte `json:"payload"`
		PayloadType string `json:"payloadType"`
		Signatures  []struct {
			Sig   []byte `json:"sig"`
			KeyID string `json:"keyid"`
		} `json:"signatures"`
	} `json:"dsseEnvelope"`
}

func parseBundle(data []byte) (*bundle, error) {
	b := new(bundle)
	if err := strict(data, b); err != nil {
		return nil, err
	}
	switch b.MediaType {
	case bundleTypePrefix + "+json;version=0.1", bundleTypePrefix + "+json;version=0.2", bundleTypePrefix + "+json;version=0.3", bundleTypePrefix + ".v0.3+json":
	default:
		return nil, fmt.Errorf("it is a bundle of the unknown type %.100q", b.MediaType)
	}
	materials := 0
	for _, m := range []json.RawMessage{b.Material.PublicKey, b.Material.Certificate, b.Material.Chain} {
		if m != nil {
			materials++
		}
	}
	switch {
	case materials != 1:
		return nil, errors.New("it has neither one key nor one certificate")
	case (b.Message == nil) == (b.Envelope == nil):
		return nil, errors.New("it has neither one envelope nor one signature of a message")
	case b.Envelope != nil && (b.Envelope.PayloadType != cosignPayload || len(b.Envelope.Signatures) != 1):
		return nil, errors.New("it has no envelope of one statement with one signature")
	case b.Message != nil && b.Message.Digest.Algorithm != "SHA2_256":
		return nil, errors.New("it has no SHA-256 of its message")
	}
	return b, nil
}

// verifyBundle verifies a bundle of sigstore: by a public key, or by the certificate of an identity.
func (v *verifier) verifyBundle(ctx context.Context, d Document, s *Signature) error {
	b, err := parseBundle(d.Data)
	if err != nil {
		return err
	}
	if b.Message != nil {
		if other := "sha256:" + hex.EncodeToString(b.Message.Digest.Digest); other != v.subject.Manifest {
			return otherManifest(other)
		}
	}
	var payload []byte
	if b.Material.PublicKey != nil {
		payload, err = v.byKey(b, s)
	} else {
		payload, err = v.byIdentity(ctx, d.Data, s)
	}
	if err != nil || b.Message != nil {
		return err
	}
	// Else what the signer has said of the module, such as where it comes from or what is wrong with it, would count as a signature.
	var st statement
	if err := strict(payload, &st); err != nil {
		return err
	}
	switch {
	case st.Type != statementType || st.PredicateType != cosignPredicate:
		return fmt.Errorf("it is a statement of the type %.100q and not a signature", st.PredicateType)
	case len(st.Subject) != 1:
		return errors.New("it has not one subject")
	case "sha256:"+st.Subject[0].Digest["sha256"] != v.subject.Manifest:
		return otherManifest("sha256:" + st.Subject[0].Digest["sha256"])
	}
	return nil
}

// byKey finds the public key that made a bundle, and gives what it signed. Entries of a log do not matter: the key is what the policy trusts.
func (v *verifier) byKey(b *bundle, s *Signature) (payload []byte, err error) {
	last := errUnknown
	for i := range v.policy.keys {
		k, valid := &v.policy.keys[i], false
		switch public, ecdsaKey := k.public.(*ecdsa.PublicKey); {
		case b.Envelope != nil:
			payload = b.Envelope.Payload
			valid = k.verifies(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(cosignPayload), cosignPayload, len(payload), payload), b.Envelope.Signatures[0].Sig)
		case k.record != nil:
			last = errors.New("by a key of Ed25519 only statements about the manifest are verified, as cosign 3 signs them, and this is a signature of the manifest itself")
		case ecdsaKey:
			valid = ecdsa.VerifyASN1(public, b.Message.Digest.Digest, b.Message.Signature)
		}
		if valid {
			s.keys, s.KeyID = []int{i}, k.id
			return payload, nil
		}
	}
	return nil, last
}

// byIdentity has a certificate verified by the trusted roots, and gives what it signed. It finds all keys that name the certificate's identity:
// those with a root by which it holds, and those that are revoked, with whichever root.
func (v *verifier) byIdentity(ctx context.Context, bundle []byte, s *Signature) ([]byte, error) {
	var roots []json.RawMessage
	at := make(map[string]int) // of each root
	for i := range v.policy.keys {
		if root := v.policy.keys[i].root; root != nil {
			if _, known := at[string(root)]; !known {
				at[string(root)] = len(roots)
				roots = append(roots, root)
			}
		}
	}
	if len(roots) == 0 {
		return nil, errors.New("it has a certificate, and the policy names no identities")
	}
	answers, err := askKeyless(ctx, bundle, v.subject.Manifest, roots)
	if err != nil {
		return nil, err
	}
	var found *keylessAnswer
	for i := range answers {
		if a := &answers[i]; a.Fault == "" && found == nil {
			found = a
		} else if a.Fault != "" {
			err = errors.New(a.Fault)
		}
	}
	if found == nil {
		return nil, err
	}
	s.KeyID, s.At = found.Identity+" of "+found.Issuer, found.At
	for i := range v.policy.keys {
		k := &v.policy.keys[i]
		if k.root != nil && (answers[at[string(k.root)]].Fault == "" || k.Revoked != "") && found.Issuer == k.Issuer && k.isIdentity(found.Identity) {
			s.keys = append(s.keys, i)
		}
	}
	if len(s.keys) == 0 {
		return nil, errUnknown
	}
	return found.Payload, nil
}

func (k *key) isIdentity(name string) bool {
	if k.Identity != "" {
		return name == k.Identity
	}
	return k.identity.MatchString(name)
}

// keylessProgram verifies keyless signatures. It is a program of its own, since the libraries for that are a quarter of all that a command
// with them links.
const keylessProgram = "shadowcourt-keyless"

// The longest that the program may take for a bundle, and the most bytes that it may answer.
const (
	keylessTime  = 20 * time.Second
	keylessBytes = 8 << 20
)

// keylessAnswer is what a bundle shows by one trusted root. Only this much is taken from the program: the policy decides whose signatures count.
type keylessAnswer struct {
	Fault    string    `json:"fault"` // why the bundle does not hold; empty if it does
	Identity string    `json:"identity"`
	Issuer   string    `json:"issuer"`
	At       time.Time `json:"at"`
	Payload  []byte    `json:"payload"` // what was signed; empty for a signature of the manifest itself
}

// askKeyless has a bundle verified by each of some trusted roots.
func askKeyless(ctx context.Context, bundle []byte, manifest string, roots []json.RawMessage) ([]keylessAnswer, error) {
	program, err := findKeyless()
	if err != nil {
		return nil, err
	}
	question, err := json.Marshal(map[string]any{"bundle": bundle, "manifest": manifest, "roots": roots})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keylessTime, fmt.Errorf("no answer in %v", keylessTime))
	defer cancel()
	answer, fault := limited{most: keylessBytes}, limited{most: 1 << 10}
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // found beside this program, else in PATH
	cmd.Env = []string{}                     // it needs none
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(question), &answer, &fault
	cmd.WaitDelay = time.Second
	var list []keylessAnswer
	if err = cmd.Run(); err == nil {
		err = strict(answer.kept, &list)
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx) // a caller that gave up is no fault of the program
	case err != nil:
		err = fmt.Errorf("%w %s", err, bytes.TrimSpace(fault.kept))
	case len(list) != len(roots):
		err = fmt.Errorf("%d answers for %d trusted roots: it is of another version", len(list), len(roots))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return list, nil
}

// findKeyless finds the program beside this one, else in PATH.
func findKeyless() (string, error) {
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			beside := filepath.Join(filepath.Dir(self), keylessProgram)
			if runtime.GOOS == "windows" {
				beside += ".exe"
			}
			if _, err := os.Stat(beside); err == nil {
				return beside, nil
			}
		}
	}
	if found, err := exec.LookPath(keylessProgram); err == nil {
		return found, nil
	}
	return "", errors.New("it has a certificate, and the program " + keylessProgram + ", which verifies keyless signatures, is neither beside shadowcourt nor in PATH: " +
		"it is in the archive of each release, or go install github.com/shadowcourt/shadowcourt/cmd/" + keylessProgram + "@latest")
}

// limited keeps what is written to it up to a limit, and fails beyond it.
type limited struct {
	kept []byte
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(l.kept)+len(p) > l.most {
		return 0, errors.New("it wrote too much")
	}
	l.kept = append(l.kept, p...)
	return len(p), nil
}
