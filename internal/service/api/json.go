package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictjson"
)

// jsonFormat is JSON without escapes for HTML: results are the same bytes as elsewhere.
//
// Characters that are not visible are escaped, as in results: names and texts of cases may have terminal escapes and bidirectional controls.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return err
		}
		_, err := w.Write(sanitize.JSON(text.Bytes()))
		return err
	},
	Unmarshal: unmarshal,
}

// unmarshal decodes a request's body, in which no object has a key twice: encoding/json would take the last. In JSON Schema 516.0 and 5e2
// are integers, and validation takes them; encoding/json does not, and so they are decoded again as integers.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, first := v.(*any); first && err == nil { // to be validated; it is then decoded again
		return strictjson.UniqueKeys(json.NewDecoder(bytes.NewReader(data)), false)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return err
	}
	plain, marshalErr := json.Marshal(integers(tree))
	if marshalErr != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

// integers writes numbers that are integers as such.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case json.Number:
		const exact = 1 << 53 // beyond it a float is no certain integer
		if f, err := v.Float64(); err == nil && math.Trunc(f) == f && math.Abs(f) <= exact {
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
	}
	return v
}
