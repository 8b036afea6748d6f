package sarif_test

import (
	"io"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/sarif"
)

// Not parallel: it looks at the memory of the process. A log of 100 MB is read in less than its size: long texts are cut, results wait
// for their rules up to a bound, and what is not read is not kept.
func TestAccept_IG4_ABigLogIsReadInBoundedMemory(t *testing.T) {
	one := result(`,"fixes":[{"description":{"text":"`+strings.Repeat("x", 4000)+`"}}]`) + ",\n"
	for name, in := range map[string]struct {
		megabytes            int
		begin, repeated, end string
	}{
		"a message":         {30, `{"runs":[{` + tool + `,"results":[{"message":{"text":"`, "all is well ", `"}}]}]}`},
		"results":           {100, `{"runs":[{` + tool + `,"results":[`, strings.Replace(one, `"fixes"`, `"kind":"pass","fixes"`, 1), result("") + `]}]}`},
		"results that wait": {30, `{"runs":[{"results":[`, strings.Replace(one, `"fixes"`, `"baselineState":"absent","fixes"`, 1), result("") + `],` + tool + `}]}`},
		"rules":             {40, `{"runs":[{"tool":{"driver":{"name":"T","rules":[`, `{"id":"a","help":{"text":"` + strings.Repeat("x", 30000) + `"}},`, `{"id":"b"}]}},"results":[` + result("") + `]}]}`},
		"what is not read":  {30, `{"runs":[{` + tool + `,"graphs":[`, `{"nodes":[{"id":"` + strings.Repeat("x", 1000) + `"}]},`, `{}],"results":[` + result("") + `]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			text := io.MultiReader(strings.NewReader(in.begin), readers.Repeat(in.repeated, in.megabytes<<20), strings.NewReader(in.end))
			cases, problems, held := readers.Big(&sarif.Reader{}, "x.sarif", text)
			if len(cases) != 1 || len(problems) > 0 {
				t.Fatalf("%d cases, problems %.200q", len(cases), problems)
			}
			if held > 48<<20 {
				t.Errorf("reading holds %d bytes", held)
			}
			t.Logf("held %d bytes", held)
		})
	}
	// Many times as many results as may wait are all given.
	const size, held = 4 << 20, 256 << 10
	waiting := strings.Repeat(result("")+",", 100)
	text := io.MultiReader(strings.NewReader(`{"runs":[{"results":[`), readers.Repeat(waiting, size), strings.NewReader(result("")+`],`+tool+`}]}`))
	n := 0
	for _, err := range (&sarif.Reader{HeldBytes: held}).Read("x.sarif", text) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if want := size/len(waiting)*100 + 1; n != want {
		t.Errorf("%d cases, want %d", n, want)
	}
}
