//go:build browser

package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

// ran runs a program in a folder and gives what it wrote; a test that fails is no error.
func ran(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil && !slices.Contains(args, "test") {
		t.Fatalf("%s: %v: %s", args, err, out)
	}
	return string(out)
}

// shop makes a repository with three commits of a Go module, the last of which breaks its product. No run of its tests is in a cache.
func shop(t *testing.T) (folder string, commits []string) {
	t.Helper()
	folder = t.TempDir()
	ran(t, folder, "git", "init", "-q")
	ran(t, folder, "git", "config", "user.name", "t")
	ran(t, folder, "git", "config", "user.email", "t@example.com")
	product := fmt.Sprintf("// Package shop was made at %d.\npackage shop\n\n// Total adds prices in cents.\nfunc Total(prices []int) int {\n\tsum := 0\n", time.Now().UnixNano())
	loop := "\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n"
	for _, commit := range []map[string]string{
		{"go.mod": "module example.com/shop\n\ngo 1.24\n", "shop.go": product + loop},
		{"shop_test.go": `package shop

import "testing"

func TestTotal(t *testing.T) {
	for i := range 200 {
		t.Logf("cart %d has %d items", i, i%7)
	}
	if got := Total([]int{1, 2, 3}); got != 6 {
		t.Errorf("Total is %d, want 6", got)
	}
}

func TestFirst(t *testing.T) {
	if got := Total([]int{5}); got != 5 {
		t.Errorf("Total of one price is %d, want 5", got)
	}
}
`},
		{"shop.go": product + strings.Replace(loop, "range prices {", "range prices[1:] {", 1)},
	} {
		for name, content := range commit {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ran(t, folder, "git", "add", ".")
		ran(t, folder, "git", "commit", "-qm", "change")
		commits = append(commits, strings.TrimSpace(ran(t, folder, "git", "rev-parse", "HEAD")))
	}
	return folder, commits
}

// failures are the failing tests of the shop as cases, with their output and the change.
func failures(t *testing.T, folder, green string) []byte {
	t.Helper()
	change := ran(t, folder, "git", "diff", green)
	var body bytes.Buffer
	for _, test := range []string{"TestTotal", "TestFirst"} {
		log := ran(t, folder, "go", "test", "-v", "-run", "^"+test+"$", ".")
		quoted := func(text, what string) (line int, content string) {
			for n, l := range strings.Split(text, "\n") {
				if strings.Contains(l, what) {
					return n + 1, l
				}
			}
			t.Fatalf("%q is not in %s", what, text)
			return 0, ""
		}
		failed, message := quoted(log, "Total ")
		if test == "TestTotal" {
			failed, message = quoted(log, "Total is")
		}
		changed, added := quoted(change, "+\tfor _, p := range prices[1:] {")
		item := func(document string, line int, content string, relevance float64) map[string]any {
			return map[string]any{"source_ref": fmt.Sprintf("%s:L%d", document, line), "content": content, "relevance_confidence": relevance, "supports": "pb001"}
		}
		if err := json.NewEncoder(&body).Encode(map[string]any{
			"id": "example.com/shop." + test, "subject": test + " fails in example.com/shop", "labels": []string{"pb001", "ab001", "si001", "nd001"},
			"light":     map[string]any{"classification": "nd001", "confidence": 0.4, "reasoning": "The log alone does not tell."},
			"evidence":  []any{item("log", failed, message, 0.8), item("change.diff", changed, added, 0.6)},
			"documents": []any{map[string]any{"name": "log", "text": log}, map[string]any{"name": "change.diff", "text": change}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	return body.Bytes()
}

// command builds the command and starts its service.
func command(t *testing.T, args ...string) *service {
	t.Helper()
	program := filepath.Join(t.TempDir(), "shadowcourt")
	ran(t, "../../..", "go", "build", "-o", program, "./cmd/shadowcourt")
	cmd := exec.CommandContext(t.Context(), program, append([]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	ended := make(chan struct{})
	t.Cleanup(func() { // it was told to stop by the end of the test's context
		<-ended
		_ = cmd.Wait()
	})
	var address string
	for address == "" && lines.Scan() {
		address, _ = strings.CutPrefix(lines.Text(), "serving at ")
		if !strings.HasPrefix(address, "http") {
			t.Log(address)
			address = ""
		}
	}
	go func() {
		defer close(ended)
		for lines.Scan() {
			_, _ = fmt.Fprintln(t.Output(), lines.Text())
		}
	}()
	if address == "" {
		t.Fatal("the service did not start")
	}
	own, err := client.FindOwn(address)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s := &service{t: t, url: address, client: client, secret: own.Token}
	s.signIn(own.Token)
	return s
}

// sent sends a request to the API and gives the body of the answer.
func (s *service) sent(method, path string, body []byte) []byte {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusBadRequest {
		s.t.Fatalf("%s %s: %s %v: %s", method, path, answer.Status, err, text)
	}
	return text
}

// TestAccept_UI2_TrialsWithRealExperiments: failing tests of a real module, which the service runs again while the page waits.
func TestAccept_UI2_TrialsWithRealExperiments(t *testing.T) {
	folder, commits := shop(t)
	docket := failures(t, folder, commits[1])
	s := command(t, "--workers", "1", "--experiments", "all", "--source", folder, "--since", commits[1], "--repository", "shop")
	b := newBrowser(t, s, 1280, 1100)
	s.sent(http.MethodPost, "/api/v1/dockets?name=nightly&format=jsonl&repository=shop&revision="+commits[2], docket)
	b.open("/trials/1-1")
	b.wait(`document.querySelector(".outcome .spin") && document.querySelector(".log .quoted.first")`)
	if b.count(".experiments") != 0 {
		t.Error("a trial that goes on has experiments")
	}
	b.waitFor(`!document.querySelector(".spin") && document.querySelector(".outcome .chip")`, tabLimit/2)
	results := bytes.Split(bytes.TrimSpace(s.sent(http.MethodGet, "/api/v1/dockets/1/results?wait=true", nil)), []byte("\n"))
	if len(results) != 2 {
		t.Fatalf("the docket has %d results", len(results))
	}
	broken := false
	for i, line := range results {
		var r trial.Result
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			b.open(fmt.Sprintf("/trials/1-%d", i+1))
		}
		shown := b.texts(".experiments li")
		if len(shown) != len(r.Experiments) || len(shown) == 0 {
			t.Fatalf("%s ran %d experiments, and the page shows %q", r.ID, len(r.Experiments), shown)
		}
		for i := range r.Experiments {
			e := &r.Experiments[i]
			broken = broken || e.Product == abi.Head && e.Outcome == abi.OutcomeSame && e.Same == e.Runs
			for count, words := range map[int]string{e.Same: "failed in the same way", e.Passed: "passed"} {
				if said := fmt.Sprintf("%d %s", count, words); count > 0 && !strings.Contains(shown[i], said) {
					t.Errorf("%+v is shown as %q, without %q", e, shown[i], said)
				}
			}
			if !strings.Contains(strings.ToLower(shown[i]), "asked for by "+e.Persona) {
				t.Errorf("%q does not name %s", shown[i], e.Persona)
			}
		}
		if added, removed := b.texts(".diff .added code"), b.texts(".diff .removed code"); !slices.Equal(added, []string{"+ for _, p := range prices[1:] {"}) || len(removed) != 1 {
			t.Errorf("the diff adds %q and removes %q", added, removed)
		}
		if b.count(".diff .added.quoted") != 1 || b.count(".log .quoted.first") != 1 {
			t.Error("the quoted lines of log and diff are not marked")
		}
		if got := b.texts(".log .quoted"); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "want") }) {
			t.Errorf("the marked lines are %q", got)
		}
		if label := b.texts(".outcome .chip"); len(label) == 0 {
			t.Error("the page shows no answer")
		}
	}
	if !broken {
		t.Error("no experiment ran the tree under test and saw the failure again")
	}
	b.open("/trials/1-1")
	b.picture("trial")
}
