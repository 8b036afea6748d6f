package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

func listen(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var list []net.Listener
	var faults []error
	for _, address := range addresses {
		l, err := open.Listen(ctx, address)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, l)
	}
	if len(faults) > 0 {
		for _, l := range list {
			_ = l.Close()
		}
		return nil, errors.Join(faults...)
	}
	return list, nil
}

// origins are the addresses of listeners as URLs, and which of them are loopback.
func origins(config *service.Config, listeners []net.Listener) (all, loopback []string) {
	scheme := "http"
	if config.TLS != nil {
		scheme = "https"
	}
	for _, l := range listeners {
		origin := (&url.URL{Scheme: scheme, Host: l.Addr().String()}).String()
		all = append(all, origin)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
			loopback = append(loopback, origin)
		}
	}
	return all, loopback
}

// keepLocal makes the local token of a process that listens on loopback, and keeps it for the user's other programs. It is another one at
// each start: what is left of a process that was killed is good for nothing, whoever listens there now.
func keepLocal(config *service.Config, loopback []string, stderr io.Writer) (remove func(), err error) {
	var kept []func()
	remove = func() {
		for _, r := range kept {
			r()
		}
	}
	if len(loopback) == 0 {
		return remove, nil
	}
	if config.Local, err = auth.NewToken(rand.Reader); err != nil {
		return nil, err
	}
	for _, origin := range loopback {
		r, err := client.KeepOwn(origin, config.Local)
		if err != nil {
			fmt.Fprintf(stderr, "warning: the token for your own programs was not kept (%s): use `shadowcourt serve token add`\n", sanitize.Line(err.Error()))
			continue
		}
		kept = append(kept, r)
	}
	return remove, nil
}

// announce says where the process is, and how to sign in.
func (o *options) announce(process *service.Service, all, loopback []string, stderr io.Writer) {
	for _, origin := range all {
		fmt.Fprintf(stderr, "serving at %s\n", origin)
	}
	switch {
	case o.role == string(service.RoleWorker):
		fmt.Fprintln(stderr, "this process tries cases; it serves health and metrics alone")
	case len(loopback) > 0:
		address, err := process.SignInAddress(loopback[0])
		if err != nil {
			fmt.Fprintf(stderr, "warning: there is no address to sign in: %s\n", sanitize.Line(err.Error()))
			return
		}
		fmt.Fprintf(stderr, "open %s\nto sign in; it works once, for %s. `shadowcourt login %s` prints another\n", address, oneTime, loopback[0])
	}
}

// oneTime is auth.CodeLife for people.
const oneTime = "an hour"
