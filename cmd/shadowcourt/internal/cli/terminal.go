package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/internal/render"
)

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
