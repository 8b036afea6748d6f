package oci_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const signature = "application/vnd.shadowcourt.signature.v1+json"

var wasm = []byte("\x00asm\x01\x00\x00\x00")

// client makes one that neither waits nor knows credentials, unless the configuration says so.
func client(t *testing.T, config oci.Config) *oci.Client {
	t.Helper()
	config.Clock = time.Now
	if config.RetryWait == 0 {
		config.RetryWait = time.Millisecond
	}
	if config.DockerConfig == "" {
		config.DockerConfig = filepath.Join(t.TempDir(), "config.json")
	}
	return must.Get(oci.New(config))(t)
}

func ref(t *testing.T, text string) moduleref.Ref {
	t.Helper()
	return must.Get(moduleref.Parse(text))(t)
}

func push(t *testing.T, c *oci.Client, r moduleref.Ref) *oci.Artifact {
	t.Helper()
	return must.Get(c.Push(t.Context(), r, wasm, map[string]string{"org.opencontainers.image.title": "reader", "org.opencontainers.image.version": "1.0.0"}))(t)
}

func attach(t *testing.T, c *oci.Client, a *oci.Artifact, text string) (digest string) {
	t.Helper()
	digest, err := c.Attach(t.Context(), a, oci.Attachment{Type: signature, Annotations: map[string]string{"by": text}, Data: []byte(text)})
	must.Do(t, err)
	return digest
}

// texts are the contents of the attachments.
func texts(t *testing.T, c *oci.Client, a *oci.Artifact, types ...string) []string {
	t.Helper()
	all := must.Get(c.Attachments(t.Context(), a, types...))(t)
	var out []string
	for _, one := range all {
		out = append(out, string(one.Data))
		if one.Type == signature && one.Annotations["by"] != string(one.Data) {
			t.Errorf("%s has the annotations %v", one.Data, one.Annotations)
		}
	}
	slices.Sort(out)
	return out
}

func pull(t *testing.T, c *oci.Client, r moduleref.Ref) (*oci.Artifact, []byte) {
	t.Helper()
	a := must.Get(c.Resolve(t.Context(), r))(t)
	data := must.Get(c.Module(t.Context(), a))(t)
	return a, data
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	check.Same(t, cmp.Diff(want, got))
}

// everywhere runs a test where modules can be: in registries of both kinds, and in a layout.
func everywhere(t *testing.T, test func(t *testing.T, base string)) {
	t.Helper()
	for _, place := range []string{"registry", "registry without referrers", "layout"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			base := "oci-layout:" + filepath.Join(t.TempDir(), "site")
			if place != "layout" {
				base = "oci://" + testkit.Start(t, place == "registry").Host + "/judges/reader"
			}
			test(t, base)
		})
	}
}

// A module that was pushed is pulled by its tag, its digest or both, with what was attached. Pushing it again changes nothing.
func TestAccept_DI1_PushAndPull(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, base string) {
		t.Helper()
		a := push(t, client(t, oci.Config{}), ref(t, base+":v1"))
		for _, text := range []string{"one", "two", "one"} {
			attach(t, client(t, oci.Config{}), a, text)
		}
		again := push(t, client(t, oci.Config{}), ref(t, base))
		same(t, again.Digest, a.Digest)
		for _, r := range []string{base, base + ":v1", base + "@" + a.Digest, base + ":gone@" + a.Digest} {
			c := client(t, oci.Config{})
			got, data := pull(t, c, ref(t, r))
			same(t, got.Digest, a.Digest)
			same(t, got.Annotations["org.opencontainers.image.title"], "reader")
			same(t, got.Pinned().Digest(), a.Digest)
			same(t, data, wasm)
			same(t, texts(t, c, got), []string{"one", "two"})
			same(t, texts(t, c, got, "another/type"), nil)
		}
		check.Is(t, check.Err(client(t, oci.Config{}).Resolve(t.Context(), ref(t, base+":v2"))), oci.ErrNotFound, "a tag that is not there")
		if _, err := client(t, oci.Config{}).Push(t.Context(), ref(t, base+"@sha256:"+strings.Repeat("0", 64)), wasm, nil); !errors.Is(err, oci.ErrMismatch) {
			t.Errorf("another digest was asked for: %v", err)
		}
	})
}

