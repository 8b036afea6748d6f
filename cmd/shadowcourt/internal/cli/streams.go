package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// Streams are the streams of a command. Data goes to Out, everything else to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// dataWriter is the standard output. It keeps the first error of a write, so
// that no command ends well whose data did not arrive.
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

// readerGone says that an error is nobody's fault: the program that read our
// output has ended, as `head` does.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// UntilGone writes as long as somebody reads, and then nothing, so that the
// other outputs are completed.
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
