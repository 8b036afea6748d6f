//go:build linux

package isolate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// shell runs a script in isolation, at a level.
func shell(t *testing.T, level isolate.Level, script string, change func(*isolate.Command)) *isolate.Result {
	t.Helper()
	scratch := t.TempDir()
	c := isolate.Command{Args: []string{"sh", "-c", script}, Dir: scratch, Env: []string{"PATH=" + os.Getenv("PATH")}, Scratch: scratch}
	if change != nil {
		change(&c)
	}
	return must.Get(isolate.RunAt(t.Context(), level, c))(t)
}

// levels are namespaces, where the system has them, and what there is without.
func levels(t *testing.T) []isolate.Level {
	t.Helper()
	if isolate.Strongest() != isolate.Namespaces {
		t.Log("the system allows no user namespaces")
		return []isolate.Level{isolate.Reaper}
	}
	return []isolate.Level{isolate.Namespaces, isolate.Reaper}
}

func TestExitCodesAndOutput(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			r := shell(t, level, "echo out; echo err >&2; pwd; exit 7", nil)
			if r.Ending != isolate.Exited || r.ExitCode != 7 || !strings.HasPrefix(string(r.Output), "out\nerr\n/") {
				t.Errorf("got %+v %s", r, r.Output)
			}
			if r := shell(t, level, "kill -SEGV $$", nil); r.Ending != isolate.Signaled || r.ExitCode != 139 {
				t.Errorf("got %+v", r)
			}
			scratch := t.TempDir()
			_, err := isolate.RunAt(t.Context(), level, isolate.Command{Args: []string{"no-such-program"}, Dir: scratch, Scratch: scratch})
			if err == nil || !strings.Contains(err.Error(), "no-such-program") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAccept_EX6_LimitsEndHostilePrograms: each ends by its own limit, and nothing of it goes on.
func TestAccept_EX6_LimitsEndHostilePrograms(t *testing.T) {
	for _, c := range []struct {
		name, script string
		limits       isolate.Limits
		want         isolate.Ending
	}{
		{"time", "trap '' TERM INT QUIT HUP; while :; do sleep 0.01; done", isolate.Limits{Time: 300 * time.Millisecond}, isolate.OverTime},
		{"memory", "head -c 400000000 /dev/zero | tail | sleep 60", isolate.Limits{Memory: 100 << 20}, isolate.OverMemory},
		{"processes", "while :; do sleep 60 & done", isolate.Limits{Processes: 30}, isolate.OverProcesses},
		{"fork bomb", "b() { b | b & }; b; sleep 60", isolate.Limits{Processes: 30, Time: 10 * time.Second}, isolate.OverProcesses},
		{"many files", "i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done", isolate.Limits{Disk: 50 << 20}, isolate.OverDisk},
		{"output", "yes", isolate.Limits{Output: 1 << 20}, isolate.OverOutput},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, level := range levels(t) {
				t.Run(string(level), func(t *testing.T) {
					if c.name == "fork bomb" && (level != isolate.Namespaces || os.Getenv("SHADOWCOURT_ATTACKS") == "") {
						t.Skip("outlives the test by seconds, and slows down the whole machine")
					}
					mark := markOf(t)
					r := shell(t, level, c.script, func(cmd *isolate.Command) {
						cmd.Limits, cmd.Env = c.limits, append(cmd.Env, mark)
					})
					if r.Ending != c.want || r.ExitCode != -1 {
						t.Errorf("ended by %s (%d) after %v, want %s: %.200s", r.Ending, r.ExitCode, r.Wall, c.want, r.Output)
					}
					if c.limits.Output > 0 && int64(len(r.Output)) != c.limits.Output {
						t.Errorf("%d bytes of output, want %d", len(r.Output), c.limits.Output)
					}
					noProcess(t, mark)
				})
			}
		})
	}
}

