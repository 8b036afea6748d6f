package audit

import "github.com/shadowcourt/shadowcourt/internal/strictyaml"

// Marshal writes a rubric as a file that [Parse] reads to the same rubric,
// comments excepted, with all defaults written out. Equal rubrics give equal
// bytes.
func Marshal(r *Rubric) ([]byte, error) { return strictyaml.Marshal(r) }

// WriteYAML gives the weight.
func (w CategoryWeight) WriteYAML() any { return w.Weight }

// WriteYAML gives the module's name of the criterion.
func (a Alias) WriteYAML() any { return a.As }
