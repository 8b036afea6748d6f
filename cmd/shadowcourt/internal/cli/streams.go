package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Streams are the streams of a command. Data goes to Out, everything else to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// dataWriter is the standard output. It keeps the first error of a write, so that no command ends well whose data did not arrive.
type dataWriter struct {
	w   io.Writer
	err error
}

// Write fails for good after its first error.
func (d *dataWriter) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.w.Write(p)
	d.err = err
	return n, err
}

// readerGone says that an error is nobody's fault: the program that read our output has ended, as `head` does.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// UntilGone writes as long as somebody reads, and then nothing, so that the other outputs are completed.
type UntilGone struct {
	W    io.Writer
	gone bool
}

// Write writes to W, unless its reader is gone.
func (u *UntilGone) Write(p []byte) (int, error) {
	if u.gone {
		return len(p), nil
	}
	n, err := u.W.Write(p)
	if readerGone(err) {
		u.gone = true
		return len(p), nil
	}
	return n, err
}

// TerminalFile gives the terminal behind a stream, or nil.
func TerminalFile(stream any) *os.File {
	switch s := stream.(type) {
	case *dataWriter:
		return TerminalFile(s.w)
	case *UntilGone:
		return TerminalFile(s.W)
	case *os.File:
		if term.IsTerminal(int(s.Fd())) {
			return s
		}
	}
	return nil
}

// Terminal says what a writer can show: a width and colours if it is a terminal, else the width that COLUMNS gives.
func Terminal(w io.Writer) render.TerminalOptions {
	f := TerminalFile(w)
	if f == nil {
		width, err := strconv.Atoi(os.Getenv("COLUMNS"))
		if err != nil || width < 0 {
			width = 0
		}
		return render.TerminalOptions{Width: width}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return render.TerminalOptions{Width: width, Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// StdLog is the output of the standard library's logger. It drops what may hold the key of a provider or a token: net/http quotes there what
// a server sends out of turn, which may repeat the key of the request before, and with GODEBUG=http2debug=2 the headers of requests.
type StdLog struct{ W io.Writer }

// Write writes one message, or drops it.
func (l StdLog) Write(p []byte) (int, error) {
	for _, secret := range [...]string{
		"Unsolicited response received", `header "authorization"`, `header "proxy-authorization"`, `header "x-api-key"`, `header "cookie"`,
	} {
		if bytes.Contains(p, []byte(secret)) {
			return len(p), nil
		}
	}
	return l.W.Write(p)
}

// ReportWriter is one for the format that the name of the file tells.
func ReportWriter(name string, w io.Writer) render.Writer {
	if strings.EqualFold(filepath.Ext(name), ".md") {
		return render.NewMarkdown(w)
	}
	return render.NewHTML(w)
}

// NewExplainer tells each trial as a story. What it gets is redacted already.
func NewExplainer(w io.Writer) render.Writer { return explainer{w} }

type explainer struct{ w io.Writer }

func (e explainer) Write(t *trial.Trial) error { return render.Explain(e.w, t, nil, Terminal(e.w)) }

func (explainer) Close() error { return nil }

// OrList joins words as "a, b or c".
func OrList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Near offers the ids that contain the one that no case has.
func Near(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	quoted := make([]string, len(ids))
	for n, id := range ids {
		quoted[n] = strconv.Quote(id)
	}
	return "; did you mean " + OrList(quoted) + "?"
}

// Count is a number with the noun that it counts.
func Count(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, one, many))
}

// Plural is the form of a word for so many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Words are strings of any type as plain ones.
func Words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Join joins words with spaces, fit for one line.
func Join[T ~string](list []T) string { return sanitize.Line(strings.Join(Words(list), " ")) }

// ChangeLine says what a swap did to a module.
func ChangeLine(name, before, after string) string {
	switch before {
	case after:
		return fmt.Sprintf("%s: %s, as before", name, after)
	case "":
		before = "none"
	}
	return fmt.Sprintf("%s: %s -> %s", name, before, after)
}

// ListStyle is for 80 columns: the rest `plugin inspect` tells.
func ListStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}

// NamedFile is a file and what it is on the command line.
type NamedFile struct{ What, Path string }

// File is a file with what it is on the command line. An empty path stands for none.
func File(what, path string) NamedFile { return NamedFile{what, path} }

// CheckOverwrites rejects an output that is also an input, and two outputs to one file, whether the files exist yet or not.
// Terminals, pipes and devices may be both.
func CheckOverwrites(inputs, outputs []NamedFile) error {
	var faults []error
	outputs = slices.DeleteFunc(outputs, func(f NamedFile) bool { return f.Path == "" })
	for i, out := range outputs {
		for _, in := range inputs {
			if in.Path != "" && !disk.Device(out.Path) && disk.Same(out.Path, in.Path) {
				faults = append(faults, fmt.Errorf("%s %q would write over %s that is read", out.What, out.Path, in.What))
			}
		}
		for _, other := range outputs[:i] {
			if disk.Same(other.Path, out.Path) {
				faults = append(faults, fmt.Errorf("%s and %s are the same file, %q", other.What, out.What, other.Path))
			}
		}
	}
	return errors.Join(faults...)
}
