package cli

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/report"
)

// reportWriter is one for the format that the name of the file tells.
func ReportWriter(name string, w io.Writer, options report.Options) docket.Writer {
	if strings.EqualFold(filepath.Ext(name), ".md") {
		return report.NewMarkdown(w, options)
	}
	return report.NewHTML(w, options)
}

// NewExplainer tells each trial as a story. What it gets is redacted already.
func NewExplainer(w io.Writer) docket.Writer { return explainer{w} }

type explainer struct{ w io.Writer }

func (e explainer) Write(t *docket.Trial) error { return docket.Explain(e.w, t, nil, Terminal(e.w)) }

func (explainer) Close() error { return nil }
