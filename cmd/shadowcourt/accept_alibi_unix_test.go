//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// broken is a module with one test, which the change makes fail. The body comes first in the test.
func broken(body string, imports ...string) *project {
	list := `"` + strings.Join(append(imports, "testing"), `"; "`) + `"`
	return &project{
		green: map[string]string{
			"go.mod": goModule, "cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\n",
			"cart/cart_test.go": "package cart\n\nimport (" + list + ")\n\nfunc TestTotal(t *testing.T) {\n\t" + body + "\n\tif got := Total(); got != 1 { t.Errorf(\"got %d\", got) }\n}\n",
		},
		head: map[string]string{"cart/cart.go": "package cart\n\nfunc Total() int { return 2 }\n"},
	}
}

// TestAccept_AL6_AnInterruptedCommandGoesOn: what was run before the interrupt is not run again.
func TestAccept_AL6_AnInterruptedCommandGoesOn(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	p := broken("time.Sleep(300 * time.Millisecond)", "time")
	p.write(t)
	user, err := os.UserCacheDir()
	must.Do(t, err)
	kept := t.TempDir()
	if err := os.CopyFS(filepath.Join(kept, "modules"), os.DirFS(filepath.Join(user, "shadowcourt", "modules"))); err != nil {
		t.Log(err) // what changes while it is copied is compiled again
	}
	report, args := p.report(t), []string{"--cache", filepath.Join(kept, "modules")}
	results := func() map[string]time.Time {
		files := map[string]time.Time{}
		entries, _ := os.ReadDir(filepath.Join(kept, "experiments"))
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				files[e.Name()] = info.ModTime()
			}
		}
		return files
	}
	cmd := command(t, p.dir, nil, append([]string{"shadowcourt", "alibi", report}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.Do(t, cmd.Start())
	for range 6000 {
		if len(results()) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGINT))
	err = cmd.Wait()
	before := results()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") || len(before) == 0 {
		t.Fatalf("%v, %d results\n%s", err, len(before), stderr.String())
	}
	if said := stdout.String(); !strings.Contains(said, "Interrupted: 0 of 1 answered.") || strings.Contains(said, "Nothing failed") {
		t.Errorf("interrupted, it says %q", said)
	}
	got := p.alibi(t, nil, append(args, report)...)
	got.expect(t, "TestTotal", alibi.IsYours, alibi.Caused, alibi.Product)
	after := results()
	for name, written := range before {
		if !after[name].Equal(written) {
			t.Errorf("%s was run again", name)
		}
	}
	if len(after) <= len(before) {
		t.Errorf("%d results, %d before", len(after), len(before))
	}
}

// TestAccept_AL6_ATestThatNeedsAServer: the server answers this machine, and no test in isolation. With --network it is reached.
func TestAccept_AL6_ATestThatNeedsAServer(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	server := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer func() { _ = server.Close() }()
	p := broken(fmt.Sprintf("if c, err := net.Dial(\"tcp\", %q); err != nil { t.Fatal(err) } else { c.Close() }", server.Addr()), "net")
	p.write(t)
	report := p.report(t)
	if runtime.GOOS == "linux" {
		got := p.alibi(t, nil, report)
		got.expect(t, "TestTotal", alibi.IsOpen, "", "")
		if a := got.answers["TestTotal"]; got.code != 4 || a != nil && (!strings.Contains(a.Why, "network or a service") || !strings.Contains(a.Why+a.Next, "--network") || strings.Contains(a.Why+a.Next, "--experiments")) {
			t.Errorf("exit code %d: %s", got.code, saidOf(a))
		}
	}
	got := p.alibi(t, nil, "--network", report)
	got.expect(t, "TestTotal", alibi.IsYours, alibi.Caused, alibi.Product)
}

// TestAccept_AL6_WithoutUserNamespaces, as in the container of a CI: the trees are copies, and the answer is the same.
func TestAccept_AL6_WithoutUserNamespaces(t *testing.T) {
	t.Parallel()
	const none = "echo 0 > /proc/sys/user/max_user_namespaces && exec "
	if exec.CommandContext(t.Context(), "unshare", "-r", "sh", "-c", none+"true").Run() != nil {
		t.Skip("they can't be taken away here")
	}
	p := broken("_ = 0")
	p.write(t)
	execute(t, p.dir, nil, "unshare", "-r", "sh", "-c", none+`shadowcourt alibi "$0"`, p.report(t)).wants(t, 3, "YOURS      product: none of 2 failed on the base, 5 of 5 failed here")
}

