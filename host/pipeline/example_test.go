package pipeline_test

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

const tiny = `pipeline: tiny
nodes:
  - {name: look, family: triage}
  - {name: tell, family: report}
edges:
  - {id: T1, from: tell, to: _done, condition: "all is said"}
start: look
`

func ExampleParse() {
	d, err := pipeline.Parse("tiny.yaml", []byte(tiny))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Nodes[0].Personas, d.Edges[0].Evaluator, d.Edges[0].Module)

	_, err = pipeline.Parse("faulty.yaml", []byte("pipeline: faulty\nnodes:\n  - name: look\n    family: stare\nstart: lok\n"))
	fmt.Println(err)
	// Output:
	// [herald] T1 clerk
	// faulty.yaml:4:13: nodes[0].family: unknown family "stare"; known are indict, discover, defend, hearing, verdict, recall, triage, resolve, investigate, correlate, review, report, collect, judge, synthesize, conclude [unknown_family]
	// faulty.yaml:5:8: start: no node is called "lok" [unknown_node]
}

func ExampleMermaid() {
	d, err := pipeline.Parse("tiny.yaml", []byte(tiny))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := pipeline.NewGraph(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := g.ParsePath([]string{"look", "tell", "T1:_done"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(pipeline.Mermaid(g, path))
	// Output:
	// flowchart LR
	//   n0["look<br/>Herald"]
	//   n1["tell<br/>Weaver"]
	//   e_done(["#95;done"])
	//   n0 -.->|"1"| n1
	//   n1 -->|"2: T1"| e_done
	//   classDef visited stroke:#d97706,stroke-width:4px
	//   class n0,n1,e_done visited
	//   linkStyle 0,1 stroke:#d97706,stroke-width:3px
}
