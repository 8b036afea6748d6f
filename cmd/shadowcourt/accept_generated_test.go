//go:build client

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_SV6_AGeneratedClientWorks: a client that openapi-python-client generates from the document that the service gives submits a
// report, follows it, reads its trials and corrects one. The document is valid by its own validator. See `make client-tests`.
func TestAccept_SV6_AGeneratedClientWorks(t *testing.T) {
	t.Parallel()
	tools := os.Getenv("SHADOWCOURT_PYTHON")
	if tools == "" {
		t.Fatal("SHADOWCOURT_PYTHON must name the folder with python, openapi-spec-validator and openapi-python-client; use `make client-tests`")
	}
	folder, data, u := t.TempDir(), t.TempDir(), newUser(t)
	run := func(name string, args ...string) string {
		t.Helper()
		s := execute(t, folder, []string{"PYTHONPATH=" + folder}, append([]string{filepath.Join(tools, name)}, args...)...)
		s.wants(t, 0)
		return s.all()
	}
	server := startServiceOn(t, data, "0.0.0.0:0") // where a token is needed
	server = "http://127.0.0.1:" + server[strings.LastIndex(server, ":")+1:]
	made := u.run(t, "", "serve", "token", "add", "generated", "--scopes", "operate", "--data", data)
	made.wants(t, 0)
	document := ask(t, http.MethodGet, server+"/openapi.json", "").body
	file := filepath.Join(folder, "openapi.json")
	must.Do(t, os.WriteFile(file, []byte(document), 0o600))
	run("openapi-spec-validator", "--schema", "3.1.0", file)
	run("openapi-python-client", "generate", "--path", file, "--meta", "none", "--output-path", filepath.Join(folder, "court"))
	root := repositoryRoot(t)
	said := run("python", filepath.Join(root, "cmd", "shadowcourt", "testdata", "client", "try.py"), server, strings.TrimSpace(made.out),
		filepath.Join(root, "examples", "dockets", "inputs", "pytest.xml"))
	if !strings.Contains(said, "submitted, followed, read and corrected 10 cases") {
		t.Error(said)
	}
}
