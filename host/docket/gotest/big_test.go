package gotest_test

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

// logOf generates the stream of a test that writes lines without end, and fails after n bytes of stream.
func logOf(n int) io.Reader {
	line := output("p", "TestBig", strings.Repeat("all is well ", 80)+"\n")
	return io.MultiReader(
		strings.NewReader(output("p", "TestBig", "the first line\n")),
		readers.Repeat(line, n),
		strings.NewReader(output("p", "TestBig", "    big_test.go:7: got 1, want 2\n")+ends("fail", "p", "TestBig")+ends("fail", "p", "")),
	)
}

func TestAccept_CLI6_ABigLogIsCutHeadAndTailWithAMark(t *testing.T) {
	const size = 100 << 20
	cases, problems, held := readers.Big(&gotest.Reader{}, "run.json", logOf(size))
	if len(cases) != 1 || len(problems) > 0 {
		t.Fatalf("%d cases, problems %v", len(cases), problems)
	}
	if held > 4<<20 {
		t.Errorf("reading holds %d bytes, and the log is no more than 512 KiB", held)
	}
	text := cases[0].Documents[0].Text
	if len(text) > gotest.DefaultHeadBytes+gotest.DefaultTailBytes+64 || len(text) < gotest.DefaultHeadBytes {
		t.Errorf("the log has %d bytes", len(text))
	}
	if !strings.HasPrefix(text, "the first line\n") || !strings.HasSuffix(text, "want 2\n") {
		t.Error("the log's head or tail is missing")
	}
	if strings.Count(text, " bytes cut here ...]\n") != 1 {
		t.Error("no line says how much was cut")
	}
	if light := cases[0].Light; light.Classification != gotest.ProductBug {
		t.Errorf("Light says %s: it did not see the tail", light.Classification)
	}
}

// passing generates the stream of one package with many tests that pass.
type passing struct {
	left, number int
	rest         []byte
}

func (p *passing) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		if p.left <= 0 {
			return 0, io.EOF
		}
		name := "Test" + strconv.Itoa(p.number)
		p.number++
		p.rest = []byte(output("p", name, strings.Repeat("x", 4000)+"\n") + ends("pass", "p", name))
		p.left -= len(p.rest)
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func TestPassingTestsLeaveNothing(t *testing.T) {
	cases, problems, held := readers.Big(&gotest.Reader{}, "run.json", &passing{left: 40 << 20})
	if len(cases) > 0 || len(problems) > 0 || held > 4<<20 {
		t.Errorf("%d cases, problems %v, %d bytes held though all tests pass", len(cases), problems, held)
	}
}

// builds generates the stream of packages that don't build, each with much to say, none of which a package names.
type builds struct {
	left, number int
	rest         []byte
}

func (b *builds) Read(to []byte) (int, error) {
	if len(b.rest) == 0 {
		if b.left <= 0 {
			return 0, io.EOF
		}
		path := "example.com/p" + strconv.Itoa(b.number)
		b.number++
		line := `{"ImportPath":"` + path + `","Action":"build-output","Output":"` + strings.Repeat("x", 4000) + `\n"}` + "\n"
		b.rest = []byte(strings.Repeat(line, 30) + `{"Action":"fail","Package":"other.example/q` + strconv.Itoa(b.number) + `","FailedBuild":"nowhere"}` + "\n")
		b.left -= len(b.rest)
	}
	n := copy(to, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func TestBuildOutputIsBounded(t *testing.T) {
	cases, _ := read(t, &gotest.Reader{}, &builds{left: 4 << 20})
	if len(cases) < 30 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		if n := len(c.Documents[0].Text); n > 200<<10 {
			t.Fatalf("the log of %s has %d bytes", c.ID, n)
		}
	}
}

// TestManyPackagesThatDoNotBuild: each gets its own output or none, and never that of all others, so that the work grows with the stream.
func TestManyPackagesThatDoNotBuild(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"# p%d\n", "# p%d [p%[1]d.test]\n", "# p%d_test [p%[1]d.test]\n"} {
		var stream strings.Builder
		const packages = 3000
		for i := range packages {
			fmt.Fprintf(&stream, form+"a.go:1:2: no %[1]d\n", i)
		}
		for i := range packages {
			fmt.Fprintf(&stream, "FAIL\tp%d [build failed]\n", i)
		}
		cases, _ := read(t, &gotest.Reader{}, strings.NewReader(stream.String()))
		own, bytes := 0, 0
		for i, c := range cases {
			text := c.Documents[0].Text
			bytes += len(text)
			if strings.Contains(text, fmt.Sprintf(": no %d\n", i)) {
				own++
			}
		}
		if len(cases) != packages || own < 1000 || bytes > 2*stream.Len() {
			t.Errorf("%q: %d cases, %d with their own output, %d bytes of logs for %d of the stream", form, len(cases), own, bytes, stream.Len())
		}
	}
}
