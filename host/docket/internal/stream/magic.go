package stream

import (
	"bufio"
	"bytes"
)

// MarkUTF8 is the byte order mark that a UTF-8 text may begin with.
const MarkUTF8 = "\xef\xbb\xbf"

// Kind names what a file is that begins so, when it is known to be no UTF-8; otherwise it is empty.
func Kind(head []byte) string {
	for _, kind := range [...]struct{ magic, name string }{
		{"\xff\xfe", "UTF-16"},
		{"\xfe\xff", "UTF-16"},
		{"\x1f\x8b", "compressed (gzip)"},
		{"\x28\xb5\x2f\xfd", "compressed (zstd)"},
		{"PK\x03\x04", "compressed (zip)"},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return kind.name
		}
	}
	return ""
}

// Open skips the byte order mark of a text. The error tells of bytes that are no text in UTF-8, and what is expected.
func Open(in *bufio.Reader, expected string) error {
	head, _ := in.Peek(4) // the first read tells when it fails
	if kind := Kind(head); kind != "" {
		return &TextError{Code: CodeNotText, Detail: "is " + kind + ", " + expected}
	}
	if bytes.HasPrefix(head, []byte(MarkUTF8)) {
		_, _ = in.Discard(len(MarkUTF8))
	}
	return nil
}
