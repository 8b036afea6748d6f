package pull_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/pull"
)

const (
	one = "sha256:" + "1111111111111111111111111111111111111111111111111111111111111111"
	two = "sha256:" + "2222222222222222222222222222222222222222222222222222222222222222"
)

func TestAccept_DI1_LockFiles(t *testing.T) {
	f := &pull.Lock{Modules: []pull.Pin{
		{Name: "specter", Digest: two},
		{Name: "oci://registry.example/judges/reader:v1", Manifest: one, Digest: two},
	}}
	text, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := pull.ParseLock("shadowcourt.lock", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if m := again.Module("oci://registry.example/judges/reader:v1"); m == nil || m.Manifest != one || m.Digest != two {
		t.Errorf("%+v of\n%s", m, text)
	}
	if other, err := again.Bytes(); err != nil || !bytes.Equal(other, text) {
		t.Errorf("%v\n%s", err, other)
	}
	if (*pull.Lock)(nil).Module("specter") != nil || again.Module("bulwark") != nil {
		t.Error("a module that is not pinned")
	}
	if err := again.Check(map[string]string{"specter": two}); err != nil {
		t.Error(err)
	}
	err = again.Check(map[string]string{"specter": one, "bulwark": one})
	want := "shadowcourt.lock: bulwark is not in it\nshadowcourt.lock:7:13: specter is " + one + ", and " + two + " is pinned"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

func TestFaultsOfLockFiles(t *testing.T) {
	_, err := pull.ParseLock("l", []byte("modules:\n  - {module: a, digest: sha256:1}\n  - {module: a, digest: "+one+", manifest: md5:2}\n  - {digest: "+one+"}\nextra: 1\n"))
	for _, want := range []string{"l:2:25: modules[0].digest: ", "l:3:14: modules[1].module: ", "modules[1].manifest: ", "l:4:5: modules[2].module: ", "l:5:1: extra: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte("modules:\n  - module: specter\n    digest: " + one + "\n"))
	f.Add([]byte("modules: [{module: a, digest: b, manifest: c}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := pull.ParseLock("l", data)
		if err != nil {
			return
		}
		text, err := l.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pull.ParseLock("l", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
