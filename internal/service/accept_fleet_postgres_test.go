//go:build postgres && unix

package service_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/testkit/pgtest"
)

// court is a fleet of real processes on one PostgreSQL server: one that answers people, and workers.
type court struct {
	t       *testing.T
	program string
	env     []string
	api     string
	workers []string // addresses
}

func startFleet(t *testing.T, workers int) *court {
	t.Helper()
	server, err := pgtest.Start(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	url, err := server.Database(t.Context())
	must(t, err)
	dir := t.TempDir()
	c := &court{t: t, program: filepath.Join(dir, "shadowcourt"), env: append(os.Environ(), "SHADOWCOURT_DATABASE="+url)}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.program, "../../cmd/shadowcourt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	key, text := filepath.Join(dir, "key"), []byte(nil)
	signing, err := record.NewKey(rand.Reader)
	if err == nil {
		text, err = signing.PEM()
	}
	if err == nil {
		err = os.WriteFile(key, text, 0o600)
	}
	must(t, err)
	c.command("serve", "migrate")
	c.api = c.serve("--role", "api")
	for range workers {
		c.workers = append(c.workers, c.serve("--role", "worker", "--workers", "1", "--key", key))
	}
	return c
}

// serve starts a process, and gives its address when it is ready. It stops with the test, before the server.
func (c *court) serve(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(c.t.Context()), c.program, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = c.env
	stderr, err := cmd.StderrPipe()
	must(c.t, err)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "serving at ")
	if err != nil || !ok {
		c.t.Fatalf("%q, %v", line, err)
	}
	said := make(chan string, 1)
	go func() {
		var rest bytes.Buffer
		_, _ = rest.ReadFrom(lines) // until the process ends
		said <- rest.String()
	}()
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		rest := <-said
		if err := cmd.Wait(); err != nil || strings.Contains(rest, "panic") {
			c.t.Errorf("%v: %v\n%s", args, err, rest)
		}
	})
	return address
}

// owned is a process that the tests run, at an address.
func owned(t *testing.T, address string) *process {
	t.Helper()
	own, err := client.FindOwn(address)
	must(t, err)
	return &process{url: address, token: own.Token}
}

