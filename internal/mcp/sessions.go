package mcp

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the sessions over HTTP. A client that begins one more loses the one of its own that it did not use for longest.
const (
	maxSessions    = 128
	maxOwnSessions = 32
)

// sessionHeader has the ID of a session.
const sessionHeader = "Mcp-Session-Id"

// sessions bounds how many sessions clients keep. Safe for concurrent use.
type sessions struct {
	next   http.Handler
	server *sdk.Server
	mu     sync.Mutex
	list   []*session // the one that was not used for longest first
}

// session is one that a client began. Its ID is empty until it has begun.
type session struct {
	id, client string
	requests   int // that go on
}

// ServeHTTP serves requests of known sessions, and begins others where there is room.
func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	if id == "" && r.Method != http.MethodPost {
		s.next.ServeHTTP(w, r) // which rejects it
		return
	}
	var used *session
	if id == "" {
		if used = s.begin(clientOf(r)); used == nil {
			w.Header().Set("Retry-After", "60")
			http.Error(w, fmt.Sprintf("%d sessions are open, %d for one client at most: end those that you don't need (DELETE), or try again", maxSessions, maxOwnSessions), http.StatusServiceUnavailable)
			return
		}
	} else if used = s.use(id); used == nil {
		s.next.ServeHTTP(w, r) // which does not know it either
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		used.requests--
		if used.id == "" {
			used.id = w.Header().Get(sessionHeader)
		}
	}()
	s.next.ServeHTTP(w, r)
}

// clientOf tells clients apart that are not asked who they are: by address and program.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return host + " " + r.UserAgent()
}

// use notes a request of a session; nil where it is not known.
func (s *sessions) use(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(k *session) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	used := s.list[i]
	s.list = append(slices.Delete(s.list, i, i+1), used)
	used.requests++
	return used
}

// begin makes room for a session of a client; nil where all are in use.
func (s *sessions) begin(client string) *session {
	live := map[string]*sdk.ServerSession{}
	for open := range s.server.Sessions() {
		live[open.ID()] = open
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := map[string]int{}
	s.list = slices.DeleteFunc(s.list, func(k *session) bool {
		gone := k.requests == 0 && live[k.id] == nil // it ended, or never began
		if !gone {
			of[k.client]++
		}
		return gone
	})
	loser := client
	if of[client] < maxOwnSessions && len(s.list) >= maxSessions {
		for _, k := range s.list { // of the client that has most
			if k.requests == 0 && (of[k.client] > of[loser] || loser == client) {
				loser = k.client
			}
		}
	}
	if of[client] >= maxOwnSessions || len(s.list) >= maxSessions {
		i := slices.IndexFunc(s.list, func(k *session) bool { return k.client == loser && k.requests == 0 })
		if i < 0 {
			return nil
		}
		go func(open *sdk.ServerSession) { _ = open.Close() }(live[s.list[i].id]) // it waits for what the session does
		s.list = slices.Delete(s.list, i, i+1)
	}
	begun := &session{client: client, requests: 1}
	s.list = append(s.list, begun)
	return begun
}
