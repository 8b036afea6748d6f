package service_test

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// publisher pushes signed modules to a registry on loopback, which can be made to fail.
type publisher struct {
	*testkit.Registry
	key    *record.Key
	client *oci.Client
	// before answers a request in place of the registry, if it gives true.
	before atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{}
	p.Registry = testkit.Start(t, true, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if before := p.before.Load(); before == nil || !(*before)(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	})
	p.key = must.Get(record.NewKey(rand.Reader))(t)
	p.client = must.Get(oci.New(oci.Config{Clock: time.Now, Retries: -1}))(t)
	return p
}

// fail has the registry answer by a function.
func (p *publisher) fail(before func(w http.ResponseWriter, r *http.Request) bool) {
	p.before.Store(&before)
}

func unavailable(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

// judge is the shipped judge with another name and version.
func judge(t *testing.T, name, version string) ([]byte, *abi.Manifest) {
	t.Helper()
	modules := must.Get(bundle.FS())(t)
	wasm := must.Get(fs.ReadFile(modules, "specter.wasm"))(t)
	wasm = must.Get(module.Annotate(wasm, "manifest.yaml", fmt.Appendf(nil, "name: %s\nversion: %q\nabi: \"1.0\"\ncalls: [node]\nfamilies: [verdict]\n", name, version)))(t)
	info := must.Get(module.Inspect(wasm))(t)
	return wasm, info.Manifest
}

// push publishes a judge under a tag of judges/reader, signed if it is to be.
func (p *publisher) push(t *testing.T, tag, name, version string, signed bool) *oci.Artifact {
	t.Helper()
	wasm, manifest := judge(t, name, version)
	return p.pushModule(t, tag, wasm, manifest, signed)
}

// pushModule publishes a module that says by its annotations that it has a manifest.
func (p *publisher) pushModule(t *testing.T, tag string, wasm []byte, manifest *abi.Manifest, signed bool) *oci.Artifact {
	t.Helper()
	ref := must.Get(moduleref.Parse(p.ref("judges/reader:" + tag)))(t)
	a := must.Get(oci.Build(ref, wasm, trust.Annotations(manifest)))(t)
	var about []oci.Attachment
	if signed {
		d := must.Get(trust.Sign(p.key, trust.SubjectOf(a), manifest, time.Now()))(t)
		about = append(about, d)
	}
	a = must.Get(p.client.Push(t.Context(), ref, wasm, a.Annotations, about...))(t)
	return a
}

func (p *publisher) ref(repository string) string { return "oci://" + p.Host + "/" + repository }

// policy allows judges of the publisher to be judges of the bench.
func (p *publisher) policy(t *testing.T, more string) *trust.Policy {
	t.Helper()
	return p.parse(t, more+`keys: [{name: acme, key: acme.pub}]
allow:
  - from: [`+p.Host+`/judges]
    names: ["*"]
    roles: [judge]
    capabilities: [experiment]
    signed_by: [acme]
`)
}

func (p *publisher) parse(t *testing.T, text string) *trust.Policy {
	t.Helper()
	public := must.Get(p.key.PublicPEM())(t)
	return must.Get(trust.Parse("trust.yaml", []byte(text), func(string) ([]byte, error) { return public, nil }))(t)
}

// openCourt opens hosts as the command does.
func openCourt(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	config := host.Config{Modules: o.Modules, Signed: o.Signed, Observe: observe, Record: record.ContentsReplay, CacheDir: filepath.Join(cache, "shadowcourt", "modules")}
	if config.Pipeline, err = service.Pipeline(o.Files, service.PipelineFile); err != nil {
		return nil, err
	}
	if len(o.Canary) > 0 {
		config.Candidate = &host.Candidate{Modules: o.Canary, Share: o.Share}
	}
	return host.Open(ctx, config)
}

// trusting starts a service with a policy.
func trusting(t *testing.T, p *publisher, policy *trust.Policy, change func(*service.Config)) *process {
	t.Helper()
	p.Requests()
	return trustingAt(t, filepath.Join(t.TempDir(), "test.db"), policy, change)
}

func (p *process) add(t *testing.T, request map[string]any) (int, string, store.Generation) {
	t.Helper()
	body := must.Get(json.Marshal(request))(t)
	status, text := p.ask(t, "POST", "/api/v1/generations", string(body))
	var g store.Generation
	if status == http.StatusCreated {
		must.Do(t, json.Unmarshal([]byte(text), &g))
	}
	return status, text, g
}

// created adds a generation.
func (p *process) created(t *testing.T, request map[string]any) store.Generation {
	t.Helper()
	status, text, g := p.add(t, request)
	must.Equal(t, status, http.StatusCreated, text)
	return g
}

// rejects checks that a generation is not added, and what is said of it.
func (p *process) rejects(t *testing.T, request map[string]any, words ...string) {
	t.Helper()
	status, text, _ := p.add(t, request)
	for _, word := range words {
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, word) {
			t.Errorf("%d %s", status, text)
		}
	}
}

