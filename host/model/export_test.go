package model

// NewKey makes a key of its value.
func NewKey(value string) Key { return newKey(value) }

// Accept validates an answer by a schema.
func Accept(schema, text string) (string, error) {
	s, err := compileSchema(schema)
	if err != nil {
		return "", err
	}
	return s.accept(text)
}

// DecodeReply reads what a provider answered.
func DecodeReply(api API, body []byte, object bool) error {
	e, r := &endpoint{name: "here", key: newKey("a key that is long")}, &request{model: &Model{Schemas: SchemaByProvider}}
	if object {
		r.schema = &schema{object: true}
	}
	var err error
	if api == Anthropic {
		_, err = (&anthropic{e}).decode(body, r)
	} else {
		_, err = (&openAI{e}).decode(body, r)
	}
	return err
}

// FaultText finds what a provider says of an error.
func FaultText(body []byte) string { return (&endpoint{}).faultText(body) }

// ParseCassette reads a cassette, and gives its bytes again.
func ParseCassette(data []byte) ([]byte, error) {
	entries, err := parseCassette("tape", data)
	if err != nil {
		return nil, err
	}
	return cassetteBytes(entries), nil
}

// Bound limits how many bytes a cassette that records may have.
func (c *Cassette) Bound(most int) { c.most = most }

// Scrub removes a key from a text.
func Scrub(key, text string) string { return newKey(key).scrub(text) }
