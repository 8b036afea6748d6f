package trust_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/shadowcourt/shadowcourt/internal/trust"
)

const (
	issuer   = "https://token.actions.githubusercontent.com"
	identity = "https://github.com/acme/judges/.github/workflows/release.yml@refs/tags/v1.2.0"
)

// sigstore is one of its own, and its trusted root; with logs of certificates, too, if asked.
func sigstore(t testing.TB, ctLogs bool) (*ca.VirtualSigstore, string) {
	t.Helper()
	s, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	logs := s.RekorLogs()
	for id, log := range logs {
		log.ID = mustHex(t, id)
	}
	var certificates map[string]*root.TransparencyLog
	if ctLogs {
		certificates = s.CTLogs()
		for id, log := range certificates {
			log.ID, log.HashFunc, log.SignatureHashFunc = mustHex(t, id), 5, 5
		}
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, s.FulcioCertificateAuthorities(), certificates, s.TimestampingAuthorities(), logs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := trusted.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return s, string(text)
}

func mustHex(t testing.TB, digits string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// bundleOf gives what was signed as the file that cosign attaches.
func bundleOf(t testing.TB, s *ca.VirtualSigstore, entity *ca.TestEntity, mediaType string) trust.Document {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	content, err := entity.VerificationContent()
	check(err)
	signed, err := entity.SignatureContent()
	check(err)
	entries, err := entity.TlogEntries()
	check(err)
	stamps, err := entity.Timestamps()
	check(err)
	material := &protobundle.VerificationMaterial{
		Content:                   &protobundle.VerificationMaterial_Certificate{Certificate: &protocommon.X509Certificate{RawBytes: content.Certificate().Raw}},
		TimestampVerificationData: new(protobundle.TimestampVerificationData),
	}
	for _, e := range entries {
		logged := e.TransparencyLogEntry()
		if logged.KindVersion == nil { // the test kit leaves out what a bundle has
			var body struct{ Kind, APIVersion string }
			check(json.Unmarshal(logged.CanonicalizedBody, &body))
			logged.KindVersion = &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion}
			promise, err := s.RekorSignPayload(tlog.RekorPayload{
				Body: base64.StdEncoding.EncodeToString(logged.CanonicalizedBody), IntegratedTime: logged.IntegratedTime, LogIndex: logged.LogIndex,
				LogID: hex.EncodeToString(logged.LogId.KeyId),
			})
			check(err)
			logged.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: promise}
		}
		material.TlogEntries = append(material.TlogEntries, logged)
	}
	for _, stamp := range stamps {
		material.TimestampVerificationData.Rfc3161Timestamps = append(material.TimestampVerificationData.Rfc3161Timestamps, &protocommon.RFC3161SignedTimestamp{SignedTimestamp: stamp})
	}
	b := &protobundle.Bundle{MediaType: mediaType, VerificationMaterial: material}
	if envelope := signed.EnvelopeContent(); envelope != nil {
		raw := envelope.RawEnvelope()
		payload, err := raw.DecodeB64Payload()
		check(err)
		sig, err := base64.StdEncoding.DecodeString(raw.Signatures[0].Sig)
		check(err)
		b.Content = &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{Payload: payload, PayloadType: raw.PayloadType, Signatures: []*protodsse.Signature{{Sig: sig}}}}
	} else {
		message := signed.(verify.MessageSignatureContent) //nolint:forcetypeassert // of a test
		b.Content = &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: message.Digest()}, Signature: message.Signature(),
		}}
	}
	data, err := protojson.Marshal(b)
	check(err)
	return trust.Document{Type: "application/vnd.dev.sigstore.bundle.v0.3+json", Data: data}
}

const bundle03 = "application/vnd.dev.sigstore.bundle.v0.3+json"

