package trust_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

func TestAccept_DI3_NoBitOfASignatureChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := sign(t, w.keys["acme"], subject)
	for i := range d.Data {
		for bit := range 8 {
			changed := d
			changed.Data = slices.Clone(d.Data)
			changed.Data[i] ^= 1 << bit
			if s := w.Verify(t.Context(), subject, []trust.Document{changed}, now)[0]; s.Counts || s.Signer != "" {
				t.Fatalf("with bit %d of byte %d changed, verified as %+v", bit, i, s)
			}
		}
	}
}

func TestAccept_DI3_ASignatureOfAnotherDigestMovedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := sign(t, w.keys["acme"], subject)
	for words, change := range map[string]func(*trust.Subject){
		"it is of another manifest": func(s *trust.Subject) { s.Manifest = s.Module },
		"it is of another module":   func(s *trust.Subject) { s.Module = s.Manifest },
		"is no digest":              func(s *trust.Subject) { s.Module = "" },
		"want sha256":               func(s *trust.Subject) { s.Manifest = strings.ToUpper(s.Manifest) },
	} {
		other := subject
		change(&other)
		_, err := w.Decide(t.Context(), other, []trust.Document{d}, asked, now)
		rejected(t, err, "trust.yaml:13 allow[0].signed_by", words)
	}
	if _, err := trust.Sign(w.keys["acme"], trust.Subject{Repository: "a", Manifest: "sha256:ab", Module: subject.Module}, module, now); err == nil {
		t.Error("something that is no digest was signed")
	}
}

// The keys of records sign modules, too: what was signed for the one is never taken for the other.
func TestAccept_DI3_SignaturesForOtherPurposes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.keys["acme"]
	statement := func(predicateType, mediaType string) []byte {
		predicate := map[string]any{"module": subject.Module, "name": "reader", "version": "1", "capabilities": asked.Asks, "signed_at": now}
		resource := map[string]any{"name": subject.Repository, "digest": map[string]string{"sha256": subject.Manifest[7:]}}
		if mediaType != "" {
			resource["mediaType"] = mediaType
		}
		text := must.Get(json.Marshal(map[string]any{"_type": "https://in-toto.io/Statement/v1", "subject": []any{resource}, "predicateType": predicateType, "predicate": predicate}))(t)
		return must.Get(record.SealEnvelope(key, text))(t)
	}
	const ofModule, ofManifest = "https://shadowcourt.dev/attestations/module/v1", "application/vnd.oci.image.manifest.v1+json"
	if s := w.Verify(t.Context(), subject, []trust.Document{{Type: trust.TypeSignature, Data: statement(ofModule, ofManifest)}}, now)[0]; !s.Counts {
		t.Fatalf("verified as %+v", s)
	}

	// A record may hold a statement of any type about any digest: those of proofs are such.
	var lines bytes.Buffer
	writer := must.Get(record.Begin(&lines, key, &record.Header{Contents: record.ContentsReplay, Instrumentation: "3", Pipeline: "pipeline: a\n", Court: []byte{0x80}}))(t)
	stated := &record.Statement{
		Subject: []record.Resource{{Name: subject.Repository, Digest: map[string]string{"sha256": subject.Manifest[7:]}}}, PredicateType: ofModule,
		Predicate: json.RawMessage(`{"module":"` + subject.Module + `","name":"reader","capabilities":["log","recall"]}`),
	}
	must.Do(t, writer.AppendStatement(stated))
	unfinished := bytes.Clone(lines.Bytes())
	stated.PredicateType, stated.Predicate = "https://in-toto.io/attestation/test-result/v0.1", json.RawMessage(`{"result":"PASSED","configuration":[{"name":"module","digest":{"sha256":"`+subject.Module[7:]+`"}}]}`)
	must.Do(t, writer.AppendStatement(stated))
	must.Do(t, writer.Finish())
	others := [][]byte{statement("https://slsa.dev/provenance/v1", ofManifest), statement(ofModule, ""), statement("https://sigstore.dev/cosign/sign/v1", ofManifest)}
	for line := range bytes.SplitSeq(bytes.TrimSpace(lines.Bytes()), []byte("\n")) {
		others = append(others, line)
	}
	must.Equal(t, len(others), 7, "documents")
	for _, data := range others {
		bundled := `{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":""}},"dsseEnvelope":` +
			string(regexpKeyID.ReplaceAll(data, nil)) + `}`
		for _, d := range []trust.Document{
			{Type: trust.TypeSignature, Data: data}, {Type: trust.TypeConformance, Data: data}, {Type: bundle03, Data: []byte(bundled)},
		} {
			if s := w.Verify(t.Context(), subject, []trust.Document{d}, now)[0]; s.Counts && (!bytes.Equal(data, others[2]) || d.Type != bundle03) { // cosign signs such statements with keys of Ed25519, too
				t.Errorf("as %s, %s counts: %+v", d.Type, data, s)
			}
		}
	}
	// The other way round: neither a signature nor a result of the kit is a line of a record.
	for _, data := range [][]byte{sign(t, key, subject).Data, statement("https://in-toto.io/attestation/test-result/v0.1", ofManifest)} {
		report, err := record.Verify(t.Context(), bytes.NewReader(slices.Concat(unfinished, data, []byte("\n"))), key, nil)
		if err != nil || report.Fault == nil || report.Fault.Entry != 2 {
			t.Errorf("a record holds a signature of a module: %+v, %v", report, err)
		}
	}
	// A payload of the older form that is an envelope's.
	sig := bytes.Split(sign(t, key, subject).Data, []byte(`"sig":"`))[1]
	payload := must.Get(base64.StdEncoding.DecodeString(strings.Split(string(sign(t, key, subject).Data), `"`)[7]))(t)
	moved := trust.Document{Type: trust.TypeSimple, Data: payload, Annotations: map[string]string{"dev.cosignproject.cosign/signature": string(sig[:bytes.IndexByte(sig, '"')])}}
	if s := w.Verify(t.Context(), subject, []trust.Document{moved}, now)[0]; s.Counts {
		t.Errorf("verified as %+v", s)
	}
}

