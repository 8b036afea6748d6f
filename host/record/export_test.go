package record

// Seal signs an entry as it is, for tests of what a writer never writes.
func Seal(key *Key, e *Entry) ([]byte, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return s.seal(e)
}
