// Package measure has the commands that learn and measure with cases whose truth is known, fit, calibrate and compare, and audit, which
// measures opinions.
package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// common are the flags of the commands that read dockets.
type common struct {
	open.Flags
	format, output string
	workers        int
}

// check reports all faults of the flags at once; more are those of further flags.
func (o *common) check(command string, dockets []string, more ...error) error {
	var faults []error
	if len(dockets) == 0 {
		faults = append(faults, fmt.Errorf("%s takes one docket or more, or - for the standard input; see `shadowcourt %s --help`", command, command))
	}
	if o.format != "table" && o.format != "json" {
		faults = append(faults, fmt.Errorf("--format %q: use table or json", o.format))
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	return errors.Join(append(append(faults, more...), o.CheckLight())...)
}

// reading is one run over dockets.
type reading struct {
	stderr   io.Writer
	progress *cli.Progress
	redactor *render.Redactor // nil redacts nothing

	done, faults int // entries
	light        open.LightFailures
}

func newReading(s cli.Streams) reading {
	return reading{stderr: s.Err, progress: cli.NewProgress(s.Err)}
}

// fault reports an entry that can't be used. Its error is one that ends the run.
func (r *reading) fault(entry docket.Entry, err error) error {
	place := ""
	if _, ofLine := errors.AsType[*docket.LineError](err); !ofLine {
		if entry.Source == "" {
			return err
		}
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(entry.Source), entry.Line)
	}
	r.progress.Clear()
	r.faults++
	fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(err.Error())))
	return nil
}

// end warns of a Light that failed, and says in the exit code that entries could not be used.
func (r *reading) end(what string) error {
	r.light.Warn(r.stderr, r.redactor)
	if r.faults == 0 {
		return nil
	}
	return cli.InputError(fmt.Errorf("%s could not be used; %s %s", cli.Count(r.faults, "entry", "entries"), cli.Count(r.done, "case was", "cases were"), what))
}

// writeJSON writes a value over lines.
func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
