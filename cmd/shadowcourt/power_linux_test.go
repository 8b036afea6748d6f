package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/testkit/killtest"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// losses is how often the power is lost: SHADOWCOURT_KILLS, or as often as a run of all tests has time for. A run of all tests leaves the
// test out where strace is missing, `make kills` needs it.
func losses(t *testing.T, few int) int {
	t.Helper()
	if _, err := exec.LookPath(killtest.Tracer); err != nil {
		if killsOr(t, 0) > 0 {
			t.Fatalf("%v: it records what the program writes and syncs (Debian: apt-get install strace)", err)
		}
		t.Skipf("%v: `make kills` needs it", err)
	}
	return killsOr(t, few)
}

// Each command runs once, with its system calls recorded. Then it is killed at a random one, or the power is lost there: of what was written
// and not synced, and of names in folders that were not, only a random beginning is left. Whatever is left, the command that goes on gives the
// same bytes; and where the command had ended with success, its files are there.
func TestAccept_FX2_FZ10_KilledOrWithoutPowerAtAnyCall(t *testing.T) {
	t.Parallel()
	attackAll(t, func(t *testing.T, a *crashing) {
		t.Helper()
		n := losses(t, 2)
		whole := a.folder(t)
		power, ending, err := a.program(whole, false).RunTraced(t.Context())
		if err != nil || ending.Code != cli.ExitDone {
			t.Fatal(err, ending)
		}
		for i := range n {
			line, lost := a.random.IntN(power.Lines+1), a.random
			switch i % 4 {
			case 0: // a kill, where it changes something
				line, lost = power.Changing(a.random), nil
			case 3: // the exit code was seen
				line = power.Lines
			}
			dir := filepath.Join(t.TempDir(), "left")
			must.Do(t, power.Cut(lost, line, dir))
			what := fmt.Sprintf("loss %d, power lost %t, at line %d of %d", i, lost != nil, line, power.Lines)
			if line == power.Lines && !a.cached {
				a.finished(t, dir, whole, what)
				continue
			}
			a.check(t, dir)
			a.goOn(t, dir, whole, what, true)
		}
	})
}

// What was shown is in the record, whatever was not synced.
func TestAccept_FZ10_PowerLossOfRecords(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/record", "internal/disk")
	n := losses(t, 3)
	k := newKilling(t)
	p := killtest.Program{
		Path: "shadowcourt", Dir: k.dir, Env: append(os.Environ(), userEnv(t)...),
		Args: []string{"try", "docket.jsonl", "--record", "r.record", "--key", "key", "--resume", "--format", "jsonl"},
	}
	power, ending, err := p.RunTraced(t.Context())
	if err != nil || ending.Code != cli.ExitDone {
		t.Fatal(err, ending)
	}
	random := rand.New(rand.NewPCG(killSeed, 2))
	results := slices.DeleteFunc(slices.Clone(power.Said), func(s killtest.Said) bool { return s.FD != 1 })
	for range n {
		line := results[random.IntN(len(results))].At
		acknowledged := map[string]record.Digest{}
		for _, s := range results {
			for text := range strings.Lines(s.Text) {
				if s.At <= line {
					acknowledge(t, acknowledged, text)
				}
			}
		}
		left := killing{dir: filepath.Join(t.TempDir(), "left"), key: k.key}
		must.Do(t, power.Cut(random, line, left.dir))
		left.check(t, left.path("r.record"), acknowledged)
		p.Dir = left.dir
		if again, err := p.Run(t.Context()); err != nil || again.Code != cli.ExitDone {
			t.Fatal(err, again)
		}
		left.same(t, left.path("r.record"), k.path("r.record"))
	}
}

