package record

// SealEnvelope signs an in-toto statement that belongs to no record: a DSSE envelope in the form of a record's line. The subject of such a
// statement has a mediaType, which those of records never have: no record holds the envelope, and no line of a record is one.
func SealEnvelope(key *Key, statement []byte) ([]byte, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return s.sealPayload(statement)
}

// OpenEnvelope gives the statement of an envelope that [SealEnvelope] made, and the id of its key. keyOf gives the key of an id, or nil, which
// is an error. The id is told with an error, too, if the envelope has one: then nothing proves it. The caller bounds the size.
func OpenEnvelope(data []byte, keyOf func(id string) *Key) (statement []byte, id string, err error) {
	line := newShape()
	if err := line.follow(data); err != nil {
		return nil, "", err
	}
	e, err := line.of(data)
	if err != nil {
		return nil, "", err
	}
	id = string(e.keyID)
	key := keyOf(id)
	if key == nil {
		return nil, id, errKey
	}
	statement, err = (&opener{key: key}).verified(e)
	return statement, id, err
}
