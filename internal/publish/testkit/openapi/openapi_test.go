package openapi_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit/openapi"
)

// The checks of other tests say something only if requests of another form don't pass.
func TestRequestsAndAnswersOfAnotherFormAreNamed(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../servers/reportportal.openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, path, query, body, want string }{
		{http.MethodPut, "/v1/cart/item", "", `{"issues":[{"testItemId":1,"issue":{"issueType":"pb001"}}]}`, ""},
		{http.MethodPut, "/v1/cart/item", "", `{"issues":[{"testItemId":"1","issue":{"issueType":"pb001"}}]}`, "testItemId"},
		{http.MethodPut, "/v1/cart/item", "", `{"issues":[{"testItemId":1}]}`, "issue"},
		{http.MethodPut, "/v1/cart/item", "", `{}`, "issues"},
		{http.MethodGet, "/v1/cart/item/7", "", "", ""},
		{http.MethodGet, "/v1/cart/item/7", "x=1", "", `no parameter "x"`},
		{http.MethodGet, "/v1/cart/item/7", "", "{}", "has no body"},
		{http.MethodPatch, "/v1/cart/item/7", "", "", "the API has no PATCH"},
		{http.MethodGet, "/v1/cart/items", "", "", "the API has no GET"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, "http://x.example"+tc.path+"?"+tc.query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.CheckRequest(r, tc.path, []byte(tc.body)); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s %s: %v, want %q", tc.method, tc.path, tc.body, err, tc.want)
		}
	}
	if err := d.CheckAnswer(http.MethodGet, "/v1/cart/item/7", http.StatusOK, []byte(`{"id":"7"}`)); err == nil {
		t.Error("an answer of a wrong type passes")
	}
}