// TestAccept_FZ10_PowerLossOfTheService: a service on SQLite answers submissions and corrections, and the power is lost. What was answered is
// there, each case gets one verdict, the records verify.
func TestAccept_FZ10_PowerLossOfTheService(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service")
	n := losses(t, 1)
	u, data := newUser(t), filepath.Join(t.TempDir(), "court")
	u.run(t, "", "serve", "migrate", "--data", data).wants(t, 0)
	u.run(t, "", "key", "new", filepath.Join(data, "court.key")).wants(t, 0)
	p := killtest.Program{
		Path: "shadowcourt", Dir: data, Env: append(os.Environ(), userEnv(t)...),
		Args: []string{"serve", "--data", ".", "--listen", "127.0.0.1:0", "--key", "court.key"},
	}
	body := readFile(t, example(t, "go-failures.jsonl"))
	want := map[int]string{} // results by docket
	power, ending, err := p.Served(t.Context(), func(server string) error {
		for i := 1; i <= 3; i++ {
			if r := ask(t, "POST", server+"/api/v1/dockets", strings.ReplaceAll(body, `"id":"`, fmt.Sprintf(`"id":"%d-`, i))); r.status != 202 {
				return fmt.Errorf("%d %s", r.status, r.body)
			}
			want[i] = ask(t, "GET", fmt.Sprintf("%s/api/v1/dockets/%d/results?wait=true", server, i), "").body
			if r := ask(t, "POST", server+"/api/v1/corrections", fmt.Sprintf(`{"label":"pb001","trials":["%d-1"]}`, i)); r.status != 201 {
				return fmt.Errorf("%d %s", r.status, r.body)
			}
		}
		return nil
	})
	must.Do(t, err, ending)
	random := rand.New(rand.NewPCG(killSeed, 3))
	lost := 0
	for i := range n {
		line := random.IntN(power.Lines + 1)
		dockets, corrections := 0, 0
		for _, s := range power.Said {
			if s.At <= line {
				dockets += strings.Count(s.Text, "HTTP/1.1 202")
				corrections += strings.Count(s.Text, "HTTP/1.1 201")
			}
		}
		left := filepath.Join(t.TempDir(), "left")
		must.Do(t, power.Cut(random, line, left))
		what := fmt.Sprintf("seed %d, loss %d at line %d of %d, with %d dockets and %d corrections", killSeed, i, line, power.Lines, dockets, corrections)
		again := p
		again.Dir = left
		ending, err := again.Serve(t.Context(), func(server string) error {
			for d := 1; d <= dockets; d++ {
				if got := ask(t, "GET", fmt.Sprintf("%s/api/v1/dockets/%d/results?wait=true", server, d), "").body; got != want[d] {
					return fmt.Errorf("docket %d has other results:\n%.2000s", d, got)
				}
				archive := filepath.Join(left, "records.tar")
				if err := os.WriteFile(archive, []byte(ask(t, "GET", fmt.Sprintf("%s/api/v1/dockets/%d/records", server, d), "").body), 0o600); err != nil {
					return err
				}
				execute(t, left, nil, "tar", "xf", archive).wants(t, 0)
				records, err := filepath.Glob(filepath.Join(left, fmt.Sprintf("docket-%d", d), "*.record"))
				if err != nil || len(records) == 0 {
					return fmt.Errorf("docket %d has no record: %w", d, err)
				}
				u.run(t, "", slices.Concat([]string{"verify"}, records, []string{"--key", filepath.Join(left, "court.key.pub")})...).wants(t, 0)
			}
			var list struct {
				Corrections []struct {
					ID int `json:"id"`
				} `json:"corrections"`
			}
			if err := json.Unmarshal([]byte(ask(t, "GET", server+"/api/v1/corrections", "").body), &list); err != nil {
				return err
			}
			if len(list.Corrections) < corrections {
				return fmt.Errorf("%d corrections are left", len(list.Corrections))
			}
			if r := ask(t, "POST", server+"/api/v1/dockets", body); r.status != 202 {
				return fmt.Errorf("it does not go on: %d %s", r.status, r.body)
			}
			return nil
		})
		must.Do(t, err, what, ending)
		if line < power.Lines {
			lost++
		}
	}
	t.Logf("%d losses of power, %d while the service ran", n, lost)
}
