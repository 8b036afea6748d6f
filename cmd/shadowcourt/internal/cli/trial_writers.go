package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// ReportWriter is one for the format that the name of the file tells.
func ReportWriter(name string, w io.Writer, options render.PageOptions) render.Writer {
	if strings.EqualFold(filepath.Ext(name), ".md") {
		return render.NewMarkdown(w, options)
	}
	return render.NewHTML(w, options)
}

// NewExplainer tells each trial as a story. What it gets is redacted already.
func NewExplainer(w io.Writer) render.Writer { return explainer{w} }

type explainer struct{ w io.Writer }

func (e explainer) Write(t *trial.Trial) error { return render.Explain(e.w, t, nil, Terminal(e.w)) }

func (explainer) Close() error { return nil }
