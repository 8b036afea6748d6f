package record_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// A record is verified with its key; the first entry that does not fit is named.
func ExampleVerify() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	key, err := record.NewKey(seed(7)) // rand.Reader, where it matters
	if err != nil {
		fmt.Println(err)
		return
	}
	name := filepath.Join(dir, "trials.record")
	w, err := record.Create(name, key, header())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Finish(); err != nil {
		fmt.Println(err)
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := record.Verify(context.Background(), bytes.NewReader(data), key, nil)
	fmt.Println(report.Complete(), report.Entries, err)
	data[100] ^= 1
	report, err = record.Verify(context.Background(), bytes.NewReader(data), key, nil)
	fmt.Println(report.Complete(), report.Fault, err)
	// Output:
	// true 2 <nil>
	// false entry 0 (line 1, at byte 0): the signature is not of this key over these bytes <nil>
}
