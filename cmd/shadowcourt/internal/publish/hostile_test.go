package publish

import (
	"io"
	"net/http"
	"strings"
)

// hostile are answers of servers that no client may trust, each with what an error names.
func hostile() map[string]struct {
	answer func(http.ResponseWriter, *http.Request)
	want   string
} {
	say := func(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `"`)
			for piece := []byte(strings.Repeat("x", 64<<10)); ; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}, "more than 8 MiB"},
		"of wrong types": {say(200, "application/json", `{"id":"../../x","number":"../../x","issue":7,"fields":[],"body":{}}`), "another form"},
		"not JSON":       {say(200, "application/json", "<html>"), "another form"},
		"cut":            {say(200, "application/json", `{"id":1,"na`), "another form"},
		"a failure":      {say(500, "text/html", "<h1>\x1b[31mboom</h1>"), "500 Internal Server Error: <h1>␛[31mboom"},
		"of another server": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/stolen", http.StatusTemporaryRedirect)
		}, "307 Temporary Redirect"},
		"an echo": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusForbidden)
		}, "403 Forbidden: "},
		"a cut connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	}
}
