package run

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	events    = `{"Action":"run","Package":"p","Test":"T"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T"}` + "\n"
	suite     = `<testsuite name="s"><testcase classname="c" name="n"><failure>no</failure></testcase></testsuite>`
	findings  = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"ruleId":"R","message":{"text":"m"}}]}]}`
	caseLine  = `{"id":"a","subject":"s","labels":["x","y"],"evidence":[],"documents":[],"light":{"classification":"x","confidence":0.6,"reasoning":"r"}}` + "\n"
	exportOne = `{"content":[{"id":1,"uuid":"u","name":"n","type":"STEP","status":"FAILED"}],"page":{"number":1}}`
)

// zipOf makes an archive of names and texts, one after the other.
func zipOf(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipOf(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
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
	for _, a := range d.Archives {
		said = append(said, fmt.Sprintf("%s: %d read, %d not, archives %q", a.Name, a.Reports, a.Others, a.Archives))
	}
	return strings.Join(said, "\n")
}

func TestAccept_IG4_ArchivesAreRead(t *testing.T) {
	t.Chdir(t.TempDir())
	mixed := []string{
		"z/TEST-a.xml", suite, "run.json", events, "/abs.sarif", findings, "../up.jsonl", caseLine, `win\rp.json`, exportOne,
		"pom.xml", "<project/>", "package.json", `{"name":"x","items":[]}`, "list.json", `[{"items":1}]`, "notes.txt", "hello", "empty.xml", "", "log.txt", "--- FAIL: T (0.00s)\nFAIL\tp\t0.1s\n",
		"dir/", "", "in/inner.zip", zipOf(t, "a.xml", suite), "in/app.log.GZ", "x", "app.jar", zipOf(t, "a.xml", suite), "pic.png", "\x89PNG\r\n\x1a\n\x00",
	}
	all := "a of @/../up.jsonl\n! @/abs.sarif is a SARIF log, which is not a test report; " + readsHint + "\np.T of @/run.json\n1 of @/win/rp.json\nc.n of @/z/TEST-a.xml\n@: 4 read, 10 not, archives [\"in/app.log.GZ\" \"in/inner.zip\"]"
	for _, tc := range []struct{ name, content, format, want string }{
		{"a.zip", zipOf(t, mixed...), Auto, strings.ReplaceAll(all, "@", "a.zip")},
		{"-", zipOf(t, mixed...), Auto, strings.ReplaceAll(all, "@", "stdin")},
		{"junit.zip", zipOf(t, mixed...), JUnit, "! junit.zip/abs.sarif is a SARIF log, which is not a test report; " + readsHint + "\nc.n of junit.zip/z/TEST-a.xml\njunit.zip: 1 read, 13 not, archives [\"in/app.log.GZ\" \"in/inner.zip\"]"},
		{"a.xml.gz", gzipOf(t, suite), Auto, "c.n of a.xml.gz"},
		{"by-content", gzipOf(t, events), Auto, "p.T of by-content"},
		{"by-content", gzipOf(t, events), GoTest, "p.T of by-content"},
		{"-", gzipOf(t, events), Auto, "p.T of stdin"},
		{"-", gzipOf(t, events), GoTest, "p.T of stdin"},
		{"two.gz", gzipOf(t, events) + gzipOf(t, strings.ReplaceAll(events, `"T"`, `"U"`)), Auto, "p.T of two.gz\np.U of two.gz"},
	} {
		if diff := cmp.Diff(tc.want, told(t, tc.name, tc.content, tc.format)); diff != "" {
			t.Errorf("%s as %s: %s", tc.name, tc.format, diff)
		}
	}
}

// TestAccept_IG4_BombsAndNonsense: each is rejected by name, with the limit.
func TestAccept_IG4_BombsAndNonsense(t *testing.T) {
	t.Chdir(t.TempDir())
	bomb := events + strings.Repeat(" ", freeBytes)
	encrypted := []byte(zipOf(t, "a.xml", suite))
	for _, magic := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(encrypted, []byte(magic))
		encrypted[at+map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8}[magic]] |= 1
	}
	var many []string
	for i := range maxEntries + 1 {
		many = append(many, strconv.Itoa(i), "")
	}
	long := strings.Repeat("n", 60_000)
	var wide []string
	for i := range 150 {
		wide = append(wide, fmt.Sprint(long, i), "")
	}
	tar := "dir/" + strings.Repeat("\x00", 253) + "ustar\x0000"
	whole := zipOf(t, "a.xml", suite)
	for name, tc := range map[string]struct{ content, want string }{
		"bomb.gz":    {gzipOf(t, events) + strings.Repeat(gzipOf(t, strings.Repeat(" ", 1<<20)), freeBytes>>20), "bomb.gz is taken for a bomb: it has more than 256 MiB when it is unpacked, more than 100 times its size"},
		"bomb.zip":   {zipOf(t, "a.json", bomb), "bomb.zip is taken for a bomb: it has more than 256 MiB when it is unpacked, more than 100 times its size"},
		"many.zip":   {zipOf(t, many...), "many.zip is a zip archive of 10001 entries, at most 10000 are read: give the reports in it"},
		"wide.zip":   {zipOf(t, wide...), "wide.zip begins as a zip archive does, and can't be read: its list of entries has more than 8 MiB"},
		"cut.zip":    {whole[:len(whole)/2], "cut.zip begins as a zip archive does, and can't be read: zip: not a valid zip file"},
		"secret.zip": {string(encrypted), "secret.zip/a.xml is encrypted: decrypt it, and give it by itself"},
		"none.zip":   {zipOf(t, "a.txt", "x", "b.zip", whole), "none.zip has no report among its 2 files; archives in an archive are not opened: b.zip"},
		"empty.zip":  {zipOf(t), "empty.zip has no report among its 0 files"},
		"two.gz":     {gzipOf(t, gzipOf(t, suite)), "two.gz is compressed (gzip)"},
		"zip.gz":     {gzipOf(t, whole), "zip.gz is a zip archive"},
		"tar.gz":     {gzipOf(t, tar), "tar.gz is a tar archive; extract the reports first"},
		"head.gz":    {"\x1f\x8b", "head.gz begins as gzip does, and can't be unpacked: unexpected EOF"},
		"cut.gz":     {gzipOf(t, suite)[:60], "unexpected EOF"},
		"damaged.gz": {gzipOf(t, events)[:40] + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "flate: corrupt input"},
		"zst":        {"\x28\xb5\x2f\xfd", "zst is compressed (zstd)"},
	} {
		if got := told(t, name, tc.content, Auto); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwant %s", name, got, tc.want)
		}
	}
	if left, err := filepath.Glob("shadowcourt-*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestUnpackedLimits(t *testing.T) {
	t.Parallel()
	u := newUnpacked("x.zip", func() int64 { return 10 })
	u.free, u.most = 1<<20, 2<<20
	for range 1024 {
		if err := u.add(1024); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.add(1); err == nil || !strings.Contains(err.Error(), "x.zip is taken for a bomb: it has more than 1 MiB") {
		t.Error(err)
	}
	u.in = func() int64 { return 1 << 20 }
	if err := u.add(1 << 20); err == nil || !strings.Contains(err.Error(), "x.zip has more than 2 MiB when it is unpacked, the limit") {
		t.Error(err)
	}
	if _, _, err := spool("stdin", strings.NewReader("12345"), 4); err == nil || !strings.Contains(err.Error(), "stdin is a zip archive of more than 0 MiB: give it as a file") {
		t.Error(err)
	}
}

// TestOverlappingEntries: entries that share their bytes are held to the size of the whole archive.
func TestOverlappingEntries(t *testing.T) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	text := events + strings.Repeat(" ", 8<<20)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := newUnpacked("x.zip", func() int64 { return int64(packed.Len()) })
	for range 100 {
		if _, err = io.Copy(io.Discard, &limited{Reader: flate.NewReader(bytes.NewReader(packed.Bytes())), of: all}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "x.zip is taken for a bomb") || all.out > freeBytes+1<<20 {
		t.Error(err, all.out)
	}
}

// TestManyInputs: more inputs than may be open at once are read in their order.
func TestManyInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 3 * maxOpen {
		if err := os.WriteFile(fmt.Sprintf("%03d.json", i), []byte(strings.ReplaceAll(events, `"T"`, fmt.Sprintf(`"T%d"`, i))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDockets(t.Context(), nil, []string{"*.json"}, Auto)
	if err != nil {
		t.Fatal(err)
	}
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

// FuzzArchive holds that no archive makes a panic, that reports in it are called after it, and that what is unpacked is bounded.
func FuzzArchive(f *testing.F) {
	f.Add([]byte(zipOf(f, "a.xml", suite, "../b.json", events, "c.zip", "x")))
	f.Add([]byte(zipOf(f, "a.sarif", findings, "rp.json", exportOne, "a.jsonl", caseLine)))
	f.Add([]byte(gzipOf(f, suite)))
	f.Add([]byte(gzipOf(f, gzipOf(f, events))))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &Dockets{}
		d.list = d.archive("x.zip", bytes.NewReader(data), int64(len(data)), Auto)
		for entry, err := range d.Entries("") {
			if err == nil && !strings.HasPrefix(entry.Source, "x.zip/") {
				t.Errorf("a case of %q", entry.Source)
			}
		}
		stream, err := d.stream(t.Context(), &input{name: "x", format: Auto}, bytes.NewReader(data), func() error { return nil }, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range (&Dockets{list: stream}).Entries("") {
			_ = err
		}
	})
}
