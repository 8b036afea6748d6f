package trust_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// cosigned is what cosign wrote about a module.
type cosigned struct {
	Key       string           `json:"key"`
	Subject   trust.Subject    `json:"subject"`
	Documents []trust.Document `json:"documents"`
}

// TestMain builds the program for keyless signatures, and puts it into PATH.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "keyless")
	if err == nil {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", dir+string(filepath.Separator), ".")
		build.Dir, build.Stderr = filepath.Join("..", "..", "cmd", "shadowcourt-keyless"), os.Stderr
		err = errors.Join(build.Run(), os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")))
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// load reads a policy and what lies beside it.
func load(t *testing.T, beside map[string]string, policy string) *trust.Policy {
	t.Helper()
	return must.Get(tryLoad(t, beside, policy))(t)
}

func tryLoad(t *testing.T, beside map[string]string, policy string) (*trust.Policy, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "trust.yaml")
	for name, text := range beside {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must.Do(t, os.WriteFile(path, []byte(policy), 0o600))
	return trust.Load(path)
}

// now is when decisions are made in tests.
var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// A module as registries have it.
var (
	subject = trust.Subject{Repository: "registry.acme.example/judges/reader", Manifest: "sha256:" + strings.Repeat("ab", 32), Module: "sha256:" + strings.Repeat("cd", 32), Version: "1.2.0"}
	module  = &abi.Manifest{Name: "reader", Version: "1.2.0", Capabilities: []abi.Capability{abi.CapRecall, abi.CapLog}}
	asked   = trust.Use{Name: "reader", Roles: []string{"judge"}, Asks: []abi.Capability{abi.CapLog, abi.CapRecall}, Granted: []abi.Capability{abi.CapRecall}}
)

// newKey makes a key from a seed, and gives its public part as text.
func newKey(t *testing.T, seed byte) (*record.Key, string) {
	t.Helper()
	key := must.Get(record.NewKey(bytes.NewReader(bytes.Repeat([]byte{seed}, 32))))(t)
	text := must.Get(key.PublicPEM())(t)
	return key, string(text)
}

func sign(t *testing.T, key *record.Key, s trust.Subject) trust.Document {
	t.Helper()
	return must.Get(trust.Sign(key, s, module, now))(t)
}

const policy = `keys:
  - {name: acme, key: acme.pub}
  - {name: old, key: old.pub, expires: 2026-11-26}
  - name: lost
    key: lost.pub
    revoked: laptop stolen
  - {name: other, key: other.pub}
allow:
  - from: [registry.acme.example/judges, "oci-layout:/srv/modules"]
    names: [reader, "acme-*"]
    roles: [bench, judge]
    capabilities: [recall]
    signed_by: [acme, old, lost]
  - from: [registry.acme.example]
    names: ["*"]
    roles: [edge]
    signed_by: [other]
  - from: ["*"]
    names: [shared]
    roles: [judge]
    signed_by: [acme, other]
    signatures: 2
`

// world is a policy and the keys of its authors.
type world struct {
	*trust.Policy
	keys map[string]*record.Key
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{keys: make(map[string]*record.Key)}
	files := make(map[string]string)
	for i, name := range []string{"acme", "old", "lost", "other", "foreign"} {
		w.keys[name], files[name+".pub"] = newKey(t, byte(i+1))
	}
	w.Policy = load(t, files, policy)
	return w
}

// rejected checks the place and the words of a rejection.
func rejected(t *testing.T, err error, place, words string) {
	t.Helper()
	var fault *strictyaml.Error
	if !errors.As(err, &fault) {
		t.Errorf("want a rejection at %s, not %v", place, err)
		return
	}
	if got := fmt.Sprintf("%s:%d %s", strings.TrimPrefix(filepath.Base(fault.File), "."), fault.Line, fault.Path); got != place || !strings.Contains(fault.Message, words) {
		t.Errorf("want %s and %q, not %v", place, words, err)
	}
}

func TestAccept_DI2_SignaturesOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	documents := []trust.Document{{Type: "application/vnd.cyclonedx+json", Data: []byte("{}")}, sign(t, w.keys["foreign"], subject), sign(t, w.keys["acme"], subject)}
	d := must.Get(w.Decide(t.Context(), subject, documents, asked, now))(t)
	if d.Signer != "acme" || d.KeyID != w.keys["acme"].ID() || d.Policy != "trust.yaml:9 "+string(record.DigestOf([]byte(policy))) {
		t.Errorf("decided as %+v", d)
	}
	// A copy for a site without a network has the signature of the original.
	copied := subject
	copied.Repository = "oci-layout:/srv/modules/reader"
	must.Get(w.Decide(t.Context(), copied, documents, asked, now))(t)
	seen := w.Verify(t.Context(), subject, documents, now)
	if len(seen) != 2 || seen[0].Counts || seen[0].Signer != "" || seen[0].KeyID != w.keys["foreign"].ID() || !seen[1].Counts || !seen[1].At.Equal(now) {
		t.Errorf("verified as %+v", seen)
	}
	alone := must.Get(trust.OfKey("given", []byte(publicText(t, w.keys["foreign"]))))(t)
	if seen := alone.Verify(t.Context(), subject, documents, now); !seen[0].Counts || seen[0].Signer != "given" || seen[1].Counts {
		t.Errorf("by one key, verified as %+v", seen)
	}
	if _, err := alone.Decide(t.Context(), subject, documents, asked, now); err == nil {
		t.Error("a policy without rules allows a module")
	}
}

func publicText(t *testing.T, key *record.Key) string {
	t.Helper()
	return string(must.Get(key.PublicPEM())(t))
}

func TestAccept_DI2_EachRejectionNamesItsLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	use := func(change func(*trust.Use)) trust.Use {
		u := asked
		change(&u)
		return u
	}
	at := func(repository string) trust.Subject {
		s := subject
		s.Repository = repository
		return s
	}
	by := func(names ...string) (list []trust.Document) {
		for _, name := range names {
			list = append(list, sign(t, w.keys[name], subject))
		}
		return list
	}
	for name, c := range map[string]struct {
		subject      trust.Subject
		documents    []trust.Document
		use          trust.Use
		place, words string
	}{
		"registry":         {at("ghcr.io/judges/reader"), by("acme"), asked, "trust.yaml:19 allow[2].names", `may not be named "reader"`},
		"longer host":      {at("registry.acme.example.evil.com/judges/reader"), by("acme"), asked, "trust.yaml:19 allow[2].names", ""},
		"other port":       {at("registry.acme.example:5000/judges/reader"), by("acme"), asked, "trust.yaml:19 allow[2].names", ""},
		"longer namespace": {at("registry.acme.example/judges-evil/reader"), by("acme"), asked, "trust.yaml:16 allow[1].roles", ""},
		"dots":             {at("registry.acme.example/judges/../evil"), by("acme"), asked, "trust.yaml:9 allow", "no rule"},
		"layout":           {at("oci-layout:/srv/modules/../evil"), by("acme"), asked, "trust.yaml:9 allow", "no rule"},
		"layout's name":    {at("oci-layout:registry.acme.example/judges/reader"), by("acme"), asked, "trust.yaml:9 allow", "no rule"},
		"host as folder":   {at("oci-layout:/srv/modules-evil"), by("acme"), asked, "trust.yaml:9 allow", "no rule"},
		"name":             {subject, by("acme"), use(func(u *trust.Use) { u.Name = "rеader" }), "trust.yaml:16 allow[1].roles", `"judge"`}, // Cyrillic
		"role":             {subject, by("acme"), use(func(u *trust.Use) { u.Roles = []string{"judge", "light"} }), "trust.yaml:11 allow[0].roles", `"light"`},
		"capability asked": {subject, by("acme"), use(func(u *trust.Use) { u.Granted, u.Asks = []abi.Capability{"source"}, append(u.Asks, "source") }), "trust.yaml:12 allow[0].capabilities", `"source"`},
		"capability":       {subject, by("acme"), use(func(u *trust.Use) { u.Granted = []abi.Capability{"complete"} }), "trust.yaml:12 allow[0].capabilities", `"complete"`},
		"unsigned":         {subject, nil, asked, "trust.yaml:13 allow[0].signed_by", "no signature by acme or old or lost"},
		"wrong signer":     {subject, by("other"), asked, "trust.yaml:13 allow[0].signed_by", "other, who is not in the list"},
		"foreign":          {subject, by("foreign"), asked, "trust.yaml:13 allow[0].signed_by", w.keys["foreign"].ID()},
		"expired":          {subject, by("foreign", "old"), asked, "trust.yaml:3 keys[1].expires", "the key old expired after 2026-11-26"},
		"revoked":          {subject, by("lost", "foreign"), asked, "trust.yaml:6 keys[2].revoked", "the key lost was revoked: laptop stolen"},
		"other manifest":   {subject, by("acme"), use(func(u *trust.Use) { u.Asks = nil }), "trust.yaml:13 allow[0].signed_by", "asks for [recall log]"},
		"other version":    {func() trust.Subject { s := subject; s.Version = "1.3.0"; return s }(), by("acme"), asked, "trust.yaml:13 allow[0].signed_by", `of version "1.2.0" that asks for [recall log], and its manifest says "reader", "1.3.0"`},
		"signed as other":  {subject, by("acme", "acme"), use(func(u *trust.Use) { *u = trust.Use{Name: "shared", Roles: []string{"judge"}, Asks: asked.Asks} }), "trust.yaml:21 allow[2].signed_by", "asks for"},
	} {
		_, err := w.Decide(t.Context(), c.subject, c.documents, c.use, now)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rejected(t, err, c.place, c.words)
		})
	}
	// The day of its expiry is the last on which a key counts.
	must.Get(w.Decide(t.Context(), subject, by("old"), asked, time.Date(2026, 11, 26, 23, 59, 59, 0, time.UTC)))(t)
	rejected(t, func() error {
		_, err := w.Decide(t.Context(), subject, by("old"), asked, time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC))
		return err
	}(),
		"trust.yaml:3 keys[1].expires", "")
}

