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
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

const (
	issuer   = "https://token.actions.githubusercontent.com"
	identity = "https://github.com/acme/judges/.github/workflows/release.yml@refs/tags/v1.2.0"
	bundle03 = "application/vnd.dev.sigstore.bundle.v0.3+json"
	manifest = `{"schemaVersion":2}` // of the document "message"
)

// keyless is what a sigstore of our own has signed by certificates of the identity, and trusted roots: its own, that of another one, and one with
// logs of certificates. Package cmd/shadowcourt-keyless makes it (see make cosign-tests); the times that count are within.
type keyless struct {
	Root      string                    `json:"root"`
	OtherRoot string                    `json:"other_root"`
	LogsRoot  string                    `json:"logs_root"`
	Documents map[string]trust.Document `json:"documents"`
}

const keylessFile = "keyless.json"

func readKeyless(t testing.TB) *keyless {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", keylessFile)))(t)
	made := new(keyless)
	must.Do(t, json.Unmarshal(data, made))
	return made
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
	d, err := p.Decide(t.Context(), subject, []trust.Document{good}, asked, now)
	if err != nil || d.Signer != "release" || d.KeyID != identity+" of "+issuer {
		t.Fatalf("decided as %+v, %v", d, err)
	}
	if seen := p.Verify(t.Context(), subject, []trust.Document{good}, now)[0]; seen.At.Year() < 2026 {
		t.Errorf("signed at %v", seen.At)
	}
	must.Get(p.Decide(t.Context(), subject, []trust.Document{made.Documents["newer log"]}, asked, now))(t, "with an entry of the newer log")

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
			_, err := load(t, files, keylessPolicy(c.key)).Decide(t.Context(), subject, []trust.Document{c.document}, asked, now)
			rejected(t, err, c.place, c.words)
		})
	}
	pattern := `{name: release, issuer: "` + issuer + `", identity_regexp: "https://github.com/acme/judges/.*@refs/tags/v1[.].*", trusted_root: root.json}`
	must.Get(load(t, files, keylessPolicy(pattern)).Decide(t.Context(), subject, []trust.Document{good}, asked, now))(t)
	_, err = load(t, map[string]string{"root.json": made.OtherRoot}, keylessPolicy(exact+"}")).Decide(t.Context(), subject, []trust.Document{good}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "failed to verify")
	// Where the trusted root has logs of certificates, a certificate without their timestamps is not enough.
	_, err = load(t, map[string]string{"root.json": made.LogsRoot}, keylessPolicy(exact+"}")).Decide(t.Context(), subject, []trust.Document{good}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "signed certificate timestamp")
}

func TestAccept_DI3_KeylessBundlesChanged(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	p := load(t, map[string]string{"root.json": made.Root}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	good := made.Documents["good"]
	flip := func(at ...any) func(any) {
		return func(b any) {
			edit(b, func(v any) any {
				raw := must.Get(base64.StdEncoding.DecodeString(v.(string)))(t)
				raw[len(raw)-9] ^= 1
				return base64.StdEncoding.EncodeToString(raw)
			}, at...)
		}
	}
	set := func(to any, at ...any) func(any) {
		return func(b any) { edit(b, func(any) any { return to }, at...) }
	}
	const material, envelope = "verificationMaterial", "dsseEnvelope"
	for what, change := range map[string]func(any){
		"nothing":           func(any) {},
		"no entry of a log": set([]any{}, material, "tlogEntries"),
		"signature":         flip(envelope, "signatures", 0, "sig"),
		"payload":           flip(envelope, "payload"),
		"no signature":      set([]any{}, envelope, "signatures"),
		"certificate":       flip(material, "certificate", "rawBytes"),
		"key in its place": func(b any) {
			m := b.(map[string]any)[material].(map[string]any)
			delete(m, "certificate")
			m["publicKey"] = map[string]any{"hint": "release"}
		},
		"key beside it":   set(map[string]any{"hint": "release"}, material, "publicKey"),
		"time in the log": set("1798000000", material, "tlogEntries", 0, "integratedTime"),
		"log's proof":     flip(material, "tlogEntries", 0, "inclusionProof", "rootHash"),
		"version":         set("application/vnd.dev.sigstore.bundle.v0.9+json", "mediaType"),
		"payload type":    set("text/plain", envelope, "payloadType"),
		"unknown field":   set("x", "note"),
	} {
		var b any
		must.Do(t, json.Unmarshal(good.Data, &b))
		change(b)
		data := must.Get(json.Marshal(b))(t)
		if seen := p.Verify(t.Context(), subject, []trust.Document{{Type: good.Type, Data: data}}, now)[0]; seen.Counts != (what == "nothing") || seen.Counts != (seen.Signer != "") {
			t.Errorf("%s: verified as %+v", what, seen)
		}
	}
}

// edit changes the value at a path of a JSON document.
func edit(b any, change func(any) any, at ...any) {
	for _, step := range at[:len(at)-1] {
		if name, ok := step.(string); ok {
			b = b.(map[string]any)[name]
		} else {
			b = b.([]any)[step.(int)]
		}
	}
	last := at[len(at)-1].(string)
	b.(map[string]any)[last] = change(b.(map[string]any)[last])
}

// A bundle may sign the manifest itself instead of a statement about it.
func TestAccept_DI2_BundlesOfTheManifest(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	p := load(t, map[string]string{"root.json": made.Root}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	document := made.Documents["message"]
	signed := subject
	signed.Manifest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(manifest)))
	if seen := p.Verify(t.Context(), signed, []trust.Document{document}, now)[0]; !seen.Counts || seen.Signer != "release" {
		t.Errorf("verified as %+v", seen)
	}
	if seen := p.Verify(t.Context(), subject, []trust.Document{document}, now)[0]; seen.Counts || !strings.Contains(seen.Why, "another manifest") {
		t.Errorf("verified as %+v", seen)
	}
	// The digest is a hint that nobody signed.
	moved := document
	sum := sha256.Sum256([]byte(manifest))
	moved.Data = bytes.ReplaceAll(document.Data, []byte(base64.StdEncoding.EncodeToString(sum[:])), []byte(base64.StdEncoding.EncodeToString(must.Get(hex.DecodeString(subject.Manifest[7:]))(t))))
	if bytes.Equal(moved.Data, document.Data) {
		t.Fatal("nothing was replaced")
	}
	if seen := p.Verify(t.Context(), subject, []trust.Document{moved}, now)[0]; seen.Counts {
		t.Errorf("verified as %+v", seen)
	}
}

