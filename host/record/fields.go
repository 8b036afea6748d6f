package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// maxFields is how many fields of one artifact are named.
const maxFields = 20

// decodeCall reads the request or the response of a call.
func decodeCall(kind abi.Call, input bool, message []byte) (any, error) {
	switch {
	case kind == abi.CallNode && input:
		return codec.DecodeNodeRequest(message, len(message))
	case kind == abi.CallNode:
		return codec.DecodeNodeResponse(message, len(message))
	case kind == abi.CallContest && input:
		return codec.DecodeContestRequest(message, len(message))
	case kind == abi.CallContest:
		return codec.DecodeContestResponse(message, len(message))
	case kind == abi.CallEdges && input:
		return codec.DecodeEdgeRequest(message, len(message))
	case kind == abi.CallEdges:
		return codec.DecodeEdgeResponse(message, len(message))
	case kind == abi.CallJudge && input:
		return codec.DecodeJudgeRequest(message, len(message))
	case kind == abi.CallJudge:
		return codec.DecodeJudgeResponse(message, len(message))
	}
	return nil, fmt.Errorf("no message of a %s call", kind)
}

// differ adds the paths at which two values of one type are not the same, in the names of the wire.
func differ(path string, a, b reflect.Value, list *[]FieldDifference) {
	if len(*list) >= maxFields || same(a, b) {
		return
	}
	if a.IsValid() && b.IsValid() && a.Type() == b.Type() {
		switch a.Kind() { //nolint:exhaustive // the others are leaves
		case reflect.Interface, reflect.Pointer:
			if !a.IsNil() && !b.IsNil() {
				differ(path, a.Elem(), b.Elem(), list)
				return
			}
		case reflect.Struct:
			for i := range a.NumField() {
				differ(join(path, fieldName(a.Type().Field(i))), a.Field(i), b.Field(i), list)
			}
			return
		case reflect.Slice:
			differSlices(path, a, b, list)
			return
		case reflect.Map:
			differMaps(path, a, b, list)
			return
		}
	}
	*list = append(*list, FieldDifference{path, show(a), show(b)})
}

func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func differSlices(path string, a, b reflect.Value, list *[]FieldDifference) {
	for i := range max(a.Len(), b.Len()) {
		var x, y reflect.Value
		if i < a.Len() {
			x = a.Index(i)
		}
		if i < b.Len() {
			y = b.Index(i)
		}
		differ(path+"["+strconv.Itoa(i)+"]", x, y, list)
	}
}

func differMaps(path string, a, b reflect.Value, list *[]FieldDifference) {
	keys := a.MapKeys()
	for _, k := range b.MapKeys() {
		if !a.MapIndex(k).IsValid() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y reflect.Value) int { return cmp.Compare(x.String(), y.String()) })
	for _, k := range keys {
		differ(join(path, k.String()), a.MapIndex(k), b.MapIndex(k), list)
	}
}

// fieldName is the name on the wire.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("abi"), ",")
	if name == "" {
		return f.Name
	}
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// show gives a value as text, cut where it is long.
func show(v reflect.Value) string {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface && v.IsNil() {
		return ""
	}
	text := fmt.Sprintf("%v", v.Interface())
	if v.Kind() == reflect.String {
		text = strconv.Quote(v.String())
	}
	return cut(text)
}

// cut cuts a text where it is long.
func cut(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
