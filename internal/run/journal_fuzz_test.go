package run

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Whatever a journal holds, its whole lines are read in order and written again as the same,
// or it is rejected.
func FuzzReader(f *testing.F) {
	parts := []record.Part{{Name: "pipeline", Digest: "sha256:1"}}
	head, err := encode(header{journalFormat, parts})
	if err != nil {
		f.Fatal(err)
	}
	t := &trial.Trial{Result: trial.Result{ID: "1", Final: trial.Final{Status: trial.Accepted}}}
	for _, whole := range []bool{false, true} {
		l := newLine(t, whole)
		l.Docket = "sha256:2"
		text, err := l.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Join([][]byte{head, text, text}, nil))
		plain, err := encode(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Join([][]byte{head, plain}, nil))
		f.Add(bytes.Join([][]byte{head, text, text[:len(text)/2]}, nil))
	}
	f.Add(append(bytes.Clone(head), `{"docket":"d","failed":"no light"}`+"\n"...))
	f.Add(append(bytes.Clone(head), `{"docket":"d","result":{"id":"1","final":{"status":"accepted"}},"story":{"Result":null,"Passes":[{}]}}`+"\n"...))
	f.Add(head[:len(head)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		data = summed(data)
		r, err := newReader(bytes.NewReader(data), parts)
		for err == nil && r != nil && r.ahead != nil {
			if r.offset+int64(r.length) > int64(len(data)) || data[r.offset+int64(r.length)-1] != '\n' {
				t.Fatalf("a line of %d bytes from %d of %d", r.length, r.offset, len(data))
			}
			again(t, r.ahead)
			err = r.advance()
		}
		if err != nil && err.Error() == "" {
			t.Error("rejected without a reason")
		}
	})
}

// summed gives the lines behind the first one their sums, without which nothing of them would be read.
func summed(data []byte) []byte {
	var all []byte
	for line := range bytes.Lines(data) {
		if len(all) > 0 && line[0] == '{' && !bytes.HasPrefix(line, []byte(sumBegin)) {
			line = withSum(line)
		}
		all = append(all, line...)
	}
	return all
}

func again(t *testing.T, l *line) {
	t.Helper()
	if l.Result != nil && l.trial().Result.ID != l.Result.ID {
		t.Errorf("the trial is %q, its line says %q", l.trial().Result.ID, l.Result.ID)
	}
	first, err := l.encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(first)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	if second, err := read.encode(); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
	}
}
