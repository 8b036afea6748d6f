package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_SV1_ServeDemoStartsTwice runs what `make serve-demo` runs, twice at the same address, on a part of the examples. Each has its
// own database, and leaves nothing behind when it is interrupted.
func TestAccept_SV1_ServeDemoStartsTwice(t *testing.T) {
	t.Parallel()
	tier.Long(t, "tools/servedemo", "internal/service")
	if runtime.GOOS == "windows" {
		t.Skip("a program can't interrupt another one there")
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "./tools/servedemo")
	build.Dir = repositoryRoot(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	examples, out := filepath.Join(dir, "examples"), filepath.Join(dir, "out")
	if err := os.Mkdir(examples, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go-test-1.jsonl", "mux.gotest.json", "afero.gotest.json", "godotenv.gotest.json", "demo.yaml"} {
		text := page(t, "examples/dockets/"+name)
		if name == "go-test-1.jsonl" {
			text = strings.Join(strings.SplitAfter(text, "\n")[:20], "")
		}
		if err := os.WriteFile(filepath.Join(examples, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shadowcourt, err := exec.LookPath("shadowcourt")
	if err != nil {
		t.Fatal(err)
	}
	listen := "127.0.0.1:0"
	var running []*exec.Cmd
	for range 2 {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "servedemo"), "-program", shadowcourt, "-examples", examples, "-out", out, "-listen", listen)
		cmd.Env = append(os.Environ(), userEnv(t)...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		said, address := demoAddress(t, cmd)
		for path, want := range map[string]string{"/": "github.com/gorilla/mux", "/quality": "20 known labels", "/modules": "a profile fitted on failures"} {
			if r := ask(t, "GET", address+path, ""); r.status != 200 || !strings.Contains(r.body, want) {
				t.Errorf("%s: %d, without %q; the demo says\n%s", path, r.status, want, said)
			}
		}
		if listen != "127.0.0.1:0" && address == "http://"+listen {
			t.Errorf("both are at %s", address)
		}
		once := regexp.MustCompile(`http://\S+/login/once\?code=\S+`).FindString(said)
		if r := ask(t, "GET", once, ""); r.status != 200 || !strings.Contains(r.body, "github.com/gorilla/mux") {
			t.Errorf("%q: %d; the demo says\n%s", once, r.status, said)
		}
		running = append(running, cmd)
		listen = strings.TrimPrefix(address, "http://")
	}
	for _, cmd := range running {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("interrupted, the demo ends with %v", err)
		}
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("the demo leaves %v, %v", left, err)
	}
}

// demoAddress starts the demo, waits until it has said all, and gives that with the address in it.
func demoAddress(t *testing.T, cmd *exec.Cmd) (said, address string) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if rest, ok := strings.CutPrefix(lines.Text(), "Shadowcourt is at "); ok {
			address = rest
		}
		if strings.HasPrefix(lines.Text(), "Ctrl-C") {
			return said, address
		}
	}
	t.Fatalf("the demo ended (%v):\n%s", lines.Err(), said)
	return "", ""
}
