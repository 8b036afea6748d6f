package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewJSONL writes one result a line, each at once.
func NewJSONL(w io.Writer) Writer { return jsonlWriter{w} }

type jsonlWriter struct{ w io.Writer }

func (j jsonlWriter) Write(t *trial.Trial) error {
	line, err := t.Result.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(line, '\n'))
	return err
}

func (jsonlWriter) Close() error { return nil }

// NewJSON writes one object: `results`, a list of the results as JSONL has them, one on each line, and `summary`, a
// [Summary]. Results are written at once, so that memory does not grow with the docket.
func NewJSON(w io.Writer) Writer { return &jsonWriter{w: w, summary: NewSummary()} }

type jsonWriter struct {
	w       io.Writer
	summary *Summary
}

func (j *jsonWriter) Summary() *Summary { return j.summary }

func (j *jsonWriter) Write(t *trial.Trial) error {
	result, err := t.Result.MarshalJSON()
	if err != nil {
		return err
	}
	lead := ",\n"
	if j.summary.Cases == 0 {
		lead = "{\"results\":[\n"
	}
	j.summary.Add(t)
	_, err = j.w.Write(append([]byte(lead), result...))
	return err
}

func (j *jsonWriter) Close() error {
	j.summary.finish()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(j.summary); err != nil {
		return err
	}
	summary := sanitize.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	lead := "\n],\n\"summary\":"
	if j.summary.Cases == 0 {
		lead = "{\"results\":[],\n\"summary\":"
	}
	_, err := j.w.Write(append(append([]byte(lead), summary...), "}\n"...))
	return err
}
