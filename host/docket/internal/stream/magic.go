package stream

import "bytes"

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
