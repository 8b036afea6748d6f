package plugin

import (
	"bytes"
	"fmt"

	"github.com/shadowcourt/shadowcourt/pipelines"
)

// WASM is the file that the build leaves.
func (p plugin) WASM() string {
	switch p.Language {
	case "rust":
		return "target/wasm32-unknown-unknown/release/" + p.Ident() + ".wasm"
	case "go":
		return p.Name + ".wasm"
	}
	return "build/" + p.Name + ".wasm"
}

// Asker is what the SDK asks language models with.
func (p plugin) Asker() string {
	return map[string]string{
		"go": "`node.HandleModels`", "rust": "`serve_node_models!`", "c": "`SC_NODE_MODELS`", "typescript": "`serveNodeModels`",
	}[p.Language]
}

// Seat is what a candidate takes the place of: the persona, or the module of an edge.
func (p plugin) Seat() string {
	if p.Role == "persona" {
		return "reader"
	}
	return p.Name
}

// edit replaces a piece of a file that stands there once.
type edit struct{ old, with string }

// court is the shipped court with the module in it.
func (p plugin) court() ([]byte, error) {
	const head = "# The court that tries uncertain classifications of test failures (D0 to D4).\n"
	edits := []edit{{head, "# The shipped court with the module " + p.Name + " in it.\n"}, {"try docket.jsonl --pipeline pipelines/defect-court.yaml", "try case.jsonl --pipeline court.yaml --modules modules"}, {"graph pipelines/defect-court.yaml", "graph court.yaml"}}
	if p.Role == "persona" {
		edits = append(
			edits,
			edit{"\nzones:\n", "  # Reads the documents. The hearing stays with bulwark.\n  reader:\n    name: Reader\n    element: earth\n    role: bench\n    alignment: bench\n    module: " + p.Name + "\n\nzones:\n"},
			edit{"    family: discover\n    persona: bulwark\n", "    family: discover\n    persona: reader\n"},
		)
	} else {
		edits = append(edits, edit{"    evaluator: HD1\n", "    evaluator: confident # a rule of " + p.Name + "\n    module: " + p.Name + "\n"})
	}
	text, err := pipelines.FS.ReadFile(pipelines.DefectCourt)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if bytes.Count(text, []byte(e.old)) != 1 {
			return nil, fmt.Errorf("%s: %q does not stand there once", pipelines.DefectCourt, e.old)
		}
		text = bytes.Replace(text, []byte(e.old), []byte(e.with), 1)
	}
	return text, nil
}