func TestAccept_DI2_TwoSigners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared := &abi.Manifest{Name: "shared", Version: subject.Version}
	use := trust.Use{Name: "shared", Roles: []string{"judge"}}
	signed := func(names ...string) (list []trust.Document) {
		for _, name := range names {
			d := must.Get(trust.Sign(w.keys[name], subject, shared, now))(t)
			list = append(list, d)
		}
		return list
	}
	d := must.Get(w.Decide(t.Context(), subject, signed("other", "acme"), use, now))(t)
	check.Equal(t, d.Signer, "other, acme", "decided as")
	_, err := w.Decide(t.Context(), subject, signed("acme", "acme", "foreign"), use, now)
	rejected(t, err, "trust.yaml:21 allow[2].signed_by", "1 of 2 signatures by acme, other")
}

func TestAccept_DI2_CosignWithAKey(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"bundle", "simple"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			kept := readCosigned(t, form)
			_, stranger := newKey(t, 9)
			files := map[string]string{"cosign.pub": kept.Key, "acme.pub": stranger}
			const rules = "\nallow: [{from: [registry.acme.example], names: [reader], roles: [bench], signed_by: [acme]}]\n"
			use := trust.Use{Name: "reader", Roles: []string{"bench"}}
			p := load(t, files, "keys: [{name: stranger, key: acme.pub}, {name: acme, key: cosign.pub}]"+rules)
			d, err := p.Decide(t.Context(), kept.Subject, kept.Documents, use, now)
			if err != nil || d.Signer != "acme" || !strings.HasPrefix(d.KeyID, "ecdsa-p256:") {
				t.Fatalf("decided as %+v, %v", d, err)
			}
			other := kept.Subject
			other.Manifest = subject.Manifest
			_, err = p.Decide(t.Context(), other, kept.Documents, use, now)
			rejected(t, err, "trust.yaml:2 allow[0].signed_by", "it is of another manifest")
			_, err = load(t, files, "keys: [{name: acme, key: acme.pub}]"+rules).Decide(t.Context(), kept.Subject, kept.Documents, use, now)
			rejected(t, err, "trust.yaml:2 allow[0].signed_by", "names no key that made it")
			_, err = load(t, files, "keys: [{name: acme, key: cosign.pub, revoked: lost}]"+rules).Decide(t.Context(), kept.Subject, kept.Documents, use, now)
			rejected(t, err, "trust.yaml:1 keys[0].revoked", "lost")
			for i := range kept.Documents[0].Data {
				changed := kept.Documents[0]
				changed.Data = slices.Clone(changed.Data)
				changed.Data[i] ^= 1
				if seen := p.Verify(t.Context(), kept.Subject, []trust.Document{changed}, now); len(seen) != 1 || seen[0].Counts && !sameMeaning(changed.Data, kept.Documents[0].Data) {
					t.Errorf("with byte %d changed, verified as %+v", i, seen)
				}
			}
		})
	}
}

