package main

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// pushes is a module with three commits. The second one breaks a test, and another test fails since the first. The third is about something else.
func pushes(t *testing.T) *project {
	t.Helper()
	p := &project{green: map[string]string{
		"go.mod": goModule, "cart/cart.go": "package cart\n\nfunc Total(prices ...int) (sum int) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n",
		"cart/cart_test.go": `package cart

import "testing"

func TestTotal(t *testing.T) { if got := Total(1, 2); got != 3 { t.Errorf("Total is %d, want 3", got) } }
func TestOld(t *testing.T) { t.Error("it was always so") }
`,
	}}
	p.write(t)
	p.add(t, map[string]string{"cart/cart.go": strings.Replace(p.green["cart/cart.go"], "range prices", "range prices[1:]", 1)})
	p.commit(t, "Skip the first price")
	p.add(t, map[string]string{"README.md": "A shop.\n"})
	p.commit(t, "Describe the shop")
	return p
}

// entriesOf reads the entries of a docket.
func entriesOf(t *testing.T, server, docket string) []store.Entry {
	t.Helper()
	var answer struct {
		Entries []store.Entry `json:"entries"`
	}
	r := ask(t, "GET", server+"/api/v1/dockets/"+docket+"/entries", "")
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return answer.Entries
}

// wantsPage checks that a page has texts in their order.
func wantsPage(t *testing.T, address string, texts ...string) {
	t.Helper()
	page := ask(t, "GET", address, "").body
	rest := page
	for _, text := range texts {
		_, after, there := strings.Cut(rest, text)
		if !there {
			t.Errorf("%s: %q is missing, or not in its place:\n%s", address, text, page)
			return
		}
		rest = after
	}
}