// TestAccept_AL6_EverythingFailed: each of thirty failures has its answer.
func TestAccept_AL6_EverythingFailed(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	p := broken("_ = 0")
	for i := range 29 {
		p.green["cart/cart_test.go"] += fmt.Sprintf("func Test%d(t *testing.T) { if got := Total(); got != 1 { t.Errorf(\"got %%d\", got) } }\n", i)
	}
	p.write(t)
	got := p.alibi(t, nil, p.report(t))
	for test := range got.answers {
		got.expect(t, test, alibi.IsYours, alibi.Caused, alibi.Product)
	}
	if got.code != 3 || len(got.answers) != 30 {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
}

// TestAccept_AL5_AnotherCourtIsNamed in each output, and so is its price.
func TestAccept_AL5_AnotherCourtIsNamed(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "cmd/shadowcourt/internal/alibi")
	p := broken("_ = 0")
	p.write(t)
	report, court := p.report(t), filepath.Join(t.TempDir(), "mine.yaml")
	shipped := must.Get(pipelines.FS.ReadFile("alibi.yaml"))(t)
	writeFiles(t, "/", map[string]string{court: string(shipped)})
	named := regexp.MustCompile(`mine\\?\.yaml, judge specter \\?\(sha256 [0-9a-f]{64}\\?\)`)
	for format, price := range map[string]string{"table": "5% probable", "md": "5% probable", "jsonl": `"max_false_alibi":0.05`} {
		for _, other := range []bool{true, false} {
			args := []string{"alibi", "--format", format, report}
			if other {
				args = append(args, "--pipeline", court, "--max-false-alibi", "0.05")
			}
			s := execute(t, p.dir, nil, append([]string{"shadowcourt"}, args...)...)
			if s.code != 3 || named.MatchString(s.out) != other || strings.Contains(s.out, price) != other {
				t.Errorf("%v: %v", args, s)
			}
		}
	}
}

// TestAccept_AK12_Native: what fails for something of the machine that the laboratory hides does not come back there, and says so. With --native it does on
// both trees, which a clean environment in the laboratory mends; what the change broke stays yours, and the checkout as it is.
func TestAccept_AK12_Native(t *testing.T) {
	t.Parallel()
	busy := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer busy.Close()
	lock, outside := filepath.Join(t.TempDir(), "lock"), homeWith(t, "lock", "")
	writeFiles(t, "/", map[string]string{lock: ""})
	p := &project{head: map[string]string{"cart/cart.go": "package cart\n\nfunc Total() int { return 2 }\n"}}
	p.dir = filepath.Join(t.TempDir(), "project")
	p.green = map[string]string{"go.mod": goModule, "cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\n", "cart/cart_test.go": strings.NewReplacer(
		"PORT", busy.Addr().String(), "LOCK", lock, "HIDDEN", filepath.Join(outside, "lock"), "CHECKOUT", p.dir).Replace(`package cart

import ("io"; "net"; "os"; "os/exec"; "testing")

func TestPort(t *testing.T) { if _, err := net.Listen("tcp", "PORT"); err != nil { t.Error(err) } }
func TestMode(t *testing.T) { if os.Getenv("SHOP_MODE") == "off" { t.Error("the shop is off") } }
func TestLock(t *testing.T) { if _, err := os.Stat("LOCK"); err == nil { t.Error("another one runs") } }
func TestHidden(t *testing.T) { if _, err := os.Stat("HIDDEN"); err == nil { t.Error("another one runs") } }
func TestTotal(t *testing.T) {
	os.WriteFile("CHECKOUT/written", nil, 0o600)
	if os.Getenv("QUIET") == "" { exec.Command("setsid", "sleep", "3600.25").Start() }
	if text, err := io.ReadAll(os.Stdin); len(text) > 0 || err != nil { t.Error("there is an input") }
	if _, err := os.Open("/dev/tty"); err == nil { t.Error("there is a terminal") }
	if got := Total(); got != 1 { t.Errorf("got %d", got) }
}
`)}
	p.add(t, p.green)
	git(t, p.dir, "git init -q -b main . && git add . && git commit -qm green && git tag green")
	p.add(t, p.head)
	mode := []string{"SHOP_MODE=off"}
	report := p.report(t, "SHOP_MODE=off", "QUIET=yes")
	must.Do(t, os.Remove(filepath.Join(p.dir, "written")))
	machine := []string{"TestPort", "TestMode", "TestLock", "TestHidden"}
	if !tier.Whole("host/alibi", "host/experiment") {
		machine = machine[:1]
		report = without(t, report, "TestMode", "TestLock", "TestHidden")
	} else {
		got := p.alibi(t, mode, report)
		for _, test := range machine {
			if a := got.answers[test]; a == nil || a.Verdict != alibi.IsOpen || !strings.Contains(a.Why, "does not come back") || !strings.Contains(a.Next, "laboratory: --native") {
				t.Errorf("%s: %s", test, saidOf(a))
			}
		}
	}
	got := p.alibi(t, mode, "--native", report)
	for _, test := range machine {
		got.expect(t, test, alibi.NotYours, alibi.Environment, "")
	}
	got.expect(t, "TestTotal", alibi.IsYours, alibi.Caused, alibi.Product)
	if _, err := os.Stat(filepath.Join(p.dir, "written")); err == nil {
		t.Error("the checkout was changed")
	}
	if s := execute(t, "", nil, "pgrep", "-f", "sleep 3600.2[5]"); s.out != "" {
		t.Errorf("processes are left: %s", s.out)
	}
}
