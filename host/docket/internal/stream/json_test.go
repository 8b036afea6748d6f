package stream_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

func TestStringIsClipped(t *testing.T) {
	t.Parallel()
	r := stream.NewJSON(strings.NewReader(`"a` + strings.Repeat(`\n`, 10_000) + `z"`))
	got, err := r.String(4, 4)
	if want := "a\n\n\n[... 9995 bytes cut here ...]\n\n\nz"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// A byte that is no UTF-8 is found in one pass, however far behind the beginning it stands.
func TestBadBytesOfALongString(t *testing.T) {
	t.Parallel()
	const length = 4 << 20
	r := stream.NewJSON(strings.NewReader(`"` + strings.Repeat("é", length/2) + "\xff\""))
	var bad string
	r.Bad = func(detail string) { bad = detail }
	if text, err := r.String(0, 0); len(text) != length+1 || err != nil || bad != "is no valid UTF-8 from its byte 4194305 on (0xff)" {
		t.Errorf("%d bytes, %q, %v", len(text), bad, err)
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{`{"a":1,}`, "is not valid JSON at column 8: there is \"}\" behind a comma"},
		{`[1 2]`, "is not valid JSON at column 4: found \"2\" where a comma or \"]\" is expected"},
		{`{"é" 1}`, "is not valid JSON at column 6: found \"1\" where a colon is expected"},
		{`{a:1}`, "is not valid JSON at column 2: found \"a\" where a key is expected"},
		{`[01]`, `is not valid JSON at column 2: "01" is no value`},
		{`[truth]`, `is not valid JSON at column 2: "truth" is no value`},
		{`["a\x"]`, "is not valid JSON at column 5: there is no escape \"x\""},
		{`["\u12g4"]`, "is not valid JSON at column 7: found \"g\" where a hexadecimal digit is expected"},
		{"[\"a\tb\"]", "is not valid JSON at column 4: a string holds a raw control character"},
		{`[1`, "column 3: the text ends here, and is not complete"},
		{strings.Repeat("[", 65), "column 65: values nest deeper than 64"},
		{"<a>", "is not valid JSON at column 1: found \"<\" where a value is expected"},
	}
	for _, tt := range tests {
		if err := stream.NewJSON(strings.NewReader(tt.text)).Skip(); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// FuzzAgrees holds that what is read is what the standard library reads, and that the same is rejected.
func FuzzAgrees(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e+3,true,false,null,"\u00e9\ud83d\ude00\ud83dx\\\/"]}`, `[1e]`, `[-]`, `"\ud800\u0041"`, `"\ud83d\ud83d\ude00"`, `[1.]`, " 0 ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "[")+strings.Count(text, "{") > stream.MaxNesting || len(text) > 60 || !utf8.ValidString(text) {
			t.Skip()
		}
		r := stream.NewJSON(strings.NewReader(text))
		got, err := value(r)
		if err == nil {
			var more bool
			if more, err = r.More(); more {
				err = errors.New("something follows")
			}
		}
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("%q: is it JSON: %t, and reading says %v", text, valid, err)
		}
		var want any
		if err != nil || json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) {
			t.Fatalf("%q: got %s, want %s", text, b, a)
		}
	})
}

func value(r *stream.JSON) (any, error) {
	b, err := r.Next()
	if err != nil {
		return nil, err
	}
	switch b {
	case '{':
		object := map[string]any{}
		err := r.Object(func(key string) error {
			v, err := value(r)
			object[key] = v
			return err
		})
		return object, err
	case '[':
		array := []any{}
		err := r.Array(func() error {
			v, err := value(r)
			array = append(array, v)
			return err
		})
		return array, err
	case '"':
		return r.String(1<<20, 1)
	default:
		word, err := r.Word()
		if err != nil {
			return nil, err
		}
		var v any
		if json.Unmarshal([]byte(word), &v) == nil {
			return v, nil
		}
		return json.Number(word), nil // beyond a float64
	}
}
