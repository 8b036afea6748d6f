//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// watching is a `try --watch` that reads a docket which the test writes.
type watching struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *bufio.Reader
}

// line reads a whole line; it waits for one.
func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	must.Do(t, err, text)
	return strings.TrimSuffix(text, "\n")
}

// watchedResult is what these tests look at.
type watchedResult struct {
	ID      string            `json:"id"`
	Modules map[string]string `json:"modules"`
	Audit   *struct {
		Modules map[string]string `json:"modules"`
	} `json:"audit"`
	Error *struct{} `json:"error"`
}

// result writes a case, and gives its result.
func (w *watching) result(t *testing.T, id string) watchedResult {
	t.Helper()
	must.Get(io.WriteString(w.in, caseOf(id)))(t)
	var result watchedResult
	if err := json.Unmarshal([]byte(line(t, w.out)), &result); err != nil || result.ID != id || result.Error != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	return result
}

func watch(t *testing.T, dir string, flags ...string) *watching {
	t.Helper()
	w := &watching{cmd: command(t, "", nil, slices.Concat([]string{"shadowcourt", "try", "--watch", "--modules", dir, "--from", "jsonl", "--format", "jsonl"}, flags, []string{"-"})...)}
	in := must.Get(w.cmd.StdinPipe())(t)
	out := must.Get(w.cmd.StdoutPipe())(t)
	messages := must.Get(w.cmd.StderrPipe())(t)
	w.in, w.out, w.err = in, bufio.NewReader(out), bufio.NewReader(messages)
	must.Do(t, w.cmd.Start())
	return w
}

// A running docket, and its audits, pick up swaps and rollbacks, and reject what they can't run. What the folder does not have of collectors and
// judges is embedded.
func TestAccept_PL1_ARunningDocketPicksUpASwap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeeds(t, "", "plugin", "export", dir)
	file := func(name string) string { return filepath.Join(dir, name+".wasm") }
	must.Do(t, os.Remove(file("scribe")))
	w := watch(t, dir, "--audit")
	place := func(name, text string) { // as a whole
		t.Helper()
		writeFiles(t, "/", map[string]string{file(name) + ".new": text})
		must.Do(t, os.Rename(file(name)+".new", file(name)))
	}
	at := w.result(t, "begin")
	changes := func(id string, messages ...string) {
		t.Helper()
		var said []string
		for range messages {
			said = append(said, line(t, w.err))
		}
		now := w.result(t, id)
		for i, want := range messages {
			name, swapped := strings.CutPrefix(want, "swap ")
			was, is := at.Modules[name], now.Modules[name]
			if was == "" {
				was, is = at.Audit.Modules[name], now.Audit.Modules[name]
			}
			if swapped && (said[i] != "swapped "+name+": "+was+" -> "+is || was == is) || !swapped && !strings.Contains(said[i], want) {
				t.Errorf("%s: %q, want %s; the results say %s and %s", id, said[i], want, was, is)
			}
			if !swapped && (!maps.Equal(now.Modules, at.Modules) || !maps.Equal(now.Audit.Modules, at.Audit.Modules)) {
				t.Errorf("%s: modules changed although they were rejected", id)
			}
			if swapped && (now.Modules["specter"] != at.Modules["specter"] || now.Audit.Modules["scribe"] != at.Audit.Modules["scribe"]) {
				t.Errorf("%s: others have changed, too", id)
			}
		}
		at = now
	}
	newer := filepath.Join(t.TempDir(), "newer.wasm")
	writeFiles(t, "/", map[string]string{newer: readFile(t, file("bulwark")) + string(newSection)})
	succeeds(t, "", "plugin", "swap", "bulwark="+newer, "--modules", dir)
	changes("a swap", "swap bulwark")
	good := readFile(t, file("specter"))
	place("specter", good[:len(good)/2])
	changes("half a module", "rejected, the modules before go on:", "[not_wasm]")
	place("specter", good)
	succeeds(t, "", "plugin", "rollback", "bulwark", "--modules", dir)
	changes("a rollback", "swap bulwark")
	place("warden", readFile(t, file("warden"))+string(newSection))
	changes("of an audit", "swap warden")
	place("warden", readFile(t, file("rhetor"))) // which does not judge security
	changes("no judge of security", "rejected, audits keep the current modules:", "[criterion_not_served]")
	must.Do(t, w.in.Close())
	if rest, err := io.ReadAll(w.err); err != nil || len(rest) > 0 {
		t.Errorf("more messages: %q, %v", rest, err)
	}
	must.Do(t, w.cmd.Wait())
}