// The manifest is that of CNCF's layout for WebAssembly, and has no time unless one was given.
func TestAccept_DI1_TheManifestIsThatOfOtherTools(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "site")
	a := must.Get(client(t, oci.Config{}).Push(t.Context(), ref(t, "oci-layout:"+dir+":v1"), wasm, map[string]string{"org.opencontainers.image.created": "2026-01-02T03:04:05Z"}))(t)
	read := func(digest string, into any) {
		t.Helper()
		data := must.Get(os.ReadFile(filepath.Join(dir, blob(digest))))(t)
		must.Do(t, json.Unmarshal(data, into))
	}
	type blob struct {
		MediaType, Digest string
		Size              int
	}
	var m struct {
		MediaType, ArtifactType string
		Config                  blob
		Layers                  []blob
	}
	read(a.Digest, &m)
	same(t, m.MediaType+" "+m.ArtifactType+m.Config.MediaType, "application/vnd.oci.image.manifest.v1+json application/vnd.wasm.config.v0+json")
	same(t, m.Layers, []blob{{"application/wasm", a.Layer.Digest, len(wasm)}})
	var config map[string]any
	read(m.Config.Digest, &config)
	same(t, config, map[string]any{"created": "2026-01-02T03:04:05Z", "architecture": "wasm", "os": "wasip1", "layerDigests": []any{a.Layer.Digest}})
}

// Blobs that a registry has are not uploaded again.
func TestAccept_DI1_PushingAgainUploadsNothing(t *testing.T) {
	t.Parallel()
	r := testkit.Start(t, true)
	at := ref(t, "oci://"+r.Host+"/reader:v1")
	push(t, client(t, oci.Config{}), at)
	r.Requests()
	push(t, client(t, oci.Config{}), at)
	if seen := r.Requests(); len(seen) != 3 || slices.ContainsFunc(seen, func(q string) bool { return strings.Contains(q, "uploads") }) {
		t.Errorf("the requests are %q", seen)
	}
}

// With a digest and a warm cache there is no request; attachments are asked for each time, and are the cached ones when nobody answers.
func TestAccept_DI1_TheCacheWorksOffline(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	r := testkit.Start(t, true, before(func(http.ResponseWriter, *http.Request) bool {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	}))
	base := "oci://" + r.Host + "/judges/reader"
	a := push(t, client(t, oci.Config{}), ref(t, base+":v1"))
	attach(t, client(t, oci.Config{}), a, "one")
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o700))
	c := client(t, oci.Config{Cache: dir})
	pinned := ref(t, base+":v1@"+a.Digest)
	got, _ := pull(t, c, ref(t, base+":v1"))
	if _, ok := c.Cached(t.Context(), got); ok {
		t.Error("attachments are cached before they were asked for")
	}
	same(t, texts(t, c, got), []string{"one"})

	r.Requests()
	c = client(t, oci.Config{Cache: dir})
	got, data := pull(t, c, pinned)
	same(t, data, wasm)
	kept, ok := c.Cached(t.Context(), got, signature)
	if !ok || len(kept) != 1 {
		t.Errorf("the cache has %v, %t", kept, ok)
	}
	same(t, r.Requests(), nil)

	attach(t, client(t, oci.Config{}), a, "two")
	same(t, texts(t, c, got), []string{"one", "two"})
	down.Store(true)
	c = client(t, oci.Config{Cache: dir})
	got, _ = pull(t, c, pinned)
	same(t, texts(t, c, got), []string{"one", "two"})
	if _, err := c.Resolve(t.Context(), ref(t, base+":v1")); err == nil {
		t.Error("a tag was resolved without the registry")
	}
	if _, err := c.Resolve(t.Context(), ref(t, "oci://"+r.Host+"/judges/other@"+a.Digest)); err == nil {
		t.Error("what one repository has was taken for another's")
	}
}

