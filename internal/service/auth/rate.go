package auth

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients is how many clients have a limiter of their own; the one that was not heard of for longest is forgotten first.
const maxClients = 10_000

// rates limits clients, each by itself. Safe for concurrent use.
type rates struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	clients map[string]*list.Element
	order   list.List // of *client, the last heard of in front
}

type client struct {
	key     string
	limiter *rate.Limiter
}

func newRates(perSecond float64, burst int, now func() time.Time) *rates {
	return &rates{limit: rate.Limit(perSecond), burst: burst, now: now, clients: map[string]*list.Element{}}
}

// take says whether a client may send a request now, and if not, after what time.
func (r *rates) take(key string) (wait time.Duration, ok bool) {
	now := r.now()
	reservation := r.of(key).ReserveN(now, 1)
	wait = reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, wait == 0
}

func (r *rates) of(key string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.clients[key]; ok {
		r.order.MoveToFront(e)
		return e.Value.(*client).limiter //nolint:forcetypeassert // the list has nothing else
	}
	if len(r.clients) >= maxClients {
		oldest := r.order.Back()
		delete(r.clients, r.order.Remove(oldest).(*client).key) //nolint:forcetypeassert // as above
	}
	c := &client{key, rate.NewLimiter(r.limit, r.burst)}
	r.clients[key] = r.order.PushFront(c)
	return c.limiter
}

// knows says whether a client has a limiter of its own.
func (r *rates) knows(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.clients[key]
	return ok
}

func (r *rates) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.clients[key]; ok {
		r.order.Remove(e)
		delete(r.clients, key)
	}
}
