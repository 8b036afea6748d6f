package audit

import _ "embed"

//go:embed rubric.schema.json
var schema string

// Schema is the JSON Schema (draft 2020-12) of a rubric's file, for editors. What
// it rejects [Parse] rejects, too; names that must be defined elsewhere in the
// file, and each judge's need of a criterion, are for Parse alone.
func Schema() []byte { return []byte(schema) }
