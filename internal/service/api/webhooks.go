package api

import (
	"context"
	"net/http"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// webhooks are about all repositories.
func (s *server) webhooks() {
	const tag = "operations"
	register(s, operation("list-webhooks", http.MethodGet, "/webhooks", tag, auth.Everywhere, "List the webhooks of the operator's file"),
		func(ctx context.Context, _ *struct{}) (*answer[WebhooksAnswer], error) {
			list, err := s.Webhooks(ctx)
			return reply(WebhooksAnswer{filled(list)}, err)
		})
	list := operation("list-deliveries", http.MethodGet, "/webhooks/deliveries", tag, auth.Everywhere, "List messages to webhooks, the latest first")
	list.Description += " Dead letters are those with the state dead. Delivered messages are listed for a week, dead ones for 30 days."
	register(s, list, func(ctx context.Context, in *deliveriesInput) (*answer[DeliveriesAnswer], error) {
		list, err := s.Deliveries(ctx, store.DeliveryFilter{Hook: in.Webhook, State: store.DeliveryState(in.State), Before: in.before(), Limit: in.Limit})
		return reply(DeliveriesAnswer{filled(list), nextOf(&in.Page, list, func(d *store.Delivery) int64 { return d.ID })}, err)
	})
	again := operation("redeliver", http.MethodPost, "/webhooks/deliveries/{delivery}/redeliver", tag, auth.Everywhere, "Send a message again that is dead or was delivered")
	again.Description += " It keeps the ID of its message. One that waits, or whose webhook was removed, is a conflict."
	again.DefaultStatus = http.StatusAccepted
	register(s, again, func(ctx context.Context, in *deliveryPath) (*answer[store.Delivery], error) {
		return reply(s.Redeliver(ctx, in.ID))
	})
}

// WebhooksAnswer are all webhooks.
type WebhooksAnswer struct {
	Webhooks []store.Webhook `json:"webhooks"`
}

// DeliveriesAnswer is a page of messages to webhooks.
type DeliveriesAnswer struct {
	Deliveries []store.Delivery `json:"deliveries"`
	Next       string           `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}

type deliveriesInput struct {
	Page

	Webhook string `query:"webhook" maxLength:"40" doc:"Only messages to this webhook"`
	State   string `query:"state" enum:"pending,sending,delivered,dead" doc:"Only messages in this state"`
}

type deliveryPath struct {
	ID int64 `path:"delivery" minimum:"1" doc:"ID of a delivery"`
}

// Webhooks lists the webhooks, without their addresses.
func (o *Operations) Webhooks(ctx context.Context) ([]store.Webhook, error) {
	if _, err := may(ctx, auth.Everywhere); err != nil {
		return nil, err
	}
	return o.Store.Webhooks(ctx)
}

// Deliveries lists messages to webhooks.
func (o *Operations) Deliveries(ctx context.Context, f store.DeliveryFilter) ([]store.Delivery, error) {
	if _, err := may(ctx, auth.Everywhere); err != nil {
		return nil, err
	}
	return o.Store.Deliveries(ctx, f)
}

// Redeliver has a message sent again.
func (o *Operations) Redeliver(ctx context.Context, id int64) (d store.Delivery, err error) {
	if _, err = may(ctx, auth.Everywhere); err == nil {
		d, err = o.Store.Redeliver(ctx, id)
	}
	if err != nil {
		return d, err
	}
	return d, o.log(ctx, "webhook.redeliver", "delivery", id, d.Hook)
}
