package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// clock is one that tests set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// following starts a service whose judge follows a registry from version 1.2.3 on.
func following(t *testing.T, registry *publisher, update string) (*process, *clock, store.Generation) {
	t.Helper()
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	c := &clock{}
	p := trusting(t, registry, registry.policy(t, ""), func(config *service.Config) { config.Now, config.UpdateShare = c.now, 0.25 })
	g := p.created(t, referring("specter", registry.ref("judges/reader:v1.2.3"), update))
	p.activate(t, g.ID)
	return p, c, g
}

// look looks for newer versions now, and gives what is found about the one module.
func (p *process) look(t *testing.T, c *clock) store.NewerVersion {
	t.Helper()
	c.advance(time.Minute)
	status, text := p.ask(t, "POST", "/api/v1/updates", "")
	var l store.Look
	must(t, json.Unmarshal([]byte(text), &l))
	if status != http.StatusOK || len(l.Found) != 1 || l.Found[0].Module != "specter" {
		t.Fatalf("%d %s", status, text)
	}
	if _, again := p.ask(t, "GET", "/api/v1/updates", ""); again != text {
		t.Errorf("%s, and afterwards %s", text, again)
	}
	return l.Found[0]
}

func (p *process) generations(t *testing.T) (all []store.Generation, current int64) {
	t.Helper()
	_, text := p.ask(t, "GET", "/api/v1/generations", "")
	var list struct {
		Generations []store.Generation `json:"generations"`
		Current     int64              `json:"current"`
	}
	must(t, json.Unmarshal([]byte(text), &list))
	return list.Generations, list.Current
}

// A patch becomes a canary, once. A person decides what becomes of it. Other newer versions, those before a release and tags that are no
// versions are left alone.
func TestAccept_DI5_APatchBecomesACanaryOfTheService(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	p, c, g := following(t, registry, "patch")
	for _, version := range []string{"1.2.2", "1.3.0", "2.0.0", "1.2.9-rc.1"} {
		registry.push(t, "v"+version, "reader", version, true)
	}
	registry.push(t, "latest", "reader", "1.2.99", true)
	registry.push(t, "1.2", "reader", "1.2.98", true)
	if n := p.look(t, c); n.Version != "" || n.Generation != 0 || n.Fault != "" || n.Has != "1.2.3" {
		t.Fatalf("nothing is newer: %+v", n)
	}
	registry.push(t, "v1.2.9", "reader", "1.2.9", true)
	a := registry.push(t, "v1.2.10", "reader", "1.2.10", true)
	n := p.look(t, c)
	if n.Version != "1.2.10" || n.Generation == 0 || n.Fault != "" || n.Reference != registry.ref("judges/reader:v1.2.10") {
		t.Fatalf("%+v", n)
	}
	if again := p.look(t, c); again != n {
		t.Errorf("looked again: %+v", again)
	}
	list, current := p.generations(t)
	made := list[0]
	from := made.CanaryReferences["specter"]
	if current != g.ID || made.ID != n.Generation || made.Parent != g.ID || made.Share != 0.25 || made.Modules["specter"] != g.Modules["specter"] || "sha256:"+made.Canary["specter"] != a.Layer.Digest ||
		from.Manifest != a.Digest || from.Signer != "acme" || from.Version != "1.2.10" || made.Author != "updates by policy" {
		t.Errorf("%+v", made)
	}
	if _, log := p.ask(t, "GET", "/api/v1/audit-log", ""); !strings.Contains(log, "reader 1.2.10 as a canary beside 1.2.3") || !strings.Contains(log, a.Digest) || !strings.Contains(log, "updates by policy") {
		t.Errorf("the audit log is %s", log)
	}
	if _, page := p.ask(t, "GET", "/modules", ""); !strings.Contains(page, "1.2.10") || !strings.Contains(page, fmt.Sprintf(`a canary of <a href="/modules/%d">`, n.Generation)) {
		t.Errorf("the page does not show the newer version:\n%s", page)
	}
	// In force the canary tries cases beside the court, and is not made again.
	p.activate(t, n.Generation)
	if again := p.look(t, c); again.Generation != n.Generation {
		t.Errorf("in force: %+v", again)
	}
	// A person takes it in place of the one before, from which on nothing is newer.
	next := p.created(t, referring("specter", n.Reference, "patch"))
	p.activate(t, next.ID)
	if n := p.look(t, c); n.Has != "1.2.10" || n.Version != "" || n.Fault != "" {
		t.Errorf("%+v", n)
	}
}

