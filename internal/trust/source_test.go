package trust_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	hostmodule "github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

type counted byte

func (c counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func clock() time.Time { return time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC) }

func embedded(t *testing.T, name string) (wasm []byte, m *abi.Manifest) {
	t.Helper()
	modules, err := bundle.FS()
	must.Do(t, err)
	wasm, err = fs.ReadFile(modules, name+".wasm")
	must.Do(t, err)
	info, err := hostmodule.Inspect(wasm)
	must.Do(t, err)
	return wasm, info.Manifest
}

// site is a registry with a signed module, and the machine of somebody who trusts the signer.
type site struct {
	registry *testkit.Registry
	down     atomic.Bool
	key      *record.Key
	policy   *trust.Policy
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.registry = testkit.Start(t, true, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.down.Load() {
				http.Error(w, "down", http.StatusServiceUnavailable)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	var err error
	s.key, err = record.NewKey(counted(1))
	must.Do(t, err)
	public := must.Get(s.key.PublicPEM())(t)
	s.policy, err = trust.Parse("trust.yaml", fmt.Appendf(nil, "keys:\n  - {name: acme, key: acme.pub}\nallow:\n"+
		"  - {from: [%s/judges], names: [specter], roles: [judge], signed_by: [acme]}\n", s.registry.Host), func(string) ([]byte, error) { return public, nil })
	must.Do(t, err)
	return s
}

func (s *site) client(t *testing.T) *oci.Client {
	t.Helper()
	return must.Get(oci.New(oci.Config{Cache: filepath.Join(t.TempDir(), "cache"), Clock: clock, Retries: -1}))(t)
}

// push adds a module, and signs it as what m says.
func (s *site) push(t *testing.T, tag string, wasm []byte, annotations map[string]string, m *abi.Manifest) *oci.Artifact {
	t.Helper()
	ref, err := moduleref.Parse("oci://" + s.registry.Host + "/judges/specter:" + tag)
	must.Do(t, err)
	c := s.client(t)
	a, err := oci.Build(ref, wasm, annotations)
	must.Do(t, err)
	d, err := trust.Sign(s.key, trust.SubjectOf(a), m, clock())
	must.Do(t, err)
	a, err = c.Push(t.Context(), ref, wasm, annotations, d)
	must.Do(t, err)
	return a
}

var asJudge = trust.Use{Roles: []string{"judge"}} //nolint:gochecknoglobals // constant

func TestAccept_DI2_ThePolicyDecidesBeforeTheModuleIsDownloaded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wasm, m := embedded(t, "specter")
	a := s.push(t, "v1", wasm, trust.Annotations(m), m)
	reference := "oci://" + s.registry.Host + "/judges/specter:v1"
	source := trust.Source{Client: s.client(t), Policy: s.policy, Now: clock}
	s.registry.Requests()
	for _, use := range []trust.Use{{Roles: []string{"judge", "bench"}}, {Roles: []string{"judge"}, Granted: []abi.Capability{abi.CapComplete}}} {
		check.Fails(t, check.Err(source.Module(t.Context(), reference, use)), "trust.yaml:4:", use)
	}
	if asked := s.registry.Requests(); slices.ContainsFunc(asked, func(r string) bool { return strings.Contains(r, a.Layer.Digest) }) {
		t.Errorf("the module was downloaded: %q", asked)
	}
	got := must.Get(source.Module(t.Context(), reference, asJudge))(t)
	if record.DigestOf(got.Wasm) != record.DigestOf(wasm) || got.Decision.Signer != "acme" || !strings.HasPrefix(got.Decision.Policy, "trust.yaml:4 sha256:") {
		t.Errorf("%+v", got.Decision)
	}
	check.Fails(t, check.Err((&trust.Source{Client: s.client(t), Now: clock}).Module(t.Context(), reference, asJudge)), "without a trust policy")
}

func TestAccept_DI1_APinnedModuleNeedsNoRegistryTheSecondTime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wasm, m := embedded(t, "specter")
	a := s.push(t, "v1", wasm, trust.Annotations(m), m)
	source := trust.Source{Client: s.client(t), Policy: s.policy, Now: clock}
	reference := a.Pinned().String()
	must.Get(source.Module(t.Context(), reference, asJudge))(t)
	s.registry.Requests()
	s.down.Store(true)
	must.Get(source.Module(t.Context(), reference, asJudge))(t)
	if asked := s.registry.Requests(); len(asked) > 0 {
		t.Errorf("%q", asked)
	}
}

