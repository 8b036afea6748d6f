package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

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
	return render.TerminalOptions{Width: widthOf(f), Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// widthOf is the width of a terminal in columns; 0 where it is not known.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
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

// NewExplainer tells each trial as a story. What it gets is redacted already.
func NewExplainer(w io.Writer) render.Writer { return explainer{w} }

type explainer struct{ w io.Writer }

func (e explainer) Write(t *trial.Trial) error { return render.Explain(e.w, t, nil, Terminal(e.w)) }

func (explainer) Close() error { return nil }

// Fault is an error of the command line, where something is wrong with it.
func Fault(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// OneOf rejects a value of a flag that is none of the allowed ones.
func OneOf(flag, value string, allowed ...string) error {
	return Fault(!slices.Contains(allowed, value), "%s %q: use %s", flag, value, OrList(allowed))
}

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
	var quoted []string
	for _, id := range ids {
		quoted = append(quoted, strconv.Quote(id))
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

// Progress says how far the work is: in one line on a terminal, and in a file or a pipe, such as the log of a CI job, by a line every [PlainInterval]
// in which there was news, unless the variable SHADOWCOURT_PROGRESS is "off". On any other writer it is silent. It is safe for concurrent use.
type Progress struct {
	w     io.Writer
	width func() int                  // in columns; text beyond would stay when the line is cleared. nil where w is no terminal
	after func(time.Duration, func()) // calls a function later
	mu    sync.Mutex                  // experiments report beside the run
	shown bool

	text    string // what the next plain line says; empty for nothing
	waiting bool   // for the next plain line
}

// PlainInterval is the time between two lines where there is no terminal.
const PlainInterval = 30 * time.Second

// NewProgress shows progress on w.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{after: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
	f, ok := w.(*os.File)
	if !ok {
		return p
	}
	switch {
	case term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb":
		p.w, p.width = w, func() int { return widthOf(f) }
	case os.Getenv("SHADOWCOURT_PROGRESS") != "off":
		p.w = w
	}
	return p
}

// Live says whether somebody sees it at once.
func (p *Progress) Live() bool { return p.width != nil }

// Say shows a text in place of the one before.
func (p *Progress) Say(news string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Live() {
		if p.text = news; !p.waiting {
			p.waiting = true
			p.after(PlainInterval, p.line)
		}
		return
	}
	if width := p.width(); width > 1 {
		news = text.Snip(news, width-1, "…")
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", news)
	p.shown = true
}

func (p *Progress) line() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	if p.text != "" {
		fmt.Fprintln(p.w, "progress: "+p.text)
		p.text = ""
	}
}

// Tried says how many cases were tried so far.
func (p *Progress) Tried(n, faults int) {
	if p.w == nil {
		return
	}
	news := fmt.Sprintf("tried %d", n)
	if faults > 0 {
		news += fmt.Sprintf(", %d could not be", faults)
	}
	p.Say(news)
}

// Clear takes the line away, before anything else is written.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = ""
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