func referring(name, reference string) map[string]any {
	return map[string]any{"references": map[string]string{name: reference}}
}

// A signed judge of a registry decides after a swap; the answer of the API, the page, the audit log and the records say whose it is.
func TestAccept_DI5_TheServiceTakesSignedModulesOfARegistry(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/trust", "internal/oci")
	registry := newPublisher(t)
	a := registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	key := must.Get(record.NewKey(rand.Reader))(t)
	p := trusting(t, registry, registry.policy(t, ""), func(c *service.Config) { c.Key = key })
	reference := registry.ref("judges/reader:v1.2.3")
	g := p.created(t, referring("specter", reference))
	got := g.References["specter"]
	if got.Reference != reference || got.Manifest != a.Digest || got.Signer != "acme" || !strings.HasPrefix(got.Policy, "trust.yaml:3 sha256:") || got.Name != "reader" ||
		got.Version != "1.2.3" || !slices.Equal(got.Roles, []string{"judge"}) || "sha256:"+g.Modules["specter"] != a.Layer.Digest {
		t.Errorf("the generation says %+v", got)
	}
	for _, path := range []string{fmt.Sprintf("/modules/%d", g.ID), "/api/v1/audit-log", fmt.Sprintf("/api/v1/generations/%d", g.ID)} {
		if _, page := p.ask(t, "GET", path, ""); !strings.Contains(page, reference) || !strings.Contains(page, "acme") || !strings.Contains(page, "trust.yaml:3") || !strings.Contains(page, a.Digest) {
			t.Errorf("%s does not say whose the module is:\n%s", path, page)
		}
	}
	if _, list := p.ask(t, "GET", "/modules", ""); !strings.Contains(list, reference) || !strings.Contains(list, "signed by <bdi>acme</bdi>, accepted by <bdi>trust.yaml:3</bdi>") {
		t.Errorf("the list does not say whose the module is:\n%s", list)
	}
	p.activate(t, g.ID)
	p.ask(t, "POST", "/api/v1/dockets", docketOf(2))
	p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	_, records := p.ask(t, "GET", "/api/v1/dockets/1/records", "")
	if signers := signersOf(t, records, key); !maps.Equal(signers, map[string]string{"specter": "acme " + got.Policy}) {
		t.Errorf("the records name the signers %v", signers)
	}
	// A generation made of this one keeps the reference without asking the registry, unless an upload takes its place.
	registry.Requests()
	wasm, _ := judge(t, "specter", "2.0.0")
	status, text, next := p.add(t, map[string]any{"modules": map[string][]byte{"bulwark": bulwark(t)}})
	if status != http.StatusCreated || next.References["specter"].Manifest != a.Digest || len(registry.Requests()) != 0 {
		t.Errorf("%d %s", status, text)
	}
	status, text, next = p.add(t, map[string]any{"canary_references": map[string]string{"specter": reference}, "share": 0.5})
	if status != http.StatusCreated || next.CanaryReferences["specter"].Manifest != a.Digest || next.Share != 0.5 {
		t.Errorf("%d %s", status, text)
	}
	if status, text, next = p.add(t, map[string]any{"modules": map[string][]byte{"specter": wasm}}); status != http.StatusCreated || len(next.References) != 0 {
		t.Errorf("%d %s", status, text)
	}
}

