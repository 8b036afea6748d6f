package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// savedFile is also what internal/trust is tested with.
const savedFile = "../../internal/trust/testdata/keyless.json"

const (
	issuer   = "https://token.actions.githubusercontent.com"
	identity = "https://github.com/acme/judges/.github/workflows/release.yml@refs/tags/v1.2.0"
	bundle03 = "application/vnd.dev.sigstore.bundle.v0.3+json"
)

var manifestDigest = "sha256:" + strings.Repeat("ab", 32)

// saved is what a sigstore of our own signed, and trusted roots: its own, that of another one, and one with logs of certificates.
type saved struct {
	Root      string              `json:"root"`
	OtherRoot string              `json:"other_root"`
	LogsRoot  string              `json:"logs_root"`
	Documents map[string]document `json:"documents"`
}

type document struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAccept_HX6_BundlesVerify(t *testing.T) {
	data, err := os.ReadFile(savedFile)
	must(t, err)
	made := new(saved)
	must(t, json.Unmarshal(data, made))
	check(t, made)
}

// check asks about each bundle by all three roots.
func check(t *testing.T, made *saved) {
	t.Helper()
	if len(made.Documents) != 6 {
		t.Fatalf("%d documents", len(made.Documents))
	}
	for name, d := range made.Documents {
		manifest, payload := manifestDigest, true
		if name == "message" {
			manifest, payload = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(`{"schemaVersion":2}`))), false
		}
		answers := ask(t, d.Data, manifest, made.Root, made.OtherRoot, made.LogsRoot)
		if a := answers[0]; a.Fault != "" || a.Identity != identity || a.Issuer != issuer || a.At.Year() < 2026 || (len(a.Payload) > 0) != payload {
			t.Errorf("%s: %+v", name, a)
		}
		for _, a := range answers[1:] {
			if a.Fault == "" || a.Identity+a.Issuer != "" || a.Payload != nil {
				t.Errorf("%s by another root: %+v", name, a)
			}
		}
		if !payload {
			if a := ask(t, d.Data, manifestDigest, made.Root)[0]; a.Fault == "" {
				t.Errorf("%s of another manifest: %+v", name, a)
			}
		}
	}
	for _, bundle := range []string{"", "{}", "null", `{"mediaType":"` + bundle03 + `"}`} {
		if a := ask(t, []byte(bundle), manifestDigest, made.Root, "{}"); a[0].Fault == "" || a[1].Fault == "" {
			t.Errorf("%s: %+v", bundle, a)
		}
	}
	for _, text := range []string{"", "[]", `{"more":1}`} {
		if err := run(strings.NewReader(text), new(bytes.Buffer)); err == nil {
			t.Errorf("%q was answered", text)
		}
	}
}

func ask(t *testing.T, bundle []byte, manifest string, roots ...string) (answers []answer) {
	t.Helper()
	q := question{Bundle: bundle, Manifest: manifest}
	for _, root := range roots {
		q.Roots = append(q.Roots, json.RawMessage(root))
	}
	text, err := json.Marshal(&q)
	must(t, err)
	var out bytes.Buffer
	must(t, run(bytes.NewReader(text), &out))
	must(t, json.Unmarshal(out.Bytes(), &answers))
	return answers
}
