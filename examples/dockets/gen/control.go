package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// controls is how often a module's tests run without any fault, and once more in bursts of processor time, to find those
// that fail by themselves now and then. Such a failure in a run with a fault has another cause than the fault.
const controls = 4

// findUnsteady notes the tests that failed in a control run.
func (w *collector) findUnsteady(ctx context.Context) error {
	unsteady := []string{}
	for i := range controls + 1 {
		p := plan{shuffle: w.order}
		if i == controls {
			p.launch = starved
		}
		out, err := w.test(ctx, p)
		if err != nil {
			return err
		}
		failed, err := failedTests(out.stream)
		if err != nil {
			return err
		}
		unsteady = append(unsteady, failed...)
	}
	slices.Sort(unsteady)
	data, err := json.Marshal(slices.Compact(unsteady))
	if err != nil {
		return err
	}
	return os.WriteFile(unsteadyFile(w.raw, w.module.path), data, 0o644)
}

func unsteadyFile(raw, path string) string {
	return filepath.Join(raw, fileName(path)+".unsteady.json")
}

func fileName(path string) string { return strings.ReplaceAll(path, "/", "_") }

// readUnsteady reads the ids of the cases that a module's control runs gave.
func readUnsteady(raw, path string) (ids []string, err error) {
	data, err := os.ReadFile(unsteadyFile(raw, path))
	if err == nil {
		err = json.Unmarshal(data, &ids)
	}
	return ids, err
}

func failedTests(stream string) (ids []string, err error) {
	var reader gotest.Reader
	for entry, err := range reader.Read("control", strings.NewReader(stream)) {
		if line := (*docket.LineError)(nil); errors.As(err, &line) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, entry.Case.ID)
	}
	return ids, nil
}
