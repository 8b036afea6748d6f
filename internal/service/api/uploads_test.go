package api_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// upload is a docket that is sent bit by bit over a connection of its own.
type upload struct {
	net.Conn
	in *bufio.Reader
}

// begin sends the head of a submission, and returns when the server reads the body: it has a slot then.
func (s *service) begin(t *testing.T, scope auth.Scope) *upload {
	t.Helper()
	c := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://")))(t)
	t.Cleanup(func() { _ = c.Close() })
	u := &upload{c, bufio.NewReader(c)}
	fmt.Fprintf(c, "POST %s/dockets?format=jsonl HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
		api.Prefix, strings.TrimPrefix(s.URL, "http://"), s.tokens[scope])
	line, err := u.in.ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answers %q, %v", line, err)
	}
	_, _ = u.in.ReadString('\n')
	return u
}

func (u *upload) send(t *testing.T, text string) {
	t.Helper()
	must.Get(fmt.Fprintf(u, "%x\r\n%s\r\n", len(text), text))(t)
}

// end sends the end of the body, and gives the status of the answer.
func (u *upload) end(t *testing.T) int {
	t.Helper()
	must.Get(io.WriteString(u, "0\r\n\r\n"))(t)
	r, err := http.ReadResponse(u.in, nil)
	must.Do(t, err)
	_ = r.Body.Close()
	return r.StatusCode
}

func TestAccept_SV5_ASubmissionWaitsForASlot(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.Uploads = 1 })
	first := s.begin(t, auth.Submit)
	done := make(chan int)
	go func() {
		status, _, _ := s.request(t, auth.Operate, "POST", api.Prefix+"/dockets", nil, []byte(caseWith("b")))
		done <- status
	}()
	first.send(t, caseWith("a"))
	check.Equal(t, first.end(t), http.StatusAccepted, "the first")
	check.Equal(t, <-done, http.StatusAccepted, "who waited")
}

func TestAccept_SV5_ASubmissionWithoutASlotIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.Uploads, c.UploadWait = 1, time.Nanosecond })
	s.begin(t, auth.Submit)
	s.comeAgain(t)
}

func TestAccept_SV5_ASubmissionToALockedDatabaseIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	db := must.Get(sql.Open("sqlite", s.database+"?_txlock=immediate"))(t)
	defer func() { must.Do(t, db.Close()) }()
	s.request(t, auth.Operate, "GET", api.Prefix+"/me", nil, nil) // which notes that the token is used
	lock := must.Get(db.BeginTx(t.Context(), nil))(t)
	s.comeAgain(t)
	must.Do(t, lock.Rollback())
	if status, _, p := s.submit(t, "", nil, caseWith("b")); status != http.StatusAccepted {
		t.Errorf("again: %d %+v", status, p)
	}
}

// comeAgain submits a docket that can't be taken now.
func (s *service) comeAgain(t *testing.T) {
	t.Helper()
	status, text, header := s.request(t, auth.Operate, "POST", api.Prefix+"/dockets", nil, []byte(caseWith("b")))
	var p wire.Problem
	if err := json.Unmarshal(text, &p); err != nil || status != http.StatusServiceUnavailable || p.Code != wire.Unavailable || header.Get("Retry-After") != "2" {
		t.Errorf("%d %s, again after %q, %v", status, text, header.Get("Retry-After"), err)
	}
}

// The work of an upload ends with its connection, and nothing of it is left.
func TestAccept_SV5_AnUploadEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.Uploads = 1 })
	kept := func() int {
		return must.Get(s.store.CountEntries(t.Context(), store.EntryFilter{Docket: 1}))(t)
	}
	u := s.begin(t, auth.Submit)
	for i := 0; kept() == 0; i++ {
		u.send(t, caseWith(strconv.Itoa(i)))
	}
	must.Do(t, u.Close())
	for kept() > 0 {
		runtime.Gosched()
	}
	if status, d, p := s.submit(t, "", nil, caseWith("b")); status != http.StatusAccepted || d.ID == 1 {
		t.Errorf("another docket: %d %+v", status, p)
	}
	check.Equal(t, len(must.Get(s.store.Dockets(t.Context(), storeAll))(t)), 1, "dockets")
}