// What somebody attaches besides does no harm, and costs no more than a bound.
func TestAccept_DI3_MuchIsAttached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := sign(t, w.keys["acme"], subject)
	junk := make([]trust.Document, trust.MaxDocuments)
	for i := range junk {
		junk[i] = trust.Document{Type: trust.TypeSignature, Data: []byte(strings.Repeat("[", i))}
	}
	must.Get(w.Decide(t.Context(), subject, append(slices.Clone(junk[1:]), good), asked, now))(t)
	_, err := w.Decide(t.Context(), subject, append(slices.Clone(junk), good), asked, now)
	rejected(t, err, "trust.yaml:13 allow[0].signed_by", "65 other signatures")
	for _, mediaType := range []string{trust.TypeSignature, trust.TypeConformance, trust.TypeSimple, "application/vnd.dev.sigstore.bundle.v0.3+json"} {
		for _, data := range []string{"", "null", "{}", strings.Repeat("[", 1<<20), strings.Repeat(`{"dsseEnvelope":`, 1<<16), strings.Repeat(" ", trust.MaxDocumentBytes+1)} {
			d := trust.Document{Type: mediaType, Data: []byte(data), Annotations: map[string]string{"dev.cosignproject.cosign/signature": "AAAA"}}
			if s := w.Verify(t.Context(), subject, []trust.Document{d}, now)[0]; s.Counts || len(s.Why) > 600 {
				t.Errorf("verified as %+v", s)
			}
		}
	}
}

