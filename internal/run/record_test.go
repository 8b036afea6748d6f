package run

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// What was recorded before an error is acknowledged.
func TestAnErrorOfTheRecordTakesNoResultBack(t *testing.T) {
	t.Parallel()
	key, err := record.NewKey(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	writer, err := record.Create(filepath.Join(t.TempDir(), "record"), key, &record.Header{Contents: record.ContentsDigests})
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	show := func(list []recorded) error {
		for _, t := range list {
			given = append(given, t.Trial.Result.ID)
		}
		return nil
	}
	r := &recording{writer: writer, synced: time.Now().Add(time.Hour), now: time.Now, show: show} // nothing is due
	defer r.leave()
	try := func(id string) error {
		none := record.DigestOf(nil)
		return r.append(&host.Tried{
			Trial:  &trial.Trial{Result: trial.Result{ID: id}},
			Record: &record.Trial{ID: id, Case: none, ResultDigest: none, Modules: []record.Part{{Name: "a", Digest: none}}},
		})
	}
	if err := errors.Join(try("one"), try("two")); err != nil || len(given) > 0 {
		t.Fatalf("%v, %q were given", err, given)
	}
	if err := try("two"); err == nil {
		t.Error("a second trial of a case was recorded")
	}
	if !slices.Equal(given, []string{"one", "two"}) {
		t.Errorf("%q were given", given)
	}
}
