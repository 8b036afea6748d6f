package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// openProfiled opens the court with the profile of the generation, as the command does.
func openProfiled(ctx context.Context, o *work.Opening, observe func(host.CallRecord)) (*host.Host, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	config := host.Config{Modules: o.Modules, Observe: observe, CacheDir: filepath.Join(cache, "shadowcourt", "modules")}
	if text := o.Files["profile:jsonl"]; text != nil {
		if config.Profile, err = profile.Parse("profile", text); err != nil {
			return nil, err
		}
	}
	return host.Open(ctx, config)
}

// Corrections of real failures make a proposal, which stands beside the profile in force. A click makes a generation of it, another one
// swaps, and the next docket is tried with the profile.
func TestAccept_UI3_RefitInTheWholeService(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.Open, c.Rate = openProfiled, 1e6 })
	text, err := os.ReadFile("../../examples/dockets/go-test-1.jsonl")
	must(t, err)
	const n = 100
	var docket bytes.Buffer
	truths, cases := map[string][]string{}, 0
	for line := range bytes.Lines(text) {
		var c map[string]any
		must(t, json.Unmarshal(line, &c))
		truth, _ := c["truth"].(map[string]any)
		label, _ := truth["classification"].(string)
		if delete(c, "truth"); label == "" || cases == n {
			continue
		}
		cases++
		truths[label] = append(truths[label], fmt.Sprintf("1-%d", cases))
		must(t, json.NewEncoder(&docket).Encode(c))
	}
	p.ask(t, "POST", "/api/v1/dockets?name=first", docket.String())
	p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	if _, page := p.ask(t, "GET", "/quality/refit", ""); !strings.Contains(page, "a refit needs 40") {
		t.Errorf("without corrections the page says %s", page)
	}
	for label, trials := range truths {
		body, err := json.Marshal(map[string]any{"label": label, "trials": trials})
		must(t, err)
		if status, answer := p.ask(t, "POST", "/api/v1/corrections", string(body)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if status, page := p.ask(t, "POST", "/quality/refit", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	page := ""
	for !strings.Contains(page, "/quality/refit/take") {
		if _, page = p.ask(t, "GET", "/quality/refit", ""); strings.Contains(page, "The refit failed") || t.Context().Err() != nil {
			t.Fatal(page)
		}
	}
	if !strings.Contains(page, "held-out results") || !strings.Contains(page, "right with the new profile") {
		t.Errorf("the comparison is %s", page)
	}
	if status, page := p.ask(t, "POST", "/quality/refit/take", ""); status != http.StatusOK || !strings.Contains(page, "Swap to generation 2") {
		t.Fatalf("%d %s", status, page)
	}
	if status, page := p.ask(t, "POST", "/modules/2/activate", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	var generations struct {
		Current int64 `json:"current"`
	}
	for generations.Current != 2 {
		if _, body := p.ask(t, "GET", "/api/v1/generations", ""); json.Unmarshal([]byte(body), &generations) != nil || t.Context().Err() != nil {
			t.Fatal(body)
		}
	}
	p.ask(t, "POST", "/api/v1/dockets?name=second", docket.String())
	p.ask(t, "GET", "/api/v1/dockets/2/results?wait=true", "")
	var trial struct {
		Generation int64 `json:"generation"`
	}
	if _, body := p.ask(t, "GET", "/api/v1/trials/2-1", ""); json.Unmarshal([]byte(body), &trial) != nil || trial.Generation != 2 {
		t.Errorf("the next docket is tried with generation %d: %.300s", trial.Generation, body)
	}
}

// A process that is told to stop during a refit stops. That it waits for the refit shows TestBackgroundEndsWithItsProcess.
func TestARefitEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.Open = openProfiled })
	text, err := os.ReadFile("../../examples/dockets/go-test-1.jsonl")
	must(t, err)
	p.ask(t, "POST", "/api/v1/dockets", strings.Join(strings.SplitAfter(string(text), "\n")[:60], ""))
	p.ask(t, "GET", "/api/v1/dockets/1/results?wait=true", "")
	if status, page := p.ask(t, "POST", "/quality/refit", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	p.stop()
}
