package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// API makes requests with JSON to a server. It is safe for concurrent use.
type API struct {
	server *Server
	client *http.Client
}

// NewAPI is the API of a server. It waits where the server asks for it, see [Patient].
func NewAPI(s *Server) *API { return &API{s, Patient(s.Client(), Wait)} }

// Request is one of an [API].
type Request struct {
	Method string
	// Path are the elements of the path below the server's base. Each is escaped.
	Path  []string
	Query url.Values
	// Send is the body, as a value for encoding/json; nil for none.
	Send any
}

// Call makes a request and reads the JSON of the answer into got, unless that is nil. What is no success, not JSON or not of got's form is an
// error that names the request.
func (a *API) Call(ctx context.Context, r Request, got any) error {
	at := a.server.Base.JoinPath()
	for _, element := range r.Path {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%q is not an element of a path", element)
		}
		at = at.JoinPath(url.PathEscape(element))
	}
	at.RawQuery = r.Query.Encode()
	var body io.Reader = http.NoBody
	if r.Send != nil {
		data, err := json.Marshal(r.Send)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, at.String(), body)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if r.Send != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return Failed(answer)
	}
	if got == nil {
		return nil
	}
	named := func(what string) error { return fmt.Errorf("%s %s: %s", r.Method, sanitize.Line(at.Path), what) }
	if kind := answer.Header.Get("Content-Type"); !isJSON(kind) {
		return named(fmt.Sprintf("the answer is %q, not JSON", sanitize.Cut(sanitize.Line(kind), maxQuoted)))
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, sanitize.Line(at.Path), err)
	}
	if err := json.Unmarshal(data, got); err != nil {
		return named("the answer has another form than the API describes: " + sanitize.Cut(sanitize.Line(err.Error()), maxQuoted))
	}
	return nil
}

func isJSON(kind string) bool {
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && (media == "application/json" || len(media) > 5 && media[len(media)-5:] == "+json")
}
