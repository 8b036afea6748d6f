//go:build cosign

package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
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
)

var update = flag.Bool("update", false, "write what was made to the testdata of internal/trust")

// What the test kit of sigstore-go makes now is verified as what it made once.
func TestAccept_DI2_KeylessBundlesMadeNow(t *testing.T) {
	s, err := ca.NewVirtualSigstore()
	must(t, err)
	other, err := ca.NewVirtualSigstore()
	must(t, err)
	made := &saved{Root: trustedRoot(t, s, false), OtherRoot: trustedRoot(t, other, false), LogsRoot: trustedRoot(t, s, true), Documents: make(map[string]document)}
	soon := time.Now().Add(time.Minute)
	add := func(name, mediaType string, entity *ca.TestEntity, err error) {
		must(t, err)
		made.Documents[name] = bundleOf(t, s, entity, mediaType)
	}
	for name, statement := range map[string][]byte{
		"good":            cosignStatement(t, cosignSign, manifestDigest),
		"other predicate": cosignStatement(t, "https://slsa.dev/provenance/v1", manifestDigest),
		"other manifest":  cosignStatement(t, cosignSign, "sha256:"+strings.Repeat("cd", 32)),
		"two subjects":    cosignStatement(t, cosignSign, "sha256:"+strings.Repeat("cd", 32), manifestDigest),
	} {
		entity, err := s.AttestAtTime(identity, issuer, statement, soon, true)
		add(name, bundle03, entity, err)
	}
	entity, err := s.AttestAtTimeHashedRekordV2(identity, issuer, cosignStatement(t, cosignSign, manifestDigest), soon)
	add("newer log", bundle03, entity, err)
	entity, err = s.Sign(identity, issuer, []byte(`{"schemaVersion":2}`))
	add("message", "application/vnd.dev.sigstore.bundle+json;version=0.1", entity, err)
	check(t, made)
	if *update {
		data, err := json.MarshalIndent(made, "", "  ")
		must(t, err)
		must(t, os.WriteFile(savedFile, append(data, '\n'), 0o644))
	}
}

const cosignSign = "https://sigstore.dev/cosign/sign/v1"

// trustedRoot is the file of a sigstore's trusted root, with logs of certificates, too, if asked.
func trustedRoot(t *testing.T, s *ca.VirtualSigstore, ctLogs bool) string {
	t.Helper()
	logs := s.RekorLogs()
	for id, log := range logs {
		log.ID = fromHex(t, id)
	}
	var certificates map[string]*root.TransparencyLog
	if ctLogs {
		certificates = s.CTLogs()
		for id, log := range certificates {
			log.ID, log.HashFunc, log.SignatureHashFunc = fromHex(t, id), 5, 5
		}
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01, s.FulcioCertificateAuthorities(), certificates, s.TimestampingAuthorities(), logs)
	must(t, err)
	text, err := trusted.MarshalJSON()
	must(t, err)
	return string(text)
}

// bundleOf gives what was signed as the file that cosign attaches.
func bundleOf(t testing.TB, s *ca.VirtualSigstore, entity *ca.TestEntity, mediaType string) document {
	t.Helper()
	content, err := entity.VerificationContent()
	must(t, err)
	signed, err := entity.SignatureContent()
	must(t, err)
	entries, err := entity.TlogEntries()
	must(t, err)
	stamps, err := entity.Timestamps()
	must(t, err)
	material := &protobundle.VerificationMaterial{
		Content:                   &protobundle.VerificationMaterial_Certificate{Certificate: &protocommon.X509Certificate{RawBytes: content.Certificate().Raw}},
		TimestampVerificationData: new(protobundle.TimestampVerificationData),
	}
	for _, e := range entries {
		logged := e.TransparencyLogEntry()
		if logged.KindVersion == nil { // the test kit leaves out what a bundle has
			var body struct {
				Kind       string `json:"kind"`
				APIVersion string `json:"apiVersion"`
			}
			must(t, json.Unmarshal(logged.CanonicalizedBody, &body))
			logged.KindVersion = &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion}
			promise, err := s.RekorSignPayload(tlog.RekorPayload{
				Body: base64.StdEncoding.EncodeToString(logged.CanonicalizedBody), IntegratedTime: logged.IntegratedTime, LogIndex: logged.LogIndex,
				LogID: hex.EncodeToString(logged.LogId.KeyId),
			})
			must(t, err)
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
		must(t, err)
		sig, err := base64.StdEncoding.DecodeString(raw.Signatures[0].Sig)
		must(t, err)
		b.Content = &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{Payload: payload, PayloadType: raw.PayloadType, Signatures: []*protodsse.Signature{{Sig: sig}}}}
	} else {
		message := signed.(verify.MessageSignatureContent)
		b.Content = &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: message.Digest()}, Signature: message.Signature(),
		}}
	}
	data, err := protojson.Marshal(b)
	must(t, err)
	return document{Type: "application/vnd.dev.sigstore.bundle.v0.3+json", Data: data}
}

// cosignStatement is what cosign signs about a manifest.
func cosignStatement(t testing.TB, predicateType string, manifests ...string) []byte {
	t.Helper()
	subjects := []any{}
	for _, m := range manifests {
		subjects = append(subjects, map[string]any{"digest": map[string]string{"sha256": strings.TrimPrefix(m, "sha256:")}, "annotations": map[string]any{}})
	}
	text, err := json.Marshal(map[string]any{"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": predicateType, "predicate": map[string]any{}})
	must(t, err)
	return text
}

func fromHex(t testing.TB, digits string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(digits)
	must(t, err)
	return raw
}