// TestAccept_AL9_TheServiceKeepsWhatAPushKnows: a run of the alibi with a proof is pushed to a service. The inbox, the case and the quality page
// show the answers, and the record of the service verifies and replays.
func TestAccept_AL9_TheServiceKeepsWhatAPushKnows(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "host/alibi", "host/experiment")
	p, u := pushes(t), newUser(t)
	key, proof := filepath.Join(t.TempDir(), "signing.key"), filepath.Join(t.TempDir(), "alibi.proof")
	u.run(t, "", "record", "key", "new", key).wants(t, 0)
	server := startServiceWith(t, t.TempDir(), "127.0.0.1:0", "--proof-key", key+".pub")
	report := p.report(t)
	args := []string{"--base", "green", "--culprit", "--server", server + ",repository=shop", report}
	got := p.alibi(t, nil, append(args, "--proof", proof, "--key", key)...)
	got.expect(t, "TestTotal", alibi.IsYours, alibi.Caused, alibi.Product)
	got.expect(t, "TestOld", alibi.NotYours, alibi.Preexisting, "")
	if !strings.Contains(got.stderr, "docket 1: "+server+"/dockets/1\n") || got.code != 3 {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}

	entries := entriesOf(t, server, "1")
	if len(entries) != 2 {
		t.Fatalf("%+v", entries)
	}
	at := map[string]store.Entry{}
	for _, e := range entries {
		_, name, _ := strings.Cut(e.CaseID, ".Test")
		at[name] = e
		want := got.answers["Test"+name]
		if e.Alibi == nil || e.Alibi.Verdict != want.Verdict || e.Alibi.Why != want.Why || e.Label != want.Label || e.Alibi.Key == "" || e.Alibi.Change.Head == "" {
			t.Errorf("%+v is kept of %s", e.Alibi, saidOf(want))
		}
	}
	suspect := got.answers["TestTotal"].Culprit
	if suspect == nil || at["Total"].Alibi.Culprit.Commit != suspect.Commit || suspect.Title != "Skip the first price" {
		t.Errorf("suspects %+v and %+v", suspect, at["Total"].Alibi.Culprit)
	}
	wantsPage(t, server+"/", "Total is 2, want 3", ">yours<", "since "+suspect.Commit[:12], "Skip the first price", "product", "failed here")
	if page := ask(t, "GET", server+"/", "").body; strings.Contains(page, "it was always so") {
		t.Error("what is not yours, and sure, is in the inbox")
	}
	wantsPage(t, server+"/dockets/1", "not yours", "preexisting: fails on the base in the same way")
	wantsPage(t, server+"/trials/"+at["Total"].ID.String(), "This change makes the test fail", "Began with "+suspect.Commit[:12], "<table class=\"runs\">",
		"Base", at["Total"].Alibi.Change.Base[:12], "Head", at["Total"].Alibi.Change.Head[:12], "certified: its runs loaded its own code", "the record is signed by the key ed25519:", "Experiments", "Asked by", "its own", "Light")

	// What somebody says of an answer is counted on the page of quality.
	if r := ask(t, "POST", server+"/api/v1/corrections", `{"label":"caused","trials":["`+at["Total"].ID.String()+`"]}`); r.status >= 300 {
		t.Errorf("%d %s", r.status, r.body)
	}
	wantsPage(t, server+"/quality", "What experiments decided", "1 failure is yours, 1 not yours, 0 open. People agree with 1 of the 1 answer", "caused, yours", "preexisting, not yours", "100.0%", "Other verdicts")

	archive := filepath.Join(t.TempDir(), "records.tar")
	must.Do(t, os.WriteFile(archive, []byte(ask(t, "GET", server+"/api/v1/dockets/1/records", "").body), 0o600))
	folder := t.TempDir()
	record := strings.TrimSpace(shell(t, folder, "tar -xf "+archive+" && find . -name '*.record'"))
	u.run(t, "", "record", "verify", filepath.Join(folder, record), "--key", key+".pub").wants(t, 0, "proof")
	if kept, was := readFile(t, filepath.Join(folder, record)), readFile(t, proof); kept != was {
		t.Error("the service keeps another record than the run wrote")
	}

	// Without a proof the same answers are kept, and not signed; a key that the service does not know is rejected.
	if got = p.alibi(t, nil, args...); got.code != 3 {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
	wantsPage(t, server+"/trials/2-1", "not signed")
	other := filepath.Join(t.TempDir(), "other.key")
	u.run(t, "", "record", "key", "new", other).wants(t, 0)
	if got = p.alibi(t, nil, append(args, "--proof", proof+"2", "--key", other)...); got.code != 2 || !strings.Contains(got.stderr, "is no key that this service accepts") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}

	// try --experiments tries here, too, and sends what it found; without them the service tries.
	cmd := p.tool(t, []string{"SHADOWCOURT_PROGRESS=off"}, "shadowcourt", "try", report, "--source", ".", "--since", "green", "--experiments", "all,budget=30s", "--server", server+",repository=shop", "--format", "jsonl")
	if results := ask(t, "GET", server+"/api/v1/dockets/3/results", "").body; !strings.Contains(results, `"experiments":[`) || !strings.Contains(cmd, strings.SplitN(results, "\n", 2)[0]) {
		t.Errorf("kept\n%s\nand try wrote\n%s", results, cmd)
	}
}

// TestAccept_AL9_APushIsNotTriedWithoutAService: whoever can't push hears so before a test is run.
func TestAccept_AL9_APushIsNotTriedWithoutAService(t *testing.T) {
	t.Parallel()
	p := pushes(t)
	got := p.alibi(t, []string{"SHADOWCOURT_TOKEN=sct_wrong"}, "--base", "green", "--server", startService(t), "--", "go", "test", "./...")
	if got.code != 2 || len(got.answers) > 0 || strings.Contains(got.stderr, "FAIL") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}

// captured forwards requests to a service, and keeps the last docket that was sent.
func captured(t *testing.T, server string) (address string, body *[]byte) {
	t.Helper()
	to := must.Get(url.Parse(server))(t)
	body = new([]byte)
	forward := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent, err := io.ReadAll(r.Body)
			if err == nil {
				var z io.Reader
				if z, err = gzip.NewReader(bytes.NewReader(sent)); err == nil {
					*body, err = io.ReadAll(z)
				}
			}
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(sent))
		}
		r.Host = to.Host
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, body
}

// post sends results with a token.
func post(t *testing.T, server, token, query, body string) reply {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/api/v1/dockets?format=results&"+query, strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	must.Do(t, err)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
	return reply{response.StatusCode, response.Header.Get("Location"), string(text)}
}

