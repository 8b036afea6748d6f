package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_HS3_OneStoreOfAnswers: experiments and clients of registries keep what they got in caches of this kind, which give back what was put
// in and nothing that is damaged, old or too long.
func TestAccept_HS3_OneStoreOfAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "answers")
	limits := CacheLimits{Files: 8, Bytes: 10, Age: time.Hour}
	c, err := OpenCache(dir, limits)
	must.Do(t, err)
	has := func(want bool, digest string, now time.Time) {
		t.Helper()
		if got, ok := c.Get(digest, now); ok != want || ok && string(got) != "yes\nno" {
			t.Errorf("%s: %q, %t", digest, got, ok)
		}
	}
	now := time.Now()
	for name, answer := range map[string]string{"good": "yes\nno", "damaged": "yes\nno", "long": "yes\nno, and more"} {
		c.Put(name, []byte(answer))
	}
	must.Do(t, os.WriteFile(c.path("damaged"), []byte(sumOf([]byte("yes\nno"))+"\nyes\nNo"), 0o600))
	has(true, "good", now)
	has(false, "good", now.Add(2*time.Hour))
	has(false, "damaged", now)
	has(false, "long", now)
	has(false, "none", now)
	for i := range 6 {
		name := strconv.Itoa(i)
		c.Put(name, nil)
		must.Do(t, os.Chtimes(c.path(name), now, now.Add(-time.Duration(10-i)*time.Minute)))
	}
	c = must.Get(OpenCache(dir, limits))(t)
	if _, oldest := c.Get("0", now); oldest {
		t.Error("the oldest answer was not removed")
	}
	check.Equal(t, must.Get(ClearCache(dir))(t).Answers, 7, "were removed")
	check.Equal(t, must.Get(MeasureCache(dir))(t).Answers, 0, "are left")
	must.Do(t, os.Chmod(dir, 0o777))
	if _, err := OpenCache(dir, limits); err == nil {
		t.Error("a folder into which others write was taken")
	}
	c = must.Get(OpenCache("", limits))(t)
	c.Put("good", nil)
	has(false, "good", now)
}

// TestCacheTotal: with a limit of bytes, what was not used for longest goes first.
func TestCacheTotal(t *testing.T) {
	t.Parallel()
	answer := make([]byte, 100)
	c := must.Get(OpenCache(filepath.Join(t.TempDir(), "answers"), CacheLimits{Files: 100, Bytes: 100, Total: 2 * (100 + sumBytes)}))(t)
	now := time.Now()
	for i, name := range []string{"a", "b"} {
		c.Put(name, answer)
		must.Do(t, os.Chtimes(c.path(name), now, now.Add(time.Duration(i-60)*time.Minute)))
	}
	if _, ok := c.Get("a", now); !ok {
		t.Error("a went while there was room")
	}
	c.Put("c", answer)
	for name, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, ok := c.Get(name, now); ok != want {
			t.Errorf("%s: %t", name, ok)
		}
	}
}
