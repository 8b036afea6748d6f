package record

import "os"

// Seal signs an entry as it is, for tests of what a writer never writes.
func Seal(key *Key, e *Entry) ([]byte, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return s.seal(e)
}

// Verifies reports whether a signature is valid.
func Verifies(key *Key, data, signature []byte) bool { return key.verifies(data, signature) }

// Limit sets the longest line of a writer.
func Limit(w *Writer, most int) { w.most = most }

// CreateAfter is Create, with what others do between the making of the file and its lock.
func CreateAfter(name string, key *Key, header *Header, between func()) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	f, err := openRegular(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	between()
	return createIn(f, name, s, header)
}

// OpenAfter opens and locks a file as Resume does, with what others do between the two.
func OpenAfter(name string, between func()) error {
	f, err := openRegular(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	between()
	if err := lockNamed(f, name); err != nil {
		return err
	}
	return f.Close()
}