func TestAccept_DI3_AMovedTagIsNotTakenWhereItIsPinned(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wasm, m := embedded(t, "specter")
	first := s.push(t, "v1", wasm, trust.Annotations(m), m)
	reference := "oci://" + s.registry.Host + "/judges/specter:v1"
	pinned := &trust.Lock{Modules: []trust.Pin{{Name: reference, Manifest: first.Digest, Digest: first.Layer.Digest}}}
	other := *m
	other.Version = "9.9.9"
	source := trust.Source{Client: s.client(t), Policy: s.policy, Now: clock}
	second := s.push(t, "v1", wasm, trust.Annotations(&other), &other)
	// Without the lock, the tag leads to the second, whose annotations are not what the module says.
	if _, err := source.Module(t.Context(), reference, asJudge); err == nil || !strings.Contains(err.Error(), second.Digest) {
		t.Fatal(err)
	}
	source.Lock = pinned
	got := must.Get(source.Module(t.Context(), reference, asJudge))(t)
	check.Equal(t, got.Artifact.Digest, first.Digest)
	pinned.Modules[0].Digest = second.Digest // not that of its module
	check.Fails(t, check.Err(source.Module(t.Context(), reference, asJudge)), "shadowcourt.lock pins "+second.Digest)
	pinned.Modules[0] = trust.Pin{Name: second.Pinned().String(), Manifest: first.Digest, Digest: first.Layer.Digest}
	check.Fails(t, check.Err(source.Module(t.Context(), second.Pinned().String(), asJudge)), "shadowcourt.lock pins "+first.Digest)
}

// Annotations decide what a policy sees: those that are not what the module says of itself reject it, also with a valid signature.
func TestAccept_DI3_AnnotationsThatHideWhatAModuleAsksFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wasm, m := embedded(t, "seeker") // asks for a capability
	if len(m.Capabilities) == 0 {
		t.Fatal("asks for nothing")
	}
	hidden := *m
	hidden.Name, hidden.Capabilities = "specter", nil
	s.push(t, "v1", wasm, trust.Annotations(&hidden), &hidden)
	source := trust.Source{Client: s.client(t), Policy: s.policy, Now: clock}
	_, err := source.Module(t.Context(), "oci://"+s.registry.Host+"/judges/specter:v1", asJudge)
	check.Fails(t, err, "its annotation dev.shadowcourt.module.capabilities is not what the manifest within the module says")
}

func TestAnnotationsSayAllOfAManifest(t *testing.T) {
	t.Parallel()
	all := &abi.Manifest{
		Name: "reader", Version: "1.2.3", ABI: "1.0", Calls: []abi.Call{abi.CallNode, abi.CallEdges}, Families: []abi.Family{abi.FamilyDiscover},
		Edges: []string{"a", "b"}, Criteria: []string{"c"}, Capabilities: []abi.Capability{abi.CapRecall},
		Limits: &abi.LimitRequest{MemoryBytes: 1, OutputBytes: 2, WallClock: 3, Fuel: 4}, Source: "https://example.com", Licence: "MIT",
	}
	got := must.Get(trust.Manifest(trust.Annotations(all)))(t)
	check.Same(t, cmp.Diff(all, got))
	if _, err := trust.Manifest(map[string]string{"org.opencontainers.image.title": "nginx"}); err == nil {
		t.Error("an image that is no module")
	}
}

func FuzzManifest(f *testing.F) {
	f.Add("specter", "node edges", "12", "recall")
	f.Fuzz(func(t *testing.T, name, calls, fuel, capabilities string) {
		m, err := trust.Manifest(map[string]string{
			"org.opencontainers.image.title": name, "dev.shadowcourt.module.abi": "1.0", "dev.shadowcourt.module.calls": calls,
			"dev.shadowcourt.module.limits.fuel": fuel, "dev.shadowcourt.module.capabilities": capabilities,
		})
		if err != nil {
			return
		}
		again, err := trust.Manifest(trust.Annotations(m))
		if err == nil && again.Name != m.Name {
			t.Errorf("%+v, %+v", m, again)
		}
	})
}

func TestPullEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := trust.Source{Client: s.client(t), Policy: s.policy, Now: clock}
	if _, err := source.Module(ctx, "oci://"+s.registry.Host+"/judges/specter:v1", asJudge); err == nil {
		t.Error("no error")
	}
}

// Whoever writes a pipeline does not choose where requests go.
func TestAccept_DI3_NoRequestBeforeARuleCoversTheRepository(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.registry.Requests()
	for _, c := range []struct {
		policy            *trust.Policy
		repository, words string
	}{{nil, "judges/specter", "without a trust policy"}, {s.policy, "others/specter", "trust.yaml:4:3: allow: no rule allows the repository"}} {
		source := trust.Source{Client: s.client(t), Policy: c.policy, Now: clock}
		_, err := source.Module(t.Context(), "oci://"+s.registry.Host+"/"+c.repository+":v1", asJudge)
		check.Fails(t, err, c.words)
	}
	if asked := s.registry.Requests(); len(asked) > 0 {
		t.Errorf("%d requests were sent: %q", len(asked), asked)
	}
}

func TestAccept_DI3_ALayoutIsOpenedWhereThePolicyDecided(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, folder := range []string{"modules", "elsewhere/deep", "elsewhere/evil"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	must.Do(t, os.Symlink(filepath.Join(dir, "elsewhere/deep"), filepath.Join(dir, "modules/current")))
	source := trust.Source{Folder: filepath.Join(dir, "modules")}
	for text, want := range map[string]string{
		"current/../evil:v1":                     "/elsewhere/evil:v1",
		dir + "/modules/current/../evil:v1":      "/elsewhere/evil:v1",
		"current":                                "/elsewhere/deep",
		"../elsewhere/evil":                      "/elsewhere/evil",
		dir + "/modules/none/../../elsewhere:v1": "/elsewhere:v1",
	} {
		ref := must.Get(source.Parse(moduleref.Layout + text))(t)
		check.Equal(t, ref.String(), moduleref.Layout+dir+want, text)
	}
}

const (
	one = "sha256:" + "1111111111111111111111111111111111111111111111111111111111111111"
	two = "sha256:" + "2222222222222222222222222222222222222222222222222222222222222222"
)

func TestAccept_DI1_LockFiles(t *testing.T) {
	f := &trust.Lock{Modules: []trust.Pin{
		{Name: "specter", Digest: two},
		{Name: "oci://registry.example/judges/reader:v1", Manifest: one, Digest: two},
	}}
	text := must.Get(f.Bytes())(t)
	again := must.Get(trust.ParseLock("shadowcourt.lock", text))(t, text)
	if m := again.Module("oci://registry.example/judges/reader:v1"); m == nil || m.Manifest != one || m.Digest != two {
		t.Errorf("%+v of\n%s", m, text)
	}
	if other, err := again.Bytes(); err != nil || !bytes.Equal(other, text) {
		t.Errorf("%v\n%s", err, other)
	}
	if (*trust.Lock)(nil).Module("specter") != nil || again.Module("bulwark") != nil {
		t.Error("a module that is not pinned")
	}
	must.Do(t, again.Check(map[string]string{"specter": two}))
	err := again.Check(map[string]string{"specter": one, "bulwark": one})
	want := "shadowcourt.lock: bulwark is not in it\nshadowcourt.lock:7:13: specter is " + one + ", and " + two + " is pinned"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func TestFaultsOfLockFiles(t *testing.T) {
	_, err := trust.ParseLock("l", []byte("modules:\n  - {module: a, digest: sha256:1}\n  - {module: a, digest: "+one+", manifest: md5:2}\n  - {digest: "+one+"}\nextra: 1\n"))
	for _, want := range []string{"l:2:25: modules[0].digest: ", "l:3:14: modules[1].module: ", "modules[1].manifest: ", "l:4:5: modules[2].module: ", "l:5:1: extra: "} {
		check.Fails(t, err, want, "not in")
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte("modules:\n  - module: specter\n    digest: " + one + "\n"))
	f.Add([]byte("modules: [{module: a, digest: b, manifest: c}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := trust.ParseLock("l", data)
		if err != nil {
			return
		}
		text := must.Get(l.Bytes())(t)
		must.Get(trust.ParseLock("l", text))(t, text)
	})
}
