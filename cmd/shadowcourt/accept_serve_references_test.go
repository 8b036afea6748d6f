package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// TestAccept_DI5_ServeTakesAReferenceThatItsPolicyAccepts: by --trust, and none without a policy.
func TestAccept_DI5_ServeTakesAReferenceThatItsPolicyAccepts(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	registry := testkit.Start(t, true)
	key, err := record.NewKey(rand.Reader)
	must(err)
	public, err := key.PublicPEM()
	must(err)
	modules, err := bundle.FS()
	must(err)
	wasm, err := fs.ReadFile(modules, "specter.wasm")
	must(err)
	info, err := module.Inspect(wasm)
	must(err)
	reference := "oci://" + registry.Host + "/judges/specter:v1"
	ref, err := moduleref.Parse(reference)
	must(err)
	client, err := oci.New(oci.Config{Clock: time.Now})
	must(err)
	a, err := oci.Build(ref, wasm, trust.Annotations(info.Manifest))
	must(err)
	signature, err := trust.Sign(key, trust.SubjectOf(a), info.Manifest, time.Now())
	must(err)
	_, err = client.Push(t.Context(), ref, wasm, a.Annotations, signature)
	must(err)
	dir := t.TempDir()
	policy := filepath.Join(dir, "trust.yaml")
	must(os.WriteFile(filepath.Join(dir, "acme.pub"), public, 0o600))
	must(os.WriteFile(policy, fmt.Appendf(nil, "keys: [{name: acme, key: acme.pub}]\nallow: [{from: [%q], names: [specter], roles: [judge], capabilities: [experiment], signed_by: [acme]}]\n", registry.Host), 0o600))
	body, err := json.Marshal(map[string]any{"references": map[string]string{"specter": reference}})
	must(err)
	registry.Requests()
	r := ask(t, "POST", startService(t)+"/api/v1/generations", string(body))
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "name it with --trust") || len(registry.Requests()) != 0 {
		t.Errorf("without a policy: %d %s", r.status, r.body)
	}
	server := startServiceWith(t, t.TempDir(), "127.0.0.1:0", "--trust", policy)
	r = ask(t, "POST", server+"/api/v1/generations", string(body))
	if r.status != http.StatusCreated || !strings.Contains(r.body, `"signer":"acme","policy":"trust.yaml:2 sha256:`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	u := newUser(t)
	u.run(t, "", "serve", "--data", t.TempDir(), "--trust", filepath.Join(dir, "missing.yaml")).wants(t, 2, "missing.yaml")
	u.run(t, "", "serve", "--update-interval", "1s").wants(t, 2, "--update-interval", "it was removed: let Renovate read")
}
