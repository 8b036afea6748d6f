package wire_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A token is in a file that only its owner may read, is found by the address of its service alone, and goes with the service.
func TestAccept_FZ2_TheTokenOfAServiceIsItsOwners(t *testing.T) { //nolint:paralleltest // it sets a variable
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	const origin = "http://127.0.0.1:8712"
	find := func(server, wantAt, wantToken string) {
		t.Helper()
		s, err := wire.FindOwn(server)
		if s.Token == "" {
			s.Origin = ""
		}
		if s.Origin != wantAt || s.Address != "" || s.Token != wantToken || err != nil {
			t.Errorf("%s: %+v %v", server, s, err)
		}
	}
	find(origin, "", "")
	dir := must.Get(wire.DataFolder())(t)
	first := must.Get(wire.KeepOwn(origin, "first"))(t)
	find(origin, origin, "first")
	second := must.Get(wire.KeepOwn(origin, "second"))(t) // after the first one was killed
	first()
	find(origin, origin, "second")
	find("http://localhost:8712", origin, "second")
	for _, other := range []string{"https://127.0.0.1:8712", "http://127.0.0.1:8713", "http://127.0.0.2:8712", "http://court.example:8712", "http://[::1]:8712", "https://localhost:8712"} {
		find(other, "", "")
	}
	if runtime.GOOS != "windows" {
		files, err := filepath.Glob(filepath.Join(dir, "services", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%q %v", files, err)
		}
		info, err := os.Stat(files[0])
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		must.Do(t, os.Chmod(files[0], 0o640))
		if s, err := wire.FindOwn(origin); s.Token != "" || err == nil || !strings.Contains(err.Error(), "0640") {
			t.Errorf("others may read it: %+v %v", s, err)
		}
		must.Do(t, os.Chmod(files[0], 0o600))
	}
	second()
	find(origin, "", "")
	if runtime.GOOS != "windows" {
		must.Do(t, os.Chmod(filepath.Join(dir, "services"), 0o777))
		if _, err := wire.KeepOwn(origin, "third"); err == nil {
			t.Error("a token is kept where others may write")
		}
	}
}

// With TLS a service is found by the name localhost, too, at the address that it listens at alone: another user may have the other one.
func TestAccept_FZ9_LocalhostWithTLSIsTheAddressOfTheService(t *testing.T) { //nolint:paralleltest // it sets a variable
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	const origin = "https://127.0.0.1:8712"
	remove := must.Get(wire.KeepOwn(origin, "token"))(t)
	s, err := wire.FindOwn("https://localhost:8712")
	if want := (wire.Own{Origin: "https://localhost:8712", Address: "127.0.0.1:8712", Token: "token"}); s != want || err != nil {
		t.Errorf("%+v %v", s, err)
	}
	for server, near := range map[string]string{
		"http://127.0.0.1:8712": origin, "https://[::1]:8712": origin, "http://localhost:8712": origin, "https://127.0.0.2:8712": origin,
		origin: "", "https://127.0.0.1:8713": "", "https://court.example:8712": "",
	} {
		if s, err := wire.FindOwn(server); server != origin && s.Token != "" || err != nil {
			t.Errorf("%s: %+v %v", server, s, err)
		}
		if got := wire.OwnNear(server); got != near {
			t.Errorf("%s: near %q, want %q", server, got, near)
		}
	}
	remove()
	if s, err := wire.FindOwn("https://localhost:8712"); s.Token != "" || err != nil {
		t.Errorf("%+v %v", s, err)
	}
}
