package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// describe adds to each operation the problems that it may answer with, and the parts of the document that no handler has in its types.
func describe(doc *huma.OpenAPI) {
	schema := doc.Components.Schemas.Schema(reflect.TypeFor[wire.Problem](), true, "")
	media := map[string]*huma.MediaType{wire.ProblemType: {Schema: schema}}
	for name, s := range doc.Components.Schemas.Map() {
		if strings.HasSuffix(name, "Request") {
			optionalMayBeNull(s)
		}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Delete} {
			if op == nil {
				continue
			}
			delete(op.Responses, "default")
			for _, status := range statuses(op) {
				op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: media}
			}
		}
	}
}

// optionalMayBeNull says what the library does: it reads a field that may be left out and is null as if it was left out.
func optionalMayBeNull(s *huma.Schema) {
	for name, field := range s.Properties {
		if field.Ref == "" && !slices.Contains(s.Required, name) {
			field.Nullable = true
		}
	}
}

// statuses are those of the problems of an operation.
func statuses(op *huma.Operation) []int {
	list := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "path" }) {
		list = append(list, http.StatusNotFound)
	}
	if op.RequestBody != nil {
		list = append(list, http.StatusNotFound, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if op.Method != http.MethodGet || op.OperationID == "explain-trial" {
		list = append(list, http.StatusConflict)
	}
	return list
}
