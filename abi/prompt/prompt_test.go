package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/prompt"
)

func TestAPromptFile(t *testing.T) {
	t.Parallel()
	p, faults := prompt.Parse("# system\nYou judge.\n\n# settings\nsamples: 3\ntemperature: 0.5\nanswer_tokens: 7\ndocument_tokens: 9\n\n# discover\nRead {documents}\r\n## a heading\n")
	if faults != nil || p.Samples != 3 || p.Temperature != 0.5 || p.AnswerTokens != 7 || p.DocumentTokens != 9 {
		t.Fatalf("%+v %+v", p, faults)
	}
	if system, user, ok := p.At(abi.FamilyDiscover, "usual"); !ok || system != "You judge." || user != "Read {documents}\n## a heading" {
		t.Errorf("%q %q %v", system, user, ok)
	}
	if _, _, ok := p.At(abi.FamilyVerdict, "usual"); ok {
		t.Error("a section that the file does not have")
	}
	p, faults = prompt.Parse("You judge.\n")
	if faults != nil {
		t.Fatal(faults)
	}
	if system, user, ok := p.At(abi.FamilyVerdict, "usual"); !ok || system != "You judge." || user != "usual" {
		t.Errorf("%q %q %v", system, user, ok)
	}
}

func TestFaultsHaveLinesAndRanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# system\na\n# system\nb":                  `3: there are two sections "system"`,
		"\n# discovery\na":                          `2: unknown section "discovery"; known are system, settings, indict, discover, defend, hearing, verdict`,
		"\nHello\n# system\na":                      "2: there is text before the first section: move it below `# system`",
		"# settings\n\n\nsamples: 65":               `4: the setting "samples: 65" makes no sense: samples is a whole number from 1 to 64`,
		"# settings\nsamples: 0":                    `2: the setting "samples: 0" makes no sense: samples is a whole number from 1 to 64`,
		"# settings\nsample: 3":                     `2: unknown setting "sample: 3"; known are samples, temperature, answer_tokens, document_tokens`,
		"# settings\nsamples: 1\n\ntemperature: 5":  `4: the setting "temperature: 5" makes no sense: temperature is a number from 0 to 2`,
		"# settings\ntemperature: NaN":              `2: the setting "temperature: NaN" makes no sense: temperature is a number from 0 to 2`,
		"# settings\ndocument_tokens: -1":           `2: the setting "document_tokens: -1" makes no sense: document_tokens is a whole number from 1 to 10000000`,
		"# discover\n\nRead\n\n  {documentz} {x}\n": `5: unknown placeholder {documentz}; known are {labels}, `,
		"# sistem\na\n# settings\nsamples: x\n# discover\n{y}": `1: unknown section "sistem"; known are system, settings, indict, discover, defend, hearing, verdict
4: the setting "samples: x" makes no sense: samples is a whole number from 1 to 64
6: unknown placeholder {y}`,
		"# system\nWrite {anything} here, and {\"line\": 3}.\n# discover\n{documents} {\"line\": 3} {": "",
	} {
		_, faults := prompt.Parse(text)
		var got strings.Builder
		for _, f := range faults {
			fmt.Fprintf(&got, "%d: %s\n", f.Line, f.What)
		}
		if !strings.HasPrefix(got.String(), want) || want == "" && len(faults) > 0 {
			t.Errorf("%q:\n%swant %s", text, got.String(), want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# system\nYou judge.\n\n# settings\nsamples: 3\n# discover\nRead {documents} {x}\r\n")
	f.Add("{\n# # \n# settings\n:\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, faults := prompt.Parse(text)
		lines, last := 1+strings.Count(text, "\n"), 0
		for _, f := range faults {
			if f.Line < last || f.Line < 1 || f.Line > lines || f.What == "" {
				t.Errorf("%+v of %d lines", f, lines)
			}
			last = f.Line
		}
		if len(faults) > 0 {
			return
		}
		if p.Samples < 1 || p.Samples > 64 || p.AnswerTokens < 1 || p.DocumentTokens < 1 || !(p.Temperature >= 0 && p.Temperature <= 2) {
			t.Errorf("%+v", p)
		}
		for _, family := range prompt.Families() {
			_, user, _ := p.At(family, "{labels}")
			if _, unknown := prompt.Fill(user, func(name string) (string, bool) {
				return name, strings.Contains(strings.Join(prompt.Placeholders(), " "), name)
			}); unknown != "" {
				t.Errorf("%q has the unknown placeholder %q", text, unknown)
			}
		}
	})
}
