package oci_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
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
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
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
	if _, err := c.Push(t.Context(), ref(t, "oci://"+r.Host+"/reader:v2"), []byte("evil"), nil); err != nil {
		t.Fatal(err)
	}
	swap.Store(true)
	if _, err := c.Resolve(t.Context(), old.Ref); !errors.Is(err, oci.ErrMismatch) {
		t.Error(err)
	}
	swap.Store(false)
	a, err := c.Resolve(t.Context(), old.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Push(t.Context(), old.Ref, []byte("evil"), nil); err != nil {
		t.Fatal(err)
	}
	data, err := c.Module(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	same(t, data, wasm)
}

// Attachments are bounded in number and size, verified, and of the module that they are listed for.
func TestAccept_DI3_HostileAttachments(t *testing.T) {
	t.Parallel()
	unlisted := func(entries string) func(*oci.Artifact, string) string {
		return func(_ *oci.Artifact, good string) string {
			return `{"schemaVersion":2,"manifests":[` + entries + good + `]}`
		}
	}
	for name, attack := range map[string]struct {
		spoil func(t *testing.T, r *testkit.Registry, c *oci.Client, a *oci.Artifact)
		list  func(a *oci.Artifact, good string) string
		most  int    // attachments that are given; 1 by default
		words string // of an error; empty for none
	}{
		"many": {spoil: func(t *testing.T, _ *testkit.Registry, c *oci.Client, a *oci.Artifact) {
			t.Helper()
			for i := range 40 {
				attach(t, c, a, "junk "+strconv.Itoa(i))
			}
		}, most: 41},
		"too large": {spoil: func(t *testing.T, r *testkit.Registry, _ *oci.Client, a *oci.Artifact) {
			t.Helper()
			r.Manifest(t, "reader", "x", manifestType, fmt.Appendf(nil,
				`{"schemaVersion":2,"config":{"mediaType":"a/b","digest":%q,"size":2},"layers":[{"mediaType":%q,"digest":%q,"size":1048577}],"subject":{"digest":%q,"size":1}}`,
				oci3, signature, oci3, a.Digest))
		}},
		"no manifest": {spoil: func(t *testing.T, r *testkit.Registry, _ *oci.Client, a *oci.Artifact) {
			t.Helper()
			r.Manifest(t, "reader", strings.Replace(a.Digest, ":", "-", 1)+".sig", manifestType, []byte(`{"schemaVersion":2,"layers":3}`))
		}},
		"of another module": {list: func(a *oci.Artifact, good string) string {
			return fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":1},%s]}`, manifestType, a.Digest, good)
		}},
		"missing":         {list: unlisted(fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":1},`, manifestType, oci3))},
		"an endless list": {list: unlisted(strings.Repeat(`{},`, 1<<20)), words: "decode"},
		"a long list": {list: func(_ *oci.Artifact, good string) string {
			return `{"schemaVersion":2,"manifests":[` + good + strings.Repeat(`,{}`, 2000) + `]}`
		}},
		"a path": {list: unlisted(fmt.Sprintf(`{"mediaType":%q,"digest":"sha256:../../x","size":1},`, manifestType))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list atomic.Pointer[string]
			r := testkit.Start(t, true, before(func(w http.ResponseWriter, q *http.Request) bool {
				if text := list.Load(); text != nil && strings.Contains(q.URL.Path, "/referrers/") {
					w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
					_, _ = io.WriteString(w, *text)
					return true
				}
				return false
			}))
			c := client(t, oci.Config{})
			a := push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
			if attack.spoil != nil {
				attack.spoil(t, r, c, a)
			}
			digest := attach(t, c, a, "good")
			if attack.list != nil {
				text := attack.list(a, fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":500}`, manifestType, digest))
				list.Store(&text)
			}
			to := ref(t, "oci-layout:"+filepath.Join(t.TempDir(), "site")+":v1")
			_, copyErr := c.Copy(t.Context(), a.Ref, to)
			if attack.words != "" {
				_, err := c.Attachments(t.Context(), a)
				fails(t, err, attack.words)
				fails(t, copyErr, attack.words)
				return
			}
			if copyErr != nil {
				t.Fatal(copyErr)
			}
			copied, err := c.Resolve(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []*oci.Artifact{a, copied} {
				if got := texts(t, c, at); len(got) != max(1, attack.most) || !slices.Contains(got, "good") {
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
	if n := len(r.Requests()); n != 4 {
		t.Errorf("%d requests, not 4", n)
	}

	r = testkit.Start(t, true, before(func(w http.ResponseWriter, q *http.Request) bool {
		w.Header().Set("Link", "<"+q.URL.Path+"?again>; rel=next")
		_, _ = io.WriteString(w, `{"tags":["a"],"repositories":["a"]}`)
		return true
	}))
	c := client(t, oci.Config{})
	_, err := c.Tags(t.Context(), ref(t, "oci://"+r.Host+"/reader"))
	fails(t, err, "16 pages")
	_, err = c.Repositories(t.Context(), "oci://"+r.Host)
	fails(t, err, "16 pages")
	if n := len(r.Requests()); n > 40 {
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
		if _, err := c.Resolve(t.Context(), ref(t, "oci://"+r.Host+"/reader:v1")); !errors.Is(err, oci.ErrNotFound) {
			t.Error(err)
		}
		push(t, c, ref(t, "oci://"+r.Host+"/reader:v1"))
	}
}

// internet is a transport with hosts of its own.
type internet struct {
	hosts map[string]http.Handler
	mu    sync.Mutex
	seen  []string // "https://host/path", with " secret" where credentials came along
}

func (n *internet) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
		r.Body = io.NopCloser(strings.NewReader(body))
	}
	line := r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	if r.Header.Get("Authorization") != "" || strings.Contains(body, "s3cret") || strings.Contains(r.URL.RawQuery, "s3cret") {
		line += " secret"
	}
	n.mu.Lock()
	n.seen = append(n.seen, line)
	n.mu.Unlock()
	h := n.hosts[r.URL.Host]
	if h == nil {
		return nil, fmt.Errorf("no such host %s", r.URL.Host)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	got := rec.Result()
	got.Request = r
	return got, nil
}

// outside are the requests to other hosts than the registry.
func (n *internet) outside(host string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, line := range n.seen {
		if !strings.HasPrefix(line, "https://"+host+"/") {
			all = append(all, line)
		}
	}
	return all
}

// login writes a config.json of Docker with a password for a registry, or a token for OAuth.
func login(t *testing.T, host string, oauth bool) string {
	t.Helper()
	entry := map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:s3cret"))}
	if oauth {
		entry = map[string]string{"identitytoken": "s3cret"}
	}
	text, err := json.Marshal(map[string]any{"auths": map[string]any{host: entry}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// filled is a registry in memory that has a module.
func filled(t *testing.T) http.Handler {
	t.Helper()
	h := registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	c := client(t, oci.Config{Transport: &internet{hosts: map[string]http.Handler{"registry.example": h}}})
	push(t, c, ref(t, "oci://registry.example/judges/reader:v1"))
	return h
}

func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) })
}

// asking wants credentials, by a challenge.
func asking(challenge string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func token(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"token":"t0ken","access_token":"t0ken"}`)
}

// Credentials reach the registry that they are for, and the token server of its domain. A registry can't send them elsewhere.
func TestAccept_DI3_CredentialsAreNeverSentElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		challenge string
		outside   []string // that are reached
		fails     string
	}{
		"basic":                     {`Basic realm="x"`, nil, ""},
		"bearer of the same host":   {`Bearer realm="https://registry.example/token",service="x"`, nil, ""},
		"bearer of the same domain": {`Bearer realm="https://auth.registry.example/token"`, []string{"https://auth.registry.example/token secret"}, ""},
		"bearer of another port":    {`Bearer realm="https://registry.example:8443/token"`, nil, "domain alone"},
		"bearer elsewhere":          {`Bearer realm="https://evil.example/token"`, nil, "domain alone"},
		"a name that looks alike":   {`Bearer realm="https://registry.example.evil.example/token"`, nil, "domain alone"},
		"a user in the address":     {`Bearer realm="https://registry.example@evil.example/token"`, nil, "user"},
		"plain http":                {`Bearer realm="http://registry.example/token"`, nil, "http"},
		"this machine":              {`Bearer realm="https://127.0.0.1/token"`, nil, "127.0.0.1"},
		"localhost":                 {`Bearer realm="https://localhost/token"`, nil, "localhost"},
		"metadata":                  {`Bearer realm="https://169.254.169.254/token"`, nil, "169.254"},
		"a file":                    {`Bearer realm="file:///etc/passwd"`, nil, "file"},
		"a redirect of the realm":   {`Bearer realm="https://registry.example/away"`, []string{"https://evil.example/token"}, "401"},
		"an unknown scheme":         {`Digest realm="https://evil.example"`, nil, "401"},
	} {
		for _, oauth := range []bool{false, true} {
			if name == "basic" && oauth {
				continue
			}
			t.Run(fmt.Sprintf("%s/%t", name, oauth), func(t *testing.T) {
				t.Parallel()
				mux := http.NewServeMux()
				mux.Handle("/v2/", asking(c.challenge, filled(t)))
				mux.HandleFunc("/token", token)
				mux.Handle("/away", redirect("https://evil.example/token"))
				evil := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
				n := &internet{hosts: map[string]http.Handler{
					"registry.example": mux, "registry.example:8443": http.HandlerFunc(token), "auth.registry.example": http.HandlerFunc(token), "evil.example": evil, "registry.example.evil.example": evil,
				}}
				who := client(t, oci.Config{Transport: n, DockerConfig: login(t, "registry.example", oauth)})
				at := ref(t, "oci://registry.example/judges/reader:v1")
				outside := c.outside
				switch {
				case c.fails == "":
					_, data := pull(t, who, at)
					same(t, data, wasm)
				case oauth && name == "a redirect of the realm":
					outside = nil // the body has the token
					rejected(t, who, at)
				default:
					rejected(t, who, at, c.fails)
				}
				same(t, n.outside("registry.example"), outside)
			})
		}
	}
}

// A blob may be on another host, which gets no credentials; where redirects must not lead, they are not followed.
func TestAccept_DI3_Redirects(t *testing.T) {
	t.Parallel()
	for to, c := range map[string]struct {
		outside []string
		fails   string
	}{
		"https://s3.example/bucket?X-Signature=s1gned":   {[]string{"https://s3.example/bucket"}, ""},
		"https://registry.example:8443/bucket":           {[]string{"https://registry.example:8443/bucket"}, ""},
		"https://gone.example/bucket?X-Signature=s1gned": {[]string{"https://gone.example/bucket"}, "no such host"},
		"http://s3.example/bucket":                       {nil, "https"},
		"https://127.0.0.1/bucket":                       {nil, "loopback"},
		"https://localhost:8080/bucket":                  {nil, "loopback"},
		"https://me.localhost/bucket":                    {nil, "loopback"},
		"https://[::1]/bucket":                           {nil, "loopback"},
		"https://[::ffff:127.0.0.1]/bucket":              {nil, "leads to"},
		"https://169.254.169.254/latest/meta-data":       {nil, "address of no registry"},
		"https://[fd00:ec2::254]/latest":                 {nil, "address of no registry"},
		"https://0.0.0.0/":                               {nil, "address of no registry"},
		"https://me:s3cret@s3.example/bucket":            {nil, "user"},
		"ftp://s3.example/bucket":                        {nil, "https"},
		"https://registry.example/loop":                  {nil, "5 redirects"},
	} {
		t.Run(strings.ReplaceAll(to, "/", "_"), func(t *testing.T) {
			t.Parallel()
			mux, h := http.NewServeMux(), filled(t)
			mux.Handle("/v2/", asking(`Basic realm="x"`, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/blobs/") {
					redirect(to).ServeHTTP(w, r)
					return
				}
				h.ServeHTTP(w, r)
			})))
			mux.Handle("/loop", redirect("https://registry.example/loop"))
			bucket := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wasm) })
			n := &internet{hosts: map[string]http.Handler{"registry.example": mux, "s3.example": bucket, "registry.example:8443": bucket}}
			who := client(t, oci.Config{Transport: n, DockerConfig: login(t, "registry.example", false), Retries: -1})
			at := ref(t, "oci://registry.example/judges/reader:v1")
			if c.fails == "" {
				_, data := pull(t, who, at)
				same(t, data, wasm)
			} else if said := rejected(t, who, at, c.fails); strings.Contains(said, "s1gned") || strings.Contains(said, "s3cret") {
				t.Errorf("%q has a secret", said)
			}
			same(t, n.outside("registry.example"), c.outside)
		})
	}
}

// An upload is not sent to another host.
func TestAccept_DI3_UploadsStayWithTheRegistry(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusAccepted, http.StatusTemporaryRedirect} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodHead:
				w.WriteHeader(http.StatusNotFound)
			case r.Method == http.MethodPost && status == http.StatusTemporaryRedirect:
				w.Header().Set("Location", "/v2/judges/reader/blobs/uploads/1")
				w.WriteHeader(http.StatusAccepted)
			default:
				w.Header().Set("Location", "https://evil.example/take")
				w.WriteHeader(status)
			}
		})
		n := &internet{hosts: map[string]http.Handler{"registry.example": asking(`Basic realm="x"`, h), "evil.example": http.NotFoundHandler()}}
		who := client(t, oci.Config{Transport: n, DockerConfig: login(t, "registry.example", false)})
		_, err := who.Push(t.Context(), ref(t, "oci://registry.example/judges/reader:v1"), wasm, nil)
		fails(t, err, "evil.example")
		same(t, n.outside("registry.example"), nil)
	}
}

// A registry that quotes credentials does not get them into an error.
func TestAccept_DI3_NoSecretsInErrors(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{`Basic realm="x"`, `Bearer realm="https://registry.example/token"`} {
		mux := http.NewServeMux()
		mux.HandleFunc("/token", token)
		mux.Handle("/v2/", asking(challenge, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]string{"code": "DENIED", "message": r.Header.Get("Authorization") + " " + password}}})
		})))
		who := client(t, oci.Config{Transport: &internet{hosts: map[string]http.Handler{"registry.example": mux}}, DockerConfig: login(t, "registry.example", false)})
		said := rejected(t, who, ref(t, "oci://registry.example/judges/reader:v1"), "403", "[secret]")
		for _, secret := range []string{"s3cret", "t0ken", base64.StdEncoding.EncodeToString([]byte("me:s3cret"))} {
			if strings.Contains(said, secret) {
				t.Errorf("%q has %s", said, secret)
			}
		}
	}
}

// Names that resolve to this machine are not dialled for a registry elsewhere, and a registry on loopback is not asked by https.
func TestAccept_DI3_AddressesThatAreDialled(t *testing.T) {
	t.Parallel()
	r := testkit.Start(t, true)
	a := push(t, client(t, oci.Config{}), ref(t, "oci://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)+"/reader:v1"))
	pull(t, client(t, oci.Config{}), a.Ref)
	for _, local := range []bool{true, false} {
		conn, err := oci.Dial(t.Context(), local, r.Host)
		if (err == nil) != local {
			t.Errorf("%t: %v", local, err)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
	_, err := oci.Dial(t.Context(), true, "169.254.169.254:80")
	fails(t, err, "blocked")
}

// What a layout says leads nowhere else, and is bounded.
func TestAccept_DI3_HostileLayouts(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(t *testing.T, file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, file, to string) {
		t.Helper()
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, file); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(digest string, size int64) string {
		return fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":%d,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`, manifestType, digest, size)
	}
	for name, attack := range map[string]struct {
		spoil func(t *testing.T, dir, layer string)
		words string
	}{
		"tampered layer": {func(t *testing.T, _, layer string) { t.Helper(); write(t, layer, "\x00asm\x02\x00\x00\x00") }, "does not match its digest"},
		"longer layer":   {func(t *testing.T, _, layer string) { t.Helper(); write(t, layer, string(wasm)+" ") }, "at most 8"},
		"no layer":       {func(t *testing.T, _, layer string) { t.Helper(); _ = os.Remove(layer) }, "not found"},
		"a link out":     {func(t *testing.T, _, layer string) { t.Helper(); link(t, layer, outside) }, "escapes"},
		"a relative link out": {func(t *testing.T, _, layer string) {
			t.Helper()
			link(t, layer, "../../../../../../../../../.."+outside)
		}, "escapes"},
		"a folder that is one": {func(t *testing.T, dir, _ string) {
			t.Helper()
			link(t, filepath.Join(dir, "blobs"), filepath.Dir(outside))
		}, "escapes"},
		"an index that is one": {func(t *testing.T, dir, _ string) { t.Helper(); link(t, filepath.Join(dir, "index.json"), outside) }, "escapes"},
		"a path as digest": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), entry("sha256:../../../outside", 8))
		}, "not one of sha256"},
		"an algorithm": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), entry("../../x:"+oci3[7:], 8))
		}, "not one of sha256"},
		"a huge manifest": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), entry(oci3, 1<<30))
		}, "at most 1048576"},
		"a negative size": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), entry(oci3, -5))
		}, "bytes"},
		"10 MB of index": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), entry(oci3, 8)+strings.Repeat(" ", 10<<20))
		}, "at most 1048576"},
		"many entries": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "index.json"), `{"schemaVersion":2,"manifests":[`+strings.Repeat("{},", 2000)+`{}]}`)
		}, "2001 manifests"},
		"no index at all": {func(t *testing.T, dir, _ string) { t.Helper(); write(t, filepath.Join(dir, "index.json"), "[]") }, "index.json"},
		"no layout":       {func(t *testing.T, dir, _ string) { t.Helper(); _ = os.Remove(filepath.Join(dir, "oci-layout")) }, "not an OCI image layout"},
		"a later version": {func(t *testing.T, dir, _ string) {
			t.Helper()
			write(t, filepath.Join(dir, "oci-layout"), `{"imageLayoutVersion":"9.0.0"}`)
		}, "9.0.0"},
		"a folder as blob": {func(t *testing.T, _, layer string) { t.Helper(); _ = os.Remove(layer); _ = os.Mkdir(layer, 0o700) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "site")
			c := client(t, oci.Config{})
			a := push(t, c, ref(t, "oci-layout:"+dir+":v1"))
			attack.spoil(t, dir, filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(a.Layer.Digest, "sha256:")))
			rejected(t, c, a.Ref, attack.words)
		})
	}
}

