package record

import "io"

// Begin begins a record in memory, or wherever out leads. There Sync does nothing, and Finish and Close don't close out: it is the
// caller's to make what was written durable before anybody sees a result.
func Begin(out io.Writer, key *Key, header *Header) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return begin(unsynced{out}, s, header)
}

// unsynced is a writer as a file.
type unsynced struct{ io.Writer }

func (unsynced) Sync() error { return nil }

func (unsynced) Close() error { return nil }
