package host_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
)

// recordedTrial tries a case and writes a signed record of the trial.
func recordedTrial(ctx context.Context, name string, key *record.Key) error {
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir, Record: record.ContentsReplay})
	if err != nil {
		return err
	}
	defer func() { _ = h.Close(ctx) }()
	configuration, err := h.Configuration(ctx)
	if err != nil {
		return err
	}
	header, err := h.RecordHeader(configuration)
	if err != nil {
		return err
	}
	w, err := record.Create(name, key, header)
	if err != nil {
		return err
	}
	_, trial, err := h.TryRecorded(ctx, dispute())
	if err != nil {
		return err
	}
	if err := w.Append(trial); err != nil {
		return err
	}
	return w.Finish()
}

// Record a trial, verify the record with its key, and replay the trial: the same bytes come again.
func ExampleHost_TryRecorded() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "trials.record")
	key, err := record.NewKey(rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := recordedTrial(ctx, name, key); err != nil {
		fmt.Println(err)
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := record.Verify(ctx, bytes.NewReader(data), key, nil)
	fmt.Println(report.Complete(), err)

	reader, err := record.NewReader(bytes.NewReader(data), key)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reader.Next(); err != nil { // the header
		fmt.Println(err)
		return
	}
	r, err := replay.Open(reader.Header(), replay.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = r.Close(ctx) }()
	entry, err := reader.Next()
	for err == nil && entry.Trial == nil { // entries for the modules come before the trial
		entry, err = reader.Next()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	trial, again, err := r.Replay(ctx, entry.Trial, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	difference, err := record.Compare(entry.Trial, again)
	fmt.Println(trial.Result.ID, difference == nil, err)
	// Output:
	// true <nil>
	// dispute true <nil>
}
