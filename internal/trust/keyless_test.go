package trust_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/shadowcourt/shadowcourt/internal/trust"
)

const (
	issuer   = "https://token.actions.githubusercontent.com"
	identity = "https://github.com/acme/judges/.github/workflows/release.yml@refs/tags/v1.2.0"
	bundle03 = "application/vnd.dev.sigstore.bundle.v0.3+json"
	manifest = `{"schemaVersion":2}` // of the document "message"
)

// keyless is what a sigstore of our own has signed by certificates of the identity, and trusted roots: its own, that of another one, and one with
// logs of certificates. The test kit of sigstore-go makes it (see make cosign-tests), which imports packages with known vulnerabilities; the times
// that count are within.
type keyless struct {
	Root      string                    `json:"root"`
	OtherRoot string                    `json:"other_root"`
	LogsRoot  string                    `json:"logs_root"`
	Documents map[string]trust.Document `json:"documents"`
}

const keylessFile = "keyless.json"

func readKeyless(t testing.TB) *keyless {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", keylessFile))
	must(t, err)
	made := new(keyless)
	must(t, json.Unmarshal(data, made))
	return made
}

func mustHex(t testing.TB, digits string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(digits)
	must(t, err)
	return raw
}

func keylessPolicy(key string) string {
	return "keys:\n  - " + key + "\nallow: [{from: [registry.acme.example], names: [reader], roles: [judge], signed_by: [release], capabilities: [recall]}]\n"
}

func TestAccept_DI2_KeylessBundles(t *testing.T) {
	t.Parallel()
	checkKeyless(t, readKeyless(t))
}

func checkKeyless(t *testing.T, made *keyless) {
	t.Helper()
	files := map[string]string{"root.json": made.Root}
	const exact = `{name: release, issuer: "` + issuer + `", identity: "` + identity + `", trusted_root: root.json`
	p := load(t, files, keylessPolicy(exact+"}"))
	good := made.Documents["good"]
	d, err := p.Decide(subject, []trust.Document{good}, asked, now)
	if err != nil || d.Signer != "release" || d.KeyID != identity+" of "+issuer {
		t.Fatalf("decided as %+v, %v", d, err)
	}
	if seen := p.Verify(subject, []trust.Document{good}, now)[0]; seen.At.Year() < 2026 {
		t.Errorf("signed at %v", seen.At)
	}
	if _, err := p.Decide(subject, []trust.Document{made.Documents["newer log"]}, asked, now); err != nil {
		t.Errorf("with an entry of the newer log: %v", err)
	}

	for name, c := range map[string]struct {
		key, place, words string
		document          trust.Document
	}{
		"other issuer":   {strings.Replace(exact, issuer, issuer+".evil.example", 1) + "}", "trust.yaml:3 allow[0].signed_by", identity + " of " + issuer, good},
		"other identity": {strings.Replace(exact, "v1.2.0", "v1.2.1", 1) + "}", "trust.yaml:3 allow[0].signed_by", "names no key that made it", good},
		"longer identity": {
			`{name: release, issuer: "` + issuer + `", identity_regexp: "https://github.com/acme/judges/.*@refs/tags/v1", trusted_root: root.json}`,
			"trust.yaml:3 allow[0].signed_by", "names no key that made it", good,
		},
		"revoked":         {exact + ", revoked: workflow was taken over}", "trust.yaml:2 keys[0].revoked", "taken over", good},
		"expired":         {exact + ", expires: 2026-11-01}", "trust.yaml:2 keys[0].expires", "expired after 2026-11-01", good},
		"other predicate": {exact + "}", "trust.yaml:3 allow[0].signed_by", "https://slsa.dev/provenance/v1", made.Documents["other predicate"]},
		"other manifest":  {exact + "}", "trust.yaml:3 allow[0].signed_by", "it is of another manifest", made.Documents["other manifest"]},
		"two subjects":    {exact + "}", "trust.yaml:3 allow[0].signed_by", "not one subject", made.Documents["two subjects"]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, files, keylessPolicy(c.key)).Decide(subject, []trust.Document{c.document}, asked, now)
			rejected(t, err, c.place, c.words)
		})
	}
	pattern := `{name: release, issuer: "` + issuer + `", identity_regexp: "https://github.com/acme/judges/.*@refs/tags/v1[.].*", trusted_root: root.json}`
	if _, err := load(t, files, keylessPolicy(pattern)).Decide(subject, []trust.Document{good}, asked, now); err != nil {
		t.Error(err)
	}
	_, err = load(t, map[string]string{"root.json": made.OtherRoot}, keylessPolicy(exact+"}")).Decide(subject, []trust.Document{good}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "failed to verify")
	// Where the trusted root has logs of certificates, a certificate without their timestamps is not enough.
	_, err = load(t, map[string]string{"root.json": made.LogsRoot}, keylessPolicy(exact+"}")).Decide(subject, []trust.Document{good}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "signed certificate timestamp")
}

