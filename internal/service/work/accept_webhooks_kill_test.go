//go:build unix

package work_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func TestAccept_IG7_KilledSendersOnSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	killedSenders(t, filepath.Join(t.TempDir(), "shadowcourt.db"))
}

// killedSenders: a worker is killed while a receiver has its message, again and again. No event is lost, and none comes under two IDs.
func killedSenders(t *testing.T, database string) {
	t.Helper()
	s := &storm{store: openDatabase(t, database), database: database}
	const n, kills = 30, 3
	got := make(chan int, 1000)
	goOn := make(chan struct{})
	b := newInbox(t, func(i int, _ http.ResponseWriter, r *http.Request) {
		got <- i
		if i%7 == 1 && i < 7*kills { // it is killed now
			select {
			case <-r.Context().Done():
			case <-goOn:
			}
		}
	})
	text := "hooks:\n" + aHook("one", b.URL, "failure.yours", "")
	setHooks(t, s.store, hooksOf(t, text))
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	t.Setenv(hooksFlag, file)
	t.Setenv("S", hookSecret)
	stored := map[string]int64{}
	for i := range n {
		pushed(t, s.store, store.Submission{Repository: "shop", Key: strconv.Itoa(i)}, alibi.IsYours)
	}
	for _, d := range deliveries(t, s.store, store.DeliveryFilter{}) {
		stored[d.Message] = d.What.Docket.ID
	}
	for range kills {
		s.workers = append(s.workers[:0], s.spawn(t))
		for i := range got {
			if i%7 == 1 && i < 7*kills {
				break
			}
		}
		s.kill(t, 0, syscall.SIGKILL)
	}
	close(goOn)
	s.workers = append(s.workers[:0], s.spawn(t))
	t.Cleanup(func() { s.kill(t, 0, syscall.SIGTERM) })
	inState(t, s.store, store.Delivered, n)
	seen, again := map[string]int64{}, 0
	for _, m := range b.messages() {
		if id, ok := seen[m.id]; ok {
			again++
			if id != m.Docket.ID {
				t.Errorf("%s is about dockets %d and %d", m.id, id, m.Docket.ID)
			}
		}
		seen[m.id] = m.Docket.ID
	}
	if len(stored) != n || len(seen) != n || again < kills {
		t.Errorf("%d events were stored, %d came, %d times one again", len(stored), len(seen), again)
	}
	for id, docketID := range stored {
		if seen[id] != docketID {
			t.Errorf("docket %d: %s came about %d", docketID, id, seen[id])
		}
	}
}