// What the cache has is compared with its digest, and fetched again where it differs. The cache stays below its size.
func TestAccept_DI1_TheCacheIsVerifiedAndBounded(t *testing.T) {
	t.Parallel()
	r := testkit.Start(t, true)
	dir := filepath.Join(t.TempDir(), "cache")
	c := client(t, oci.Config{Cache: dir, CacheBytes: 100 << 10})
	a := push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	pull(t, c, a.Pinned())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the cache has %q, %v", files, err)
	}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		must.Do(t, os.WriteFile(file, bytes.Replace(data, []byte("asm"), []byte("bad"), 1), 0o600))
	}
	_, data := pull(t, c, a.Pinned())
	same(t, data, wasm)
	swap := filepath.Join(dir, "swap") // each is whole, and the answer to another question
	for _, names := range [][2]string{{files[0], swap}, {files[1], files[0]}, {swap, files[1]}} {
		must.Do(t, os.Rename(names[0], names[1]))
	}
	_, data = pull(t, c, a.Pinned())
	same(t, data, wasm)
	for i := range 8 {
		one := must.Get(c.Push(t.Context(), ref(t, "oci://"+r.Host+"/reader:v2"), bytes.Repeat([]byte{byte(i)}, 30<<10), nil))(t)
		pull(t, c, one.Pinned())
	}
	var size int64
	files, err = filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		info := must.Get(os.Stat(file))(t)
		size += info.Size()
	}
	if err != nil || size > 100<<10 || size < 60<<10 {
		t.Errorf("the cache has %d bytes in %d files, %v", size, len(files), err)
	}
	must.Do(t, os.Chmod(dir, 0o777))
	if _, err := oci.New(oci.Config{Cache: dir, Clock: time.Now}); err == nil {
		t.Error("a cache that others can write to was taken")
	}
}

// Several clients use one cache and one layout at the same time.
func TestAccept_DI1_CacheAndLayoutAreShared(t *testing.T) {
	t.Parallel()
	r := testkit.Start(t, true)
	cache, site := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "site")
	a := push(t, client(t, oci.Config{}), ref(t, "oci://"+r.Host+"/reader:v1"))
	must.Do(t, os.Mkdir(cache, 0o700))
	var all sync.WaitGroup
	for i := range 8 {
		c := client(t, oci.Config{Cache: cache, CacheBytes: 400})
		to := ref(t, fmt.Sprintf("oci-layout:%s:v%d", site, i))
		all.Go(func() {
			for range 10 {
				got, err := c.Resolve(t.Context(), a.Pinned())
				if err != nil {
					t.Error(err)
					return
				}
				if data, err := c.Module(t.Context(), got); err != nil || !bytes.Equal(data, wasm) {
					t.Errorf("%q, %v", data, err)
				}
			}
			if _, err := c.Copy(t.Context(), a.Ref, to); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		pull(t, client(t, oci.Config{}), ref(t, fmt.Sprintf("oci-layout:%s:v%d", site, i)))
	}
}

// A module goes with its attachments, cosign's tag among them, from a registry to a layout and on to another registry, and keeps its digest.
func TestAccept_DI1_CopyToALayoutAndBack(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{true, false} {
		first, second := testkit.Start(t, referrers), testkit.Start(t, !referrers)
		c := client(t, oci.Config{})
		a := push(t, c, ref(t, "oci://"+first.Host+"/judges/reader:v1"))
		attach(t, c, a, "one")
		cosign(t, first, a, "two")
		site := filepath.Join(t.TempDir(), "site")
		must.Get(c.Copy(t.Context(), a.Ref, ref(t, "oci-layout:"+site)))(t)
		before := tree(t, site)
		at := must.Get(c.Copy(t.Context(), a.Pinned(), ref(t, "oci-layout:"+site+":v1")))(t)
		same(t, tree(t, site), before)
		to := ref(t, "oci://"+second.Host+"/mirror/reader:v2")
		must.Get(c.Copy(t.Context(), at.Ref, to))(t)
		got, data := pull(t, c, to)
		same(t, got.Digest, a.Digest)
		same(t, data, wasm)
		same(t, texts(t, c, got), []string{"one", "two"})
		same(t, texts(t, c, got, oci.TypeCosign), []string{"two"})
	}
}

// A tag that moves leaves what it was at, by its digest.
func TestAccept_DI1_ATagMoves(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, base string) {
		t.Helper()
		c, at := client(t, oci.Config{}), ref(t, base+":v1")
		old := push(t, c, at)
		for _, text := range []string{"a", "b", "c", "d", "e"} {
			must.Get(c.Push(t.Context(), at, []byte(text), nil))(t)
			_, data := pull(t, c, at)
			same(t, string(data), text)
		}
		_, data := pull(t, c, old.Pinned())
		same(t, data, wasm)
	})
}