func TestAccept_DI5_ANewerVersionIsShownAndNotTakenWhereAPersonDecides(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	p, c, _ := following(t, registry, "manual")
	registry.push(t, "v3.0.0-beta", "reader", "3.0.0-beta", true)
	registry.push(t, "v2.0.0", "reader", "2.0.0", false)
	if n := p.look(t, c); n.Version != "2.0.0" || n.Generation != 0 || n.Fault != "" {
		t.Errorf("%+v", n)
	}
	if _, page := p.ask(t, "GET", "/modules", ""); !strings.Contains(page, registry.ref("judges/reader:v2.0.0")) {
		t.Error("the page does not show the newer version")
	}
	if list, _ := p.generations(t); len(list) != 2 {
		t.Errorf("%d generations", len(list))
	}
	if status, text := p.ask(t, "POST", "/api/v1/updates", ""); status != http.StatusConflict {
		t.Errorf("a second look at once: %d %s", status, text)
	}
}

// What can't be taken changes nothing, and is shown.
func TestAccept_DI3_UpdatesThatCannotBeTrustedChangeNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, registry *publisher)
		want    string
	}{
		"unsigned": {func(t *testing.T, r *publisher) { t.Helper(); r.push(t, "v1.2.4", "reader", "1.2.4", false) }, "no signature by acme"},
		// Who may push, and has no key, gives modules that were signed other tags.
		"an old one as a newer one":   {func(t *testing.T, r *publisher) { t.Helper(); r.push(t, "v1.2.4", "reader", "1.2.2", true) }, "says that it is reader 1.2.2"},
		"the same one as a newer one": {func(t *testing.T, r *publisher) { t.Helper(); r.push(t, "v1.2.4", "reader", "1.2.3", true) }, "says that it is reader 1.2.3"},
		"one for something else":      {func(t *testing.T, r *publisher) { t.Helper(); r.push(t, "v1.2.4", "writer", "1.2.4", true) }, "says that it is writer 1.2.4"},
		"annotations of a newer one": {func(t *testing.T, r *publisher) {
			t.Helper()
			old, _ := judge(t, "reader", "1.2.2")
			_, manifest := judge(t, "reader", "1.2.4")
			r.pushModule(t, "v1.2.4", old, manifest, true)
		}, "is not what the manifest within the module says"},
		"the registry is down": {func(_ *testing.T, r *publisher) { r.fail(unavailable) }, "503"},
		"the tag is gone": {func(t *testing.T, r *publisher) {
			t.Helper()
			q, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+r.Host+"/v2/judges/reader/manifests/v1.2.3", nil)
			must(t, err)
			response, err := http.DefaultClient.Do(q)
			must(t, err)
			_ = response.Body.Close()
		}, "the tag v1.2.3 no longer"},
		"tags without end": {func(_ *testing.T, r *publisher) {
			r.fail(func(w http.ResponseWriter, q *http.Request) bool {
				if !strings.HasSuffix(q.URL.Path, "/tags/list") {
					return false
				}
				w.Header().Set("Link", fmt.Sprintf(`<%s?n=1&last=%s>; rel="next"`, q.URL.Path, "x"))
				_, _ = fmt.Fprint(w, `{"name":"judges/reader","tags":["v1.2.4"]}`)
				return true
			})
		}, "page"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := newPublisher(t)
			p, clock, g := following(t, registry, "patch")
			c.prepare(t, registry)
			if n := p.look(t, clock); n.Generation != 0 || !strings.Contains(n.Fault, c.want) || n.Has != "1.2.3" {
				t.Errorf("%+v", n)
			}
			if list, current := p.generations(t); len(list) != 2 || current != g.ID {
				t.Errorf("%d generations, %d in force", len(list), current)
			}
			if _, page := p.ask(t, "GET", "/modules", ""); !strings.Contains(page, "Newer versions") || !strings.Contains(page, "small class=\"warn\"") {
				t.Error("the page does not show why")
			}
		})
	}
}

