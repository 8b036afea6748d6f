package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// maxFileBytes is how large one file of a docket gets.
const maxFileBytes = 900 << 10

// docketCase is a case with where it is from.
type docketCase struct {
	docket.Entry
	from labelled
}

// lines makes the cases of what was chosen, ordered by id.
func lines(c config, chosen []labelled) ([]docketCase, error) {
	pool := durations(chosen)
	var all []docketCase
	for _, l := range chosen {
		entry, err := l.entry(redraw(l.log(), pool, c.seed))
		if err != nil {
			return nil, err
		}
		all = append(all, docketCase{entry, l})
	}
	slices.SortFunc(all, func(a, b docketCase) int { return cmp.Compare(a.Case.ID, b.Case.ID) })
	return slices.CompactFunc(all, func(a, b docketCase) bool { return a.Case.ID == b.Case.ID }), nil
}

// writeDockets writes each half into files of a bounded size: go-fit-1.jsonl and so on.
func writeDockets(dir string, all []docketCase) error {
	for _, half := range []string{fitHalf, testHalf} {
		var files [][]byte
		var b bytes.Buffer
		for _, one := range all {
			if one.from.module.half != half {
				continue
			}
			var text, escaped bytes.Buffer
			if err := render.NewCases(&text).Write(&trial.Trial{Case: one.Case, Truth: one.Truth}); err != nil {
				return err
			}
			json.HTMLEscape(&escaped, text.Bytes()) // as all files of the docket are
			if b.Len()+escaped.Len() > maxFileBytes {
				files = append(files, bytes.Clone(b.Bytes()))
				b.Reset()
			}
			b.Write(escaped.Bytes())
		}
		files = append(files, b.Bytes())
		old, err := filepath.Glob(filepath.Join(dir, "go-"+half+"-*.jsonl"))
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
		for i, data := range files {
			name := filepath.Join(dir, fmt.Sprintf("go-%s-%d.jsonl", half, i+1))
			if err := os.WriteFile(name, data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
