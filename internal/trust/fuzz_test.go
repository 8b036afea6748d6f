package trust_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// FuzzParse: whatever a policy and a file beside it hold, there is a policy or faults with their places; and no policy allows what nobody signed.
func FuzzParse(f *testing.F) {
	key, err := record.NewKey(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		f.Fatal(err)
	}
	public, err := key.PublicPEM()
	if err != nil {
		f.Fatal(err)
	}
	root := readKeyless(f).Root
	f.Add([]byte(policy), public)
	f.Add([]byte("keys: [{name: a, key: acme.pub}]\nlocal: false"), public)
	f.Add([]byte(keylessPolicy(`{name: release, issuer: a, identity_regexp: "b.*", trusted_root: root.json}`)), []byte(root))
	f.Add([]byte("allow: [{from: [\"*\"], signed_by: []}]"), []byte(nil))
	f.Fuzz(func(t *testing.T, data, beside []byte) {
		p, err := trust.Parse("trust.yaml", data, func(string) ([]byte, error) { return beside, nil })
		if err != nil {
			var faults strictyaml.Errors
			if p != nil || !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("a fault without its place: %v", err)
			}
			return
		}
		for _, documents := range [][]trust.Document{nil, {{Type: trust.TypeSignature}}} {
			if d, err := p.Decide(t.Context(), subject, documents, asked, now); err == nil {
				t.Fatalf("allowed what nobody signed: %+v", d)
			}
		}
	})
}

// FuzzVerify: no document counts that none of the keys has signed, and none ends the process.
func FuzzVerify(f *testing.F) {
	key, err := record.NewKey(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		f.Fatal(err)
	}
	public, err := key.PublicPEM()
	if err != nil {
		f.Fatal(err)
	}
	made := readKeyless(f)
	files := map[string][]byte{"acme.pub": public, "root.json": []byte(made.Root), "cosign.pub": []byte(readCosigned(f, "bundle").Key)}
	p, err := trust.Parse("trust.yaml", []byte(`keys: [{name: acme, key: acme.pub}, {name: cosign, key: cosign.pub},
{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}]`), func(name string) ([]byte, error) { return files[name], nil })
	if err != nil {
		f.Fatal(err)
	}
	ours, err := trust.Sign(key, subject, module, now)
	if err != nil {
		f.Fatal(err)
	}
	types := []string{trust.TypeSignature, trust.TypeConformance, trust.TypeSimple, bundle03}
	const annotation = "dev.cosignproject.cosign/signature"
	bundled, simple := readCosigned(f, "bundle"), readCosigned(f, "simple")
	for _, d := range append([]trust.Document{ours, bundled.Documents[0], simple.Documents[0]}, slices.Collect(maps.Values(made.Documents))...) {
		f.Add(byte(max(0, slices.Index(types, d.Type))), d.Annotations[annotation], d.Data)
	}
	f.Fuzz(func(t *testing.T, kind byte, sig string, data []byte) {
		d := trust.Document{Type: types[int(kind)%len(types)], Annotations: map[string]string{annotation: sig}, Data: data}
		other := subject
		other.Manifest = "sha256:" + strings.Repeat("ef", 32) // which no key has signed
		for _, one := range p.Verify(t.Context(), other, []trust.Document{d}, now) {
			if one.Counts || one.Signer != "" || one.Kit != nil || len(one.Why) > 510 {
				t.Fatalf("verified as %+v", one)
			}
			if bytes.Contains([]byte(one.Why), []byte("runtime error")) {
				t.Fatalf("a parser panicked: %s", one.Why)
			}
		}
		for _, of := range []trust.Subject{subject, bundled.Subject} {
			p.Verify(t.Context(), of, []trust.Document{d}, now)
		}
	})
}
