package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// variant is the alibi court without a part of it.
type variant struct {
	name   string
	change func(*pipeline.Definition)
}

func variants() []variant {
	const most = "max_experiments"
	return []variant{
		{"as it is shipped", func(*pipeline.Definition) {}},
		{"prosecution asks for nothing", func(d *pipeline.Definition) { limit(d, most, 0, abi.FamilyIndict, abi.FamilyHearing) }},
		{"defense asks for nothing", func(d *pipeline.Definition) { limit(d, most, 0, abi.FamilyDefend, abi.FamilyHearing) }},
		{"only the judge asks", func(d *pipeline.Definition) {
			limit(d, most, 0, abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing)
		}},
		{"no contest", func(d *pipeline.Definition) {
			for i := range d.Personas {
				d.Personas[i].Contests = ""
			}
		}},
		{"one round of the hearing", func(d *pipeline.Definition) {
			for i := range d.Nodes {
				if d.Nodes[i].Family == pipeline.Family(abi.FamilyHearing) {
					d.Nodes[i].Rounds = 1
				}
			}
		}},
	}
}

// limit sets a parameter of the nodes of some families.
func limit(d *pipeline.Definition, name string, value float64, families ...abi.Family) {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if !slices.Contains(families, abi.Family(n.Family)) {
			continue
		}
		for j := range n.With {
			if n.With[j].Name == name {
				n.With[j].Number = value
			}
		}
	}
}

// Ablation tries the cases of both halves with the alibi court as it is and without parts of it.
func Ablation(ctx context.Context, bench *study.Bench, repos []history.Repo) (study.Table, error) {
	var b strings.Builder
	b.WriteString("| half | court | false alibis | missed alibis | decided | right of those decided | seconds, median | seconds, 90 % of the cases |\n" +
		"| --- | --- | --- | --- | --- | --- | ---: | ---: |\n")
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		for _, v := range variants() {
			var list []Judged
			for i := range repos {
				for j := range repos[i].Cases {
					if repos[i].Half == half {
						list = append(list, Judged{Case: &repos[i].Cases[j], Half: half, Answers: map[Arm]Answer{}})
					}
				}
			}
			if err := holdAlibi(ctx, bench, list, v.change); err != nil {
				return study.Table{}, fmt.Errorf("%s: %w", v.name, err)
			}
			s := scoreOf(list, Alibi)
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", half, v.name, s.falseAlibis.text(0), s.missed.text(0), s.decided.text(0), s.rightOfDecided.text(0), s.at(0.5), s.at(0.9))
		}
	}
	return study.Table{Name: "ablation", Text: b.String()}, nil
}
