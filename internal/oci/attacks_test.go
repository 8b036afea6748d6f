package oci_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// cosign adds a signature of cosign's older form.
func cosign(t *testing.T, r *testkit.Registry, a *oci.Artifact, text string) {
	t.Helper()
	repo := strings.TrimPrefix(a.Ref.Repository(), r.Host+"/")
	config := r.Blob(t, repo, []byte("{}"))
	layer := r.Blob(t, repo, []byte(text))
	r.Manifest(t, repo, strings.Replace(a.Digest, ":", "-", 1)+".sig", "application/vnd.oci.image.manifest.v1+json", fmt.Appendf(nil,
		`{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":2},"layers":[{"mediaType":%q,"digest":%q,"size":%d,"annotations":{"dev.cosignproject.cosign/signature":"MEUC"}}]}`,
		config, oci.TypeCosign, layer, len(text)))
}

// before runs a function ahead of the registry, which says whether it has answered.
func before(do func(w http.ResponseWriter, r *http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !do(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// rejected says that a module can't be had, by an error with these words, and gives what it says.
func rejected(t *testing.T, c *oci.Client, r moduleref.Ref, words ...string) string {
	t.Helper()
	a, err := c.Resolve(t.Context(), r)
	if err == nil {
		_, err = c.Module(t.Context(), a)
	}
	fails(t, err, words...)
	return fmt.Sprint(err)
}

func fails(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Error("it was taken")
		return
	}
	for _, word := range words {
		check.Contains(t, err.Error(), word, err)
	}
	if len(err.Error()) > 1500 || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("the error is %q", err)
	}
}

// A registry answers with other bytes than a digest says, with more, or for ever.
func TestAccept_DI3_TamperedAndHugeAnswers(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}
	for name, attack := range map[string]struct {
		path  string
		do    func(w http.ResponseWriter)
		words string
	}{
		"tampered layer":   {"/blobs/", func(w http.ResponseWriter) { _, _ = w.Write([]byte("\x00asm\x02\x00\x00\x00")) }, "does not match its digest"},
		"short layer":      {"/blobs/", func(w http.ResponseWriter) { w.(http.Flusher).Flush(); _, _ = w.Write(wasm[:3]) }, "does not match its digest"},
		"endless layer":    {"/blobs/", endless, "does not match its digest"},
		"huge length":      {"/blobs/", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99999999999") }, "Content-Length"},
		"another manifest": {"/manifests/", func(w http.ResponseWriter) { answer(w, "", module(wasm)+" ") }, "match"},
		"a false digest":   {"/manifests/", func(w http.ResponseWriter) { answer(w, oci3, module(wasm)+" ") }, "match"},
		"huge manifest":    {"/manifests/", func(w http.ResponseWriter) { answer(w, "", `{"a":"`+strings.Repeat("a", 2<<20)+`"}`) }, ""},
		"endless manifest": {"/manifests/", func(w http.ResponseWriter) { w.Header().Set("Content-Type", manifestType); endless(w) }, ""},
		"a page":           {"/manifests/", func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>sign in</html>")) }, "mismatch"},
		"escapes in an error": {"/manifests/", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"errors":[{"code":"X","message":"\u001b[31mred\n::error::"}]}`))
		}, "400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attacked atomic.Bool
			r := testkit.Start(t, true, before(func(w http.ResponseWriter, q *http.Request) bool {
				if attacked.Load() && q.Method == http.MethodGet && strings.Contains(q.URL.Path, attack.path) {
					attack.do(w)
					return true
				}
				return false
			}))
			dir := filepath.Join(t.TempDir(), "cache")
			a := push(t, client(t, oci.Config{}), ref(t, "oci://"+r.Host+"/reader:v1"))
			attacked.Store(true)
			c := client(t, oci.Config{Cache: dir})
			rejected(t, c, a.Pinned(), attack.words)
			attacked.Store(false)
			_, data := pull(t, c, a.Pinned()) // nothing of it was kept
			same(t, data, wasm)
		})
	}
}

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	oci3         = "sha256:cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f"
)

func answerList(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
	_, _ = io.WriteString(w, cmp.Or(text, `{"schemaVersion":2,"manifests":[]}`))
}

func answer(w http.ResponseWriter, digest, manifest string) {
	w.Header().Set("Content-Type", manifestType)
	w.Header().Set("Content-Length", strconv.Itoa(len(manifest)))
	if digest != "" {
		w.Header().Set("Docker-Content-Digest", digest)
	}
	_, _ = w.Write([]byte(manifest))
}

// module is the text of a manifest that looks right.
func module(data []byte) string {
	return fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.wasm.config.v0+json","digest":%q,"size":2},"layers":[{"mediaType":"application/wasm","digest":%q,"size":%d}]}`,
		oci3, oci3, len(data))
}

// What is no module, or too large for one, is rejected before its layer is asked for, and the error says what it is.
func TestAccept_DI3_ForeignAndOversizedManifests(t *testing.T) {
	t.Parallel()
	r := testkit.Start(t, true)
	many := strings.Builder{}
	for i := range 65 {
		fmt.Fprintf(&many, `"k%d":"",`, i)
	}
	annotations := func(text string) string { return strings.Replace(module(wasm), "{", `{"annotations":{`+text+`},`, 1) }
	layers := `"layers":[{"mediaType":"application/wasm","digest":"` + oci3 + `","size":8},`
	for i, c := range []struct{ kind, text, words string }{
		{"application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"manifests":[]}`, "image.index"},
		{"application/vnd.docker.distribution.manifest.v2+json", module(wasm), "docker.distribution.manifest.v2"},
		{"application/vnd.docker.distribution.manifest.v1+prettyjws", `{"schemaVersion":1}`, "manifest.v1"},
		{manifestType, `{"schemaVersion":1,"fsLayers":[]}`, "schema 1"},
		{manifestType, strings.Replace(module(wasm), "{", `{"manifests":[],`, 1), "an index"},
		{manifestType, strings.Replace(module(wasm), "{", `{"mediaType":"application/vnd.oci.image.index.v1+json",`, 1), "an index"},
		{manifestType, strings.Replace(module(wasm), "wasm.config.v0", "cncf.helm.config.v1", 1), "helm"},
		{manifestType, strings.Replace(module(wasm), "application/wasm", "application/vnd.oci.image.layer.v1.tar", 1), "layer.v1.tar"},
		{manifestType, strings.Replace(module(wasm), `"layers":[`, layers, 1), "2 layers"},
		{manifestType, strings.Replace(module(wasm), `"layers":[`, `"layers":[],"x":[`, 1), "0 layers"},
		{manifestType, strings.Replace(module(wasm), `"size":8`, `"size":67108865`, 1), "at most 67108864"},
		{manifestType, strings.Replace(module(wasm), `"size":8`, `"size":-1`, 1), "at most 67108864"},
		{manifestType, strings.Replace(module(wasm), `"size":8`, `"size":0`, 1), "empty"},
		{manifestType, strings.ReplaceAll(module(wasm), "sha256:", "sha512:"), "sha256"},
		{manifestType, strings.ReplaceAll(module(wasm), oci3, "sha256:../../../../etc/passwd"), "sha256"},
		{manifestType, annotations(strings.TrimSuffix(many.String(), ",")), "65 annotations"},
		{manifestType, annotations(`"a":"` + strings.Repeat("a", 9000) + `"`), "9000 bytes"},
		{manifestType, annotations(`"` + strings.Repeat("k", 300) + `":""`), "annotation"},
		{manifestType, `[]`, "JSON"},
		{manifestType, `{"schemaVersion":3}`, "version 3"},
		{manifestType, strings.Repeat("[", 100_000), "JSON"},
	} {
		tag := fmt.Sprintf("t%d", i)
		r.Manifest(t, "reader", tag, c.kind, []byte(c.text))
		r.Requests()
		rejected(t, client(t, oci.Config{}), ref(t, "oci://"+r.Host+"/reader:"+tag), c.words)
		same(t, r.Requests(), []string{"GET /v2/reader/manifests/" + tag})
	}
}

// A tag that moves between two requests never gives the manifest of one module with the layer of another.
func TestAccept_DI3_ASwappedTag(t *testing.T) {
	t.Parallel()
	var swap atomic.Bool
	r := testkit.Start(t, true, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if swap.Load() && strings.HasSuffix(q.URL.Path, "/manifests/v1") {
				if q.Method == http.MethodGet { // without a length, the client asks again for it
					rec := httptest.NewRecorder()
					next.ServeHTTP(rec, q)
					w.Header().Set("Content-Type", manifestType)
					w.(http.Flusher).Flush()
					_, _ = w.Write(rec.Body.Bytes())
					return
				}
				q.URL.Path = strings.TrimSuffix(q.URL.Path, "v1") + "v2"
			}
			next.ServeHTTP(w, q)
		})
	})
	c := client(t, oci.Config{})
	old := push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	must.Get(c.Push(t.Context(), ref(t, "oci://"+r.Host+"/reader:v2"), []byte("evil"), nil))(t)
	swap.Store(true)
	check.Is(t, check.Err(c.Resolve(t.Context(), old.Ref)), oci.ErrMismatch)
	swap.Store(false)
	a := must.Get(c.Resolve(t.Context(), old.Ref))(t)
	must.Get(c.Push(t.Context(), old.Ref, []byte("evil"), nil))(t)
	data := must.Get(c.Module(t.Context(), a))(t)
	same(t, data, wasm)
}