func TestAccept_DI2_BundlesOfTheManifestWithAKey(t *testing.T) {
	t.Parallel()
	sum256, sum512 := sha256.Sum256([]byte(manifest)), sha512.Sum512([]byte(manifest))
	signed := subject
	signed.Manifest = fmt.Sprintf("sha256:%x", sum256)
	ec := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
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
		der := must.Get(x509.MarshalPKIXPublicKey(c.key.Public()))(t)
		p := must.Get(trust.OfKey("acme", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))(t)
		sig := must.Get(c.key.Sign(rand.Reader, c.digest, c.opts))(t)
		data, err := json.Marshal(map[string]any{
			"mediaType": bundle03, "verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "x"}},
			"messageSignature": map[string]any{"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": sum256[:]}, "signature": sig},
		})
		must.Do(t, err)
		if seen := p.Verify(t.Context(), signed, []trust.Document{{Type: bundle03, Data: data}}, now)[0]; seen.Counts != (c.why == "") || !strings.Contains(seen.Why, c.why) {
			t.Errorf("%s: verified as %+v", name, seen)
		}
	}
}

// TestAccept_HX6_WithoutTheProgramAnErrorNamesIt: neither a missing program nor one that fails lets a bundle count, and signatures by keys do
// without it.
func TestAccept_HX6_WithoutTheProgramAnErrorNamesIt(t *testing.T) {
	dir := t.TempDir()
	good := readKeyless(t).Documents["good"]
	p := load(t, map[string]string{"root.json": readKeyless(t).Root}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	t.Setenv("PATH", dir)
	check := func(want string) {
		t.Helper()
		_, err := p.Decide(t.Context(), subject, []trust.Document{good}, asked, now)
		rejected(t, err, "trust.yaml:3 allow[0].signed_by", want)
	}
	check("the program shadowcourt-keyless, which verifies keyless signatures, is neither beside shadowcourt nor in PATH: it is in the archive of each release, or go install")
	if runtime.GOOS == "windows" {
		return
	}
	for script, want := range map[string]string{
		"echo broken >&2; exit 3": "shadowcourt-keyless: exit status 3 broken",
		"echo '[]'":               "0 answers for 1 trusted roots",
		"echo '[{}] {}'":          "no JSON",
		`echo '[{"fault":"","identity":"x","trust":true}]'`:                        `unknown field "trust"`,
		"while :; do echo 0123456789012345678901234567890123456789012345678; done": "signal: broken pipe",
		`echo '[{"identity":"` + identity + `","issuer":"` + issuer + `"}]'`:       "its statement is no JSON",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, "shadowcourt-keyless"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		check(want)
	}
	w := newWorld(t)
	must.Get(w.Decide(t.Context(), subject, []trust.Document{sign(t, w.keys["acme"], subject)}, asked, now))(t)
}
