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
	registry := testkit.Start(t, true)
	key := must.Get(record.NewKey(rand.Reader))(t)
	public := must.Get(key.PublicPEM())(t)
	modules := must.Get(bundle.FS())(t)
	wasm := must.Get(fs.ReadFile(modules, "specter.wasm"))(t)
	info := must.Get(module.Inspect(wasm))(t)
	reference := "oci://" + registry.Host + "/judges/specter:v1"
	ref := must.Get(moduleref.Parse(reference))(t)
	client := must.Get(oci.New(oci.Config{Clock: time.Now}))(t)
	a := must.Get(oci.Build(ref, wasm, trust.Annotations(info.Manifest)))(t)
	signature := must.Get(trust.Sign(key, trust.SubjectOf(a), info.Manifest, time.Now()))(t)
	_, err := client.Push(t.Context(), ref, wasm, a.Annotations, signature)
	must.Do(t, err)
	dir := t.TempDir()
	policy := filepath.Join(dir, "trust.yaml")
	must.Do(t, os.WriteFile(filepath.Join(dir, "acme.pub"), public, 0o600))
	must.Do(t, os.WriteFile(policy, fmt.Appendf(nil, "keys: [{name: acme, key: acme.pub}]\nallow: [{from: [%q], names: [specter], roles: [judge], capabilities: [experiment], signed_by: [acme]}]\n", registry.Host), 0o600))
	body := must.Get(json.Marshal(map[string]any{"references": map[string]string{"specter": reference}}))(t)
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
