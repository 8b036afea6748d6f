// Command shadowcourt-keyless verifies bundles of keyless signatures for shadowcourt, which has none of the libraries for that. It reads one
// question in JSON from the standard input and writes the answers, one for each trusted root, to the standard output. It opens no connection,
// reads no file, and decides nothing: the policy of shadowcourt says whose signatures count.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// maxQuestion is the most bytes of a question: a bundle and a hundred trusted roots of 1 MiB each.
const maxQuestion = 128 << 20

type question struct {
	Bundle   []byte            `json:"bundle"`
	Manifest string            `json:"manifest"` // the digest of what must be signed: "sha256:" and 64 hex digits
	Roots    []json.RawMessage `json:"roots"`
}

// answer is what the bundle shows by one of the roots.
type answer struct {
	Fault    string    `json:"fault"` // why it does not hold; empty if it does
	Identity string    `json:"identity"`
	Issuer   string    `json:"issuer"`
	At       time.Time `json:"at"`
	Payload  []byte    `json:"payload"` // of an envelope; the caller checks what it says
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, maxQuestion+1))
	if err != nil {
		return err
	}
	if len(data) > maxQuestion {
		return fmt.Errorf("a question has at most %d bytes", maxQuestion)
	}
	var q question
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return fmt.Errorf("want a question of shadowcourt in JSON: %w", err)
	}
	answers := make([]answer, len(q.Roots))
	for i, r := range q.Roots {
		if err := answers[i].verify(&q, r); err != nil {
			answers[i] = answer{Fault: err.Error()}
		}
	}
	return json.NewEncoder(out).Encode(answers)
}

// verify verifies the bundle by one root. A fault of a parser is one of the bundle.
func (a *answer) verify(q *question, trusted []byte) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it can't be verified: %v", fault)
		}
	}()
	material, err := root.NewTrustedRootFromJSON(trusted)
	if err != nil {
		return fmt.Errorf("trusted root: %w", err)
	}
	b := new(bundle.Bundle)
	if err := b.UnmarshalJSON(q.Bundle); err != nil {
		return err
	}
	content, err := b.VerificationContent()
	if err != nil {
		return err
	}
	if content.Certificate() == nil {
		return errors.New("it has no certificate")
	}
	digest, err := hex.DecodeString(strings.TrimPrefix(q.Manifest, "sha256:"))
	if err != nil {
		return err
	}
	// Subjects of a statement are compared by the caller, so that a signature of something else is told from one that does not hold.
	artifact := verify.WithoutArtifactUnsafe()
	if b.GetMessageSignature() != nil {
		artifact = verify.WithArtifactDigest("sha256", digest)
	}
	opts := []verify.VerifierOption{verify.WithObserverTimestamps(1), verify.WithoutStatementPredicate()}
	if len(material.RekorLogs()) > 0 {
		opts = append(opts, verify.WithTransparencyLog(1))
	}
	if len(material.CTLogs()) > 0 {
		opts = append(opts, verify.WithSignedCertificateTimestamps(1))
	}
	v, err := verify.NewVerifier(material, opts...)
	if err != nil {
		return err
	}
	// The caller compares the identity, so that an unknown one can be named.
	found, err := v.Verify(b, verify.NewPolicy(artifact, verify.WithoutIdentitiesUnsafe()))
	if err != nil {
		return err
	}
	who := found.Signature.Certificate
	a.Identity, a.Issuer, a.Payload = who.SubjectAlternativeName, who.Issuer, b.GetDsseEnvelope().GetPayload()
	if len(found.VerifiedTimestamps) > 0 {
		a.At = found.VerifiedTimestamps[0].Timestamp
	}
	return nil
}
