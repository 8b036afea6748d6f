//go:build cosign

package trust_test

import (
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

var update = flag.Bool("update", false, "write what cosign has written to testdata")

// What the program cosign writes to a registry verifies, bundles as well as the older form, and not for another module.
func TestAccept_DI2_CosignItself(t *testing.T) {
	cosign, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("there is no cosign in PATH")
	}
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true)))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	client := must.Get(oci.New(oci.Config{Clock: time.Now}))(t)
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), cosign, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "COSIGN_PASSWORD=", "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cosign %v: %v\n%s", args, err, out)
		}
	}
	run("generate-key-pair")
	policy := load(t, map[string]string{"cosign.pub": readFile(t, filepath.Join(dir, "cosign.pub"))}, `
keys: [{name: acme, key: cosign.pub}]
allow: [{from: ["`+host+`"], names: [reader], roles: [bench], signed_by: [acme]}]
`)
	for name, form := range map[string][]string{
		"bundle": {"--use-signing-config=false", "--tlog-upload=false"},
		"simple": {"--use-signing-config=false", "--tlog-upload=false", "--new-bundle-format=false"},
	} {
		ref := must.Get(moduleref.Parse("oci://" + host + "/judges/" + name + ":v1"))(t)
		artifact := must.Get(client.Push(t.Context(), ref, []byte("\x00asm\x01\x00\x00\x00"), map[string]string{"org.opencontainers.image.title": "reader"}))(t)
		target := host + "/judges/" + name + "@" + artifact.Digest
		run(append(append([]string{"sign", "--key", "cosign.key", "--yes", "--allow-http-registry"}, form...), target)...)
		attached := must.Get(client.Attachments(t.Context(), artifact))(t)
		kept := cosigned{Subject: trust.Subject{Repository: host + "/judges/" + name, Manifest: artifact.Digest, Module: artifact.Layer.Digest}}
		for i := range attached {
			kept.Documents = append(kept.Documents, trust.Document{Type: attached[i].Type, Annotations: attached[i].Annotations, Data: attached[i].Data})
		}
		must.Get(policy.Decide(t.Context(), kept.Subject, kept.Documents, trust.Use{Name: "reader", Roles: []string{"bench"}}, time.Now()))(t, name)
		if *update {
			kept.Key = readFile(t, filepath.Join(dir, "cosign.pub"))
			kept.Subject.Repository = strings.Replace(kept.Subject.Repository, host, "registry.acme.example", 1)
			data := must.Get(json.MarshalIndent(kept, "", "  "))(t)
			must.Do(t, os.WriteFile(filepath.Join("testdata", "cosign", name+".json"), append(data, '\n'), 0o644))
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}
