package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var storeAll = store.DocketFilter{}

func (s *service) submit(t *testing.T, query string, header http.Header, body string) (int, store.Docket, wire.Problem) {
	t.Helper()
	status, text, h := s.request(t, auth.Submit, "POST", api.Prefix+"/dockets"+query, header, []byte(body))
	var d store.Docket
	var p wire.Problem
	to := any(&d)
	if status >= 400 {
		to = &p
	}
	must.Do(t, json.Unmarshal(text, to), status, text)
	if status < 300 && h.Get("Location") != api.Prefix+"/dockets/"+jsonOf(t, d.ID) {
		t.Errorf("Location %q of docket %d", h.Get("Location"), d.ID)
	}
	return status, d, p
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text := must.Get(json.Marshal(v))(t)
	return string(text)
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	must.Do(t, errors.Join(err, z.Close()))
	return b.Bytes()
}

func TestAccept_SV3_SubmittingIsIdempotentByKey(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	key := http.Header{"Idempotency-Key": {"build 17"}}
	body := caseWith("a") + caseWith("b")
	status, first, _ := s.submit(t, "?name=x", key, body)
	if status != 202 || first.State != "queued" || first.Cases != 2 || first.Submitter != "submitter" || first.Format != "jsonl" {
		t.Fatalf("%d %+v", status, first)
	}
	status, again, _ := s.submit(t, "?name=x", key, body)
	if status != 200 || again.ID != first.ID {
		t.Errorf("again: %d docket %d after %d", status, again.ID, first.ID)
	}
	status, again, _ = s.submit(t, "?name=x", http.Header{"Idempotency-Key": {"build 17"}, "Content-Encoding": {"gzip"}}, string(zipped(t, []byte(body))))
	if status != 200 || again.ID != first.ID {
		t.Errorf("compressed: %d docket %d after %d", status, again.ID, first.ID)
	}
	for name, other := range map[string]struct{ query, body string }{"body": {"?name=x", caseWith("a")}, "name": {"?name=y", body}, "revision": {"?name=x&revision=abc", body}} {
		if status, _, p := s.submit(t, other.query, key, other.body); status != 422 || p.Code != wire.KeyReused {
			t.Errorf("another %s: %d %+v", name, status, p)
		}
	}
	// Keys are those of a submitter.
	s.tokens[auth.Submit] = s.token(t, "somebody else", auth.Submit)
	if status, d, _ := s.submit(t, "?name=x", key, body); status != 202 || d.ID == first.ID {
		t.Errorf("another submitter: %d docket %d", status, d.ID)
	}
}

func TestAccept_SV3_RequestsWithOneKeyAtOnceMakeOneDocket(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.Uploads = 8 })
	ids := make([]int64, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			_, d, _ := s.submit(t, "", http.Header{"Idempotency-Key": {"one"}}, caseWith("a"))
			ids[i] = d.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Fatalf("dockets %v", ids)
		}
	}
	check.Equal(t, len(must.Get(s.store.Dockets(t.Context(), storeAll))(t)), 1, "dockets")
}

// A body of lines that are no cases is not read to its end.
func TestAccept_SV5_ADocketWithoutCasesIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	status, _, p := s.submit(t, "?format=jsonl", nil, strings.Repeat("{}\n", 2000)+caseWith("a"))
	if status != 422 || p.Code != wire.BadDocket || len(p.Errors) != 100 {
		t.Errorf("%d %+v", status, p)
	}
	check.Equal(t, len(must.Get(s.store.Dockets(t.Context(), storeAll))(t)), 0, "dockets")
}

func TestAccept_SV1_EveryFormatIsFoundOut(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	junit := `<testsuites><testsuite name="shop"><testcase classname="shop" name="gone"><failure message="x">boom</failure></testcase><testcase name="fine"/></testsuite></testsuites>`
	gotest := `{"Action":"run","Package":"p","Test":"TestX"}
{"Action":"output","Package":"p","Test":"TestX","Output":"x_test.go:3: boom\n"}
{"Action":"fail","Package":"p","Test":"TestX"}
`
	for name, tc := range map[string]struct {
		body, format string
		cases        int
	}{
		"JSON lines": {caseWith("a"), "jsonl", 1}, "JUnit": {junit, "junit", 1}, "go test": {gotest, "gotest", 1}, "nothing failed": {strings.Split(junit, "<testcase classname")[0] + `<testcase name="fine"/></testsuite></testsuites>`, "junit", 0},
	} {
		status, d, p := s.submit(t, "", nil, tc.body)
		if status != 202 || d.Format != tc.format || d.Cases != tc.cases {
			t.Errorf("%s: %d %+v %+v", name, status, d, p)
		}
		if tc.cases == 0 && d.State != "done" {
			t.Errorf("%s: %s", name, d.State)
		}
	}
}

