package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == launch.Arg {
		os.Exit(launch.Run(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// TestFaultsInASandbox: a launcher that may change little itself still breaks the environment of what it launches.
func TestFaultsInASandbox(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(fault, script string) string {
		scratch := t.TempDir()
		note := filepath.Join(scratch, "note")
		r, err := isolate.Run(t.Context(), isolate.Command{
			Args: []string{self, launch.Arg, fault, "/bin/sh", "-c", script}, Dir: scratch, Scratch: scratch, Show: []string{filepath.Dir(self)},
			Env: []string{"PATH=" + os.Getenv("PATH"), launch.NoteEnv + "=" + note, launch.GorootEnv + "=/none"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Level != isolate.Namespaces {
			t.Skip("needs namespaces")
		}
		why, _ := os.ReadFile(note)
		return string(r.Output) + string(why)
	}
	const look = `wc -c < /etc/passwd; cat /sys/class/net/lo/operstate /proc/net/if_inet6; ulimit -n; echo "$TZ"; echo x > $TMPDIR/x`
	whole := run("", look)
	for _, fault := range []string{"no network", "no users file", "few open files:9", "wrong time zone:Asia/Kathmandu", "disk full:0", "no proc"} {
		if out := run(fault, look); out == whole || strings.Contains(out, fault+":") {
			t.Errorf("%s: %q, without it %q", fault, out, whole)
		}
	}
}