func TestAccept_DI3_KeylessBundlesChanged(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	p := load(t, map[string]string{"root.json": made.Root}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	good := made.Documents["good"]
	for what, change := range map[string]func(*protobundle.Bundle){
		"no entry of a log": func(b *protobundle.Bundle) { b.VerificationMaterial.TlogEntries = nil },
		"signature":         func(b *protobundle.Bundle) { b.GetDsseEnvelope().Signatures[0].Sig[9] ^= 1 },
		"payload": func(b *protobundle.Bundle) {
			b.GetDsseEnvelope().Payload = bytes.Replace(b.GetDsseEnvelope().Payload, []byte("ab"), []byte("ac"), 1)
		},
		"no signature": func(b *protobundle.Bundle) { b.GetDsseEnvelope().Signatures = nil },
		"certificate": func(b *protobundle.Bundle) {
			raw := b.VerificationMaterial.GetCertificate().RawBytes
			raw[len(raw)-9] ^= 1
		},
		"key in its place": func(b *protobundle.Bundle) {
			b.VerificationMaterial.Content = &protobundle.VerificationMaterial_PublicKey{PublicKey: &protocommon.PublicKeyIdentifier{Hint: "release"}}
		},
		"time in the log": func(b *protobundle.Bundle) { b.VerificationMaterial.TlogEntries[0].IntegratedTime += 3600 },
		"log's proof":     func(b *protobundle.Bundle) { b.VerificationMaterial.TlogEntries[0].InclusionProof.RootHash[0] ^= 1 },
		"version":         func(b *protobundle.Bundle) { b.MediaType = "application/vnd.dev.sigstore.bundle.v0.9+json" },
		"payload type":    func(b *protobundle.Bundle) { b.GetDsseEnvelope().PayloadType = "text/plain" },
	} {
		var b protobundle.Bundle
		must(t, protojson.Unmarshal(good.Data, &b))
		change(&b)
		data, err := protojson.Marshal(&b)
		must(t, err)
		if seen := p.Verify(subject, []trust.Document{{Type: good.Type, Data: data}}, now)[0]; seen.Counts || seen.Signer != "" {
			t.Errorf("%s: verified as %+v", what, seen)
		}
	}
}

// A bundle may sign the manifest itself instead of a statement about it.
func TestAccept_DI2_BundlesOfTheManifest(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	p := load(t, map[string]string{"root.json": made.Root}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	document := made.Documents["message"]
	signed := subject
	signed.Manifest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(manifest)))
	if seen := p.Verify(signed, []trust.Document{document}, now)[0]; !seen.Counts || seen.Signer != "release" {
		t.Errorf("verified as %+v", seen)
	}
	if seen := p.Verify(subject, []trust.Document{document}, now)[0]; seen.Counts || !strings.Contains(seen.Why, "another manifest") {
		t.Errorf("verified as %+v", seen)
	}
	// The digest is a hint that nobody signed.
	moved := document
	sum := sha256.Sum256([]byte(manifest))
	moved.Data = bytes.ReplaceAll(document.Data, []byte(base64.StdEncoding.EncodeToString(sum[:])), []byte(base64.StdEncoding.EncodeToString(mustHex(t, subject.Manifest[7:]))))
	if bytes.Equal(moved.Data, document.Data) {
		t.Fatal("nothing was replaced")
	}
	if seen := p.Verify(subject, []trust.Document{moved}, now)[0]; seen.Counts {
		t.Errorf("verified as %+v", seen)
	}
}

func TestAccept_DI2_BundlesOfTheManifestWithAKey(t *testing.T) {
	t.Parallel()
	sum256, sum512 := sha256.Sum256([]byte(manifest)), sha512.Sum512([]byte(manifest))
	signed := subject
	signed.Manifest = fmt.Sprintf("sha256:%x", sum256)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	for name, c := range map[string]struct {
		key    crypto.Signer
		digest []byte
		opts   crypto.SignerOpts
		why    string
	}{
		"ECDSA":          {ec, sum256[:], crypto.SHA256, ""},
		"Ed25519":        {ed, []byte(manifest), crypto.Hash(0), "only statements"}, // its message would be needed
		"Ed25519 digest": {ed, sum512[:], crypto.SHA512, "only statements"},         // the digest of a manifest is SHA-256
	} {
		der, err := x509.MarshalPKIXPublicKey(c.key.Public())
		must(t, err)
		p, err := trust.OfKey("acme", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		must(t, err)
		sig, err := c.key.Sign(rand.Reader, c.digest, c.opts)
		must(t, err)
		data, err := protojson.Marshal(&protobundle.Bundle{
			MediaType:            bundle03,
			VerificationMaterial: &protobundle.VerificationMaterial{Content: &protobundle.VerificationMaterial_PublicKey{PublicKey: &protocommon.PublicKeyIdentifier{Hint: "x"}}},
			Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
				MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum256[:]}, Signature: sig,
			}},
		})
		must(t, err)
		if seen := p.Verify(signed, []trust.Document{{Type: bundle03, Data: data}}, now)[0]; seen.Counts != (c.why == "") || !strings.Contains(seen.Why, c.why) {
			t.Errorf("%s: verified as %+v", name, seen)
		}
	}
}
