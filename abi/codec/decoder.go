package codec

import (
	"strconv"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// decoder reads one message strictly. What is wrong goes to problems and the reading goes on, so that all problems are reported together; a
// problem after which the bytes can no longer be followed makes it dead.
//
// Its methods use the tokens of the host or of the guest (peek, stringLen, take, ...).
type decoder struct {
	tokens
	problems abi.Collector
	depth    int
	dead     bool
}

// scope is the reading of one struct.
type scope struct {
	fields   []string
	required uint64 // a bit for each field that must be there
	seen     uint64 // a bit for each field that was there
	entered  bool   // a map was there
	left     int    // entries not read yet
	field    int    // index of the field being read, -1 for none
	mark     int    // problems before the field
	first    int    // problems before the struct
}

// kind is the kind of a msgpack value.
type kind uint8

const (
	kindReserved kind = iota
	kindNil
	kindBool
	kindInt
	kindFloat
	kindString
	kindBinary
	kindExtension
	kindList
	kindMap
)

var kindNames = [...]string{"a reserved byte", "nil", "a bool", "an integer", "a float", "a string", "binary", "an extension", "a list", "a map"}

func kindOf(code byte) kind {
	switch {
	case code <= 0x7f || code >= 0xe0:
		return kindInt
	case code <= 0x8f:
		return kindMap
	case code <= 0x9f:
		return kindList
	case code <= 0xbf:
		return kindString
	}
	return kinds[code-0xc0]
}

var kinds = [32]kind{
	kindNil, kindReserved, kindBool, kindBool, kindBinary, kindBinary, kindBinary, kindExtension,
	kindExtension, kindExtension, kindFloat, kindFloat, kindInt, kindInt, kindInt, kindInt,
	kindInt, kindInt, kindInt, kindInt, kindExtension, kindExtension, kindExtension, kindExtension,
	kindExtension, kindString, kindString, kindString, kindList, kindList, kindMap, kindMap,
}

// finish says what was wrong with the message, if anything.
func (d *decoder) finish() error {
	if n := d.rest(); !d.dead && n > 0 { // check: trailing
		d.problems.Add(abi.CodeTrailingBytes, strconv.Itoa(n)+" bytes follow the message")
	}
	return d.problems.Err()
}

func (d *decoder) fatal(code abi.Code, detail string) {
	d.problems.Add(code, detail)
	d.dead = true
}

func (d *decoder) truncated() { d.fatal(abi.CodeTruncated, "the message ends here") }

// expect looks whether a value of the kind comes next. If another does, it is reported and skipped.
func (d *decoder) expect(want kind) bool {
	code, ok := d.peek()
	if !ok { // check: truncated value
		d.truncated()
		return false
	}
	got := kindOf(code)
	if got == want || (want == kindFloat && got == kindInt) {
		return true
	}
	switch {
	case got == kindNil:
		d.problems.Reject(abi.CodeNil, "is nil, not "+kindNames[want])
	case got == kindExtension:
		d.problems.Reject(abi.CodeExtension, "is an extension, not "+kindNames[want])
	case got == kindBinary && want == kindString:
		d.problems.Reject(abi.CodeBinary, "is binary, not a string")
	case got != kindReserved:
		d.problems.Reject(abi.CodeWrongType, "is "+kindNames[got]+", not "+kindNames[want])
	}
	d.skip()
	return false
}

// enter begins a list or map of n parts of at least a byte each.
func (d *decoder) enter(n uint64, ok bool) bool {
	if !ok { // check: truncated header
		d.truncated()
		return false
	}
	if n > uint64(d.rest()) { // check: length of list or map
		d.fatal(abi.CodeBadLength, strconv.FormatUint(n, 10)+" parts cannot stand in the "+strconv.Itoa(d.rest())+" bytes left")
		return false
	}
	if d.depth >= abi.MaxDepth { // check: depth
		d.fatal(abi.CodeTooDeep, "is nested deeper than "+strconv.Itoa(abi.MaxDepth))
		return false
	}
	d.depth++
	return true
}

// bytes gives the n bytes of a string, a binary or an extension.
func (d *decoder) bytes(n uint32, ok bool) []byte {
	if !ok { // check: truncated string header
		d.truncated()
		return nil
	}
	if uint64(n) > uint64(d.rest()) { // check: length of string
		d.fatal(abi.CodeBadLength, strconv.FormatUint(uint64(n), 10)+" bytes are more than the "+strconv.Itoa(d.rest())+" left")
		return nil
	}
	return d.take(int(n))
}

// skip passes over one value of any kind, of which only the form is checked.
func (d *decoder) skip() {
	code, ok := d.peek()
	if ok {
		ok = d.skipKind(kindOf(code))
	}
	if !ok { // check: truncated skipped value
		d.truncated()
	}
}

// skipKind gives false for a number that the bytes do not hold whole.
func (d *decoder) skipKind(k kind) (ok bool) {
	switch k {
	case kindReserved:
		d.fatal(abi.CodeReservedByte, "0xc1 is no msgpack")
	case kindNil, kindBool:
		d.take(1)
	case kindInt:
		_, _, ok = d.int()
		return ok
	case kindFloat:
		_, ok = d.double()
		return ok
	case kindString, kindBinary:
		d.bytes(d.stringLen())
	case kindExtension:
		d.bytes(d.extensionLen())
	case kindList:
		n, ok := d.listLen()
		d.skipParts(uint64(n), ok)
	case kindMap:
		n, ok := d.mapLen()
		d.skipParts(2*uint64(n), ok)
	}
	return true
}

func (d *decoder) skipParts(n uint64, ok bool) {
	if !d.enter(n, ok) {
		return
	}
	for range n {
		if d.skip(); d.dead {
			return
		}
	}
	d.depth--
}

// open begins a struct.
func (d *decoder) open(fields []string, required uint64) scope {
	s := scope{fields: fields, required: required, field: -1, first: d.problems.Mark()}
	if !d.expect(kindMap) {
		return s
	}
	n, ok := d.mapLen()
	if d.enter(2*uint64(n), ok) {
		s.entered, s.left = true, int(n)
	}
	return s
}

// next goes on to the next field that is known and new, in s.field; it gives
// false after the last. Unknown and repeated ones are reported and skipped.
func (d *decoder) next(s *scope) bool {
	for {
		if s.field >= 0 && d.problems.Mark() != s.mark {
			d.problems.Nest(s.mark, abi.Field(s.fields[s.field]))
		}
		if d.dead || s.left == 0 {
			return false
		}
		s.left--
		hint := s.field + 1
		s.field = -1
		key, ok := d.key()
		if !ok {
			continue
		}
		s.mark = d.problems.Mark()
		field := find(s.fields, key, hint)
		switch {
		case field < 0: // check: unknown field
			step := abi.Key(clip(key))
			if isName(key) {
				step = abi.Field(string(key))
			}
			d.problems.Add(abi.CodeUnknownField, "is not known")
			d.skip()
			d.problems.Nest(s.mark, step)
		case s.seen&(1<<field) != 0: // check: duplicate field
			s.field = field
			d.problems.Reject(abi.CodeDuplicateKey, "occurs twice")
			d.skip()
		default:
			s.field = field
			s.seen |= 1 << field
			return true
		}
	}
}

// close ends a struct, reports what is missing, and says whether its rules can
// be checked. Each rule is silent where a part that it looks at was rejected.
func (d *decoder) close(s *scope) bool {
	if d.dead || !s.entered {
		return false
	}
	d.depth--
	if s.required&^s.seen != 0 { // check: missing field
		for i, name := range s.fields {
			if s.required&^s.seen&(1<<i) != 0 {
				d.problems.Reject(abi.CodeMissingField, "is missing", abi.Field(name))
			}
		}
	}
	return d.problems.Since(s.first)
}

// key reads the key of a map. One that is none is reported at the map itself and skipped together with its value.
func (d *decoder) key() ([]byte, bool) {
	code, ok := d.peek()
	if !ok { // check: truncated key
		d.truncated()
		return nil, false
	}
	if got := kindOf(code); got != kindString { // check: kind of key
		if got != kindReserved {
			d.problems.Add(abi.CodeWrongType, "a key is "+kindNames[got]+", not a string")
		}
		d.skipPair()
		return nil, false
	}
	key := d.bytes(d.stringLen())
	if d.dead {
		return nil, false
	}
	if !utf8.Valid(key) { // check: UTF-8 of key
		d.problems.Add(abi.CodeInvalidUTF8, "a key is not valid UTF-8")
		d.skip()
		return nil, false
	}
	return key, true
}

func (d *decoder) skipPair() {
	if d.skip(); !d.dead {
		d.skip()
	}
}

// find gives the index of a field, -1 for none. hint is the one to expect.
func find(fields []string, key []byte, hint int) int {
	if hint < len(fields) && fields[hint] == string(key) {
		return hint
	}
	for i, name := range fields {
		if name == string(key) {
			return i
		}
	}
	return -1
}

// maxShown is how many bytes of a foreign string a problem repeats.
const maxShown = 64

// clip cuts a string that a module chose to what a problem repeats.
func clip(b []byte) string {
	if len(b) <= maxShown {
		return string(b)
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "..."
}

// isName says whether a key looks like a field's name.
func isName(key []byte) bool {
	if len(key) == 0 || len(key) > maxShown {
		return false
	}
	for _, c := range key {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
