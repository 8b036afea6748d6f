package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

func TestAppendKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	v := abi.LogLine{Message: "x"}
	if got, want := string(codec.AppendLogLine([]byte("abc"), &v)), "abc\x81\xa7message\xa1x"; got != want {
		t.Errorf("is %q, want %q", got, want)
	}
}

// The codec as it is built for modules gives the same bytes and the same
// problems as the host's, for every vector and for mutated messages. The host's
// answers to the vectors are checked in package abitest.
func TestAccept_FR10_GuestCodecRejectsEveryClassOfEveryType(t *testing.T) {
	t.Parallel()
	sets, err := abitest.Sets()
	if err != nil {
		t.Fatal(err)
	}
	var asked bytes.Buffer
	var want []string
	ask := func(name string, maxBytes int, data []byte) {
		fmt.Fprintf(&asked, "%s %d %x\n", name, maxBytes, data)
		c, _ := codec.Lookup(name)
		canonical, err := c.Canonical(data, maxBytes)
		line := hex.EncodeToString(canonical)
		if rejected, ok := errors.AsType[*abi.ValidationError](err); ok {
			line = fmt.Sprintf("%+q", rejected.Problems) + strconv.Itoa(rejected.Omitted)
		}
		want = append(want, line)
	}
	for i := range sets {
		for j := range sets[i].Vectors {
			v := &sets[i].Vectors[j]
			message, err := v.Message()
			if err != nil {
				t.Fatal(err)
			}
			ask(sets[i].Type, v.Limit, message)
		}
	}
	for i, m := range codec.Messages {
		for _, data := range mutated(t, m, rand.New(rand.NewPCG(11, uint64(i))), 20) {
			ask(m.Name, 0, data)
		}
	}
	got := strings.Split(strings.TrimSuffix(runGuest(t, asked.Bytes()), "\n"), "\n")
	if len(got) != len(want) || len(want) < 20_000 {
		t.Fatalf("%d answers to %d messages", len(got), len(want))
	}
	lines := strings.Split(asked.String(), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%.200s\nguest: %s\nhost:  %s", lines[i], got[i], want[i])
		}
	}
}

// runGuest builds testdata/guest for WebAssembly and runs it.
func runGuest(t *testing.T, stdin []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./testdata/guest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer func() { _ = r.Close(ctx) }()
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var out bytes.Buffer
	config := wazero.NewModuleConfig().WithStdin(bytes.NewReader(stdin)).WithStdout(&out).WithStderr(os.Stderr)
	if _, err := r.InstantiateWithConfig(ctx, wasm, config); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