// The process looks by itself when the time has come, by the clock that it is given.
func TestTheServiceLooksForNewerVersionsAtTimes(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	registry.push(t, "v1.2.3", "reader", "1.2.3", true)
	c := &clock{}
	p := trusting(t, registry, registry.policy(t, ""), func(config *service.Config) { config.Now, config.UpdateInterval = c.now, 50*time.Millisecond })
	_, _, g := p.add(t, referring("specter", registry.ref("judges/reader:v1.2.3"), "manual"))
	p.activate(t, g.ID)
	registry.push(t, "v1.3.0", "reader", "1.3.0", true)
	for text := ""; !strings.Contains(text, `"1.3.0"`); time.Sleep(10 * time.Millisecond) {
		_, text = p.ask(t, "GET", "/api/v1/updates", "")
	}
}

// The tag is resolved once: what it names later has no part in it.
func TestAccept_DI3_ATagThatMovesWhileTheServiceFetchesChangesNothing(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	first := registry.push(t, "v1", "reader", "1.0.0", true)
	p := trusting(t, registry, registry.policy(t, ""), nil)
	var moved atomic.Bool
	registry.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/referrers/") && moved.CompareAndSwap(false, true) {
			registry.push(t, "v1", "reader", "6.6.6", true)
		}
		return false
	})
	status, text, g := p.add(t, referring("specter", registry.ref("judges/reader:v1"), ""))
	if !moved.Load() || status != http.StatusCreated || g.References["specter"].Manifest != first.Digest || "sha256:"+g.Modules["specter"] != first.Layer.Digest || g.References["specter"].Version != "1.0.0" {
		t.Errorf("%d %s", status, text)
	}
}

// A module beyond what uploads may have is rejected before it is downloaded.
func TestAccept_DI3_AHugeModuleIsNotDownloaded(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	wasm, manifest := judge(t, "reader", "1.0.0")
	const size = 49 << 20
	wasm = append(wasm, 0, 0x80|size&0x7f, 0x80|size>>7&0x7f, 0x80|size>>14&0x7f, size>>21) // a custom section without a name
	wasm = append(wasm, bytes.Repeat([]byte{0}, size)...)
	a := registry.pushModule(t, "v1", wasm, manifest, true)
	p := trusting(t, registry, registry.policy(t, ""), nil)
	p.rejects(t, referring("specter", registry.ref("judges/reader:v1"), ""), "at most 50331648 bytes together")
	for _, request := range registry.Requests() {
		if strings.HasSuffix(request, "/blobs/"+a.Layer.Digest) {
			t.Errorf("it was downloaded: %s", request)
		}
	}
}

// While a registry does not answer, the process answers others, and checks what they upload.
func TestAccept_DI3_ASlowRegistryHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	registry.push(t, "v1.0.0", "reader", "1.0.0", true)
	key, err := record.NewKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	must(t, err)
	p := trusting(t, registry, registry.policy(t, ""), func(c *service.Config) { c.Key = key })
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	registry.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			once.Do(func() { close(asked) })
			<-release
		}
		return false
	})
	type result struct {
		status int
		text   string
	}
	done := make(chan result, 1)
	go func() {
		body, _ := json.Marshal(referring("specter", registry.ref("judges/reader:v1.0.0"), ""))
		status, text := p.ask(t, "POST", "/api/v1/generations", string(body))
		done <- result{status, text}
	}()
	<-asked
	p.created(t, map[string]any{"modules": map[string][]byte{"bulwark": bulwark(t)}})
	p.ask(t, "POST", "/api/v1/dockets", docketOf(2))
	if status, results := p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", ""); status != http.StatusOK || strings.Count(results, "\n") != 2 {
		t.Errorf("%d %s", status, results)
	}
	select {
	case r := <-done:
		t.Errorf("it was not slow: %d %s", r.status, r.text)
	default:
	}
	close(release)
	if r := <-done; r.status != http.StatusCreated {
		t.Errorf("%d %s", r.status, r.text)
	}
}

// A tag that is no good holds no good one back.
func TestAccept_DI3_ALyingTagHoldsNoUpdateBack(t *testing.T) {
	t.Parallel()
	registry := newPublisher(t)
	p, clock, g := following(t, registry, "patch")
	registry.push(t, "v1.2.4", "reader", "1.2.4", true)
	registry.push(t, "v1.2.5", "reader", "1.2.4", true)
	n := p.look(t, clock)
	if n.Generation == 0 || n.Version != "1.2.4" || !strings.Contains(n.Fault, "the tag v1.2.5 says that it is reader 1.2.4") {
		t.Errorf("%+v", n)
	}
	if _, current := p.generations(t); current != g.ID {
		t.Errorf("%d is in force", current)
	}
}
