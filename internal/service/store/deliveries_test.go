package store_test

import (
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// boundedDeliveries: a webhook that takes nothing has a bounded number of messages that wait, and of those that ended.
func boundedDeliveries(t *testing.T, s *store.Store) {
	t.Helper()
	hooks := []store.Webhook{{Name: "dead", Events: []store.HookEventType{store.DocketFinished}}, {Name: "well", Events: []store.HookEventType{store.DocketFinished}}}
	must(t, s.SetWebhooks(t.Context(), hooks))
	many := func(state string, n int) {
		must(t, s.Exec(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO webhook_deliveries (message, hook, event, body, state, attempt, due, status, answer, created, sent, finished)
			SELECT 'many', 'dead', 'docket.finished', '', '`+state+`', 0, 0, 0, '', 0, 0, 1 FROM n`, int64(n)))
	}
	many("pending", store.MaxDeliveries-1)
	for i, want := range []store.DeliveryState{store.DeliveryPending, store.DeliveryDead} {
		submit(t, s, store.Submission{Format: "jsonl"})
		list, err := s.Deliveries(t.Context(), store.DeliveryFilter{Limit: 2})
		must(t, err)
		for _, d := range list {
			if d.Hook == "dead" && d.State != want || d.Hook == "well" && d.State != store.DeliveryPending || (d.State == store.DeliveryDead) != (d.Answer != "") {
				t.Errorf("event %d: %+v", i, d)
			}
		}
	}
	many("dead", store.MaxDeliveries+600)
	const never = 1e6 * time.Hour
	if n, err := s.RemoveDeliveries(t.Context(), never, never); err != nil || n != 601 {
		t.Errorf("%d were removed, %v", n, err)
	}
	list, err := s.Webhooks(t.Context())
	must(t, err)
	if list[0].Pending != store.MaxDeliveries || list[0].Dead != store.MaxDeliveries || list[1].Pending != 2 {
		t.Errorf("%+v", list)
	}
}
