package report_test

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
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/baseline"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/report"
)

// measured is a report over n cases in the band, of which the court has more right than Light.
func measured(n int) *calibrate.Report {
	r := rand.New(rand.NewPCG(1, 1))
	pick := func(right float64) string {
		if r.Float64() < right {
			return "a"
		}
		return "b"
	}
	fuel := uint64(5_000_000)
	var tested []calibrate.Observation
	var fitting []*baseline.Case
	for range n {
		c := baseline.Case{Labels: []string{"a", "b"}, Truth: "a", Light: baseline.Statement{Source: baseline.LightSource, Label: pick(.6), Confidence: .5 + .3*r.Float64()}}
		final := trial.Answer{Classification: pick(.9), Confidence: .8 + .2*r.Float64()}
		tested = append(tested, calibrate.Observation{
			Case: c, Activated: true, Status: trial.Affirmed, Decision: abi.Affirm, Final: final, Calls: 9, Fuel: &fuel, Micros: 1500,
		})
		fitting = append(fitting, &c)
	}
	return calibrate.Measure(tested, fitting, calibrate.Options{
		Seed: 1, Resamples: 200, Simulations: 50, Activation: .85, Rejection: .5, Bands: &bands.Options{}, Timings: true,
	})
}

type write func(io.Writer, *calibrate.Report, report.Options) error

func render(t *testing.T, w write, r *calibrate.Report, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := w(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func table(width int) write {
	return func(w io.Writer, r *calibrate.Report, _ report.Options) error { return report.Table(w, r, width) }
}

func TestEveryFormatSaysTheSame(t *testing.T) {
	t.Parallel()
	r := measured(200)
	want := append([]string{"Light alone", "naive Bayes, sources and text", "9.0 calls of modules a trial", "1.5 ms", "better", "a perfect ranking of these answers has"}, r.Conclusion.Text...)
	for name, w := range map[string]write{"table": table(1000), "Markdown": report.Markdown, "HTML": report.HTML} {
		text := strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(render(t, w, r, report.Options{}))
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
		for name, w := range map[string]write{"table": table(0), "Markdown": report.Markdown, "HTML": report.HTML} {
			if found := bad.FindString(render(t, w, measured(n), report.Options{})); found != "" {
				t.Errorf("%s of %d cases shows %q", name, n, found)
			}
		}
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for width, heads := range map[int][]string{0: {"IN THE BAND", "OVERALL"}, 100: {"IN THE BAND", "COURT MINUS IT"}, 80: {"IN THE BAND", "FINDING"}} {
		text := render(t, table(width), measured(60), report.Options{})
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
	hostile := report.Options{Title: "<script>alert(1)</script>", Subtitle: "a\x1b]0;x\x07<img src=x>\u202e| `b` @team.jsonl"}
	page := render(t, report.HTML, measured(60), hostile)
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'`) {
		t.Error("the page may load something")
	}
	text := render(t, report.Markdown, measured(60), hostile)
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "@team"} {
		if strings.Contains(text, bad) {
			t.Errorf("the Markdown holds %q", bad)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	t.Parallel()
	page := render(t, report.HTML, measured(200), report.Options{})
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
