package main

import (
	"bytes"
	"os"
	"sync"
)

// announced reads what the service says on standard error, for the line with its address. It copies what comes after it to standard error.
type announced struct {
	mu    sync.Mutex
	found bool
	buf   bytes.Buffer
	url   chan string
}

// startLine is before the address.
const startLine = "serving at "

// Write looks for the address.
func (a *announced) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.found {
		return os.Stderr.Write(p)
	}
	a.buf.Write(p)
	for line := range bytes.Lines(a.buf.Bytes()) {
		if url, ok := bytes.CutPrefix(line, []byte(startLine)); ok && bytes.HasSuffix(url, []byte("\n")) {
			a.found = true
			a.url <- string(bytes.TrimSpace(url))
			break
		}
	}
	return len(p), nil
}

func (a *announced) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.buf.String()
}
