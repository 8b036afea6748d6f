package wire_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/wire"
)

// A module that links this package must stay small and compile fast.
func TestDependenciesStaySmall(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/shadowcourt/shadowcourt/abi") {
		t.Fatalf("go list gives %v", deps)
	}
	for _, dep := range deps {
		switch {
		case dep == "fmt", dep == "reflect", dep == "os", dep == "io", dep == "time", dep == "sync", dep == "sort", strings.HasPrefix(dep, "encoding"):
			t.Errorf("links %s", dep)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	v := abi.Document{Name: "log", Text: "x"}
	if got, want := string(wire.AppendDocument([]byte("abc"), &v)), "abc\x82\xa4name\xa3log\xa4text\xa1x"; got != want {
		t.Errorf("is %q, want %q", got, want)
	}
}

// What was in the value before is gone, and nothing of a bad message comes in.
func TestDecodeBeginsAnew(t *testing.T) {
	t.Parallel()
	v := abi.Evidence{SourceRef: "old", Supports: "old"}
	good := wire.AppendEvidence(nil, &abi.Evidence{SourceRef: "new", RelevanceConfidence: 1})
	if err := wire.DecodeEvidence(good, &v); err != nil || v != (abi.Evidence{SourceRef: "new", RelevanceConfidence: 1}) {
		t.Errorf("is %+v (%v)", v, err)
	}
	if err := wire.DecodeEvidence(append(good, 0), &v); err == nil || v != (abi.Evidence{}) {
		t.Errorf("is %+v (%v)", v, err)
	}
}

func TestAccept_FR10_GuestCodecRefusesEveryClassOfEveryType(t *testing.T) {
	t.Parallel()
	abitest.Run(t, func(name string, data []byte, limit int) ([]byte, error) {
		if limit > 0 && len(data) > limit { // a guest's limit is its memory
			var c abi.Collector
			c.Add(abi.CodeTooLarge, "is too large")
			return nil, c.Err()
		}
		return wire.Canonical(name, data)
	})
}
