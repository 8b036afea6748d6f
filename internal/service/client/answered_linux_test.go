package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// What stands before a service may reset the connection right behind its answer, as this server does. Linux lets the answer be read then;
// other systems may drop it.
func TestAnAnswerBeforeAResetIsRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1000))
		wire.WriteProblem(w, wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, "no case can be tried"))
	}))
	t.Cleanup(server.Close)
	var again []error
	c, err := client.New(client.Config{Server: server.URL, Program: "test/1", Again: func(err error, _ time.Duration) { again = append(again, err) }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		_, _, err := c.Submit(t.Context(), &client.Submission{Key: strconv.Itoa(n)}, func() (io.ReadCloser, error) { return io.NopCloser(&endless{}), nil })
		if err == nil || !strings.Contains(err.Error(), "no case can be tried (bad_docket)") || len(again) > 0 {
			t.Fatalf("%v after %q", err, again)
		}
	}
}
