package main

import (
	"bufio"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_SV1_ServeGivesTheResultsOfTry submits dockets of each format to the real service over HTTP. The results are the bytes that
// try writes for the same files, and its pages name labels for people.
func TestAccept_SV1_ServeGivesTheResultsOfTry(t *testing.T) {
	t.Parallel()
	server := startService(t)
	for _, file := range []string{"go-failures.jsonl", "godotenv.gotest.json", "inputs/surefire.xml"} {
		name := example(t, file)
		r := ask(t, "POST", server+"/api/v1/dockets?name="+filepath.Base(file), readFile(t, name))
		if r.status != http.StatusAccepted || r.location == "" {
			t.Fatalf("%s: %d %s", file, r.status, r.body)
		}
		got := ask(t, "GET", server+r.location+"/results?wait=true", "").body
		want := succeeds(t, "", "try", name, "--format", "jsonl").out
		if got != want || got == "" {
			t.Errorf("%s: the service gives\n%s\nand try\n%s", file, got, want)
		}
		// The cases of the first docket come without names of labels: the court has them.
		check.Contains(t, ask(t, "GET", server+"/", "").body, "product bug", file, "the inbox shows codes of labels")
	}
}

// startService runs the service on a file of its own, and gives its address. It stops with the test.
func startService(t *testing.T) string {
	t.Helper()
	return startServiceOn(t, t.TempDir(), "127.0.0.1:0")
}

// startServiceOn runs the service on the file in a folder.
func startServiceOn(t *testing.T, data, listen string) string {
	t.Helper()
	return startServiceWith(t, data, listen)
}

// startServiceWith is startServiceOn with more flags.
func startServiceWith(t *testing.T, data, listen string, more ...string) string {
	t.Helper()
	cmd := command(t, "", nil, append([]string{"shadowcourt", "serve", "--data", data, "--listen", listen}, more...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // it is told to stop by the end of the test's context
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "serving at ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return address
}

// reply is what the service answers.
type reply struct {
	status         int
	location, body string
}

// ask sends a request with the token of the service, if this is one that the tests run.
func ask(t *testing.T, method, url, body string) reply {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	own := must.Get(wire.FindOwn("http://" + r.URL.Host))(t)
	if own.Token != "" {
		r.Header.Set("Authorization", "Bearer "+own.Token)
	}
	response, err := http.DefaultClient.Do(r)
	must.Do(t, err)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
	return reply{response.StatusCode, response.Header.Get("Location"), string(text)}
}

// TestAccept_SV4_ACanaryOfNobodyIsRejected: with who could have one.
func TestAccept_SV4_ACanaryOfNobodyIsRejected(t *testing.T) {
	t.Parallel()
	r := ask(t, "POST", startService(t)+"/api/v1/generations", `{"canary":{"light":"AGFzbQ=="},"share":0.5}`)
	if r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "specter, clerk; a canary is named by the persona that it plays") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestAccept_SV5_TokensAreMadeWhereADatabaseIs: a typing error makes no database, and a token that is not there is named.
func TestAccept_SV5_TokensAreMadeWhereADatabaseIs(t *testing.T) {
	t.Parallel()
	u, data := newUser(t), t.TempDir()
	typo := filepath.Join(data, "typo")
	for _, args := range [][]string{{"list"}, {"add", "ci"}, {"revoke", "1"}} {
		u.run(t, "", append(append([]string{"serve", "token"}, args...), "--data", typo)...).wants(t, 2, "there is no database in "+typo, "`shadowcourt serve`")
	}
	check.Is(t, check.Err(os.Stat(typo)), fs.ErrNotExist, typo)
	u.run(t, "", "serve", "migrate", "--data", data).wants(t, 0, " first release")
	u.run(t, "", "serve", "token", "list", "--data", data).wants(t, 0, "there are no tokens")
	u.run(t, "", "serve", "token", "add", "ci", "--data", data).wants(t, 0, "token 1 is shown once", "with the same --data or --database")
	u.run(t, "", "serve", "token", "list", "--data", data).wants(t, 0, "ID\tSTATE\tNAME", "1\tvalid\tci\tci\tsubmit")
	u.run(t, "", "serve", "token", "revoke", "2", "--data", data).wants(t, 2, "there is no token 2", "serve token list")
}

// TestAccept_SV5_TheSecretOfTheIssuerIsNeededAtTheStart: not only when the first person signs in.
func TestAccept_SV5_TheSecretOfTheIssuerIsNeededAtTheStart(t *testing.T) {
	t.Parallel()
	u, data := newUser(t), t.TempDir()
	u.env = []string{"SHADOWCOURT_OIDC_CLIENT_SECRET="}
	empty := filepath.Join(data, "empty")
	must.Do(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	serve := func(more ...string) said {
		return u.run(t, "", append([]string{
			"serve", "--data", filepath.Join(data, "court"), "--listen", "127.0.0.1:0", "--public-url", "https://court.example", "--oidc-issuer", "https://issuer.example",
			"--oidc-client-id", "court", "--oidc-allow", "*",
		}, more...)...)
	}
	serve().wants(t, 2, "SHADOWCOURT_OIDC_CLIENT_SECRET", "--oidc-client-secret-file", "--oidc-public-client")
	serve("--oidc-client-secret-file", empty).wants(t, 2, "is empty")
	serve("--oidc-client-secret-file", filepath.Join(data, "gone")).wants(t, 2, "--oidc-client-secret-file")
	u.env = []string{"SHADOWCOURT_OIDC_CLIENT_SECRET=x"}
	serve("--oidc-public-client").wants(t, 2, "has no secret")
}

// A revision that the source lacks is an error at the start: every docket would go without its experiments.
func TestServeNeedsTheRevisionOfSince(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	git(t, source, "git init -q")
	newUser(t).run(t, "", "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--experiments", "all", "--repository", "shop", "--source", source, "--since", "gone").
		wants(t, 2, "--since: no such revision \"gone\"")
}