func TestAccept_SV1_FaultsOfADocketAreNamedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	wrong := strings.Replace(caseWith("b"), `"confidence":0.9`, `"confidence":1.5`, 1)
	status, d, _ := s.submit(t, "?name=build.jsonl", nil, caseWith("a")+wrong)
	if status != 202 || d.Cases != 2 || d.Faults != 1 {
		t.Fatalf("%d %+v", status, d)
	}
	_, text, _ := s.request(t, auth.Submit, "GET", api.Prefix+"/dockets/"+jsonOf(t, d.ID)+"/entries", nil, nil)
	var list struct {
		Entries []store.Entry `json:"entries"`
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list.Entries) != 2 {
		t.Fatalf("%s %v", text, err)
	}
	if got := list.Entries[1].Fault; !strings.HasPrefix(got, "build.jsonl:2") || !strings.Contains(got, "light.confidence") {
		t.Errorf("fault %q", got)
	}
	// A docket with nothing to try is rejected, with the paths and codes that modules and commands use.
	status, _, p := s.submit(t, "", nil, wrong)
	if status != 422 || p.Code != wire.BadDocket || len(p.Errors) != 1 || p.Errors[0].Path != "line 1: light.confidence" || p.Errors[0].Code != "out_of_range" {
		t.Errorf("%d %+v", status, p)
	}
	forged := strings.Replace(caseWith("c"), `"evidence":[`, `"evidence":[{"source_ref":"casebook:7","content":"as before","relevance_confidence":0.95},`, 1)
	forged = strings.Replace(forged, `0.95},]`, `0.95}]`, 1)
	status, _, p = s.submit(t, "", nil, forged)
	if status != 422 || len(p.Errors) != 1 || p.Errors[0].Path != "line 1: evidence[0].source_ref" || p.Errors[0].Code != "identity" {
		t.Errorf("an item of the casebook: %d %+v", status, p)
	}
	for _, other := range []string{"%PDF-1.4", "<html></html>", `{"numFailedTests":1,"testResults":[]}`} {
		if status, _, p := s.submit(t, "?name=x", nil, other); status != 422 || p.Code != wire.BadDocket || !strings.Contains(p.Detail, "x is") {
			t.Errorf("%q: %d %+v", other, status, p)
		}
	}
}

// brokenBody ends with an error in its middle.
type brokenBody struct {
	io.Reader
}

var errBroken = errors.New("the connection broke")

func (b brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		return n, errBroken
	}
	return n, err
}

func TestAccept_SV3_ABrokenUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	var body strings.Builder
	for i := range 1200 { // more than one transaction
		body.WriteString(caseWith("case " + jsonOf(t, i)))
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+api.Prefix+"/dockets", brokenBody{strings.NewReader(body.String())}))(t)
	r.Header.Set("Authorization", "Bearer "+s.tokens[auth.Submit])
	r.Header.Set("Idempotency-Key", "x")
	if response, err := http.DefaultClient.Do(r); err == nil {
		_ = response.Body.Close()
		t.Fatalf("answered with %s", response.Status)
	}
	check.Equal(t, len(must.Get(s.store.Dockets(t.Context(), storeAll))(t)), 0, "dockets")
	if status, d, p := s.submit(t, "", http.Header{"Idempotency-Key": {"x"}}, body.String()); status != 202 || d.Cases != 1200 {
		t.Errorf("sent again: %d %+v %+v", status, d, p)
	}
}

func TestADocketIsCancelledByItsSubmitterAndOperators(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	_, d, _ := s.submit(t, "", nil, caseWith("a"))
	path := api.Prefix + "/dockets/" + jsonOf(t, d.ID)
	own := s.tokens[auth.Submit]
	s.tokens[auth.Submit] = s.token(t, "somebody else", auth.Submit)
	if status, text, _ := s.request(t, auth.Submit, "DELETE", path, nil, nil); status != 403 {
		t.Errorf("by somebody else: %d %s", status, text)
	}
	s.tokens[auth.Submit] = own
	if status, text, _ := s.request(t, auth.Submit, "DELETE", path, nil, nil); status != 204 || len(text) > 0 {
		t.Errorf("by its submitter: %d %s", status, text)
	}
	if status, text, _ := s.request(t, auth.Operate, "DELETE", path, nil, nil); status != 409 {
		t.Errorf("again: %d %s", status, text)
	}
}
