package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// key is one that signs: a public key, or who signs without one of their own, by the certificates of an identity.
type key struct {
	Name           string `yaml:"name"`
	Key            string `yaml:"key"`
	Issuer         string `yaml:"issuer"`
	Identity       string `yaml:"identity"`
	IdentityRegexp string `yaml:"identity_regexp"`
	TrustedRoot    string `yaml:"trusted_root"`
	Expires        day    `yaml:"expires"`
	Revoked        string `yaml:"revoked"`

	id       string           // of a public key
	public   crypto.PublicKey // nil for an identity
	record   *record.Key      // of Ed25519
	identity *regexp.Regexp
	root     json.RawMessage // of an identity
}

func (k *key) check(r *strictyaml.Reader, at string, read func(string) ([]byte, error)) {
	r.Required(at+".name", k.Name)
	if _, given := r.Places[at+".revoked"]; given {
		r.Required(at+".revoked", k.Revoked) // an empty reason must not leave the key in force
	}
	load := func(field, name string, parse func([]byte) error) {
		data, err := read(name)
		if err == nil {
			err = parse(data)
		}
		if err != nil {
			r.FailAt(at+"."+field, CodeBadKey, "%s: %s", r.Word(name), reason(err))
		}
	}
	keyless := k.Issuer + k.Identity + k.IdentityRegexp + k.TrustedRoot
	switch {
	case k.Key != "" && keyless != "":
		r.FailAt(at, CodeBadKey, "has either a key, or issuer, identity and trusted_root")
	case k.Key != "":
		load("key", k.Key, k.parse)
	case keyless == "":
		r.FailAt(at, strictyaml.CodeMissing, "a key is missing: key with the name of a file, or issuer, identity and trusted_root")
	default:
		r.Required(at+".issuer", k.Issuer)
		if (k.Identity == "") == (k.IdentityRegexp == "") {
			r.FailAt(at, strictyaml.CodeMissing, "needs either identity, which is compared exactly, or identity_regexp, which matches a whole identity")
		}
		var err error
		if k.identity, err = wholly(k.IdentityRegexp); err != nil {
			r.FailAt(at+".identity_regexp", CodeBadPattern, "%v", err)
		}
		if r.Required(at+".trusted_root", k.TrustedRoot); k.TrustedRoot != "" {
			load("trusted_root", k.TrustedRoot, k.parseRoot)
		}
	}
}

// parse reads a public key.
func (k *key) parse(text []byte) error {
	block, rest := pem.Decode(text)
	if block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return errors.New("is a secret key: name the file of the public one, which ends in .pub")
	}
	if block == nil || block.Type != "PUBLIC KEY" || strings.Contains(string(rest), "-----BEGIN") {
		return errNotPublic
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return errNotPublic
	}
	switch public := public.(type) {
	case ed25519.PublicKey:
		if k.record, err = record.ParseKey(text); err != nil {
			return err
		}
		k.id, k.public = k.record.ID(), public
	case *ecdsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(public)
		if err != nil || public.Curve != elliptic.P256() {
			return errNotPublic
		}
		k.id, k.public = "ecdsa-p256:"+record.DigestOf(der).Hex(), public
	default:
		return errNotPublic
	}
	return nil
}

// parseRoot keeps a trusted root. Only the program for keyless signatures reads all of it.
func (k *key) parseRoot(data []byte) error {
	var root struct {
		MediaType string `json:"mediaType"`
	}
	if err := json.Unmarshal(data, &root); err != nil {
		return err
	}
	if !strings.HasPrefix(root.MediaType, "application/vnd.dev.sigstore.trustedroot") {
		return errors.New("it is no trusted root of sigstore, of which cosign trusted-root create writes one")
	}
	k.root = data
	return nil
}

// why says why signatures of a key do not count, and names the field of the policy that decides; empty if they do.
func (k *key) why(now time.Time) (field, reason string) {
	switch {
	case k.Revoked != "":
		return "revoked", "the key " + k.Name + " was revoked: " + k.Revoked
	case k.Expires.over(now):
		return "expires", "the key " + k.Name + " expired after " + k.Expires.Format(time.DateOnly)
	}
	return "", ""
}

// rank orders keys that have the same identity: a revoked one decides whatever the others say, and an expired one only where no other has it.
func (k *key) rank(now time.Time) int {
	switch field, _ := k.why(now); field {
	case "revoked":
		return 0
	case "":
		return 1
	}
	return 2
}
