package killtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// KillAtChange runs the program and kills it with SIGKILL as soon as the files below a folder of [Program.Dir] have changed so
// many times, if it still runs. Names, sizes and times of the files are polled: changes that follow each other at once count as
// one.
func (p Program) KillAtChange(ctx context.Context, folder string, changes int) (Ending, error) {
	counted := 0
	ending, err := p.run(ctx, func(process *os.Process, done <-chan struct{}) {
		dir := filepath.Join(p.Dir, folder)
		for before := state(dir); ; {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Microsecond):
			}
			now := state(dir)
			if now == before {
				continue
			}
			before = now
			if counted++; counted == changes {
				_ = process.Kill()
				return
			}
		}
	})
	ending.Changes = counted
	return ending, err
}

// state tells the files of a folder from those at another time. What vanishes meanwhile is left out.
func state(dir string) string {
	var text strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintln(&text, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return text.String()
}
