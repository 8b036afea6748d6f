package oci_test

import (
	"cmp"
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
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

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
	text := must.Get(json.Marshal(map[string]any{"auths": map[string]any{host: entry}}))(t)
	file := filepath.Join(t.TempDir(), "config.json")
	must.Do(t, os.WriteFile(file, text, 0o600))
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
		check.Equal(t, err == nil, local, err)
		if conn != nil {
			_ = conn.Close()
		}
	}
	_, err := oci.Dial(t.Context(), true, "169.254.169.254:80")
	fails(t, err, "blocked")
}

// tree gives the files of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	must.Do(t, err)
	return all
}

// Layouts with the same content have the same bytes, whatever was added first.
func TestAccept_DI1_LayoutsAreReproducible(t *testing.T) {
	t.Parallel()
	var trees []map[string]string
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b", "a"}} {
		site := filepath.Join(t.TempDir(), "site")
		c := client(t, oci.Config{})
		for _, tag := range order {
			a := must.Get(c.Push(t.Context(), ref(t, "oci-layout:"+site+":"+tag), []byte(tag), nil))(t)
			attach(t, c, a, "about "+tag)
		}
		trees = append(trees, tree(t, site))
	}
	same(t, trees[1], trees[0])
	check.Equal(t, len(trees[0]), 2+3*(3+2)+1, "files")
}

// What a layout says leads nowhere else, and is bounded.
func TestAccept_DI3_HostileLayouts(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	must.Do(t, os.WriteFile(outside, wasm, 0o600))
	write := func(text string) func(string) error {
		return func(file string) error { return os.WriteFile(file, []byte(text), 0o600) }
	}
	link := func(to string) func(string) error {
		return func(file string) error { return errors.Join(os.RemoveAll(file), os.Symlink(to, file)) }
	}
	folder := func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }
	entry := func(digest string, size int64) func(string) error {
		return write(fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":%d,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`, manifestType, digest, size))
	}
	for name, attack := range map[string]struct {
		file  string // empty: the layer
		spoil func(file string) error
		words string
	}{
		"tampered layer":       {"", write("\x00asm\x02\x00\x00\x00"), "does not match its digest"},
		"longer layer":         {"", write(string(wasm) + " "), "at most 8"},
		"no layer":             {"", os.Remove, "not found"},
		"a folder as blob":     {"", folder, "not a regular file"},
		"a link out":           {"", link(outside), "escapes"},
		"a relative link out":  {"", link("../../../../../../../../../.." + outside), "escapes"},
		"a folder that is one": {"blobs", link(filepath.Dir(outside)), "escapes"},
		"an index that is one": {"index.json", link(outside), "escapes"},
		"a path as digest":     {"index.json", entry("sha256:../../../outside", 8), "not one of sha256"},
		"an algorithm":         {"index.json", entry("../../x:"+oci3[7:], 8), "not one of sha256"},
		"a huge manifest":      {"index.json", entry(oci3, 1<<30), "at most 1048576"},
		"a negative size":      {"index.json", entry(oci3, -5), "bytes"},
		"10 MB of index":       {"index.json", write(`{"schemaVersion":2}` + strings.Repeat(" ", 10<<20)), "at most 1048576"},
		"many entries":         {"index.json", write(`{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 2000) + `{}]}`), "2001 manifests"},
		"no index at all":      {"index.json", write("[]"), "index.json"},
		"no layout":            {"oci-layout", os.Remove, "not an OCI image layout"},
		"a later version":      {"oci-layout", write(`{"imageLayoutVersion":"9.0.0"}`), "9.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "site")
			c := client(t, oci.Config{})
			a := push(t, c, ref(t, "oci-layout:"+dir+":v1"))
			must.Do(t, attack.spoil(filepath.Join(dir, cmp.Or(attack.file, blob(a.Layer.Digest)))))
			rejected(t, c, a.Ref, attack.words)
		})
	}
}

// blob is the file of a blob in a layout.
func blob(digest string) string {
	return filepath.Join("blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
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
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(site, "index.json"), []byte(strings.Replace(string(index), "[{", "["+strings.Join(entries, ",")+",{", 1)), 0o600))
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
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, folder)), 0o700))
		must.Do(t, os.Symlink(other, filepath.Join(dir, folder)))
		_, err := c.Push(t.Context(), ref(t, "oci-layout:"+dir+":v1"), wasm, nil)
		fails(t, err)
		same(t, tree(t, other), map[string]string{})
	}

	full := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(full, "notes"), []byte("mine"), 0o600))
	_, err := c.Push(t.Context(), ref(t, "oci-layout:"+full+":v1"), wasm, nil)
	fails(t, err, "other files")
	same(t, tree(t, full), map[string]string{"/notes": "mine"})

	a := push(t, c, ref(t, "oci-layout:"+filepath.Join(site, "real")+":v1"))
	index := filepath.Join(site, "real", "index.json")
	must.Do(t, os.Rename(index, filepath.Join(other, "index.json")))
	must.Do(t, os.Symlink(filepath.Join(other, "index.json"), index))
	was := tree(t, other)
	_, err = c.Attach(t.Context(), a, oci.Attachment{Type: signature, Data: []byte("x")})
	fails(t, err, "escapes")
	same(t, tree(t, other), was)
}