// TestAccept_EX6_ALargeFileIsCut: a file can't grow beyond the limit of the disk before anybody looks.
func TestAccept_EX6_ALargeFileIsCut(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			const limit = 1 << 20
			var scratch string
			r := shell(t, level, "head -c 3000000 /dev/zero > f", func(c *isolate.Command) { c.Limits.Disk, scratch = limit, c.Scratch })
			info, err := os.Stat(filepath.Join(scratch, "f"))
			// A file of exactly the limit may take more blocks, by which the look at the disk ends the program.
			if err != nil || info.Size() > limit || r.Ending != isolate.OverDisk && (info.Size() != limit || r.ExitCode == 0) {
				t.Errorf("got %v, %v: %+v", info, err, r)
			}
		})
	}
}

// TestAccept_EX6_DaemonsEnd: what leaves its session and its parent is killed when the program ends.
func TestAccept_EX6_DaemonsEnd(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			mark := markOf(t)
			r := shell(t, level, "setsid sh -c 'trap \"\" TERM HUP; sleep 600 & sleep 600' >/dev/null 2>&1 & (setsid sleep 600 &) ; sleep 0.1; echo done", func(c *isolate.Command) {
				c.Env = append(c.Env, mark)
			})
			if r.Ending != isolate.Exited || !bytes.Contains(r.Output, []byte("done")) {
				t.Errorf("got %+v %s", r, r.Output)
			}
			noProcess(t, mark)
		})
	}
}

// TestAccept_EX6_OnlyTheScratchFolderIsWritable: the checkout, the user's home and the system are read-only, whoever the user is.
func TestAccept_EX6_OnlyTheScratchFolderIsWritable(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	home, err := os.MkdirTemp(".", "victim-") //nolint:usetesting // not below /tmp, which the program doesn't see
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	home, err = filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(home, "keep")
	must.Do(t, os.WriteFile(keep, []byte("mine"), 0o666))
	r := shell(t, isolate.Namespaces, `
		rm -rf "$VICTIM"; echo gone > "$VICTIM/keep"; touch /etc/x "$VICTIM/new"
		mount -o remount,rw / ; mount -o remount,rw,bind / ; umount -l /; unshare -Ur sh -c 'mount -o remount,rw,bind /; touch /etc/x'
		echo mine > "$HOME/x" && echo tmp > /tmp/isolate-test-x && echo tmp > "$TMPDIR/y" && echo here > z && echo could write`,
		func(c *isolate.Command) { c.Env = append(c.Env, "VICTIM="+home) })
	if !strings.HasSuffix(strings.TrimSpace(string(r.Output)), "could write") {
		t.Errorf("got %s", r.Output)
	}
	if text, err := os.ReadFile(keep); string(text) != "mine" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := os.Stat("/etc/x"); err == nil {
		t.Error("/etc/x was written")
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v", entries, err)
	}
	if _, err := os.Stat("/tmp/isolate-test-x"); err == nil {
		t.Error("/tmp/isolate-test-x was written")
	}
}

