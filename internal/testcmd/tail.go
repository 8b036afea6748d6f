package testcmd

import (
	"io"
	"os"
	"sync"
)

// maxTail is how much of the end of a runner's output is kept.
const maxTail = 1 << 20

// tail keeps the end of what is written through it. Safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// through passes what is written on, and keeps its end. A terminal is given as it is, so that the runner finds it: what it shows was seen.
func (t *tail) through(s streams, whole bool) streams {
	out := t.writer(s.out, whole)
	if s.out == s.err {
		return streams{out, out}
	}
	return streams{out, t.writer(s.err, whole)}
}

// String is the end of the output, without colors.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return color.ReplaceAllString(string(t.text), "")
}

func (t *tail) writer(to io.Writer, whole bool) io.Writer {
	if f, ok := to.(*os.File); ok && !whole {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return to
		}
	}
	return &kept{to, t}
}

type kept struct {
	to io.Writer
	*tail
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	if k.text = append(k.text, p[max(0, len(p)-maxTail):]...); len(k.text) > 2*maxTail {
		k.text = append(k.text[:0], k.text[len(k.text)-maxTail:]...)
	}
	k.mu.Unlock()
	return k.to.Write(p)
}
