package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/report"
)

// ReportWriter is one for the format that the name of the file tells.
func ReportWriter(name string, w io.Writer, options report.Options) render.Writer {
	if strings.EqualFold(filepath.Ext(name), ".md") {
		return report.NewMarkdown(w, options)
	}
	return report.NewHTML(w, options)
}

// NewExplainer tells each trial as a story. What it gets is redacted already.
func NewExplainer(w io.Writer) render.Writer { return explainer{w} }

type explainer struct{ w io.Writer }

func (e explainer) Write(t *trial.Trial) error { return render.Explain(e.w, t, nil, Terminal(e.w)) }

func (explainer) Close() error { return nil }