// Passwords come from Docker's configuration, or from the credential helper that it names.
func TestAccept_DI1_CredentialsOfDocker(t *testing.T) {
	bin := t.TempDir()
	helper := "#!/bin/sh\nread host\n[ \"$1 $host\" = 'get registry.example' ] && echo '{\"Username\":\"me\",\"Secret\":\"s3cret\"}'\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte(helper), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	config := filepath.Join(t.TempDir(), "config.json")
	must.Do(t, os.WriteFile(config, []byte(`{"credHelpers":{"registry.example":"test"}}`), 0o600))
	h := filled(t)
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
	for _, file := range []string{config, login(t, "registry.example", false)} {
		n := &internet{hosts: map[string]http.Handler{"registry.example": guarded}}
		_, data := pull(t, client(t, oci.Config{Transport: n, DockerConfig: file}), ref(t, "oci://registry.example/judges/reader:v1"))
		same(t, data, wasm)
	}
	rejected(t, client(t, oci.Config{Transport: &internet{hosts: map[string]http.Handler{"registry.example": guarded}}}), ref(t, "oci://registry.example/judges/reader:v1"), "credential")
}

// A registry with a list of referrers gets no tag in its place.
func TestAccept_DI1_TheTagOfReferrersIsAFallback(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{true, false} {
		r := testkit.Start(t, referrers)
		c := client(t, oci.Config{})
		a := push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
		attach(t, c, a, "one")
		put := slices.ContainsFunc(r.Requests(), func(q string) bool { return strings.HasPrefix(q, "PUT") && strings.Contains(q, "/manifests/sha256-") })
		if put == referrers {
			t.Errorf("with a list of referrers: %t, by a tag: %t", referrers, put)
		}
	}
}

// docker.io is served by another host, has its tokens from a third, and its password under a name of old.
func TestAccept_DI1_DockerHub(t *testing.T) {
	t.Parallel()
	n := &internet{hosts: map[string]http.Handler{
		"registry-1.docker.io": asking(`Bearer realm="https://auth.docker.io/token",service="registry.docker.io"`, filled(t)), "auth.docker.io": http.HandlerFunc(token),
	}}
	c := client(t, oci.Config{Transport: n, DockerConfig: login(t, "https://index.docker.io/v1/", false)})
	a, data := pull(t, c, ref(t, "oci://docker.io/judges/reader:v1"))
	same(t, data, wasm)
	same(t, a.Ref.Repository(), "docker.io/judges/reader")
	same(t, n.outside("registry-1.docker.io"), []string{"https://auth.docker.io/token secret"})
}