func TestAccept_DI3_NoPolicyWithoutSigners(t *testing.T) {
	t.Parallel()
	_, acme := newKey(t, 1)
	_, other := newKey(t, 2)
	private := must.Get(mustKey(t, 1).PEM())(t)
	files := map[string]string{"acme.pub": acme, "again.pub": acme, "other.pub": other, "private.pem": string(private), "root.json": "{}", "both.pub": acme + other}
	const keys = "keys: [{name: acme, key: acme.pub}]\n"
	rule := func(from, more string) string {
		return keys + "allow: [{from: [" + from + `], names: ["*"], roles: [judge]` + more + "}]\n"
	}
	for text, want := range map[string]string{
		rule(`"*"`, ""):                                                           "trust.yaml:2:9: allow[0].signed_by: is missing or empty",
		rule(`"*"`, ", signed_by: []"):                                            "allow[0].signed_by: is missing or empty",
		rule(`"*"`, ", unsigned: true"):                                           "allow[0].unsigned: unknown key",
		rule(`"*"`, ", signed_by: [nobody]"):                                      `allow[0].signed_by[0]: "nobody" is no name of a key`,
		rule(`"*"`, ", signed_by: [acme], signatures: 2"):                         "allow[0].signatures: must be 1 to",
		rule(`"*"`, ", signed_by: [acme, acme], signatures: 2"):                   "given twice",
		rule(`"*"`, ", signed_by: [acme], signatures: -1"):                        "allow[0].signatures: must be 1 to",
		rule(`"*"`, ", signed_by: [acme], signatures: 0"):                         "allow[0].signatures: must be 1 to",
		rule(`"*"`, ", signed_by: [acme], signatures: null"):                      "allow[0].signatures",
		rule(`Registry.example`, ", signed_by: [acme]"):                           `allow[0].from[0]: "Registry.example" must be in lower case`,
		rule(`"*"`, ", signed_by: [acme], capabilities: [fly]"):                   `"fly" is no capability`,
		rule(`"*.example"`, ", signed_by: [acme]"):                                "* alone is every registry",
		rule(`"oci://a.example"`, ", signed_by: [acme]"):                          "without a scheme",
		rule(`a.example/`, ", signed_by: [acme]"):                                 "neither a host nor a repository",
		rule(`a.example/../b`, ", signed_by: [acme]"):                             "neither a host nor a repository",
		rule(`"oci-layout:"`, ", signed_by: [acme]"):                              "must name a folder",
		`allow: [{from: [a], names: ["["], roles: [pilot], signed_by: [x]}]`:      `"pilot" is no role; known are bench, criterion, defense, edge, judge, light, prosecution`,
		`keys: [{name: a, key: acme.pub, revoked: ""}]`:                           "keys[0].revoked: is missing or empty",
		`keys: [{name: a, key: acme.pub, expires: soon}]`:                         "keys[0].expires: want a date such as 2026-12-31",
		`keys: [{name: a, key: acme.pub}, {name: a, key: other.pub}]`:             `keys[1].name: "a" is the name of keys[0] already`,
		`keys: [{name: a, key: acme.pub, revoked: x}, {name: b, key: again.pub}]`: "keys[1].key: is the key of keys[0] already",
		`keys: [{name: a, key: private.pem}]`:                                     "keys[0].key: private.pem: is a secret key",
		`keys: [{name: a, key: both.pub}]`:                                        "want one public key",
		`keys: [{name: a, key: none.pub}]`:                                        "keys[0].key: none.pub: can't be read",
		`keys: [{name: a}]`:                                                       "keys[0]: a key is missing",
		`keys: [{key: acme.pub, issuer: x}]`:                                      "has either a key, or issuer",
		`keys: [{name: a, identity: x, trusted_root: root.json}]`:                 "keys[0].issuer: is missing or empty",
		`keys: [{name: a, issuer: x, trusted_root: root.json}]`:                   "needs either identity",
		`keys: [{name: a, issuer: x, identity: x, trusted_root: root.json}]`:      "keys[0].trusted_root: root.json: ",
		`keys: [{name: a, issuer: x, identity_regexp: "x)|(y", trusted_root: r}]`: "keys[0].identity_regexp: error parsing regexp",
	} {
		_, err := tryLoad(t, files, text)
		check.Fails(t, err, want, text)
		if err != nil && strings.Contains(err.Error(), "BEGIN") {
			t.Errorf("the message shows a key: %v", err)
		}
	}
	if _, err := tryLoad(t, files, strings.Repeat("# \n", 1<<19)); err == nil {
		t.Error("a huge policy was read")
	}
}

func mustKey(t *testing.T, seed byte) *record.Key {
	t.Helper()
	key, _ := newKey(t, seed)
	return key
}

// regexpKeyID is what a bundle of sigstore does not have.
var regexpKeyID = regexp.MustCompile(`"keyid":"[^"]*",`)

// An identity that is revoked stays so where a pattern of another key has it, too.
func TestAccept_DI3_ARevokedIdentityBesideAPattern(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	files := map[string]string{"root.json": made.Root}
	release := `{name: release, issuer: "` + issuer + `", identity_regexp: "https://github.com/acme/.*", trusted_root: root.json}`
	bad := `{name: bad, issuer: "` + issuer + `", identity: "` + identity + `", trusted_root: root.json, revoked: "stolen"}`
	const allow = "\nallow: [{from: [registry.acme.example], names: [reader], roles: [judge], signed_by: [release], capabilities: [recall]}]\n"
	documents := []trust.Document{made.Documents["good"]}
	must.Get(load(t, files, "keys: ["+release+"]"+allow).Decide(t.Context(), subject, documents, asked, now))(t)
	files["other.json"] = made.OtherRoot
	elsewhere := strings.Replace(bad, "root.json", "other.json", 1)
	for _, keys := range []string{release + ", " + bad, bad + ", " + release, release + ", " + elsewhere} {
		_, err := load(t, files, "keys: ["+keys+"]"+allow).Decide(t.Context(), subject, documents, asked, now)
		check.Fails(t, err, "].revoked: the key bad was revoked: stolen", keys)
	}
}