// cosignStatement is what cosign signs about a manifest.
func cosignStatement(t testing.TB, predicateType string, manifests ...string) []byte {
	t.Helper()
	subjects := []any{}
	for _, m := range manifests {
		subjects = append(subjects, map[string]any{"digest": map[string]string{"sha256": strings.TrimPrefix(m, "sha256:")}, "annotations": map[string]any{}})
	}
	text, err := json.Marshal(map[string]any{"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": predicateType, "predicate": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const cosignSign = "https://sigstore.dev/cosign/sign/v1"

func keylessPolicy(key string) string {
	return "keys:\n  - " + key + "\nallow: [{from: [registry.acme.example], names: [reader], roles: [judge], signed_by: [release], capabilities: [recall]}]\n"
}

func TestAccept_DI2_KeylessBundles(t *testing.T) {
	t.Parallel()
	s, trusted := sigstore(t, false)
	files := map[string]string{"root.json": trusted}
	attested := func(predicateType string, manifests ...string) trust.Document {
		entity, err := s.AttestAtTime(identity, issuer, cosignStatement(t, predicateType, manifests...), time.Now().Add(time.Minute), true)
		if err != nil {
			t.Fatal(err)
		}
		return bundleOf(t, s, entity, bundle03)
	}
	const exact = `{name: release, issuer: "` + issuer + `", identity: "` + identity + `", trusted_root: root.json`
	p := load(t, files, keylessPolicy(exact+"}"))
	good := attested(cosignSign, subject.Manifest)
	d, err := p.Decide(subject, []trust.Document{good}, asked, now)
	if err != nil || d.Signer != "release" || d.KeyID != identity+" of "+issuer {
		t.Fatalf("decided as %+v, %v", d, err)
	}
	if seen := p.Verify(subject, []trust.Document{good}, now)[0]; time.Since(seen.At).Abs() > time.Hour {
		t.Errorf("signed at %v", seen.At)
	}
	newLog, err := s.AttestAtTimeHashedRekordV2(identity, issuer, cosignStatement(t, cosignSign, subject.Manifest), time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Decide(subject, []trust.Document{bundleOf(t, s, newLog, bundle03)}, asked, now); err != nil {
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
		"other predicate": {exact + "}", "trust.yaml:3 allow[0].signed_by", "https://slsa.dev/provenance/v1", attested("https://slsa.dev/provenance/v1", subject.Manifest)},
		"other manifest":  {exact + "}", "trust.yaml:3 allow[0].signed_by", "it is of another manifest", attested(cosignSign, subject.Module)},
		"two subjects":    {exact + "}", "trust.yaml:3 allow[0].signed_by", "not one subject", attested(cosignSign, subject.Module, subject.Manifest)},
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
	_, others := sigstore(t, false)
	_, err = load(t, map[string]string{"root.json": others}, keylessPolicy(exact+"}")).Decide(subject, []trust.Document{good}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "failed to verify")
	// Where the trusted root has logs of certificates, a certificate without their timestamps is not enough.
	strictly, logs := sigstore(t, true)
	entity, err := strictly.AttestAtTime(identity, issuer, cosignStatement(t, cosignSign, subject.Manifest), time.Now().Add(time.Minute), true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = load(t, map[string]string{"root.json": logs}, keylessPolicy(exact+"}")).Decide(subject, []trust.Document{bundleOf(t, strictly, entity, bundle03)}, asked, now)
	rejected(t, err, "trust.yaml:3 allow[0].signed_by", "signed certificate timestamp")
}

func TestAccept_DI3_KeylessBundlesChanged(t *testing.T) {
	t.Parallel()
	s, trusted := sigstore(t, false)
	p := load(t, map[string]string{"root.json": trusted}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	entity, err := s.AttestAtTime(identity, issuer, cosignStatement(t, cosignSign, subject.Manifest), time.Now().Add(time.Minute), true)
	if err != nil {
		t.Fatal(err)
	}
	good := bundleOf(t, s, entity, bundle03)
	for what, change := range map[string]func(*protobundle.Bundle){
		"no entry of a log": func(b *protobundle.Bundle) { b.VerificationMaterial.TlogEntries = nil },
		"signature":         func(b *protobundle.Bundle) { b.GetDsseEnvelope().Signatures[0].Sig[9] ^= 1 },
		"payload": func(b *protobundle.Bundle) {
			b.GetDsseEnvelope().Payload = cosignStatement(t, cosignSign, subject.Module)
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
		if err := protojson.Unmarshal(good.Data, &b); err != nil {
			t.Fatal(err)
		}
		change(&b)
		data, err := protojson.Marshal(&b)
		if err != nil {
			t.Fatal(err)
		}
		if seen := p.Verify(subject, []trust.Document{{Type: good.Type, Data: data}}, now)[0]; seen.Counts() || seen.Signer != "" {
			t.Errorf("%s: verified as %+v", what, seen)
		}
	}
}

// A bundle may sign the manifest itself instead of a statement about it.
func TestAccept_DI2_BundlesOfTheManifest(t *testing.T) {
	t.Parallel()
	s, trusted := sigstore(t, false)
	p := load(t, map[string]string{"root.json": trusted}, keylessPolicy(`{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}`))
	manifest := []byte(`{"schemaVersion":2}`)
	entity, err := s.Sign(identity, issuer, manifest)
	if err != nil {
		t.Fatal(err)
	}
	document := bundleOf(t, s, entity, "application/vnd.dev.sigstore.bundle+json;version=0.1")
	signed := subject
	signed.Manifest = fmt.Sprintf("sha256:%x", sha256.Sum256(manifest))
	if seen := p.Verify(signed, []trust.Document{document}, now)[0]; !seen.Counts() || seen.Signer != "release" {
		t.Errorf("verified as %+v", seen)
	}
	if seen := p.Verify(subject, []trust.Document{document}, now)[0]; seen.Counts() || !strings.Contains(seen.Why, "another manifest") {
		t.Errorf("verified as %+v", seen)
	}
	// The digest is a hint that nobody signed.
	moved := document
	sum := sha256.Sum256(manifest)
	moved.Data = bytes.Replace(document.Data, []byte(base64.StdEncoding.EncodeToString(sum[:])), []byte(base64.StdEncoding.EncodeToString(mustHex(t, subject.Manifest[7:]))), -1)
	if bytes.Equal(moved.Data, document.Data) {
		t.Fatal("nothing was replaced")
	}
	if seen := p.Verify(subject, []trust.Document{moved}, now)[0]; seen.Counts() {
		t.Errorf("verified as %+v", seen)
	}
}