// A layout does not become one that can't be read.
func TestAccept_DI3_AFullLayout(t *testing.T) {
	t.Parallel()
	site := filepath.Join(t.TempDir(), "site")
	c := client(t, oci.Config{})
	a := push(t, c, ref(t, "oci-layout:"+site+":v1"))
	entries := make([]string, 1023)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"mediaType":"a/b","digest":"sha256:%064x","size":1}`, i)
	}
	index, err := os.ReadFile(filepath.Join(site, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "index.json"), []byte(strings.Replace(string(index), "[{", "["+strings.Join(entries, ",")+",{", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = c.Push(t.Context(), ref(t, "oci-layout:"+site+":v2"), []byte("another"), nil)
	fails(t, err, "full")
	_, data := pull(t, c, a.Ref)
	same(t, data, wasm)
}

// Nothing is written outside of a layout, and no folder with other things becomes one.
func TestAccept_DI3_LayoutsAreWrittenWithin(t *testing.T) {
	t.Parallel()
	c := client(t, oci.Config{})
	other, site := t.TempDir(), t.TempDir()
	for _, folder := range []string{"blobs", "blobs/sha256"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, folder)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
		_, err := c.Push(t.Context(), ref(t, "oci-layout:"+dir+":v1"), wasm, nil)
		fails(t, err)
		same(t, tree(t, other), map[string]string{})
	}

	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := c.Push(t.Context(), ref(t, "oci-layout:"+full+":v1"), wasm, nil)
	fails(t, err, "other files")
	same(t, tree(t, full), map[string]string{"/notes": "mine"})

	a := push(t, c, ref(t, "oci-layout:"+filepath.Join(site, "real")+":v1"))
	index := filepath.Join(site, "real", "index.json")
	if err := os.Rename(index, filepath.Join(other, "index.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "index.json"), index); err != nil {
		t.Fatal(err)
	}
	was := tree(t, other)
	_, err = c.Attach(t.Context(), a, oci.Attachment{Type: signature, Data: []byte("x")})
	fails(t, err, "escapes")
	same(t, tree(t, other), was)
}
