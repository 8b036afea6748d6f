//go:build sdk

package polyglot

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The evaluators of examples/evaluator, in Go and in Rust, keep the contract, and find, ask and decide the same in every trial of their
// docket, with a model and without one.
func TestAccept_DI6_BothEvaluatorsJudgeTheSame(t *testing.T) {
	rust := inRust()
	rust.need(t)
	inRust := rust.build(t, root(t, "examples", "evaluator", "rust"))
	if n := len(load(t, inRust).Info().Imports); n > 0 {
		t.Errorf("the module has %d imports", n)
	}
	inGo := goEvaluator(t)
	for _, wasm := range [][]byte{inRust, inGo} {
		conformance.CheckWith(t, wasm, conformance.Options{Cases: 100})
	}
	cases := append(evaluatorDocket(t), oddAnswers()...)
	for _, m := range []*firstLine{nil, {}} {
		questions := [2]string{}
		of := [2][]byte{}
		for i, wasm := range [][]byte{inGo, inRust} {
			of[i] = evaluate(t, wasm, m, cases)
			if m != nil {
				questions[i], m.asked, m.text = m.text, 0, ""
			}
		}
		if !bytes.Equal(of[0], of[1]) || questions[0] != questions[1] || m != nil && questions[0] == "" {
			t.Errorf("asked was\n%s\nand\n%s\nGo gives\n%s\nRust gives\n%s", questions[0], questions[1], of[0], of[1])
		}
	}
}

// goEvaluator builds the one in Go as its README does.
func goEvaluator(t *testing.T) []byte {
	t.Helper()
	dir := root(t, "examples", "evaluator", "go")
	file := filepath.Join(t.TempDir(), "evaluator.wasm")
	l := &language{name: "go", find: func() ([]string, string) { return []string{"GOOS=wasip1", "GOARCH=wasm"}, "" }}
	l.run(t, dir, []string{"go build -buildmode=c-shared -o " + file + " ."})
	wasm := must.Get(os.ReadFile(file))(t)
	manifest := must.Get(os.ReadFile(filepath.Join(dir, "manifest.yaml")))(t)
	wasm = must.Get(module.Annotate(wasm, "manifest.yaml", manifest))(t)
	return wasm
}

func evaluatorDocket(t *testing.T) []abi.Case {
	t.Helper()
	in := must.Get(os.Open(root(t, "examples", "evaluator", "docket.jsonl")))(t)
	defer func() { _ = in.Close() }()
	var cases []abi.Case
	for entry, err := range new(docket.Reader).JSONL("docket.jsonl", in) {
		must.Do(t, err)
		cases = append(cases, entry.Case)
	}
	return cases
}

// oddAnswers have what languages are likely to treat differently.
func oddAnswers() []abi.Case {
	reference := "The fee is 1,200.50 euros, isn't it?\r\n  2) Größe and naïveté cost 3.5%.\n\nNobody can't see ﬁne \u2028 ΣΊΣΥΦΟΣ İstanbul. 7.\tX\n" +
		strings.Repeat("a very long sentence about résumés ", 30)
	var cases []abi.Case
	for i, answer := range []string{
		"", " \r\n\t", "7", "1. The fee is 1200.50 euros", "10) 3.5 größe cost!", "GRÖSSE", "σίσυφος istanbul", "ﬁne\u00a0\u200bseeing.  Nobody can't.",
		"The fee isn't 1,200.50 euros, isn't it?", "…", "7.5.3,1 . , ,5 5,", "x\u0085y z?No. Boxes boxing boxed boxe", reference, strings.Repeat("The fee. ", 150),
		strings.Repeat("résumés about sentence ", 40), "a\x00b The fee\u0000 cost", "😀 fee 😀", "½ ٣ 3", "The fee is euros and cost something other.", "ing ed es s e ee eee",
	} {
		cases = append(cases, abi.Case{
			ID: "odd-" + string(rune('a'+i)), Labels: []string{"unsupported", "supported"}, Evidence: []abi.Evidence{},
			Light:     &abi.LightAnswer{Classification: "supported", Confidence: 0.7},
			Documents: []abi.Document{{Name: "first", Text: reference}, {Name: "answer", Text: answer}, {Name: "second", Text: "Boxes are see-through.\nThe fee cost something."}},
		})
	}
	return cases
}

// evaluate gives what every trial found and decided, as lines.
func evaluate(t *testing.T, wasm []byte, m *firstLine, cases []abi.Case) []byte {
	t.Helper()
	court := must.Get(pipeline.Load(root(t, "examples", "evaluator", "court.yaml")))(t)
	files := embedded(t)
	files["evaluator.wasm"] = &fstest.MapFile{Data: wasm}
	config := host.Config{Pipeline: court, Modules: files}
	if m != nil {
		config.Models = m
	}
	h := opened(t, config)
	var b bytes.Buffer
	for i := range cases {
		outcome := must.Get(h.Try(t.Context(), cases[i]))(t)
		if outcome.Result.Final.Status == trial.Mistrial {
			t.Errorf("%s: %+v, %v", cases[i].ID, outcome.Result.Final, outcome.Result.Error)
		}
		line := must.Get(json.Marshal([]any{cases[i].ID, outcome.Passes[0].Discovery, outcome.Passes[0].Verdict, outcome.Result.Final}))(t)
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// firstLine is a model that chooses by turns the first line, none, and one that is not there.
type firstLine struct {
	sync.Mutex
	asked int
	text  string // of all questions
}

func (*firstLine) Digest() string { return "the first line" }

func (*firstLine) Offers(_ context.Context, names []string) []abi.ModelOffer {
	return []abi.ModelOffer{{Model: names[0], ContextTokens: 4000, AnswerTokens: 100}}
}

func (m *firstLine) Complete(_ context.Context, c abi.Completion, _ trial.ModelUsage) (abi.CompletionResult, error) {
	m.Lock()
	defer m.Unlock()
	m.asked++
	for _, message := range c.Messages {
		m.text += message.Content + "\n"
	}
	answer := []string{`{"line":1}`, `{"line":0}`, `{"line": 1000000000000}`}[m.asked%3]
	return abi.CompletionResult{Model: c.Model, Outcome: abi.CompletionAnswered, Answers: []string{answer}, InputTokens: 100}, nil
}
