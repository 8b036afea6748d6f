package sandbox

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A head tells what the file tells, and the file is read only to compile it.
func TestAHeadStandsForItsFile(t *testing.T) {
	t.Parallel()
	wasm := goGuest(t)
	head := must.Get(HeadOf(wasm))(t)
	if len(head) > len(wasm)/10 {
		t.Errorf("the head of %d bytes has %d", len(wasm), len(head))
	}
	reads := 0
	file := Headed{head, func() ([]byte, error) { reads++; return wasm, nil }}
	got := must.Get(file.Inspect())(t)
	want := must.Get(Inspect(wasm))(t)
	inspected := got
	got.file, got.whole, want.file = nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the head tells %+v, the file %+v", got, want)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		m := must.Get(open(t, Config{CacheDir: dir}).LoadInspected(t.Context(), inspected, nil))(t)
		closed(t, m)
	}
	if reads != 1 {
		t.Errorf("the file was read %d times, want once", reads)
	}
}

func TestHeadsOfOtherFilesAreRejected(t *testing.T) {
	t.Parallel()
	head := must.Get(HeadOf(small(echoBody).Bytes()))(t)
	broken := errors.New("broken")
	for want, read := range map[string]func() ([]byte, error){
		"the digest of the file is": func() ([]byte, error) { return unique("other"), nil },
		broken.Error():              func() ([]byte, error) { return nil, broken },
	} {
		info := must.Get(Headed{head, read}.Inspect())(t)
		if _, err := open(t, Config{}).LoadInspected(t.Context(), info, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for name, head := range map[string][]byte{"a whole module": small(echoBody).Bytes(), "a part": head[:len(head)-30], "no wasm": bytes.Repeat([]byte{1}, 100)} {
		if _, err := (Headed{Head: head}).Inspect(); err == nil {
			t.Errorf("%s is taken for a head", name)
		}
	}
}