// sameMeaning says whether two bundles differ only outside of what is signed: in the hint about the key, or in unused parts of the base64.
func sameMeaning(a, b []byte) bool {
	signed := func(data []byte) string {
		var v struct {
			Envelope *struct {
				Payload    []byte `json:"payload"`
				Signatures []struct {
					Sig []byte `json:"sig"`
				} `json:"signatures"`
			} `json:"dsseEnvelope"`
		}
		if err := json.Unmarshal(data, &v); err != nil || v.Envelope == nil {
			return string(data)
		}
		return fmt.Sprint(v.Envelope)
	}
	return signed(a) == signed(b)
}

func readCosigned(t testing.TB, form string) *cosigned {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "cosign", form+".json")))(t)
	kept := new(cosigned)
	must.Do(t, json.Unmarshal(data, kept))
	return kept
}

func TestAccept_DI2_TheOlderFormWithEd25519AndWithoutAKey(t *testing.T) {
	t.Parallel()
	kept := readCosigned(t, "simple")
	public, private, err := ed25519.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	must.Do(t, err)
	der := must.Get(x509.MarshalPKIXPublicKey(public))(t)
	p := must.Get(trust.OfKey("acme", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))(t)
	with := func(payload []byte, annotations map[string]string) trust.Signature {
		a := map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(ed25519.Sign(private, payload))}
		maps.Copy(a, annotations)
		return p.Verify(t.Context(), kept.Subject, []trust.Document{{Type: trust.TypeSimple, Data: payload, Annotations: a}}, now)[0]
	}
	payload := kept.Documents[0].Data
	if s := with(payload, nil); !s.Counts || s.Signer != "acme" {
		t.Errorf("verified as %+v", s)
	}
	if s := with(bytes.Replace(payload, []byte("cosign container image"), []byte("atomic container"), 1), nil); !strings.Contains(s.Why, "something else") {
		t.Errorf("verified as %+v", s)
	}
	for signature, why := range map[string]string{"": "no signature in base64", "!": "no signature in base64", "AAAA": "keyless signatures are verified as bundles only"} {
		s := with(payload, map[string]string{"dev.cosignproject.cosign/signature": signature, "dev.sigstore.cosign/certificate": "x"})
		check.Contains(t, s.Why, why, "verified as", s)
	}
}

