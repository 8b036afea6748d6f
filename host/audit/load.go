// Package audit has the rubric that an opinion is checked against, and how its
// parts become a report: the rubric, the synthesis of the judges' opinions, the
// score. It is pure: it calls no module, reads no clock and keeps nothing. The
// traversal with the modules is host.Auditor's.
//
// The synthesis is code of the host, so that no module decides by what it
// says of others. Its rules, the stronger first:
//
//  1. A security violation that a judge found, and that stands, caps the
//     criterion at [SecurityCap]. It stands if the judge cites what it is found
//     in, and all that it cites is there.
//  2. Facts beat opinions: a judge that cites evidence that is not there, or
//     that does not stand in the documents, is overruled, and does not count.
//  3. The lead judge weighs most: as much as the others together, and twice a
//     single other.
//  4. Scores that spread over [DissentSpread] are a dissent: it is summarised,
//     and the judges are asked again.
//  5. Judges that are missing lower the confidence, and the report names them.
package audit

import (
	_ "embed"
	"io/fs"
	"math"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// MaxFileBytes is the size limit of a rubric, 1 MiB.
const MaxFileBytes = 1 << 20

// CodeParameters is the fault of parameters that a judge's module rejects.
const CodeParameters pipeline.Code = "parameters"

// Load reads and parses the rubric at path. Its error is a pipeline.Errors.
func Load(path string) (*Rubric, error) {
	return load(path, strictyaml.Open)
}

// LoadFS is Load within a file system.
func LoadFS(fsys fs.FS, path string) (*Rubric, error) { return load(path, fsys.Open) }

func load(path string, open func(path string) (fs.File, error)) (*Rubric, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, open)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse turns a rubric file into a checked Rubric with all defaults filled in. file is the name for messages. The error, if any, is a
// pipeline.Errors with every fault of the file, by line and column, at most pipeline.MaxErrors. YAML aliases are rejected.
func Parse(file string, data []byte) (*Rubric, error) {
	reader := &strictyaml.Reader{File: file}
	r := &Rubric{file: file}
	if root := reader.Document(data, MaxFileBytes); root != nil {
		reader.Struct(root, "", r, nil)
		r.places = reader.Places
		r.Complete()
		v := validator{Reader: reader, rubric: r}
		v.run()
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// ReadYAML reads the weight behind the name of a category.
func (w *CategoryWeight) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Into(&w.Weight)(v, path)
}

// ReadYAML reads the module's name behind that of the rubric.
func (a *Alias) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Into(&a.As)(v, path)
}

// ReadYAML rejects a weight of 0, which [Rubric.Complete] would take for one that is absent.
func (c *Criterion) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Struct(v, path, c, map[string]strictyaml.Setter{"weight": func(v *strictyaml.Node, path string) {
		c.Weight = math.NaN()
		if r.Into(&c.Weight)(v, path); c.Weight == 0 {
			c.Weight = math.NaN()
			r.Fail(v, path, strictyaml.CodeOutOfRange, "is outside (0, %d]", MaxWeight)
		}
	}})
}

//go:embed rubric.schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of a rubric's file, for editors. What it rejects [Parse] rejects, too; names that must be
// defined elsewhere in the file, and each judge's need of a criterion, are for Parse alone.
func Schema() []byte { return []byte(schema) }

// Marshal writes a rubric as a file that [Parse] reads to the same rubric, comments excepted, with all defaults written out. Equal rubrics
// give equal bytes.
func Marshal(r *Rubric) ([]byte, error) { return strictyaml.Marshal(r) }

// WriteYAML gives the weight.
func (w CategoryWeight) WriteYAML() any { return w.Weight }

// WriteYAML gives the module's name of the criterion.
func (a Alias) WriteYAML() any { return a.As }