// signersOf are the signer and the policy of modules in the records of a docket.
func signersOf(t *testing.T, archive string, key *record.Key) map[string]string {
	t.Helper()
	signers := map[string]string{}
	files := tar.NewReader(strings.NewReader(archive))
	for {
		_, err := files.Next()
		if errors.Is(err, io.EOF) {
			return signers
		}
		must.Do(t, err)
		_, err = record.Verify(t.Context(), files, key, func(e *record.Entry, _ record.Digest) {
			if e.Trial == nil {
				return
			}
			for _, part := range e.Trial.Modules {
				if part.Signer != "" {
					signers[part.Name] = part.Signer + " " + part.Policy
				}
			}
		})
		must.Do(t, err)
	}
}

func bulwark(t *testing.T) []byte {
	t.Helper()
	modules := must.Get(bundle.FS())(t)
	return must.Get(fs.ReadFile(modules, "bulwark.wasm"))(t)
}

// activate puts a generation in force.
func (p *process) activate(t *testing.T, id int64) {
	t.Helper()
	if status, text := p.ask(t, "POST", fmt.Sprintf("/api/v1/generations/%d/activate", id), ""); status != http.StatusOK {
		t.Fatal(status, text)
	}
}

// What the policy does not allow is rejected: where it does not cover the repository, before a request is sent.
func TestAccept_DI3_TheServiceRejectsWhatThePolicyDoesNotAllow(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	registry.push(t, "unsigned", "reader", "1.0.1", false)
	registry.push(t, "v1.0.0", "reader", "1.0.0", true)
	p := trusting(t, registry, registry.policy(t, ""), nil)
	for name, c := range map[string]struct {
		request  map[string]any
		want     string
		requests bool
	}{
		"unsigned":            {referring("specter", registry.ref("judges/reader:unsigned")), "no signature by acme", true},
		"not covered":         {referring("specter", registry.ref("others/reader:v1.0.0")), "no rule allows the repository " + registry.Host + "/others/reader", false},
		"above":               {referring("specter", registry.ref("judges/../others/reader:v1.0.0")), "use oci://HOST/REPOSITORY", false},
		"metadata of a cloud": {referring("specter", "oci://169.254.169.254/latest:v1"), "no rule allows the repository", false},
		"another host":        {referring("specter", "oci://localhost/judges/reader:v1.0.0"), "no rule allows the repository", false},
		"a folder":            {referring("specter", "oci-layout:/etc:v1"), "use oci://HOST/REPOSITORY", false},
		"without tag":         {referring("specter", registry.ref("judges/reader")), "use oci://HOST/REPOSITORY", false},
		"another role":        {referring("bulwark", registry.ref("judges/reader:v1.0.0")), "may not play the role", true},
		"nobody's":            {referring("nobody", registry.ref("judges/reader:v1.0.0")), "no pipeline of the generation names it", false},
		"not there":           {referring("specter", registry.ref("judges/reader:v9")), "not found", true},
	} {
		registry.Requests()
		p.rejects(t, c.request, c.want)
		if n := len(registry.Requests()); (n > 0) != c.requests {
			t.Errorf("%s: %d requests", name, n)
		}
	}
	// The policy decides again where a pipeline grants more to a module that is there.
	g := p.created(t, referring("specter", registry.ref("judges/reader:v1.0.0")))
	shipped := shippedPipeline(t)
	bold := strings.Replace(string(shipped), "module: specter", "module: specter\n    models: [any]", 1)
	bold = strings.Replace(bold, "models: [any]\n    grants: [experiment]", "models: [any]\n    grants: [experiment, complete]", 1)
	if bold == string(shipped) || !strings.Contains(bold, "complete") {
		t.Fatal("the shipped pipeline is another one")
	}
	p.rejects(t, map[string]any{"parent": g.ID, "files": map[string][]byte{"pipeline": []byte(bold)}}, `may not be granted \"complete\"`, "trust.yaml:")
}

