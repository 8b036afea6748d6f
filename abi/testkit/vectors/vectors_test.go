package vectors_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	"github.com/shadowcourt/shadowcourt/abi/schema"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// hostCodec is the codec that the host reads every module's answer with.
func hostCodec(typeName string, data []byte, limit int) ([]byte, error) {
	t, ok := codec.Lookup(typeName)
	if !ok {
		return nil, fmt.Errorf("the codec has no type %q", typeName)
	}
	return t.Canonical(data, limit)
}

func TestAccept_FR10_HostCodecRejectsEveryClassOfEveryType(t *testing.T) {
	t.Parallel()
	vectors.Run(t, hostCodec)
}

func vectorsByType(t *testing.T) map[string][]vectors.Vector {
	t.Helper()
	sets := must.Get(vectors.Sets())(t)
	byType := map[string][]vectors.Vector{}
	for _, s := range sets {
		byType[s.Type] = s.Vectors
	}
	return byType
}

// Row SC2 shows that the model has every struct of package abi that is a message.
func TestAccept_SC1_EveryTypeHasSchemaVectorsAndValidation(t *testing.T) {
	t.Parallel()
	var names []string
	byType := vectorsByType(t)
	for _, s := range loadModel(t).Structs {
		names = append(names, s.WireName)
		valid := func(v vectors.Vector) bool { return v.Valid }
		if list := byType[s.WireName]; !slices.ContainsFunc(list, valid) || len(slices.DeleteFunc(slices.Clone(list), valid)) == 0 {
			t.Errorf("%s has no vectors", s.GoName)
		}
		_, err := hostCodec(s.WireName, []byte("\x81\xa5bogus\x01"), 0)
		if _, ok := errors.AsType[*abi.ValidationError](err); !ok {
			t.Errorf("%s is not validated: %v", s.GoName, err)
		}
	}
	slices.Sort(names)
	if with := slices.Sorted(maps.Keys(byType)); !slices.Equal(schema.Names(), names) || !slices.Equal(with, names) || len(names) < 60 {
		t.Errorf("types are %v, schemas %v, vectors %v", names, schema.Names(), with)
	}
}

func loadModel(t *testing.T) *model.Model {
	t.Helper()
	return must.Get(model.Load("../.."))(t)
}

// classes gives the codes that some vector of a type must carry.
func classes(s *model.StructType) []abi.Code {
	want := []abi.Code{
		abi.CodeUnknownField, abi.CodeDuplicateKey, abi.CodeWrongType, abi.CodeNil, abi.CodeExtension, abi.CodeInvalidUTF8,
		abi.CodeTruncated, abi.CodeBadLength, abi.CodeReservedByte, abi.CodeTooDeep, abi.CodeTrailingBytes, abi.CodeTooLarge,
	}
	for _, f := range s.Fields {
		if f.Required() {
			want = append(want, abi.CodeMissingField)
		}
		t := f.Type
		switch {
		case t.Kind == model.String:
			want = append(want, abi.CodeBinary)
		case t.Kind == model.Enum:
			want = append(want, abi.CodeBinary, abi.CodeInvalidValue)
		case t.Kind == model.Float:
			want = append(want, abi.CodeNotFinite)
		case t.MinCount != nil || t.MaxCount != nil:
			want = append(want, abi.CodeBadCount)
		}
		if t.NonEmpty {
			want = append(want, abi.CodeEmpty)
		}
		if t.Min != nil || t.Max != nil || t.Kind == model.Int {
			want = append(want, abi.CodeOutOfRange)
		}
	}
	return want
}

func TestAccept_FR10_VectorsCoverEveryTypeTimesEveryClass(t *testing.T) {
	t.Parallel()
	byType := vectorsByType(t)
	for _, s := range loadModel(t).Structs {
		codes, missing := map[abi.Code]bool{}, map[string]bool{}
		nested := false
		for _, v := range byType[s.WireName] {
			for _, p := range v.Problems {
				codes[p.Code] = true
				missing[p.Path+" "+string(p.Code)] = true
				nested = nested || strings.ContainsAny(p.Path, ".[")
			}
		}
		for _, code := range classes(s) {
			if !codes[code] {
				t.Errorf("no vector of %s shows %s", s.WireName, code)
			}
		}
		for _, f := range s.Fields {
			for _, code := range []abi.Code{abi.CodeDuplicateKey, abi.CodeNil, abi.CodeWrongType, abi.CodeExtension, abi.CodeReservedByte} {
				if !missing[f.WireName+" "+string(code)] {
					t.Errorf("no vector of %s shows %s of %s", s.WireName, code, f.WireName)
				}
			}
			if f.Required() && !missing[f.WireName+" "+string(abi.CodeMissingField)] {
				t.Errorf("no vector of %s shows a missing %s", s.WireName, f.WireName)
			}
			if inner := f.Type.Kind; inner >= model.List && !nested {
				t.Errorf("no vector of %s shows a problem inside", s.WireName)
			}
		}
	}
}