func TestAccept_DI2_TheKitsResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := &abitest.Report{Digest: subject.Module, Roles: []string{"verdict"}, Seed: 1, Cases: 50, Checks: []abitest.Result{
		{Rule: abitest.Rule{ID: "one"}, Status: abitest.Passed}, {Rule: abitest.Rule{ID: "two"}, Status: abitest.Skipped},
	}}
	d, err := trust.SignReport(w.keys["acme"], subject, report)
	must.Do(t, err)
	s := w.Verify(t.Context(), subject, []trust.Document{d}, now)[0]
	if !s.Counts || s.Signer != "acme" || s.Kit == nil || !s.Kit.Passed || !slices.Equal(s.Kit.PassedTests, []string{"one"}) {
		t.Errorf("verified as %+v", s)
	}
	_, err = w.Decide(t.Context(), subject, []trust.Document{d}, asked, now)
	rejected(t, err, "trust.yaml:13 allow[0].signed_by", "no signature") // a result is no signature
	report.Checks[1].Status = abitest.Failed
	d, err = trust.SignReport(w.keys["acme"], subject, report)
	must.Do(t, err)
	if s := w.Verify(t.Context(), subject, []trust.Document{d}, now)[0]; s.Kit.Passed || !slices.Equal(s.Kit.FailedTests, []string{"two"}) {
		t.Errorf("verified as %+v", s)
	}
	other := subject
	other.Module = subject.Manifest
	if s := w.Verify(t.Context(), other, []trust.Document{d}, now)[0]; s.Counts || s.Kit != nil {
		t.Errorf("for another module, verified as %+v", s)
	}
	if _, err := trust.SignReport(w.keys["acme"], other, report); err == nil {
		t.Error("a report about another module was signed")
	}
}

