package isolate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// secretHome is a home of the user with a secret, a toolchain and a link to another one.
func secretHome(t *testing.T, in string) string {
	t.Helper()
	home, err := os.MkdirTemp(in, "home-") //nolint:usetesting // not below /tmp, which the program does not see anyway
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if home, err = filepath.Abs(home); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".ssh/id_test": "planted-secret", "tools/bin/tool": "#!/bin/sh\necho tool\n", ".cargo/credentials.toml": "planted-secret", ".cargo/bin/x": "x"} {
		path := filepath.Join(home, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	}
	must.Do(t, os.Symlink(filepath.Join(home, "tools"), filepath.Join(home, "link")))
	t.Setenv("HOME", home)
	return home
}

// TestAccept_FZ8_TestsSeeNothingOfTheHome: a program reads nothing of the user's home, of /run and /var and of other processes, but the
// folders that are named and those of PATH.
func TestAccept_FZ8_TestsSeeNothingOfTheHome(t *testing.T) {
	for _, level := range levels(t) {
		t.Run(string(level), func(t *testing.T) {
			home := secretHome(t, ".")
			quoted := "'" + home + "'"
			script := `cat ` + quoted + `/.ssh/id_test ` + quoted + `/link/../.ssh/id_test /proc/self/root` + quoted + `/.ssh/id_test; ls ` + quoted + `/.ssh ` + quoted + `/.cargo
				for p in /proc/[0-9]*; do cat $p/environ $p/root` + quoted + `/.ssh/id_test $p/cwd/.ssh/id_test $p/fd/*/.ssh/id_test; done
				ls /var/lib/dpkg /run/user; tool; cat ` + quoted + `/.cargo/bin/x; echo ` + quoted + `/link/bin/*; echo written > here; cat here; true`
			change := func(c *isolate.Command) {
				c.Env = []string{"PATH=" + os.Getenv("PATH") + ":" + filepath.Join(home, "tools", "bin") + ":" + home}
				c.Show = []string{filepath.Join(home, "link"), filepath.Join(home, ".cargo", "bin"), home, "/", filepath.Join(home, "none")}
			}
			t.Setenv("PLANTED", "planted-secret")
			out := string(shell(t, level, script, change).Output)
			if strings.Contains(out, "planted-secret") || strings.Contains(out, "credentials") {
				t.Errorf("it read the secret:\n%s", out)
			}
			if !strings.Contains(out, "tool\n") || !strings.Contains(out, "written\n") || !strings.Contains(out, "link/bin/tool") || !strings.Contains(out, "x"+home) {
				t.Errorf("it lacks what it needs:\n%s", out)
			}
			if strings.Contains(out, "alternatives") {
				t.Errorf("it saw other folders:\n%s", out)
			}
			out = string(shell(t, level, "cat "+quoted+"/.ssh/id_test", func(c *isolate.Command) { c.Home = true }).Output)
			if out != "planted-secret" {
				t.Errorf("with the home it read %q", out)
			}
		})
	}
}

// HOME names the home that a program sees: the user's where it may read that, else an empty folder, whatever the variables say.
func TestAccept_FZ8_HomeNamesTheHomeThatIsSeen(t *testing.T) {
	for _, level := range levels(t) {
		for _, in := range []string{".", os.TempDir()} {
			home := secretHome(t, in)
			run := func(seen bool, env ...string) string {
				return string(shell(t, level, `ls -A "$HOME"; echo "$HOME"`, func(c *isolate.Command) {
					c.Home, c.Env = seen, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
				}).Output)
			}
			if out := run(false, "HOME="+home); strings.Contains(out, home) || !strings.HasSuffix(out, "/home\n") || strings.Count(out, "\n") != 1 {
				t.Errorf("a hidden home is %q", out)
			}
			if out := run(true); !strings.HasSuffix(out, "/home\n") || strings.Count(out, "\n") != 1 {
				t.Errorf("without a variable, as in clean runs, the home is %q", out)
			}
			if out := run(true, "HOME="+home); !strings.Contains(out, ".ssh\n") || !strings.HasSuffix(out, "\n"+home+"\n") {
				t.Errorf("the home that is seen is %q", out)
			}
		}
	}
}

