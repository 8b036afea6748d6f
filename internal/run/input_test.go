package run

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const (
	events = `{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T"}` + "\n"
	suite  = `<testsuite name="s"><testcase classname="c" name="n"><failure>no</failure></testcase></testsuite>`
)

func gzipOf(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return b.String()
}

// told opens and reads an input, and gives the cases with their sources, and the errors, a line each. A name is "-" for a stream.
func told(t *testing.T, name, content, format string) string {
	t.Helper()
	stdin := strings.NewReader("")
	if name == "-" {
		stdin = strings.NewReader(content)
	} else if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDockets(t.Context(), stdin, []string{name}, format)
	if err != nil {
		return err.Error()
	}
	var said []string
	for entry, err := range d.Entries("") {
		if err != nil {
			said = append(said, "! "+err.Error())
			continue
		}
		said = append(said, entry.Case.ID+" of "+entry.Source)
	}
	return strings.Join(said, "\n")
}

// TestAccept_IG4_BombsAndNonsense: gzip is read by its content; bombs and nonsense are rejected by name, with the limit.
func TestAccept_IG4_BombsAndNonsense(t *testing.T) {
	t.Chdir(t.TempDir())
	tar := "dir/" + strings.Repeat("\x00", 253) + "ustar\x0000"
	for _, tc := range []struct{ name, content, format, want string }{
		{"a.xml.gz", gzipOf(t, suite), Auto, "c.n of a.xml.gz"},
		{"by-content", gzipOf(t, events), GoTest, "p.T of by-content"},
		{"-", gzipOf(t, events), Auto, "p.T of stdin"},
		{"-", gzipOf(t, events), GoTest, "p.T of stdin"},
		{"two.gz", gzipOf(t, events) + gzipOf(t, strings.ReplaceAll(events, `"T"`, `"U"`)), Auto, "p.T of two.gz\np.U of two.gz"},
		{"bomb.gz", gzipOf(t, events) + strings.Repeat(gzipOf(t, strings.Repeat(" ", 1<<20)), freeBytes>>20), Auto, "bomb.gz: looks like a decompression bomb: it has more than 256 MiB when it is unpacked, more than 100 times its size"},
		{"two.gz", gzipOf(t, gzipOf(t, suite)), Auto, "two.gz is compressed (gzip)"},
		{"zip.gz", gzipOf(t, "PK\x03\x04"), Auto, "zip.gz is a zip archive; extract the reports first, as with `unzip zip.gz`"},
		{"tar.gz", gzipOf(t, tar), Auto, "tar.gz is a tar archive; extract the reports first"},
		{"head.gz", "\x1f\x8b", Auto, "head.gz: begins as gzip does, and can't be unpacked: unexpected EOF"},
		{"cut.gz", gzipOf(t, suite)[:60], Auto, "unexpected EOF"},
		{"damaged.gz", gzipOf(t, events)[:40] + strings.Repeat("\x00", 16), Auto, "flate: corrupt input"},
		{"x.zip", "PK\x03\x04", JUnit, "x.zip is a zip archive; extract the reports first, as with `unzip x.zip`"},
		{"zst", "\x28\xb5\x2f\xfd", Auto, "zst is compressed (zstd)"},
		{"text", "# p\n--- FAIL: TestA (0.00s)\nFAIL\tp\t0.1s\n", GoTest, "text is what `go test` prints for people"},
	} {
		if got := told(t, tc.name, tc.content, tc.format); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwant %s", tc.name, got, tc.want)
		}
	}
	g := &gunzip{name: "x.gz", gzip: true, in: strings.NewReader("12"), read: 1 << 40, out: maxUnpackedBytes - 1}
	if _, err := io.ReadAll(g); err == nil || err.Error() != "x.gz: has more than 4096 MiB when it is unpacked, the limit: split it (too_large)" {
		t.Error(err)
	}
}

// TestManyInputs: more inputs than may be open at once are read in their order.
func TestManyInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 3 * maxOpen {
		must.Do(t, os.WriteFile(fmt.Sprintf("%03d.json", i), []byte(strings.ReplaceAll(events, `"T"`, fmt.Sprintf(`"T%d"`, i))), 0o600))
	}
	d := must.Get(OpenDockets(t.Context(), nil, []string{"*.json"}, Auto))(t)
	open := 0
	for _, in := range d.list {
		if in.reader != nil {
			open++
		}
	}
	n := 0
	for entry, err := range d.Entries("") {
		if want := fmt.Sprintf("p.T%d", n); err != nil || entry.Case.ID != want {
			t.Errorf("%s, want %s: %v", entry.Case.ID, want, err)
		}
		n++
	}
	if n != 3*maxOpen || open > maxOpen || !d.Only(GoTest) {
		t.Errorf("%d cases, %d were open", n, open)
	}
}

// FuzzInput holds that no bytes of an input make a panic, unpacked or not, and that its cases are called after it.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{suite, events, gzipOf(f, suite), gzipOf(f, gzipOf(f, events)), "PK\x03\x04", "--- FAIL: T/a (0.00s)\n{\"Action\":\"fail\"}\nFAIL\tp [setup failed]\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &input{name: "x", format: Auto}
		d := &Dockets{list: []*input{in}}
		must.Do(t, d.stream(t.Context(), in, bytes.NewReader(data), func() error { return nil }))
		for entry, err := range d.Entries("") {
			if err == nil && entry.Source != "x" {
				t.Errorf("a case of %q", entry.Source)
			}
		}
	})
}