// TestAccept_EX6_OverlaysStayAsTheyAre: a cache can be written to, and is not changed.
func TestAccept_EX6_OverlaysStayAsTheyAre(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	home, err := os.MkdirTemp(".", "a:b,c\\d-") //nolint:usetesting // not below /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	cache, err := filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(cache, "entry"), []byte("mine"), 0o600))
	r := shell(t, isolate.Namespaces, `cat "$CACHE/entry"; echo other > "$CACHE/entry" && echo new > "$CACHE/new" && cat "$CACHE/entry" "$CACHE/new"`, func(c *isolate.Command) {
		c.Env, c.Overlays = append(c.Env, "CACHE="+cache), []string{cache}
	})
	if got := string(r.Output); got != "mineother\nnew\n" {
		t.Errorf("got %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(cache, "entry")); string(text) != "mine" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(cache, "new")); err == nil {
		t.Error("the cache was written to")
	}
}

// TestAccept_AK12_NativePrograms have what the user has, see views, and leave nothing: no change of what is viewed, no process.
func TestAccept_AK12_NativePrograms(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	checkout, tree := t.TempDir(), t.TempDir()
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(checkout, "file"), []byte("checkout"), 0o600), os.WriteFile(filepath.Join(tree, "file"), []byte("tree"), 0o600)))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	script := "cat file; echo changed >file; echo new >more; env | sort; setsid sleep 3600.5 & bash -c '</dev/tcp/127.0.0.1/" + port + "' && echo reached; : </dev/tty"
	r := shell(t, isolate.Native, script, func(c *isolate.Command) {
		c.Native, c.Dir, c.Env, c.Views = true, checkout, append(c.Env, "TMPDIR=/none", "X=y"), []isolate.View{{At: checkout, From: tree}}
	})
	out := string(r.Output)
	if !strings.HasPrefix(out, "tree") || strings.Contains(out, "HOME=") || !strings.Contains(out, "TMPDIR=/none\nX=y\nreached\n") || !strings.Contains(out, "/dev/tty") {
		t.Errorf("%+v\n%s", r, out)
	}
	for folder, want := range map[string]string{checkout: "checkout", tree: "tree"} {
		if text := string(must.Get(os.ReadFile(filepath.Join(folder, "file")))(t)); text != want {
			t.Errorf("%s: %s", folder, text)
		}
		if _, err := os.Stat(filepath.Join(folder, "more")); err == nil {
			t.Errorf("a file was made in %s", folder)
		}
	}
	if left, _ := exec.CommandContext(t.Context(), "pgrep", "-f", "sleep 3600[.]5").Output(); len(left) > 0 {
		t.Errorf("a process is left: %s", left)
	}
}

// TestAccept_AK12_OwnPortsRefuse: only ports that the program has not got from the kernel are told to be out of reach.
func TestAccept_AK12_OwnPortsRefuse(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	for address, want := range map[string]bool{"127.0.0.1/5999": true, "127.0.0.1/61800": false, "::1/5999": true, "::1/61800": false, "192.0.2.1/61800": true} {
		r := shell(t, isolate.Namespaces, "bash -c '</dev/tcp/"+address+"'", nil)
		if strings.Contains(string(r.Output), "not found") {
			t.Skip("there is no bash")
		}
		if r.Unreached != want {
			t.Errorf("%s: unreached is %v\n%s", address, r.Unreached, r.Output)
		}
	}
}

// TestAccept_EX6_NoNetworkButLoopback: a server on the host's loopback interface is out of reach, too. An address of the machine is there, without a route.
func TestAccept_EX6_NoNetworkButLoopback(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	script := "exec 3<>/dev/tcp/" + strings.Replace(listener.Addr().String(), ":", "/", 1) + " && echo connected; cat /proc/net/dev; " +
		"exec 4<>/dev/tcp/203.0.113.198/80; exec 4<>/dev/tcp/203.0.113.197/80; cat /proc/net/fib_trie /proc/net/route; grep -c -v ' lo$' /proc/net/if_inet6"
	for network, want := range map[bool]bool{false: false, true: true} {
		r := shell(t, isolate.Namespaces, script, func(c *isolate.Command) { c.Args[0], c.Network = "bash", network })
		if got := bytes.Contains(r.Output, []byte("connected")); got != want {
			t.Errorf("network %v: connected %v\n%s", network, got, r.Output)
		}
		if !bytes.Contains(r.Output, []byte("lo:")) {
			t.Errorf("no loopback:\n%s", r.Output)
		}
		head, routes, _ := strings.Cut(string(r.Output), "Iface")
		if !network && (!strings.Contains(head, "|-- 203.0.113.197\n") || !strings.Contains(head, "203.0.113.198/80: Network is unreachable") ||
			!strings.Contains(head, "203.0.113.197/80: Connection refused") || strings.Count(routes, "\n") != 2 || !strings.HasSuffix(routes, "\n0\n")) {
			t.Errorf("another address, or a route: %q", r.Output)
		}
	}
}

