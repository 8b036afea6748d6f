package gotest_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// FuzzRead holds that every case is one that the contract allows, and that every excerpt stands in its log.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/shop.gotest.json", "testdata/plain_build.gotest.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
		f.Add(string(data), 3000)
	}
	f.Add("{\"Action\":\"fail\",\"Package\":\"\xff\"}\n", 1)
	f.Fuzz(func(t *testing.T, stream string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := gotest.Reader{HeadBytes: keep, TailBytes: keep}
		seen := map[string]bool{}
		for entry, err := range reader.Read("run.json", strings.NewReader(stream)) {
			if err != nil {
				continue
			}
			c := entry.Case
			if c.ID == "" || seen[c.ID] {
				t.Errorf("case id %q is empty or was given before", c.ID)
			}
			seen[c.ID] = true
			checkCase(t, c)
		}
	})
}

func checkCase(t *testing.T, c abi.Case) {
	t.Helper()
	log := c.Documents[0].Text
	if !utf8.ValidString(log) || !utf8.ValidString(c.ID+c.Subject+c.Group) {
		t.Errorf("case %q is no valid UTF-8", c.ID)
	}
	if c.Light == nil || c.Light.Confidence <= 0 || c.Light.Confidence >= 1 || c.Evidence == nil {
		t.Errorf("case %q has no sound answer of Light or no list of evidence", c.ID)
	}
	for _, e := range c.Evidence {
		if e.Content == "" || !utf8.ValidString(e.Content) || !strings.Contains(log, e.Content) {
			t.Errorf("case %q: %s quotes %q, which is not in its log", c.ID, e.SourceRef, e.Content)
		}
	}
}
