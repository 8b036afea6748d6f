package mcp

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Clients share the casebook and the list of trials. A play belongs to the client that began it and ends with it.

// watch waits for the end of a client, whose plays end then. The caller holds the lock.
func (s *Server) watch(client *sdk.ServerSession) {
	if s.watched[client] {
		return
	}
	s.watched[client] = true
	s.clients.Go(func() {
		_ = client.Wait()
		s.leave(client)
	})
}

// leave ends the plays of a client that is gone.
func (s *Server) leave(client *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = slices.DeleteFunc(s.plays, func(p *play) bool {
		if p.owner == client {
			p.cancel()
		}
		return p.owner == client
	})
	for i := range s.done {
		if s.done[i].owner == client {
			s.done[i].owner = nil
		}
	}
	delete(s.watched, client)
}

// begin begins a trial in which a client plays. The trial calls end; where it does not begin, the caller does.
func (s *Server) begin(client *sdk.ServerSession, h *host.Host, end func(), e *docket.Entry, models []string) (*play, error) { // of no request: the trial outlives it
	s.mu.Lock()
	defer s.mu.Unlock()
	all, own := 0, 0
	for _, p := range s.plays {
		if p.ended() {
			continue
		}
		if all++; p.owner == client {
			own++
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return nil, errEnds
	case own >= maxOwnPlays:
		return nil, fmt.Errorf("%d plays of yours have not ended: play them, or end some with end_play; list_plays names them", own)
	case all >= maxPlays:
		return nil, fmt.Errorf("%d plays of all clients have not ended: try again when one has", all)
	}
	s.watch(client)
	s.played++
	p := newPlay(fmt.Sprintf("play-%d", s.played), client, e.Case.ID, models, s.config.Answer)
	p.labels = meanings(h, e)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.WithValue(s.ctx, playKey{}, p))
	s.plays = append(s.plays, p)
	s.trials.Go(func() {
		defer end()
		defer p.cancel()
		p.end(s.try(ctx, client, h, e.Case))
		s.forget()
	})
	return p, nil
}

// forget drops the oldest plays that ended beyond the limit. The others are kept for clients that lost the answer.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := 0
	for _, p := range s.plays {
		if p.ended() {
			ended++
		}
	}
	s.plays = slices.DeleteFunc(s.plays, func(p *play) bool {
		drop := ended > maxTrials && p.ended()
		if drop {
			ended--
		}
		return drop
	})
}

// find gives a play of a client.
func (s *Server) find(client *sdk.ServerSession, id string) (*play, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.plays {
		if p.id == id && p.owner == client {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no play %q of yours: begin one with play; list_plays names those that you have", id)
}

// drop ends a play and forgets it.
func (s *Server) drop(ctx context.Context, p *play) error {
	p.cancel()
	select {
	case <-p.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays = slices.DeleteFunc(s.plays, func(other *play) bool { return other == p })
	return nil
}

// keep keeps a finished trial of a client, and drops the oldest one beyond the limit.
func (s *Server) keep(client *sdk.ServerSession, t *trial.Trial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch(client)
	s.done = append(s.done, tried{t, client})
	if len(s.done) > maxTrials {
		s.done = slices.Delete(s.done, 0, 1)
	}
}

// finished gives the latest trial of a case: of the client's own ones, or else of all. So nobody else puts a case of his own in the
// place of one that a client has tried.
func (s *Server) finished(client *sdk.ServerSession, id string) (*trial.Trial, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var latest *trial.Trial
	for _, t := range slices.Backward(s.done) {
		switch {
		case t.Case.ID != id:
		case t.owner == client:
			return t.Trial, nil
		case latest == nil:
			latest = t.Trial
		}
	}
	if latest == nil {
		return nil, fmt.Errorf("no trial of a case %q is kept: list_trials names those that are", id)
	}
	return latest, nil
}
