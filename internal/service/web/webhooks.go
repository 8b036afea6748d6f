package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// webhooksView is the page of webhooks: what they are told, and their dead letters.
type webhooksView struct {
	Hooks []store.Webhook
	Dead  []store.Delivery
	Next  string // address of the next page; empty on the last
	First string // of the first one; empty on it
}

const webhooksPath = "/settings/webhooks"

func (s *site) webhooks(w http.ResponseWriter, r *http.Request) error {
	const most = 50
	hooks, err := s.Webhooks(r.Context())
	if err != nil {
		return err
	}
	f := store.DeliveryFilter{State: store.DeliveryDead, Limit: most}
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if f.Before = int64(atoi(cursor)); f.Before < 1 {
			return errCursor
		}
	}
	dead, err := s.Deliveries(r.Context(), f)
	if err != nil {
		return err
	}
	v := &webhooksView{Hooks: hooks, Dead: dead}
	if f.Before > 0 {
		v.First = webhooksPath
	}
	if len(dead) == most {
		v.Next = webhooksPath + "?cursor=" + strconv.FormatInt(dead[most-1].ID, 10)
	}
	return s.show(w, r, http.StatusOK, &view{Page: "webhooks", Section: "settings", Title: "Webhooks", Data: v})
}

func (s *site) redeliver(w http.ResponseWriter, r *http.Request) error {
	return act(w, r, func(ctx context.Context, id int64) error { _, err := s.Redeliver(ctx, id); return err },
		func(int64) string { return webhooksPath + "?did=redeliver" })
}