// do asks the API for something, and decodes what it says.
func (c *court) do(method, path, body string, status int, to any) string {
	c.t.Helper()
	got, text := owned(c.t, c.api).ask(c.t, method, path, body)
	if got != status {
		c.t.Fatalf("%s %s: %d %s", method, path, got, text)
	}
	if to != nil {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return text
}

type entryAnswer struct {
	ID             string   `json:"id"`
	Status         string   `json:"status"`
	Label          string   `json:"label"`
	Labels         []string `json:"labels"`
	Generation     int64    `json:"generation"`
	CorrectedLabel string   `json:"corrected_label"`
}

// try submits a docket, follows it to its end, and gives its id, results and entries.
func (c *court) try(file, query string) (id int64, results string, entries []entryAnswer) {
	c.t.Helper()
	report, err := os.ReadFile(file)
	must(c.t, err)
	var d struct {
		ID    int64 `json:"id"`
		Cases int   `json:"cases"`
	}
	c.do(http.MethodPost, "/api/v1/dockets?"+query, string(report), http.StatusAccepted, &d)
	path := fmt.Sprintf("/api/v1/dockets/%d", d.ID)
	followed := c.do(http.MethodGet, path+"/results?wait=true", "", http.StatusOK, nil)
	if n := strings.Count(followed, "\n"); n != d.Cases {
		c.t.Errorf("docket %d: %d trials of %d cases were followed:\n%s", d.ID, n, d.Cases, followed)
	}
	var list struct {
		Entries []entryAnswer `json:"entries"`
	}
	c.do(http.MethodGet, path+"/entries", "", http.StatusOK, &list)
	return d.ID, followed, list.Entries
}

// generations are those that tried the entries.
func generationsOf(entries []entryAnswer) []int64 {
	var list []int64
	for _, e := range entries {
		list = append(list, e.Generation)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (c *court) only(entries []entryAnswer, want int64) {
	c.t.Helper()
	if got := generationsOf(entries); len(got) != 1 || got[0] != want {
		c.t.Errorf("tried by the generations %v instead of %d", got, want)
	}
}

// add adds a generation with other modules, in force (by its name) or as a canary.
func (c *court) add(field, name string, wasm []byte, share float64) int64 {
	c.t.Helper()
	body := map[string]any{field: map[string]any{name: base64.StdEncoding.EncodeToString(wasm)}, "note": field}
	if share > 0 {
		body["share"] = share
	}
	text, err := json.Marshal(body)
	must(c.t, err)
	var g struct {
		ID int64 `json:"id"`
	}
	c.do(http.MethodPost, "/api/v1/generations", string(text), http.StatusCreated, &g)
	return g.ID
}

// activate puts a generation in force.
func (c *court) activate(generation int64) {
	c.t.Helper()
	c.do(http.MethodPost, fmt.Sprintf("/api/v1/generations/%d/activate", generation), "", http.StatusOK, nil)
}

var specterDigest = regexp.MustCompile(`"specter":"([^"]+)"`)

// One process that answers people and three workers on PostgreSQL: a docket is submitted, followed and read, a verdict is corrected,
// modules are swapped and rolled back, a docket is pinned, and a canary takes part.
func TestAccept_SV1_SV4_FleetOnPostgres(t *testing.T) {
	c := startFleet(t, 3)
	file := filepath.Join("..", "..", "examples", "dockets", "go-failures.jsonl")
	_, results, entries := c.try(file, "name=first&repository=shop")
	want := c.command("try", file, "--format", "jsonl")
	if results != want {
		t.Errorf("the fleet gives\n%s\nand try\n%s", results, want)
	}
	first := entries[0].Generation
	c.only(entries, first)
	if n := c.tried(); n[0]+n[1]+n[2] != len(entries) {
		t.Errorf("the workers say that they tried %v of %d cases", n, len(entries))
	}
	c.correct(&entries[3])

	modules, err := bundle.FS()
	must(t, err)
	specter, err := fs.ReadFile(modules, "specter.wasm")
	must(t, err)
	noted := func(note string) []byte {
		return append(bytes.Clone(specter), append([]byte{0, byte(5 + len(note)), 4}, "note"+note...)...)
	}
	second := c.add("modules", "specter", noted("second"), 0)
	c.activate(second)
	_, swapped, entries := c.try(file, "name=second")
	c.only(entries, second)
	before, after := specterDigest.FindStringSubmatch(results), specterDigest.FindStringSubmatch(swapped)
	if before == nil || after == nil || before[1] == after[1] {
		t.Errorf("the judge before the swap is %v, and behind it %v", before, after)
	}
	_, pinned, entries := c.try(file, fmt.Sprintf("name=pinned&generation=%d", first))
	c.only(entries, first)
	if pinned != results {
		t.Error("the pinned docket has other results than the one before the swap")
	}
	c.activate(first)
	_, _, entries = c.try(file, "name=back")
	c.only(entries, first)
	canary := c.add("canary", "specter", noted("canary"), 1)
	c.activate(canary)
	canaryID, beside, entries := c.try(file, "name=canary")
	c.only(entries, canary)
	if beside != results {
		t.Error("a canary changes results")
	}
	whole := c.do(http.MethodGet, fmt.Sprintf("/api/v1/dockets/%d/trials?form=whole", canaryID), "", http.StatusOK, nil)
	if n := strings.Count(whole, `"Beside":{`); n != strings.Count(whole, `"activated":true`)/2 || n == 0 {
		t.Errorf("the canary took part in %d of %d trials", n, strings.Count(whole, `"activated":true`)/2)
	}
}

// tried is how many trials each worker has committed, by its metrics.
func (c *court) tried() []int {
	c.t.Helper()
	list := make([]int, len(c.workers))
	for i, worker := range c.workers {
		_, metrics := owned(c.t, worker).ask(c.t, http.MethodGet, "/metrics", "")
		for _, m := range trialsTotal.FindAllStringSubmatch(metrics, -1) {
			n, err := strconv.Atoi(m[1])
			must(c.t, err)
			list[i] += n
		}
	}
	return list
}

var trialsTotal = regexp.MustCompile(`(?m)^shadowcourt_trials_total\{[^}]*\} (\d+)$`)

func (c *court) command(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.program, args...)
	cmd.Env = c.env
	out, err := cmd.Output()
	must(c.t, err)
	return string(out)
}

// correct corrects a result, and looks for the correction where people and programs see it.
func (c *court) correct(e *entryAnswer) {
	c.t.Helper()
	other := e.Labels[slices.IndexFunc(e.Labels, func(l string) bool { return l != e.Label })]
	var made struct {
		ID       int64 `json:"id"`
		Revision int64 `json:"revision"`
	}
	c.do(http.MethodPost, "/api/v1/corrections", fmt.Sprintf(`{"label":%q,"trials":[%q]}`, other, e.ID), http.StatusCreated, &made)
	if made.ID == 0 || made.Revision != 1 {
		c.t.Errorf("%+v", made)
	}
	docket, place, _ := strings.Cut(e.ID, "-")
	var list struct {
		Entries []entryAnswer `json:"entries"`
	}
	c.do(http.MethodGet, "/api/v1/dockets/"+docket+"/entries?limit=1&from="+place, "", http.StatusOK, &list)
	if len(list.Entries) != 1 || list.Entries[0].ID != e.ID || list.Entries[0].CorrectedLabel != other || list.Entries[0].Label != e.Label {
		c.t.Errorf("%+v instead of %s corrected to %s", list.Entries, e.ID, other)
	}
}
