package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
	"github.com/shadowcourt/shadowcourt/abi/schema"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	content, ok := schema.Get(name)
	if !ok {
		t.Fatalf("%s has no schema", name)
	}
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(content)))(t)
	c := jsonschema.NewCompiler()
	must.Do(t, c.AddResource("urn:test", document))
	compiled := must.Get(c.Compile("urn:test"))(t, name)
	return compiled
}

// asJSON gives the JSON form of a message, and whether it has one.
func asJSON(t *testing.T, v *vectors.Vector) (any, bool) {
	t.Helper()
	message := must.Get(v.Message())(t)
	tree, err := msgtree.Parse(message)
	if err != nil {
		return nil, false
	}
	text, err := json.Marshal(jsonOf(&tree))
	if err != nil {
		return nil, false // NaN and infinities
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return document, err == nil
}

// jsonOf gives what stands for a value in JSON, to which bin is a string.
func jsonOf(n *msgtree.Node) any {
	switch n.Kind {
	case msgtree.Nil, msgtree.Raw, msgtree.Extension:
		return nil
	case msgtree.Bool:
		return n.Bool
	case msgtree.Int:
		return n.Int
	case msgtree.Uint:
		return n.Uint
	case msgtree.Float, msgtree.Float32:
		return n.Float
	case msgtree.List:
		list := make([]any, len(n.Items))
		for i := range n.Items {
			list[i] = jsonOf(&n.Items[i])
		}
		return list
	case msgtree.Map:
		object := map[string]any{}
		for i := range n.Entries {
			object[n.Entries[i].Key.Text] = jsonOf(&n.Entries[i].Value)
		}
		return object
	default:
		return n.Text
	}
}

// visible are the codes of what a schema can see.
var visible = []abi.Code{
	abi.CodeUnknownField, abi.CodeMissingField, abi.CodeNil, abi.CodeWrongType,
	abi.CodeOutOfRange, abi.CodeInvalidValue, abi.CodeEmpty, abi.CodeBadCount,
}

// canSee says whether the schema must reject the vector. It knows no rules, takes 1.0 for an integer, and has no keys but strings, as JSON.
func canSee(v *vectors.Vector) bool {
	if strings.HasPrefix(v.Name, "rule") || strings.Contains(v.Name, "float 1.0") || strings.Contains(v.Name, " key") {
		return false
	}
	return !slices.ContainsFunc(v.Problems, func(p vectors.Problem) bool { return !slices.Contains(visible, p.Code) })
}

func TestSchemasHoldAgainstTheVectors(t *testing.T) {
	t.Parallel()
	sets := must.Get(vectors.Sets())(t)
	seen := map[abi.Code]int{}
	for _, set := range sets {
		compiled := compile(t, set.Type)
		for i := range set.Vectors {
			v := &set.Vectors[i]
			if !v.Valid && !canSee(v) {
				continue
			}
			document, ok := asJSON(t, v)
			if !ok {
				if v.Valid {
					t.Errorf("%s: %s has no JSON form", set.Type, v.Name)
				}
				continue
			}
			err := compiled.Validate(document)
			switch {
			case v.Valid && err != nil:
				t.Errorf("%s: %s is rejected: %v", set.Type, v.Name, err)
			case !v.Valid && err == nil:
				t.Errorf("%s: %s is accepted", set.Type, v.Name)
			case !v.Valid:
				seen[v.Problems[0].Code]++
			}
		}
	}
	for _, code := range visible {
		if seen[code] == 0 {
			t.Errorf("no vector of %s reached a schema", code)
		}
	}
}

func ExampleGet() {
	_, ok := schema.Get("defense_brief")
	fmt.Println(ok)
	// Output: true
}