func TestAccept_DI3_TheServiceRejectsReferencesWithoutAPolicyAndUploadsByOneThatSaysSo(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/trust", "internal/oci")
	registry := newPublisher(t)
	registry.push(t, "v1.0.0", "reader", "1.0.0", true)
	p := trusting(t, registry, nil, nil)
	registry.Requests()
	status, text, _ := p.add(t, referring("specter", registry.ref("judges/reader:v1.0.0")))
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "without a trust policy only embedded and local modules run") || len(registry.Requests()) != 0 {
		t.Errorf("%d %s", status, text)
	}
	p = trusting(t, registry, registry.policy(t, "local: false\n"), nil)
	p.rejects(t, map[string]any{"modules": map[string][]byte{"bulwark": bulwark(t)}}, "trust.yaml:1:8")
	p.created(t, referring("specter", registry.ref("judges/reader:v1.0.0")))
}

// A generation that inherits a module whose key was revoked since is rejected.
func TestAccept_DI3_ARevokedKeyAndItsHeirs(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	db := filepath.Join(t.TempDir(), "test.db")
	p := trustingAt(t, db, registry.policy(t, ""), nil)
	g := p.created(t, referring("specter", registry.ref("judges/reader:v1.2.3")))
	p.activate(t, g.ID)
	p.stop()
	p = trustingAt(t, db, registry.revoked(t), nil)
	p.rejects(t, referring("specter", registry.ref("judges/reader:v1.2.3")), "revoked")
	p.rejects(t, map[string]any{"modules": map[string][]byte{"bulwark": bulwark(t)}}, "revoked: stolen")
	p.stop()
	// Where nobody has the signatures for a changed policy, it can't accept.
	registry.fail(unavailable)
	p = trustingAt(t, db, registry.policy(t, "local: true\n"), nil)
	p.rejects(t, map[string]any{"modules": map[string][]byte{"bulwark": bulwark(t)}}, "neither the cache nor the registry has them")
}

// Modules of files are rejected by `local: false` where they are inherited, too; those that the program embeds are not.
func TestAccept_DI3_InheritedModulesOfFilesAreRejectedByAPolicyThatSaysSo(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/trust", "internal/oci")
	registry := newPublisher(t)
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	db := filepath.Join(t.TempDir(), "test.db")
	p := trustingAt(t, db, registry.policy(t, ""), nil)
	wasm, _ := judge(t, "lantern", "9.0.0")
	uploaded := p.created(t, map[string]any{"modules": map[string][]byte{"specter": wasm}})
	p.stop()
	p = trustingAt(t, db, registry.policy(t, "local: false\n"), nil)
	request := referring("specter", registry.ref("judges/reader:v1.2.3"))
	p.created(t, request)
	profile := map[string]any{"parent": uploaded.ID, "files": map[string][]byte{"pipeline": shippedPipeline(t)}}
	p.rejects(t, profile, "trust.yaml:1:8", "specter")
	request["parent"] = uploaded.ID // its module of a file is replaced
	p.created(t, request)
}

func shippedPipeline(t *testing.T) []byte {
	t.Helper()
	return must.Get(os.ReadFile("../../pipelines/defect-court.yaml"))(t)
}

// trustingAt starts a service with a database that may be there and a policy, whose client of registries keeps nothing.
func trustingAt(t *testing.T, db string, policy *trust.Policy, change func(*service.Config)) *process {
	t.Helper()
	registries := must.Get(oci.New(oci.Config{Clock: time.Now, Retries: -1}))(t)
	return startWith(t, "127.0.0.1:0", db, func(c *service.Config) {
		c.Open, c.Trust, c.Registries, c.Rate = openCourt, policy, registries, 1e6
		if change != nil {
			change(c)
		}
	})
}

