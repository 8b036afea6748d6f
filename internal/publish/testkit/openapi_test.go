package testkit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The servers of tests tell right requests and answers from wrong ones.
func TestAccept_IG1_TheDescriptionsTellRightFromWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file, method, target, body string
		good                       bool
	}{
		{"github.json", "GET", "/user", "", true},
		{"github.json", "GET", "/users", "", false},
		{"github.json", "GET", "/user", "{}", false},
		{"github.json", "PUT", "/user", "", false},
		{"github.json", "GET", "/repos/a/b/issues/1/comments?per_page=100&page=2", "", true},
		{"github.json", "GET", "/repos/a/b/issues/x/comments", "", false},
		{"github.json", "GET", "/repos/a/b/issues/1/comments?size=100", "", false},
		{"github.json", "GET", "/repos/a/b/issues/1/comments?page=x", "", false},
		{"github.json", "GET", "/repos/a/b/pulls?state=open&head=ann:fix", "", true},
		{"github.json", "GET", "/repos/a/b/pulls?state=ajar", "", false},
		{"github.json", "POST", "/repos/a/b/issues/1/comments", `{"body": "x"}`, true},
		{"github.json", "POST", "/repos/a/b/issues/1/comments", `{"text": "x"}`, false},
		{"github.json", "POST", "/repos/a/b/issues/1/comments", `{"body": 1}`, false},
		{"github.json", "PATCH", "/repos/a/b/issues/comments/7", `{"body": "x"}`, true},
		{"gitlab.json", "GET", "/api/v4/projects/a%2Fb/merge_requests/1/notes?sort=asc", "", true},
		{"gitlab.json", "GET", "/api/v4/projects/a/b/merge_requests/1/notes", "", false},
		{"gitlab.json", "POST", "/api/v4/projects/7/merge_requests/1/notes", `{}`, false},
	} {
		r := httptest.NewRequest(tc.method, tc.target, strings.NewReader(tc.body))
		if tc.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		op, err := describe(t, tc.file).find(r, "")
		if err == nil {
			err = op.request(r)
		}
		if (err == nil) != tc.good {
			t.Errorf("%s %s %s: %v", tc.method, tc.target, tc.body, err)
		}
	}
	d := describe(t, "github.json")
	op, err := d.find(httptest.NewRequest(http.MethodGet, "/user", http.NoBody), "")
	if err != nil {
		t.Fatal(err)
	}
	good := d.Sample("public-user")
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := op.answer(http.StatusOK, text); err != nil {
		t.Error(err)
	}
	for status, body := range map[int]string{http.StatusOK: `{"login": "x"}`, http.StatusTeapot: string(text), http.StatusForbidden: `{"message": 1}`} {
		if err := op.answer(status, []byte(body)); err == nil {
			t.Errorf("%d %s is an answer", status, body)
		}
	}
}
