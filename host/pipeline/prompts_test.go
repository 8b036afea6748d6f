package pipeline

import (
	"testing"
	"testing/fstest"
)

// A definition whose prompts came from files can be validated again.
func TestAPromptFileIsReadOnce(t *testing.T) {
	t.Parallel()
	text := "pipeline: p\npersonas:\n  bulwark: {role: bench, alignment: bench, element: diamond, module: m, prompt_file: p.md}\n" +
		"nodes:\n  - {name: d, family: discover}\nedges:\n  - {id: E, from: d, to: _done, evaluator: always}\nstart: d\n"
	def, err := LoadFS(fstest.MapFS{"p.yaml": {Data: []byte(text)}, "p.md": {Data: []byte("Read.")}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewGraph(def); err != nil || def.Personas[0].Prompt != "Read." {
		t.Errorf("%q: %v", def.Personas[0].Prompt, err)
	}
}