func TestAccept_DI2_WithoutAPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var none *trust.Policy
	documents := []trust.Document{sign(t, w.keys["acme"], subject)}
	_, err := none.Decide(t.Context(), subject, documents, asked, now)
	rejected(t, err, ":0 ", "shadowcourt/trust.yaml")
	// What the message tells to write is a policy that allows the module.
	_, written, _ := strings.Cut(err.Error(), "trust.yaml:\n")
	written, _, _ = strings.Cut(written, " [no_policy]")
	p := load(t, map[string]string{"publisher.key.pub": publicText(t, w.keys["acme"])}, written+"\n")
	use := asked
	use.Granted = append(slices.Clone(asked.Granted), abi.CapSource) // which it does not ask for, so that the host does not give it
	must.Get(p.Decide(t.Context(), subject, documents, use, now))(t)
	// A name with the characters of patterns is written as itself.
	named := asked
	named.Name = `a*[b]\?"`
	_, err = none.Decide(t.Context(), subject, nil, named, now)
	_, written, _ = strings.Cut(err.Error(), "trust.yaml:\n")
	written, _, _ = strings.Cut(written, " [no_policy]")
	literal := load(t, map[string]string{"publisher.key.pub": publicText(t, w.keys["acme"])}, written+"\n")
	_, err = literal.Decide(t.Context(), subject, nil, named, now)
	rejected(t, err, "trust.yaml:2 allow[0].signed_by", "no signature")
	named.Name = `axb\x"`
	_, err = literal.Decide(t.Context(), subject, nil, named, now)
	rejected(t, err, "trust.yaml:2 allow[0].names", "may not be named")
	if seen := none.Verify(t.Context(), subject, documents, now); len(seen) != 1 || seen[0].Counts {
		t.Errorf("verified as %+v", seen)
	}
	must.Do(t, none.AllowsLocal())
	rejected(t, load(t, nil, "local: false\n").AllowsLocal(), "trust.yaml:1 local", "")
	must.Do(t, p.AllowsLocal())
}

func TestARepositoryIsCoveredByARuleForItOrAbove(t *testing.T) {
	t.Parallel()
	key := must.Get(record.NewKey(rand.Reader))(t)
	public := must.Get(key.PublicPEM())(t)
	p, err := trust.Parse("trust.yaml", []byte("keys: [{name: acme, key: acme.pub}]\nallow: [{from: [registry.example/judges], names: [\"*\"], roles: [edge], signed_by: [acme]}]\n"),
		func(string) ([]byte, error) { return public, nil })
	must.Do(t, err)
	for repository, want := range map[string]string{
		"registry.example/judges/reader":       "",
		"registry.example/judges":              "",
		"registry.example/judgesx":             "no rule allows the repository registry.example/judgesx",
		"registry.example/other":               "trust.yaml:2",
		"registry.example:5000/judges/reader":  "no rule allows",
		"169.254.169.254/latest":               "no rule allows",
		"registry.example/judges/../../secret": "no rule allows",
	} {
		err := p.Covers(trust.Subject{Repository: repository}, trust.Use{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", repository, err)
		}
	}
	// Without a policy the rejection shows one, which lacks nothing but the signature, whatever the module's name.
	p = nil
	use := trust.Use{Roles: []string{"edge"}, Granted: []abi.Capability{abi.CapRecall}}
	reader := trust.Subject{Repository: "registry.example/judges/reader"}
	_, example, _ := strings.Cut(fmt.Sprint(p.Covers(reader, use)), "--trust")
	_, example, _ = strings.Cut(strings.TrimSuffix(example, " [no_policy]"), "\n")
	p, err = trust.Parse("trust.yaml", []byte(example), func(string) ([]byte, error) { return public, nil })
	must.Do(t, err)
	use.Name, use.Asks = "my-reader", use.Granted
	_, err = p.Decide(t.Context(), reader, nil, use, now)
	rejected(t, err, "trust.yaml:2 allow[0].signed_by", "no signature by publisher")
}

// A path below a folder by its text may lead elsewhere by a link, and a folder in "from" may be relative to the policy.
func TestAccept_DI3_LayoutsAreTheFoldersThatAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{"modules/reader", "elsewhere/deep", "elsewhere/evil"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	for link, to := range map[string]string{"modules/current": "elsewhere/deep", "usb": "modules"} {
		must.Do(t, os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)))
	}
	_, public := newKey(t, 1)
	for _, from := range []string{"modules", "./usb", dir + "/usb"} {
		p, err := trust.Parse(filepath.Join(dir, "trust.yaml"), []byte("keys: [{name: acme, key: a.pub}]\nallow: [{from: ['oci-layout:"+from+
			"'], names: ['*'], roles: [edge], signed_by: [acme]}]\n"), func(string) ([]byte, error) { return []byte(public), nil })
		must.Do(t, err)
		for folder, want := range map[string]bool{
			"modules": true, "modules/reader": true, "usb/reader": true, "modules/../modules/reader": true,
			"modules/current": false, "modules/current/../evil": false, "elsewhere": false, "modules/../elsewhere": false,
		} {
			err := p.Covers(trust.Subject{Repository: moduleref.Layout + dir + "/" + folder}, trust.Use{})
			check.Equal(t, err == nil, want, "from", from, folder, err)
		}
	}
}
