package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// How often a page that follows is told of changes at most, and how often a silent connection is kept awake.
const (
	quiet     = 300 * time.Millisecond
	keepAlive = 20 * time.Second
)

// stale says that what a page shows may be stale.
type stale struct {
	// Docket is the docket that changed; 0 where everything may have changed.
	Docket int64 `json:"docket,omitempty"`
	// Modules: generations changed. Corrections: a case was corrected.
	Modules     bool `json:"modules,omitempty"`
	Corrections bool `json:"corrections,omitempty"`
}

func staleBy(e store.Event) (out stale) {
	switch e.Kind {
	case store.EventDocket:
		out.Docket = e.ID
	case store.EventGeneration:
		out.Modules = true
	case store.EventCorrection:
		out.Corrections = true
	case store.EventResync:
		out.Modules, out.Corrections = true, true
	}
	return out
}

// changes tells a page that what it shows is stale, by server-sent events. The page then fetches itself again.
func (s *site) changes(w http.ResponseWriter, r *http.Request) error {
	docket := int64(atoi(r.URL.Query().Get("docket")))
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := httplimit.Writing(w)
	events := s.Store.Subscribe(r.Context())
	awake := time.NewTicker(keepAlive)
	defer awake.Stop()
	// Not before calm a change is sent; those that come meanwhile wait together.
	var calm, later <-chan time.Time
	var pending stale
	send := func() bool {
		calm, later = time.After(quiet), nil
		data, err := json.Marshal(pending)
		if err == nil {
			_, err = fmt.Fprintf(out, "event: change\ndata: %s\n\n", data)
		}
		pending = stale{}
		return err == nil
	}
	if !send() {
		return nil
	}
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return nil
			}
			c := staleBy(e)
			if docket > 0 && c.Docket != 0 && c.Docket != docket {
				continue
			}
			pending = stale{c.Docket, pending.Modules || c.Modules, pending.Corrections || c.Corrections}
			switch {
			case calm != nil:
				later, calm = calm, nil
			case later == nil:
				if !send() {
					return nil
				}
			}
		case <-s.Stop:
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
