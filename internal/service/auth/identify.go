package auth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// identify finds out who sends a request: nil for nobody. A request with credentials that are not valid is rejected, even where none are
// needed.
func (a *Authenticator) identify(r *http.Request) (*Identity, *wire.Problem) {
	if header := r.Header.Values("Authorization"); len(header) > 0 {
		token, ok := bearer(header)
		if !ok {
			return nil, unauthenticated("the Authorization header is not Bearer and one token")
		}
		return a.byToken(r.Context(), token)
	}
	if c, err := r.Cookie(a.cookieName(r)); err == nil && isSecret(c.Value) {
		who, err := a.bySession(r.Context(), HashOf(c.Value))
		if err != nil {
			return nil, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "sessions can't be read now; try again").Because(err)
		}
		if who != nil {
			return who, nil
		}
	}
	return nil, nil
}

func unauthenticated(detail string) *wire.Problem {
	return wire.NewProblem(http.StatusUnauthorized, wire.Unauthenticated, detail)
}

func bearer(header []string) (string, bool) {
	scheme, token, ok := strings.Cut(header[0], " ")
	return token, ok && len(header) == 1 && strings.EqualFold(scheme, "Bearer")
}

// invalidToken is one answer for all reasons, so that it tells nothing of tokens that exist.
const invalidToken = "the token is not valid here: it is unknown or was revoked; make one with `shadowcourt serve token add`"

func (a *Authenticator) byToken(ctx context.Context, text string) (*Identity, *wire.Problem) {
	if CheckToken(text) != nil {
		return nil, unauthenticated(invalidToken)
	}
	hash := HashOf(text)
	if a.isLocal(hash) {
		return localIdentity(), nil
	}
	t, err := a.validToken(ctx, hash)
	if err != nil {
		return nil, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "tokens can't be read now; try again").Because(err)
	}
	if t == nil {
		return nil, unauthenticated(invalidToken)
	}
	return &Identity{Submitter: t.Submitter, Name: t.Name, Scopes: scopesOf(t.Scopes), Repositories: t.Repositories, Via: ViaToken}, nil
}

// validToken is the token with a hash, or nil where there is no valid one. The store looks it up by an index over hashes: how long that
// takes tells of a hash that the sender could not choose, and nothing of the tokens that exist.
func (a *Authenticator) validToken(ctx context.Context, hash string) (*store.Token, error) {
	t, err := a.config.Store.Token(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &t, err
}

// IsLoopbackHost says whether a host, with or without a port, is localhost or an address of loopback.
func IsLoopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// clientKey tells clients without an identity apart: by address, and IPv6 by the network of 64 bits that one client may have.
func clientKey(r *http.Request) string {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	ip := addr.Addr().Unmap()
	if ip.Is6() {
		if network, err := ip.Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}

// credential names what a request brings to identify itself, without looking whether it is valid: empty where it brings nothing of the
// right form.
func (a *Authenticator) credential(r *http.Request) string {
	if header := r.Header.Values("Authorization"); len(header) > 0 {
		if token, ok := bearer(header); ok && CheckToken(token) == nil {
			return "token " + HashOf(token)
		}
		return ""
	}
	if c, err := r.Cookie(a.cookieName(r)); err == nil && isSecret(c.Value) {
		return "session " + HashOf(c.Value)
	}
	return ""
}
