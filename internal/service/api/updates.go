package api

import (
	"context"
	"net/http"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// askPause is the least time between two looks that somebody asks for.
const askPause = 5 * time.Second

func (s *server) updates() {
	const tag = "modules"
	register(s, operation("list-updates", http.MethodGet, "/updates", tag, "", "Read what the last look for newer versions of modules found"),
		func(ctx context.Context, _ *struct{}) (*answer[store.Look], error) {
			return reply(s.Store.LastLook(ctx))
		})
	look := operation("look-for-updates", http.MethodPost, "/updates", tag, auth.Everywhere, "Look for newer versions of modules in registries now")
	look.Description += " Those that are to be tried become canaries of new generations, which are not in force until they are activated."
	look.Metadata[isStream] = true
	register(s, look, func(ctx context.Context, _ *struct{}) (*answer[store.Look], error) {
		return reply(s.LookForUpdates(ctx))
	})
}

// LookForUpdates looks for newer versions of the modules in force, and gives what it found.
func (o *Operations) LookForUpdates(ctx context.Context) (l store.Look, err error) {
	if _, err := may(ctx, auth.Everywhere); err != nil {
		return l, err
	}
	if o.Look == nil {
		return l, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "this process can't look for newer versions")
	}
	begun, err := o.Store.BeginLook(ctx, askPause)
	switch {
	case err != nil:
		return l, err
	case !begun:
		return l, wire.NewProblem(http.StatusConflict, wire.Conflict, "somebody has looked a moment ago; see the result, or try again in a few seconds")
	}
	if err := o.Look(ctx); err != nil {
		return l, err
	}
	return o.Store.LastLook(ctx)
}
