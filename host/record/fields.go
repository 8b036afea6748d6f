package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vmihailenco/msgpack/v5" //nolint:depguard // for people: what differs, of messages that the codec has checked

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// maxFields is how many fields of one artifact are named.
const maxFields = 20

// messageDifferences compares two messages of calls, "request" or "response", if both are kept.
func messageDifferences(was, is *Trial, a, b Digest, kind abi.Call, part string) []FieldDifference {
	x, ok := was.Content(a)
	y, also := is.Content(b)
	t, known := codec.Lookup(strings.TrimSuffix(string(kind), "s") + "_" + part) // calls for edges have an edge_request
	if !ok || !also || !known {
		return nil
	}
	return differences(x, y, func(message []byte, v any) error {
		canonical, err := t.Canonical(message, len(message)) // the library bounds no depth
		if err != nil {
			return err
		}
		return msgpack.Unmarshal(canonical, v) //nolint:forbidigo // into values of any kind
	})
}

func jsonDifferences(a, b []byte) []FieldDifference {
	return differences(a, b, func(text []byte, v any) error {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		return d.Decode(v)
	})
}

// valueDifferences compares parts of trials as they are written.
func valueDifferences(a, b any) []FieldDifference {
	x, err := encodeJSON(a)
	y, other := encodeJSON(b)
	if err != nil || other != nil {
		return nil
	}
	return jsonDifferences(x, y)
}

// differences compares two messages by their fields, if both can be read.
func differences(a, b []byte, decode func([]byte, any) error) (list []FieldDifference) {
	var x, y any
	if decode(a, &x) == nil && decode(b, &y) == nil {
		differ("", x, y, &list)
	}
	return list
}

// differ adds the paths at which two values are not the same. A value that is not there is nil.
func differ(path string, a, b any, list *[]FieldDifference) {
	if len(*list) >= maxFields || reflect.DeepEqual(a, b) {
		return
	}
	x, isMap := a.(map[string]any)
	y, alsoMap := b.(map[string]any)
	m, isList := a.([]any)
	n, alsoList := b.([]any)
	switch {
	case (isMap || a == nil) && (alsoMap || b == nil) && len(x)+len(y) > 0:
		both := map[string]any{}
		maps.Copy(both, x)
		maps.Copy(both, y)
		for _, key := range slices.Sorted(maps.Keys(both)) {
			differ(strings.TrimPrefix(path+"."+key, "."), x[key], y[key], list)
		}
	case (isList || a == nil) && (alsoList || b == nil) && len(m)+len(n) > 0:
		for i := range max(len(m), len(n)) {
			differ(path+"["+strconv.Itoa(i)+"]", at(m, i), at(n, i), list)
		}
	default:
		*list = append(*list, FieldDifference{path, show(a), show(b)})
	}
}

// at is an element of a list, nil behind its end.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// show gives a value as text, cut where it is long.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return cut(strconv.Quote(v))
	default:
		return cut(fmt.Sprint(v))
	}
}

// cut cuts a text where it is long.
func cut(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
