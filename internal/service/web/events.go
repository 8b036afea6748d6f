package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

// How often a page that follows is told of changes at most, and how often a silent connection is kept awake.
const (
	quiet     = 300 * time.Millisecond
	keepAlive = 20 * time.Second
)

// changes tells a page that what it shows is stale, by server-sent events. The page then fetches itself again.
func (s *site) changes(w http.ResponseWriter, r *http.Request) error {
	docket := int64(atoi(r.URL.Query().Get("docket")))
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := httplimit.Writing(w)
	list := s.config.Backend.Changes(r.Context())
	awake := time.NewTicker(keepAlive)
	defer awake.Stop()
	// Not before calm a change is sent; those that come meanwhile wait together.
	var calm, later <-chan time.Time
	var pending Change
	send := func() bool {
		calm, later = time.After(quiet), nil
		err := writeEvent(out, pending)
		pending = Change{}
		return err == nil
	}
	if !send() {
		return nil
	}
	for {
		select {
		case c, ok := <-list:
			if !ok {
				return nil
			}
			if docket > 0 && c.Docket != 0 && c.Docket != docket {
				continue
			}
			pending = Change{c.Docket, pending.Modules || c.Modules, pending.Corrections || c.Corrections}
			switch {
			case calm != nil:
				later, calm = calm, nil
			case later == nil:
				if !send() {
					return nil
				}
			}
		case <-s.config.Stop:
			return nil
		case <-calm:
			calm = nil
		case <-later:
			if !send() {
				return nil
			}
		case <-awake.C:
			if _, err := io.WriteString(out, ": awake\n\n"); err != nil {
				return nil
			}
		}
	}
}

func writeEvent(w io.Writer, c Change) error {
	data, err := json.Marshal(struct {
		Docket      int64 `json:"docket,omitempty"`
		Modules     bool  `json:"modules,omitempty"`
		Corrections bool  `json:"corrections,omitempty"`
	}{c.Docket, c.Modules, c.Corrections})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "event: change\ndata: %s\n\n", data)
	return err
}