// revoked is the publisher's policy after the key was stolen.
func (p *publisher) revoked(t *testing.T) *trust.Policy {
	t.Helper()
	return p.parse(t, `keys: [{name: acme, key: acme.pub, revoked: stolen}]
local: true
allow: [{from: [`+p.Host+`/judges], names: ["*"], roles: [judge], capabilities: [experiment], signed_by: [acme]}]
`)
}

// Neither a swap nor a rollback puts a generation in force with a module whose key was revoked since; one without it can be swapped to.
func TestAccept_DI3_NoSwapToWhatThePolicyOfNowRejects(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	db := filepath.Join(t.TempDir(), "test.db")
	p := trustingAt(t, db, registry.policy(t, ""), nil)
	g := p.created(t, referring("specter", registry.ref("judges/reader:v1.2.3")))
	p.activate(t, g.ID)
	p.activate(t, 1)
	p.stop()
	path := fmt.Sprintf("/api/v1/generations/%d/activate", g.ID)
	for want, policy := range map[string]*trust.Policy{"revoked: stolen": registry.revoked(t), "without a trust policy": nil} {
		p = trustingAt(t, db, policy, nil)
		if status, text := p.ask(t, "POST", path, ""); status != http.StatusUnprocessableEntity || !strings.Contains(text, want) || policy != nil && !strings.Contains(text, "trust.yaml:1:") {
			t.Errorf("%d %s", status, text)
		}
		if _, text := p.ask(t, "GET", "/api/v1/generations", ""); !strings.Contains(text, `"current":1`) {
			t.Errorf("in force: %s", text)
		}
		p.activate(t, 1)
		p.stop()
	}
	registry.Requests()
	p = trustingAt(t, db, registry.policy(t, ""), nil) // the policy of then: no request is needed
	if p.activate(t, g.ID); len(registry.Requests()) != 0 {
		t.Error("the registry was asked")
	}
}

// A key that was revoked while its module is in force gives a warning in the log, on the page and in the API, until somebody swaps; trials go on.
func TestAccept_DI3_AWarningOfModulesInForceThatThePolicyOfNowRejects(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/trust", "internal/oci")
	registry := newPublisher(t)
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	db := filepath.Join(t.TempDir(), "test.db")
	p := trustingAt(t, db, registry.policy(t, ""), nil)
	g := p.created(t, referring("specter", registry.ref("judges/reader:v1.2.3")))
	p.activate(t, g.ID)
	_, text := p.ask(t, "GET", "/api/v1/generations", "")
	if strings.Contains(text, "unaccepted") {
		t.Errorf("accepted: %s", text)
	}
	p.stop()
	p = trustingAt(t, db, registry.revoked(t), nil)
	for !strings.Contains(text, `"unaccepted":"references.specter: `) { // it is decided beside the start
		time.Sleep(10 * time.Millisecond)
		_, text = p.ask(t, "GET", "/api/v1/generations", "")
	}
	_, page := p.ask(t, "GET", "/modules", "")
	for where, said := range map[string]string{"log": p.logs.String(), "page": page, "answer": text} {
		if !strings.Contains(said, "revoked: stolen") || !strings.Contains(said, "trust.yaml:1:") {
			t.Errorf("the %s does not warn:\n%s", where, said)
		}
	}
	p.ask(t, "POST", "/api/v1/dockets", docketOf(1))
	if status, text := p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", ""); status != http.StatusOK {
		t.Errorf("trials stopped: %d %s", status, text)
	}
	p.activate(t, 1)
	if _, text = p.ask(t, "GET", "/api/v1/generations", ""); strings.Contains(text, "unaccepted") {
		t.Errorf("after the swap: %s", text)
	}
}