// TestAccept_EX6_NothingSurvivesAKilledHost: a host that is killed leaves no process.
func TestAccept_EX6_NothingSurvivesAKilledHost(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			mark := markOf(t)
			host := exec.CommandContext(t.Context(), os.Args[0])
			host.Env = append(os.Environ(), "ISOLATE_TEST_HOST="+string(level), "ISOLATE_TEST_SCRATCH="+t.TempDir(), "ISOLATE_TEST_SCRIPT=setsid sleep 601 & sleep 602", mark)
			out := must.Get(host.StdoutPipe())(t)
			must.Do(t, host.Start())
			t.Cleanup(func() { _ = host.Wait() })
			if _, err := out.Read(make([]byte, 1)); err != nil { // it is about to run
				t.Fatal(err)
			}
			for !found(mark, "sleep") {
				time.Sleep(time.Millisecond)
			}
			must.Do(t, host.Process.Kill())
			noProcess(t, mark)
		})
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("ISOLATE_TEST_SOCKETS") != "" {
		trySockets(os.Stdout)
		return
	}
	if os.Getenv("ISOLATE_TEST_TRACED") != "" {
		askAround()
	}
	if level := os.Getenv("ISOLATE_TEST_HOST"); level != "" {
		_, _ = os.Stdout.WriteString("runs\n")
		scratch, mark := os.Getenv("ISOLATE_TEST_SCRATCH"), ""
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "MARK=") {
				mark = v
			}
		}
		script := os.Getenv("ISOLATE_TEST_SCRIPT")
		r, _ := isolate.RunAt(context.Background(), isolate.Level(level), isolate.Command{
			Args: []string{"sh", "-c", script}, Dir: scratch, Env: []string{"PATH=" + os.Getenv("PATH"), mark}, Scratch: scratch,
		})
		_, _ = os.Stdout.Write(r.Output)
		return
	}
	os.Exit(m.Run())
}

// TestCancelled: the error is the context's, and nothing goes on.
func TestCancelled(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			mark := markOf(t)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(200*time.Millisecond, cancel)
			scratch := t.TempDir()
			_, err := isolate.RunAt(ctx, level, isolate.Command{
				Args: []string{"sleep", "600"}, Dir: scratch, Env: []string{"PATH=" + os.Getenv("PATH"), mark}, Scratch: scratch,
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			noProcess(t, mark)
		})
	}
}

// TestStarve: the program has one processor, and a part of that.
func TestStarve(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			r := shell(t, level, "nproc", func(c *isolate.Command) { c.Starve = true })
			if got := strings.TrimSpace(string(r.Output)); got != "1" {
				t.Errorf("got %q processors", got)
			}
		})
	}
}

// markOf is a variable of the environment by which a test finds its processes.
func markOf(t *testing.T) string {
	t.Helper()
	return "MARK=" + strings.ReplaceAll(t.Name(), "/", "-") + "-" + strconv.Itoa(os.Getpid())
}

// noProcess waits until no process has a mark in its environment.
func noProcess(t *testing.T, mark string) {
	t.Helper()
	for range 2000 {
		if !found(mark, "") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("a process with %s goes on", mark)
}

// found says whether a process with a mark in its environment and a word in its arguments runs.
func found(mark, word string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if filepath.Dir(file) == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(mark)) {
			continue
		}
		args, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && bytes.Contains(args, []byte(word)) && len(args) > 0 {
			return true
		}
	}
	return false
}

// TestAccept_EX6_AsAnOrdinaryUser runs the tests here again as a user who is not root, if root runs them.
func TestAccept_EX6_AsAnOrdinaryUser(t *testing.T) {
	const nobody = 65534
	if os.Getuid() != 0 {
		t.Skip("the others ran as an ordinary user")
	}
	dir, err := os.MkdirTemp("", "isolate-") //nolint:usetesting // folders of t.TempDir may be root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "isolate.test")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(binary, data, 0o700))
	for _, path := range []string{dir, binary} {
		must.Do(t, os.Chown(path, nobody, nobody))
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