// What is hidden by name, such as the checkout, is hidden in a folder of the system, too, and protected files of /etc are empty.
func TestHiddenFoldersAndProtectedFiles(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	out := string(shell(t, isolate.Namespaces, "ls /usr/share/*; cat /etc/shadow; cat /etc/hostname >/dev/null; ls /etc/ssl/certs | head -1; touch /usr/share/x /home/x", func(c *isolate.Command) {
		c.Hide = []string{"/usr/share"}
	}).Output)
	if strings.Contains(out, "doc") || strings.Contains(out, "root:") || strings.Count(out, "Read-only file system") != 2 {
		t.Errorf("it saw %s", out)
	}
}

// What stands behind a link in the folder of a tree is shown there, wherever it leads: environments of Python often are such links.
func TestALinkInTheTreeLeadsToWhatIsShown(t *testing.T) {
	if isolate.Strongest() != isolate.Namespaces {
		t.Skip("the system allows no user namespaces")
	}
	home := secretHome(t, ".")
	tree, far := filepath.Join(home, "p"), filepath.Join(home, "environments", "of", "all", "projects", "p")
	for _, dir := range []string{tree, filepath.Join(far, "lib")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	must.Do(t, os.WriteFile(filepath.Join(far, "lib", "module"), []byte("loaded"), 0o600))
	must.Do(t, os.Symlink(far, filepath.Join(tree, ".venv")))
	out := string(shell(t, isolate.Namespaces, "cat .venv/lib/module; ls "+home+"/.ssh", func(c *isolate.Command) {
		c.Dir, c.Overlays, c.Show = tree, []string{tree}, []string{filepath.Join(tree, ".venv", "lib")}
	}).Output)
	if !strings.HasPrefix(out, "loaded") || strings.Contains(out, "id_test") {
		t.Errorf("it saw %q", out)
	}
}

// TestAccept_EX6_AViewHidesTheCheckout: a program sees a tree in the place of the checkout, with what is kept of that, and changes
// neither, whatever links the tree has.
func TestAccept_EX6_AViewHidesTheCheckout(t *testing.T) {
	if !isolate.CanView() {
		t.Skip("the system allows no user namespaces")
	}
	for _, write := range []bool{false, true} {
		checkout, scratch, outside := t.TempDir(), t.TempDir(), t.TempDir()
		tree := filepath.Join(t.TempDir(), "tree")
		if write {
			tree = filepath.Join(scratch, "tree")
		}
		for name, text := range map[string]string{
			filepath.Join(checkout, "product"): "new", filepath.Join(checkout, "secret"): "hidden", filepath.Join(checkout, "modules", "a"): "kept",
			filepath.Join(checkout, "version"): "7", filepath.Join(checkout, "link", "b"): "kept", filepath.Join(tree, "product"): "old",
			filepath.Join(outside, "file"): "untouched",
		} {
			must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must.Do(t, os.WriteFile(name, []byte(text), 0o644))
		}
		must.Do(t, os.Symlink(outside, filepath.Join(tree, "link")))
		must.Do(t, os.Chmod(tree, 0o751))
		r := shell(t, isolate.Namespaces, `cat product modules/a version; stat -c %a . ; cat secret; ls link 2>&1
			echo report >report; echo x >product; echo x >modules/a; echo x >modules/b; echo x >version; echo x >`+outside+`/file; true`, func(c *isolate.Command) {
			c.Scratch, c.Dir = scratch, checkout
			c.Views = []isolate.View{{At: checkout, From: tree, Keep: []string{"modules", "version", "link", "none"}, Write: write}}
		})
		if got := string(r.Output); !strings.HasPrefix(got, "oldkept7751\ncat: secret") || strings.Contains(got, "hidden") || r.ExitCode != 0 {
			t.Errorf("write %v: it saw %q", write, got)
		}
		written := isolate.Written(scratch, 0)
		if write {
			written = tree
		}
		for name, want := range map[string]string{
			filepath.Join(checkout, "product"): "new", filepath.Join(checkout, "modules", "a"): "kept", filepath.Join(checkout, "version"): "7",
			filepath.Join(outside, "file"): "untouched", filepath.Join(written, "report"): "report\n",
		} {
			if got, err := os.ReadFile(name); string(got) != want {
				t.Errorf("write %v: %s has %q, %v", write, name, got, err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(tree, "product")); (string(got) == "old") == write {
			t.Errorf("write %v: the tree has %q, %v", write, got, err)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
			t.Errorf("write %v: beside the tree there are %v, %v", write, entries, err)
		}
	}
}
