//go:build linux

package isolate_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// traced runs a program in isolation, and gives what it asked for.
func traced(t *testing.T, change func(*isolate.Command), args ...string) (*isolate.Result, map[string]isolate.Look) {
	t.Helper()
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	scratch := t.TempDir()
	c := isolate.Command{Args: args, Dir: scratch, Env: []string{"PATH=" + os.Getenv("PATH")}, Scratch: scratch, Trace: true}
	if change != nil {
		change(&c)
	}
	r := must.Get(isolate.Run(t.Context(), c))(t)
	if r.Asked == nil {
		t.Skip("the kernel tells nothing, or somebody else")
	}
	return r, r.Asked
}

// TestAccept_AK3_WhatAProgramAsksFor: all of its processes, by their calls.
func TestAccept_AK3_WhatAProgramAsksFor(t *testing.T) {
	folder := t.TempDir() // which the program does not see
	script := "cat old; test -e " + folder + "/sought; (cat " + folder + "/opened; " + folder + "/program 'an argument' & wait); " +
		"test -e made || echo > made; echo > new; mkdir -p /usr/bin; cd ..; cd -; (cat ./old); exit 3"
	r, asked := traced(t, func(c *isolate.Command) { must.Write(t, c.Dir, map[string]string{"old": "x\n"}) }, "sh", "-c", script)
	if r.ExitCode != 3 || !strings.Contains(string(r.Output), "x\n") {
		t.Errorf("got %+v %s", r, r.Output)
	}
	for _, name := range []string{"sought", "opened", "program"} {
		if got, ok := asked[filepath.Join(folder, name)]; !ok || got != isolate.Missing {
			t.Errorf("%s: %v, %t", name, got, ok)
		}
	}
	made, read := false, false
	for name, look := range asked {
		made, read = made || filepath.Base(name) == "made" && look == isolate.Made, read || filepath.Base(name) == "old" && look == isolate.Read
		if filepath.Base(name) == "new" || strings.HasPrefix(name, "/usr/") || strings.HasPrefix(name, "/proc/") {
			t.Errorf("%s is %v", name, look)
		}
	}
	if !made || !read {
		t.Errorf("got %+v", asked)
	}
}

// askAround is the program of Go that is traced, in place of the tests.
func askAround() {
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for range 100 {
				_, _ = os.ReadFile("/srv/shadowcourt/" + strconv.Itoa(i))
			}
			for end, spins := time.Now().Add(50*time.Millisecond), 0; time.Now().Before(end); spins++ { // preempted by signals
				_ = spins
			}
			_ = exec.Command("/srv/shadowcourt/program" + strconv.Itoa(i)).Run()
			_, _ = net.Dial("unix", "/srv/shadowcourt/socket")
		})
	}
	all.Wait()
	os.Exit(7)
}

// Threads and children of other runtimes run as they do without, and what they ask for is told.
func TestTracedRuntimes(t *testing.T) {
	folder := t.TempDir()
	must.Write(t, folder, map[string]string{
		"main.py": `import concurrent.futures, os, socket, subprocess, sys
def ask(i):
    for _ in range(100):
        os.path.exists(f"/srv/shadowcourt/{i}")
    try:
        subprocess.run([f"/srv/shadowcourt/program{i}"])
    except FileNotFoundError:
        pass
    try:
        socket.socket(socket.AF_UNIX).connect("/srv/shadowcourt/socket")
    except OSError:
        pass
with concurrent.futures.ThreadPoolExecutor(50) as pool:
    list(pool.map(ask, range(50)))
sys.exit(7)
`,
		"main.js": `const fs = require("fs"), net = require("net"), { spawnSync } = require("child_process"), { Worker, isMainThread } = require("worker_threads");
for (let i = 0; i < 50; i++) {
  for (let n = 0; n < 100; n++) fs.existsSync("/srv/shadowcourt/" + i);
  if (isMainThread) fs.readFile("/srv/shadowcourt/" + i, () => {});
  spawnSync("/srv/shadowcourt/program" + i);
}
net.connect("/srv/shadowcourt/socket").on("error", () => {});
process.exitCode = 7;
if (isMainThread) new Worker(__filename);
`,
	})
	self := must.Get(os.ReadFile(must.Get(os.Executable())(t)))(t) // which is [askAround]
	must.Do(t, os.WriteFile(filepath.Join(folder, "main"), self, 0o700))
	for name, args := range map[string][]string{"go": {filepath.Join(folder, "main")}, "python3": {"python3", "main.py"}, "node": {"node", "main.js"}} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			r, asked := traced(t, func(c *isolate.Command) {
				c.Dir, c.Overlays, c.Home, c.Env = folder, []string{folder}, true, append(os.Environ(), "ISOLATE_TEST_TRACED=1") // as shims of a home need it
			}, args...)
			if r.Ending != isolate.Exited || r.ExitCode != 7 || bytes.Contains(r.Output, []byte("rror")) {
				t.Fatalf("got %+v %s", r, r.Output)
			}
			for _, want := range []string{"/srv/shadowcourt/0", "/srv/shadowcourt/49", "/srv/shadowcourt/program49", "/srv/shadowcourt/socket"} {
				if look, ok := asked[want]; !ok || look != isolate.Missing {
					t.Errorf("%s is not told", want)
				}
			}
			t.Logf("%v, %d missing", r.Wall, len(asked))
		})
	}
}