// Attachments are bounded in number and size, verified, and of the module that they are listed for. In the texts MODULE is its digest, GOOD the entry
// of a good attachment, and DIGEST one of nothing that is there.
func TestAccept_DI3_HostileAttachments(t *testing.T) {
	t.Parallel()
	list := func(entries string) string { return `{"schemaVersion":2,"manifests":[` + entries + `]}` }
	for name, attack := range map[string]struct {
		junk     int    // attachments besides
		tag      string // of a manifest besides
		manifest string
		list     string // that the registry gives
		words    string // of an error; empty for none
	}{
		"many": {junk: 40},
		"too large": {tag: "x", manifest: `{"schemaVersion":2,"config":{"mediaType":"a/b","digest":"DIGEST","size":2},"layers":[{"mediaType":"` + signature +
			`","digest":"DIGEST","size":1048577}],"subject":{"digest":"MODULE","size":1}}`},
		"no manifest":       {tag: "SIG", manifest: `{"schemaVersion":2,"layers":3}`},
		"of another module": {list: list(`{"mediaType":"` + manifestType + `","digest":"MODULE","size":1},GOOD`)},
		"missing":           {list: list(`{"mediaType":"` + manifestType + `","digest":"DIGEST","size":1},GOOD`)},
		"a path":            {list: list(`{"mediaType":"` + manifestType + `","digest":"sha256:../../x","size":1},GOOD`)},
		"a long list":       {list: list("GOOD" + strings.Repeat(",{}", 2000))},
		"an endless list":   {list: list(strings.Repeat("{},", 1<<20) + "GOOD"), words: "decode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var given atomic.Pointer[string]
			r := testkit.Start(t, true, before(func(w http.ResponseWriter, q *http.Request) bool {
				text := given.Load()
				if text == nil || !strings.Contains(q.URL.Path, "/referrers/") {
					return false
				}
				answerList(w, *text)
				return true
			}))
			c := client(t, oci.Config{})
			a := push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
			for i := range attack.junk {
				attach(t, c, a, "junk "+strconv.Itoa(i))
			}
			good := fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":500}`, manifestType, attach(t, c, a, "good"))
			fill := strings.NewReplacer("MODULE", a.Digest, "GOOD", good, "DIGEST", oci3, "SIG", strings.Replace(a.Digest, ":", "-", 1)+".sig")
			if attack.tag != "" {
				r.Manifest(t, "reader", fill.Replace(attack.tag), manifestType, []byte(fill.Replace(attack.manifest)))
			}
			if attack.list != "" {
				text := fill.Replace(attack.list)
				given.Store(&text)
			}
			to := ref(t, "oci-layout:"+filepath.Join(t.TempDir(), "site")+":v1")
			_, copyErr := c.Copy(t.Context(), a.Ref, to)
			if attack.words != "" {
				_, err := c.Attachments(t.Context(), a)
				fails(t, err, attack.words)
				fails(t, copyErr, attack.words)
				return
			}
			must.Do(t, copyErr)
			copied := must.Get(c.Resolve(t.Context(), to))(t)
			for _, at := range []*oci.Artifact{a, copied} {
				if got := texts(t, c, at); len(got) != 1+attack.junk || !slices.Contains(got, "good") {
					t.Errorf("%s: %q", at.Ref, got)
				}
			}
			if got, err := c.Attachments(t.Context(), a, "another/type"); err != nil || len(got) > 0 {
				t.Errorf("what was not asked for: %v, %v", got, err)
			}
		})
	}
}

