package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestAccept_HS3_OneStoreOfAnswers: experiments and language models keep what they got in caches of this kind, which give back what was put
// in and nothing that is damaged, old or too long.
func TestAccept_HS3_OneStoreOfAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "answers")
	limits := CacheLimits{Files: 8, Bytes: 10, Age: time.Hour}
	c, err := OpenCache(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(c.path("damaged"), []byte(sumOf([]byte("yes\nno"))+"\nyes\nNo"), 0o600); err != nil {
		t.Fatal(err)
	}
	has(true, "good", now)
	has(false, "good", now.Add(2*time.Hour))
	has(false, "damaged", now)
	has(false, "long", now)
	has(false, "none", now)
	for i := range 6 {
		name := strconv.Itoa(i)
		c.Put(name, nil)
		if err := os.Chtimes(c.path(name), now, now.Add(-time.Duration(10-i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = OpenCache(dir, limits); err != nil {
		t.Fatal(err)
	}
	if _, oldest := c.Get("0", now); oldest {
		t.Error("the oldest answer was not removed")
	}
	if use, err := ClearCache(dir); err != nil || use.Answers != 7 {
		t.Errorf("%+v were removed, %v", use, err)
	}
	if use, err := MeasureCache(dir); err != nil || use.Answers != 0 {
		t.Errorf("%+v are left, %v", use, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(dir, limits); err == nil {
		t.Error("a folder into which others write was taken")
	}
	if c, err = OpenCache("", limits); err != nil {
		t.Fatal(err)
	}
	c.Put("good", nil)
	has(false, "good", now)
}
