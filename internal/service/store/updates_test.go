package store_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// looks takes turns, and keeps what the last one found.
func looks(t *testing.T, s *store.Store) { //nolint:thelper // a test of the suite
	ctx := t.Context()
	if l, err := s.LastLook(ctx); err != nil || !l.Ended.IsZero() || len(l.Found) != 0 {
		t.Errorf("before one: %+v, %v", l, err)
	}
	for i, want := range []bool{true, false} {
		if begun, err := s.BeginLook(ctx, time.Hour); err != nil || begun != want {
			t.Errorf("look %d: %v, %v", i, begun, err)
		}
	}
	found := []store.NewerVersion{{Module: "specter", Update: store.UpdatePatch, Has: "1.2.3", Version: "1.2.4", Generation: 7, Fault: "a \x1b fault"}}
	must(t, s.EndLook(ctx, found))
	if l, err := s.LastLook(ctx); err != nil || l.Ended.IsZero() || !reflect.DeepEqual(l.Found, found) {
		t.Errorf("%+v, %v", l, err)
	}
	if begun, err := s.BeginLook(ctx, 0); err != nil || !begun {
		t.Errorf("at once: %v, %v", begun, err)
	}
}

func TestALookBeginsWhenTheTimeHasComeOrTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	c := &clock{}
	s := openWith(t, filepath.Join(t.TempDir(), "test.db"), c)
	for i, step := range []struct {
		ahead time.Duration
		want  bool
	}{{0, true}, {59 * time.Minute, false}, {time.Minute, true}, {-24 * time.Hour, true}, {time.Minute, false}} {
		c.millis.Add(step.ahead.Milliseconds())
		if begun, err := s.BeginLook(t.Context(), time.Hour); err != nil || begun != step.want {
			t.Errorf("step %d: %v, %v", i, begun, err)
		}
	}
}