// A registry that is slow, fails or never ends a list costs a bounded time and number of requests.
func TestAccept_DI3_SlowAndFailingRegistries(t *testing.T) {
	t.Parallel()
	drip := func(w http.ResponseWriter, q *http.Request) bool {
		w.Header().Set("Content-Type", manifestType)
		w.Header().Set("Content-Length", "1000")
		for range 1000 {
			if _, err := w.Write([]byte("{")); err != nil || q.Context().Err() != nil {
				return true
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		return true
	}
	r := testkit.Start(t, true, before(drip))
	for _, c := range []*oci.Client{client(t, oci.Config{Request: 200 * time.Millisecond}), client(t, oci.Config{Whole: 200 * time.Millisecond})} {
		rejected(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	}

	var fail atomic.Int32
	r = testkit.Start(t, true, before(func(w http.ResponseWriter, _ *http.Request) bool {
		if fail.Add(-1) < 0 {
			return false
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}))
	a := push(t, client(t, oci.Config{}), ref(t, "oci://"+r.Host+"/reader:v1"))
	fail.Store(3)
	pull(t, client(t, oci.Config{}), a.Ref)
	fail.Store(1000)
	r.Requests()
	rejected(t, client(t, oci.Config{}), a.Ref, "429")
	check.Equal(t, len(r.Requests()), 4, "requests")

	again := func(w http.ResponseWriter, q *http.Request) bool {
		if strings.Contains(q.URL.Path, "/referrers/") {
			w.Header().Set("Link", "<"+q.URL.Path+"?again>; rel=next")
			answerList(w, "")
			return true
		}
		return false
	}
	r = testkit.Start(t, true, before(again))
	c := client(t, oci.Config{})
	a = push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	r.Requests()
	_, _ = c.Attachments(t.Context(), a)
	if n := len(r.Requests()); n > 20 {
		t.Errorf("%d requests", n)
	}
}

// A push that fails half way leaves no manifest, so that nothing looks complete.
func TestAccept_DI3_APushThatFails(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2} {
		var puts atomic.Int32
		var broken atomic.Bool
		broken.Store(true)
		r := testkit.Start(t, true, before(func(w http.ResponseWriter, q *http.Request) bool {
			if broken.Load() && q.Method == http.MethodPut && puts.Add(1) >= int32(at) {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			}
			return false
		}))
		c := client(t, oci.Config{})
		_, err := c.Push(t.Context(), ref(t, "oci://"+r.Host+"/reader:v1"), wasm, nil)
		fails(t, err, "500")
		for _, q := range r.Requests() {
			if strings.HasPrefix(q, "PUT") && strings.Contains(q, "/manifests/") {
				t.Error(q)
			}
		}
		broken.Store(false)
		check.Is(t, check.Err(c.Resolve(t.Context(), ref(t, "oci://"+r.Host+"/reader:v1"))), oci.ErrNotFound)
		push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	}
}