// Of the keys that have an identity, the one of the rule counts; an expired one takes nothing from others, and gives nothing.
func TestAccept_DI3_AnIdentityOfSeveralKeys(t *testing.T) {
	t.Parallel()
	made := readKeyless(t)
	files := map[string]string{"root.json": made.Root}
	key := func(name, how string) string {
		return `{name: ` + name + `, issuer: "` + issuer + `", trusted_root: root.json, ` + how + `}`
	}
	exact := `identity: "` + identity + `"`
	wide, wider := `identity_regexp: "https://github.com/acme/.*"`, `identity_regexp: "https://.*"`
	documents := []trust.Document{made.Documents["good"], made.Documents["good"]}
	for name, c := range map[string]struct{ keys, rule, want string }{
		"in the list":          {key("other", wide) + ", " + key("release", exact), "signed_by: [release]", ""},
		"expired beside it":    {key("old", exact+", expires: 2026-11-01") + ", " + key("release", wide), "signed_by: [old, release]", ""},
		"expired in the list":  {key("old", exact+", expires: 2026-11-01") + ", " + key("release", wide), "signed_by: [old]", "keys[0].expires"},
		"revoked, not in list": {key("release", exact) + ", " + key("bad", wide+", revoked: stolen"), "signed_by: [release]", "keys[1].revoked"},
		"two names":            {key("a", wide) + ", " + key("b", wider), "signed_by: [a, b], signatures: 2", "1 of 2 signatures"},
	} {
		p := load(t, files, "keys: ["+c.keys+"]\nallow: [{from: [registry.acme.example], names: [reader], roles: [judge], capabilities: [recall], "+c.rule+"}]\n")
		if _, err := p.Decide(t.Context(), subject, documents, asked, now); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, how := range []string{exact, wide} {
		if _, err := tryLoad(t, files, "keys: ["+key("a", how)+", "+key("b", how+", revoked: stolen")+"]\n"); err == nil || !strings.Contains(err.Error(), "of keys[0] already") {
			t.Errorf("%s under two names: %v", how, err)
		}
	}
}

// What two readers read differently is no statement, and nobody signs ahead of time.
func TestAccept_DI3_StatementsAreReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const ours = `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"reader","digest":{"sha256":"MANIFEST"},"mediaType":"application/vnd.oci.image.manifest.v1+json"}],` +
		`"predicateType":"https://shadowcourt.dev/attestations/module/v1","predicate":{"module":"sha256:MODULE","name":"reader","version":"1.2.0","capabilities":["log","recall"],"signed_at":"2026-11-28T11:59:59Z"}}`
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"name":"reader","version"`, `"name":"other","name":"reader","version"`, `name" occurs twice`},
		{`"name":"reader","version"`, `"Name":"other","name":"reader","version"`, `name" occurs twice`},
		{`"subject"`, `"ſubject":[],"subject"`, `" occurs twice`},
		{`"sha256":`, `"sha256":"","sha256":`, `sha256" occurs twice`},
		{`"signed_at"`, `"note":"x","signed_at"`, `unknown field "note"`},
		{`"predicateType"`, `"note":"x","predicateType"`, `unknown field "note"`},
		{`Z"}}`, `Z"}} {}`, "no JSON"},
		{"2026-11-28T11:59:59Z", "2026-11-28T12:00:01Z", "signed at 2026-11-28T12:00:01Z, which is yet to come"},
	} {
		text := strings.NewReplacer("MANIFEST", subject.Manifest[7:], "MODULE", subject.Module[7:]).Replace(strings.Replace(ours, c.from, c.to, 1))
		sealed := must.Get(record.SealEnvelope(w.keys["acme"], []byte(text)))(t)
		documents := []trust.Document{{Type: trust.TypeSignature, Data: sealed}}
		if s := w.Verify(t.Context(), subject, documents, now)[0]; s.Counts != (c.want == "") || !strings.Contains(s.Why, c.want) {
			t.Errorf("%s: %+v", text, s)
		}
		if _, err := w.Decide(t.Context(), subject, documents, asked, now); (err == nil) != (c.want == "") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzParse: whatever a policy and a file beside it hold, there is a policy or faults with their places; and no policy allows what nobody signed.
func FuzzParse(f *testing.F) {
	key := must.Get(record.NewKey(bytes.NewReader(make([]byte, 32))))(f)
	public := must.Get(key.PublicPEM())(f)
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
	key := must.Get(record.NewKey(bytes.NewReader(make([]byte, 32))))(f)
	public := must.Get(key.PublicPEM())(f)
	made := readKeyless(f)
	files := map[string][]byte{"acme.pub": public, "root.json": []byte(made.Root), "cosign.pub": []byte(readCosigned(f, "bundle").Key)}
	p, err := trust.Parse("trust.yaml", []byte(`keys: [{name: acme, key: acme.pub}, {name: cosign, key: cosign.pub},
{name: release, issuer: "`+issuer+`", identity: "`+identity+`", trusted_root: root.json}]`), func(name string) ([]byte, error) { return files[name], nil })
	must.Do(f, err)
	ours := must.Get(trust.Sign(key, subject, module, now))(f)
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
