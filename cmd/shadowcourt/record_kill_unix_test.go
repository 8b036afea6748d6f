//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// Runs are killed at any moment: what was acknowledged, by a result on the standard output, is in the record. Each run goes
// on where the one before was killed, and in the end there is the record of a run that nobody killed.
func TestAccept_RE3_KillsLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	kills := killsOr(t, 2)
	t.Run("trials", func(t *testing.T) {
		t.Parallel()
		newKilling(t).all(t, kills)
	})
	t.Run("trials with audits", func(t *testing.T) {
		t.Parallel()
		tier.Long(t, "host/record", "internal/run")
		newKilling(t, "--audit").all(t, max(kills/8, 1))
	})
}

// all kills runs that often, one after the other.
func (k *killing) all(t *testing.T, kills int) {
	t.Helper()
	whole := k.path("whole.record")
	if !k.runInto(t, map[string]record.Digest{}, whole, -1) {
		t.Fatal("the run did not finish")
	}
	random := rand.New(rand.NewPCG(1, 2))
	name, acknowledged, interrupted := "", map[string]record.Digest{}, 0
	for i := range kills {
		if name == "" {
			name, acknowledged = k.path("killed-"+strconv.Itoa(i)+".record"), map[string]record.Digest{}
		}
		before := len(acknowledged)
		finished := k.runInto(t, acknowledged, name, time.Duration(random.IntN(int(150*time.Millisecond))))
		k.check(t, name, acknowledged)
		if finished {
			k.same(t, name, whole)
			name = ""
		} else if len(acknowledged) > before {
			interrupted++
		}
	}
	if name != "" {
		if !k.runInto(t, acknowledged, name, -1) {
			t.Fatal("the last run did not finish")
		}
		k.check(t, name, acknowledged)
		k.same(t, name, whole)
	}
	if interrupted < kills/4 {
		t.Errorf("of %d kills only %d came while results were given", kills, interrupted)
	}
}

// killing has what the runs have in common.
type killing struct {
	dir, docket string
	key         *record.Key
	flags       []string
}

func newKilling(t *testing.T, flags ...string) *killing {
	t.Helper()
	k := &killing{dir: t.TempDir(), flags: flags}
	k.docket = k.path("docket.jsonl")
	copyFile(t, filepath.Join(repositoryRoot(t), "examples", "dockets", "go-failures.jsonl"), k.docket)
	key, secret := testKey(t)
	k.key = key
	if err := os.WriteFile(k.path("key"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killing) path(name string) string { return filepath.Join(k.dir, name) }

// runInto starts a run, notes the results that it gives, and kills it that
// long after the first one; never if that is negative. It says whether the run
// came to its end before.
func (k *killing) runInto(t *testing.T, acknowledged map[string]record.Digest, name string, kill time.Duration) bool {
	t.Helper()
	args := slices.Concat([]string{"try", k.docket, "--record", name, "--key", k.path("key"), "--resume", "--format", "jsonl"}, k.flags)
	cmd := command(t, "", nil, append([]string{"shadowcourt"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	for first := true; ; first = false {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		if first && kill >= 0 {
			defer time.AfterFunc(kill, func() { _ = cmd.Process.Kill() }).Stop()
		}
		acknowledge(t, acknowledged, line)
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == -1 {
		return false
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return true
}

// acknowledge notes a result that was shown.
func acknowledge(t *testing.T, acknowledged map[string]record.Digest, line string) {
	t.Helper()
	var result struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &result); err != nil || result.ID == "" {
		t.Fatalf("%q: %v", line, err)
	}
	digest := record.DigestOf([]byte(strings.TrimSuffix(line, "\n")))
	if before, again := acknowledged[result.ID]; again && before != digest {
		t.Fatalf("%s was tried twice", result.ID)
	}
	acknowledged[result.ID] = digest
}

// check checks every acknowledged result, with its audit, against the record.
func (k *killing) check(t *testing.T, name string, acknowledged map[string]record.Digest) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := record.NewReader(f, k.key)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]record.Digest{}
	for err == nil {
		var entry *record.Entry
		if entry, err = r.Next(); err == nil && entry.Trial != nil {
			recorded[entry.Trial.ID] = record.DigestOf(entry.Trial.Line())
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, record.ErrTorn) {
		t.Fatalf("after a kill: %v", err)
	}
	for id, digest := range acknowledged {
		if recorded[id] != digest {
			t.Fatalf("%s was acknowledged, and the record has %q for it", id, recorded[id])
		}
	}
}

func (*killing) same(t *testing.T, a, b string) {
	t.Helper()
	if readFile(t, a) != readFile(t, b) {
		t.Fatal("the record of killed runs is another than that of one that was not killed")
	}
}