// edited is a body with another value at a path of one of its lines.
func edited(t *testing.T, body string, line int, value any, path ...string) string {
	t.Helper()
	lines := strings.Split(body, "\n")
	var whole map[string]any
	must.Do(t, json.Unmarshal([]byte(lines[line-1]), &whole))
	at := whole
	for _, name := range path[:len(path)-1] {
		at, _ = at[name].(map[string]any)
	}
	at[path[len(path)-1]] = value
	text := must.Get(json.Marshal(whole))(t)
	lines[line-1] = string(text)
	return strings.Join(lines, "\n")
}

// TestAccept_AL9_HostilePushesAreRejected changes a real push in many ways. Each is rejected with the places of its faults, and leaves nothing.
func TestAccept_AL9_HostilePushesAreRejected(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/answers")
	p, u, data := pushes(t), newUser(t), t.TempDir()
	key := filepath.Join(t.TempDir(), "signing.key")
	u.run(t, "", "record", "key", "new", key).wants(t, 0)
	server := startServiceWith(t, data, "127.0.0.1:0")
	token := func(name, repository string) string {
		made := u.run(t, "", "serve", "token", "add", name, "--scopes", "submit", "--repository", repository, "--data", data)
		made.wants(t, 0)
		return strings.TrimSpace(made.out)
	}
	own, foreign := token("shop-ci", "shop"), token("bank-ci", "bank")
	address, sent := captured(t, server)
	got := p.alibi(t, []string{"SHADOWCOURT_TOKEN=" + own}, "--base", "green", "--server", address+",repository=shop", "--proof", filepath.Join(t.TempDir(), "proof"), "--key", key, p.report(t))
	body := string(*sent)
	if got.code != 3 || strings.Count(body, "\n") < 6 {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	lines := strings.Split(body, "\n")
	line := func(n int) map[string]any {
		var whole map[string]any
		must.Do(t, json.Unmarshal([]byte(lines[n-1]), &whole))
		return whole
	}
	last := len(lines) - 2 // before the end of the last line
	unsigned := strings.Join(lines[:3], "\n") + "\n"
	unsigned = edited(t, unsigned, 1, "", "key")
	head := line(1)
	graph, _ := head["pipeline"].(string)
	swapped := edited(t, unsigned, 2, line(3)["encoded"], "encoded")
	swapped = edited(t, swapped, 3, line(2)["encoded"], "encoded")
	forged := edited(t, edited(t, unsigned, 2, "product bug", "answer", "attribution"), 3, "yours", "answer", "verdict")
	for _, c := range []struct {
		name, query, body string
		status            int
		wants             []string
	}{
		{"another case", "", swapped, 422, []string{`"line 2: result.id"`, `"line 3: result.id"`}},
		{"forged answers, and another revision", "revision=main", forged, 422, []string{`"line 2: answer.attribution"`, `"line 3: answer.verdict"`, `"query.revision"`}},
		{"a label of no case", "", edited(t, unsigned, 2, "pb001", "result", "final", "classification"), 422, []string{`"line 2: result.final"`}},
		{"a confidence", "", edited(t, unsigned, 2, 1.5, "result", "light", "confidence"), 422, []string{`"line 2: result.light"`}},
		{"labels of another pipeline", "", edited(t, unsigned, 1, strings.ReplaceAll(graph, "conflict:", "pb001:"), "pipeline"), 422, []string{`"line 1: pipeline"`, `"line 2: encoded.labels[4]"`, `"line 3: encoded.labels[4]"`}},
		{"no pipeline", "", edited(t, unsigned, 1, "{", "pipeline"), 422, []string{`"line 1: pipeline"`}},
		{"no commit", "", edited(t, unsigned, 1, "main", "change", "head"), 422, []string{`"line 1: change.head"`}},
		{"no change", "", edited(t, unsigned, 1, nil, "change"), 422, []string{`"line 1: change"`, `"line 2: answer"`}},
		{"impossible runs", "", edited(t, unsigned, 2, []any{map[string]any{"product": "head", "tests": "moon", "passed": -1}}, "result", "experiments"), 422, []string{`"line 2: result.experiments"`}},
		{"an unknown field", "", edited(t, unsigned, 2, true, "trusted"), 422, []string{`"line 2"`, "trusted"}},
		{"no trial", "", edited(t, unsigned, 2, nil, "result"), 422, []string{`"line 2"`}},
		{"twice", "", edited(t, unsigned, 1, 3, "trials") + lines[1] + "\n", 422, []string{`"line 4: result.id"`, "has a result already"}},
		{"cut off", "", unsigned[:len(unsigned)/2], 422, []string{"can't be read"}},
		{"no results", "", "{}\n", 422, []string{`"line 1"`}},
		{"a fifth wheel", "", unsigned + "more\n", 422, []string{`"line 4"`}},
		{"too many", "", edited(t, unsigned, 1, 1_000_000, "trials"), 413, []string{"too_large"}},
		{"too large", "", unsigned[:strings.IndexByte(unsigned, '\n')+1] + strings.Repeat(" ", 65<<20), 413, []string{"too_large"}},
		{"too many values", "", unsigned[:strings.IndexByte(unsigned, '\n')+1] + `{"encoded":[` + strings.Repeat("0,", 1<<20) + "0]}\n", 413, []string{"too_large"}},
		{"a private key", "", edited(t, body, 1, readFile(t, key), "key"), 422, []string{`"line 1: key"`, "private"}},
		{"another key", "", edited(t, body, 1, anotherKey(t), "key"), 422, []string{`"line 4"`}},
		{"a torn record", "", body[:len(body)-100], 422, []string{"line "}},
		{"no record", "", strings.Join(lines[:3], "\n") + "\n", 422, []string{`"line 4"`}},
		{"a record without its end", "", strings.Join(lines[:last], "\n") + "\n", 422, []string{"line "}},
		{"another digest", "", strings.Join(append(append([]string{}, lines[:4]...), lines[5:]...), "\n"), 422, []string{`"line 5"`}},
		{"another head than proved", "", edited(t, body, 1, strings.Repeat("a", 40), "change", "head"), 422, []string{`"line 1: change"`}},
		{"another graph than recorded", "", edited(t, body, 1, graph+"# more\n", "pipeline"), 422, []string{`"line 1: pipeline"`}},
		{"another result than recorded", "", edited(t, body, 2, 0.51, "result", "light", "confidence"), 422, []string{`"line 2: result"`}},
		{"another label than recorded", "", edited(t, body, 2, 0.5, "result", "final", "confidence"), 422, []string{`"line 2: result"`}},
		{"one answer less", "", strings.Join(append([]string{lines[0], lines[1]}, lines[3:]...), "\n"), 422, []string{"line "}},
		{"to be tried, too", "remember=true", unsigned, 403, nil},
		{"with a generation", "generation=1", unsigned, 422, []string{"query.format"}},
	} {
		r := post(t, server, own, "repository=shop&"+c.query, c.body)
		if r.status != c.status {
			t.Errorf("%s: %d %.500s", c.name, r.status, r.body)
		}
		for _, want := range c.wants {
			if !strings.Contains(r.body, want) {
				t.Errorf("%s: %q is not in %.1000s", c.name, want, r.body)
			}
		}
	}
	if r := post(t, server, foreign, "repository=shop", unsigned); r.status != http.StatusForbidden {
		t.Errorf("the token of another repository: %d %s", r.status, r.body)
	}
	if r := post(t, server, foreign, "repository=bank", unsigned); r.status != http.StatusAccepted {
		t.Errorf("unchanged: %d %s", r.status, r.body)
	}
	if r := post(t, server, own, "repository=shop", body); r.status != http.StatusAccepted {
		t.Errorf("unchanged: %d %s", r.status, r.body)
	}
	if list := ask(t, "GET", server+"/api/v1/dockets", "").body; strings.Count(list, `"format":"alibi"`) != 3 {
		t.Errorf("other dockets are left:\n%s", list)
	}
}

// anotherKey is a public key that signed nothing.
func anotherKey(t *testing.T) string {
	t.Helper()
	key := must.Get(record.NewKey(rand.Reader))(t)
	text := must.Get(key.PublicPEM())(t)
	return string(text)
}
