package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
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
	if err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}

// try writes a case, and gives the digests that its result names.
func (w *watching) try(t *testing.T, id string) map[string]string {
	t.Helper()
	return w.result(t, id).Modules
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
	subject := strings.Replace(`{"id":"ID","subject":"a","labels":["red","blue"],"light":{"classification":"red","confidence":0.7,"reasoning":""},"evidence":[],"documents":[]}`, "ID", id, 1)
	if _, err := io.WriteString(w.in, subject+"\n"); err != nil {
		t.Fatal(err)
	}
	var result watchedResult
	if err := json.Unmarshal([]byte(line(t, w.out)), &result); err != nil || result.ID != id || result.Error != nil {
		t.Fatalf("%+v, %v", result, err)
	}
	return result
}

// succeeds runs a command that must end well.
func succeeds(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "shadowcourt", args...)
	cmd.Env = append(os.Environ(), userEnv(t)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
}

func watch(t *testing.T, dir string, flags ...string) *watching {
	t.Helper()
	w := &watching{cmd: exec.CommandContext(t.Context(), "shadowcourt",
		slices.Concat([]string{"try", "--watch", "--modules", dir, "--from", "jsonl", "--format", "jsonl"}, flags, []string{"-"})...)}
	w.cmd.Env = append(os.Environ(), userEnv(t)...)
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	messages, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.out, w.err = in, bufio.NewReader(out), bufio.NewReader(messages)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAccept_PL1_ARunningDocketPicksUpASwap(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/court/registry", "host/moduledir")
	dir := t.TempDir()
	succeeds(t, "plugin", "export", dir)
	w := watch(t, dir)
	first := w.try(t, "first")

	succeeds(t, "plugin", "swap", "bulwark="+buildPuppet(t), "--modules", dir)
	swapped := line(t, w.err)
	second := w.try(t, "second")
	if want := "swapped bulwark: " + first["bulwark"] + " -> " + second["bulwark"]; swapped != want || first["bulwark"] == second["bulwark"] {
		t.Errorf("%q, the results say %q", swapped, want)
	}
	if first["specter"] != second["specter"] {
		t.Error("the judge has changed, too")
	}

	// Half a module: it is rejected once, and those before go on.
	file := filepath.Join(dir, "specter.wasm")
	good, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, good[:len(good)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text := line(t, w.err); text != "rejected, the modules before go on:" {
		t.Errorf("%q", text)
	}
	if text := line(t, w.err); !strings.Contains(text, "specter: ") || !strings.Contains(text, "[not_wasm]") {
		t.Errorf("%q", text)
	}
	if third := w.try(t, "third"); third["bulwark"] != second["bulwark"] || third["specter"] != second["specter"] {
		t.Errorf("after a rejection: %v", third)
	}

	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	succeeds(t, "plugin", "rollback", "bulwark", "--modules", dir)
	if text := line(t, w.err); text != "swapped bulwark: "+second["bulwark"]+" -> "+first["bulwark"] {
		t.Errorf("after the rollback: %q", text)
	}
	if fourth := w.try(t, "fourth"); fourth["bulwark"] != first["bulwark"] {
		t.Errorf("after the rollback: %v", fourth)
	}
	if err := w.in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(w.err); err != nil || len(rest) > 0 {
		t.Errorf("more messages: %q, %v", rest, err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// replaceFile puts a file in place as a whole.
func replaceFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// With --audit the modules of collectors and judges are followed, too: those
// that the folder does not have are the embedded ones.
func TestAccept_PL1_ARunningDocketsAuditsPickUpASwap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeeds(t, "plugin", "export", dir)
	warden := filepath.Join(dir, "warden.wasm")
	good, err := os.ReadFile(warden)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "scribe.wasm")); err != nil {
		t.Fatal(err)
	}
	w := watch(t, dir, "--audit")
	audited := func(id string) map[string]string {
		t.Helper()
		r := w.result(t, id)
		if r.Audit == nil || len(r.Audit.Modules) != 5 {
			t.Fatalf("%+v", r)
		}
		return r.Audit.Modules
	}
	first := audited("first")

	newer := append(slices.Clip(good), 0, 4, 3, 'n', 'e', 'w') // a section that means nothing
	replaceFile(t, warden, newer)
	swapped := line(t, w.err)
	second := audited("second")
	if want := "swapped warden: " + first["warden"] + " -> " + second["warden"]; swapped != want || first["warden"] == second["warden"] {
		t.Errorf("%q, the results say %q", swapped, want)
	}
	if first["rhetor"] != second["rhetor"] || first["scribe"] != second["scribe"] {
		t.Error("others have changed, too")
	}

	rhetor, err := os.ReadFile(filepath.Join(dir, "rhetor.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, warden, rhetor) // which does not judge security
	if text := line(t, w.err); text != "rejected, audits keep the current modules:" {
		t.Errorf("%q", text)
	}
	if text := line(t, w.err); !strings.HasPrefix(text, "--modules "+dir+" and embedded: warden: ") || !strings.Contains(text, "[criterion_not_served]") {
		t.Errorf("%q", text)
	}
	if third := audited("third"); third["warden"] != second["warden"] {
		t.Errorf("after a rejection: %v", third)
	}
	if err := w.in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(w.err); err != nil || len(rest) > 0 {
		t.Errorf("more messages: %q, %v", rest, err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
