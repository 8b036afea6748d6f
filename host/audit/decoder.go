package audit

import (
	"math"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// decoder reads a rubric from YAML nodes.
type decoder struct{ strictyaml.Reader }

func (d *decoder) rubric(v *strictyaml.Node, r *Rubric) {
	d.Object(v, "", map[string]strictyaml.Setter{
		"rubric":      strictyaml.Text(&d.Reader, &r.Name),
		"description": strictyaml.Text(&d.Reader, &r.Description),
		"weights": func(v *strictyaml.Node, path string) {
			d.Table(v, path, strictyaml.CodeDuplicateKey, func(name string, _, v *strictyaml.Node, path string) {
				w := CategoryWeight{Category: name}
				d.Number(&w.Weight)(v, path)
				r.Weights = append(r.Weights, w)
			})
		},
		"judges": func(v *strictyaml.Node, path string) {
			d.Table(v, path, strictyaml.CodeDuplicateKey, func(id string, _, v *strictyaml.Node, path string) {
				r.Judges = append(r.Judges, d.judge(id, v, path))
			})
		},
		"criteria": func(v *strictyaml.Node, path string) {
			d.List(v, path, "a list of criteria", func(n int) { r.Criteria = make([]Criterion, n) }, func(i int, v *strictyaml.Node, path string) {
				r.Criteria[i] = d.criterion(v, path)
			})
		},
	})
}

func (d *decoder) judge(id string, v *strictyaml.Node, path string) Judge {
	j := Judge{ID: id}
	d.Object(v, path, map[string]strictyaml.Setter{
		"module": strictyaml.Text(&d.Reader, &j.Module),
		"knows": func(v *strictyaml.Node, path string) {
			d.Table(v, path, strictyaml.CodeDuplicateKey, func(criterion string, _, v *strictyaml.Node, path string) {
				k := Alias{Criterion: criterion}
				strictyaml.Text(&d.Reader, &k.As)(v, path)
				j.Knows = append(j.Knows, k)
			})
		},
		"with": func(v *strictyaml.Node, path string) {
			d.Table(v, path, strictyaml.CodeDuplicateKey, func(name string, _, v *strictyaml.Node, path string) { d.param(&j, name, v, path) })
		},
	})
	return j
}

func (d *decoder) param(j *Judge, name string, v *strictyaml.Node, path string) {
	switch v.ShortTag() {
	case "!!str":
		var s string
		strictyaml.Text(&d.Reader, &s)(v, path)
		j.With = append(j.With, pipeline.Text(name, s))
	case "!!bool":
		var b bool
		d.Flag(&b)(v, path)
		j.With = append(j.With, pipeline.Flag(name, b))
	case "!!int", "!!float":
		var f float64
		d.Number(&f)(v, path)
		j.With = append(j.With, pipeline.Number(name, f))
	default:
		d.Wrong(v, path, "a number, a text or a flag")
	}
}

func (d *decoder) criterion(v *strictyaml.Node, path string) Criterion {
	c := Criterion{}
	d.Object(v, path, map[string]strictyaml.Setter{
		"id":          strictyaml.Text(&d.Reader, &c.ID),
		"category":    strictyaml.Text(&d.Reader, &c.Category),
		"description": strictyaml.Text(&d.Reader, &c.Description),
		"lead":        strictyaml.Text(&d.Reader, &c.Lead),
		"weight": func(v *strictyaml.Node, path string) {
			c.Weight = math.NaN() // Complete would take 0 for absent
			if d.Number(&c.Weight)(v, path); c.Weight == 0 {
				c.Weight = math.NaN()
				d.Fail(v, path, strictyaml.CodeOutOfRange, "is outside (0, %d]", MaxWeight)
			}
		},
		"judges": strictyaml.Texts(&d.Reader, &c.Judges),
	})
	return c
}
