package host_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A further host on the same modules costs at most 10 MB, and the machine code
// is gone when the last host is closed. The child process has no other hosts.
func TestHostsShareCompiledModules(t *testing.T) {
	if os.Getenv("SHADOWCOURT_TEST_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHostsShareCompiledModules$", "-test.v")
		cmd.Env = append(os.Environ(), "SHADOWCOURT_TEST_CHILD=1")
		out, err := cmd.CombinedOutput()
		must.Do(t, err, out)
		t.Logf("%s", out)
		return
	}
	const more, limit = 10, 10 << 20
	var hosts []*host.Host
	add := func() {
		h := must.Get(host.Open(t.Context(), host.Config{CacheDir: cacheDir}))(t)
		try(t, h, dispute())
		hosts = append(hosts, h)
	}
	settled := func() int64 {
		debug.FreeOSMemory()
		return resident(t)
	}
	none := settled()
	add()
	one := settled()
	for range more {
		add()
	}
	all := settled()
	t.Logf("resident: no host %d MB, one %d MB, %d hosts %d MB", none>>20, one>>20, 1+more, all>>20)
	if all-one > more*limit {
		t.Errorf("a further host costs %d bytes, want at most %d", (all-one)/more, limit)
	}
	for _, h := range hosts {
		must.Do(t, h.Close(context.Background()))
	}
	// The code is unmapped by a collection that the last Close asks for; none is forced here.
	var left int64
	for range 200 {
		if left = resident(t); left < none+(one-none)/2 {
			t.Logf("resident after the last Close: %d MB", left>>20)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d bytes are resident after the last Close, %d before the first host", left, none)
}

// resident is the process's resident memory in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	t.Helper()
	status := must.Get(os.ReadFile("/proc/self/status"))(t)
	for line := range bytes.Lines(status) {
		var kb int64
		if n, _ := fmt.Sscanf(string(line), "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("/proc/self/status has no VmRSS: " + strconv.Quote(string(status)))
	return 0
}
