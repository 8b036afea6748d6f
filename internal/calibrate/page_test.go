package calibrate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// measured is a report over n cases in the band, of which the court has more right than Light.
func measured(n int) *Report {
	r := rand.New(rand.NewPCG(1, 1))
	pick := func(right float64) string {
		if r.Float64() < right {
			return "a"
		}
		return "b"
	}
	fuel := uint64(5_000_000)
	var tested []Observation
	var fitting []*BaselineCase
	for range n {
		c := BaselineCase{Labels: []string{"a", "b"}, Truth: "a", Light: Statement{Source: LightSource, Label: pick(.6), Confidence: .5 + .3*r.Float64()}}
		final := trial.Answer{Classification: pick(.9), Confidence: .8 + .2*r.Float64()}
		tested = append(tested, Observation{
			Case: c, Activated: true, Status: trial.Affirmed, Decision: abi.Affirm, Final: final, Calls: 9, Fuel: &fuel, Micros: 1500,
		})
		fitting = append(fitting, &c)
	}
	return Measure(tested, fitting, Options{
		Seed: 1, Resamples: 200, Simulations: 50, Activation: .85, Rejection: .5, Bands: &BandOptions{}, Timings: true,
	})
}

type write func(io.Writer, *Report, render.PageOptions) error

func renderPage(t *testing.T, w write, r *Report, o render.PageOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := w(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func table(width int) write {
	return func(w io.Writer, r *Report, _ render.PageOptions) error {
		return WriteTable(w, r, render.TerminalOptions{Width: width})
	}
}

func TestEveryFormatSaysTheSame(t *testing.T) {
	t.Parallel()
	r := measured(200)
	want := append([]string{"Light alone", "naive Bayes, sources and text", "9.0 calls of modules a trial", "1.5 ms", "better", "a perfect ranking of these answers has"}, r.Conclusion.Text...)
	for name, w := range map[string]write{"table": table(1000), "Markdown": WriteMarkdown, "HTML": WriteHTML} {
		text := strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(renderPage(t, w, r, render.PageOptions{}))
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", name, part, text)
			}
		}
	}
}

func TestNothingIsNotANumber(t *testing.T) {
	t.Parallel()
	bad := regexp.MustCompile(`NaN|Inf|%!|<nil>|0x[0-9a-f]{6}`)
	for _, n := range []int{0, 1, 19, 20, 60} {
		for name, w := range map[string]write{"table": table(0), "Markdown": WriteMarkdown, "HTML": WriteHTML} {
			if found := bad.FindString(renderPage(t, w, measured(n), render.PageOptions{})); found != "" {
				t.Errorf("%s of %d cases shows %q", name, n, found)
			}
		}
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for width, heads := range map[int][]string{0: {"IN THE BAND", "OVERALL"}, 100: {"IN THE BAND", "COURT MINUS IT"}, 80: {"IN THE BAND", "FINDING"}} {
		text := renderPage(t, table(width), measured(60), render.PageOptions{})
		for _, head := range heads {
			if !strings.Contains(text, head) {
				t.Errorf("at %d the table lacks %q:\n%s", width, head, text)
			}
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("%d columns at %d: %s", n, width, line)
			}
		}
	}
}

func TestAccept_CLI5_NamesAreInert(t *testing.T) {
	t.Parallel()
	hostile := render.PageOptions{Title: "<script>alert(1)</script>", Subtitle: "a\x1b]0;x\x07<img src=x>\u202e| `b` @team.jsonl"}
	page := renderPage(t, WriteHTML, measured(60), hostile)
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'`) {
		t.Error("the page may load something")
	}
	text := renderPage(t, WriteMarkdown, measured(60), hostile)
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "@team"} {
		if strings.Contains(text, bad) {
			t.Errorf("the Markdown holds %q", bad)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	t.Parallel()
	page := renderPage(t, WriteHTML, measured(200), render.PageOptions{})
	drawings := regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1)
	if len(drawings) != 4 {
		t.Fatalf("%d pictures", len(drawings))
	}
	for i, want := range []string{"naive Bayes", "stated confidence", "coverage", "activation threshold"} {
		if !strings.Contains(strings.Join(drawings, ""), want) {
			t.Errorf("no picture shows %q", want)
		}
		decoder := xml.NewDecoder(strings.NewReader(drawings[i]))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("picture %d: %v", i, err)
			}
		}
	}
}
