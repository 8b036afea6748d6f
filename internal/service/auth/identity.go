package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Scope is what a token or a person may do. Reading needs any of them.
type Scope string

// The scopes. Operate includes the others.
const (
	Submit  Scope = "submit"  // submit dockets, follow and cancel them
	Review  Scope = "review"  // correct verdicts, and undo corrections
	Operate Scope = "operate" // modules, tokens, the audit log, and everything else
	// Everywhere is no scope of a token: it is what operate allows without a limit to repositories, since it concerns all of them.
	Everywhere Scope = "operate, without a limit to repositories"
)

// AllScopes are all scopes, in the order in which they are listed.
func AllScopes() []Scope { return []Scope{Submit, Review, Operate} }

// ParseScopes reads a list such as "submit,review". The scopes come back sorted and once each. An empty list is an error.
func ParseScopes(text string) ([]Scope, error) {
	words := strings.Split(text, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
		if !slices.Contains(AllScopes(), Scope(words[i])) {
			return nil, fmt.Errorf("scope %q is unknown: use submit, review, operate, or several with commas", words[i])
		}
	}
	return scopesOf(words), nil
}

// scopesOf are the scopes that a row of the store has.
func scopesOf(words []string) []Scope {
	return slices.DeleteFunc(AllScopes(), func(s Scope) bool { return !slices.Contains(words, string(s)) })
}

// Words are scopes as rows of the store and answers have them.
func Words(scopes []Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

// How somebody was identified.
const (
	ViaLocal   = "local" // the token of whoever runs the server
	ViaToken   = "token"
	ViaSession = "session"
)

// Identity is who sends a request.
type Identity struct {
	// Submitter is whose dockets they are: fairness and idempotency keys are by submitter. The same for all tokens of one submitter.
	Submitter string
	// Name is for people and for the audit log: a token's name, or a person's address.
	Name   string
	Scopes []Scope
	// Repositories are those whose dockets they see and submit; none are no limit.
	Repositories []string
	Via          string
}

// Names of submitters that are the service's own: no token has them.
const (
	LocalName  = "local" // whoever runs the service
	OIDCPrefix = "oidc:" // and the subject
)

// Limited says whether they see the dockets of some repositories alone.
func (i *Identity) Limited() bool { return i != nil && len(i.Repositories) > 0 }

// Can says whether the scopes allow something.
func (i *Identity) Can(s Scope) bool {
	if s == Everywhere {
		return i.Can(Operate) && !i.Limited()
	}
	return i != nil && (slices.Contains(i.Scopes, s) || slices.Contains(i.Scopes, Operate))
}

type identityKey struct{}

// From is who sends the request of a context; nil where nobody was identified.
func From(ctx context.Context) *Identity {
	who, _ := ctx.Value(identityKey{}).(*Identity)
	return who
}

// With puts an identity into a context, which limits what is read and changed with it to the repositories that they see.
func With(ctx context.Context, who *Identity) context.Context {
	return store.Within(context.WithValue(ctx, identityKey{}, who), who.Repositories)
}

// TokenPrefix begins every token, so that scanners of secrets find one that was committed somewhere.
const TokenPrefix = "sct_"

// secretBytes of randomness are in a token and in the ID of a session.
const secretBytes = 32

// HashOf is the hexadecimal SHA-256 of a token or of the ID of a session: all of it that is kept.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// NewToken makes a token from 256 random bits. It is shown once; keep its hash.
func NewToken(random io.Reader) (string, error) {
	secret, err := newSecret(random)
	return TokenPrefix + secret, err
}

func newSecret(random io.Reader) (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// ErrNoToken says that a text is not one of our tokens, whatever the store has.
var ErrNoToken = errors.New("not a token: one begins with " + TokenPrefix + " and 43 letters, digits, - or _ follow")

// CheckToken says whether a text has the form of a token.
func CheckToken(text string) error {
	secret, ok := strings.CutPrefix(text, TokenPrefix)
	if !ok || !isSecret(secret) {
		return ErrNoToken
	}
	return nil
}

// isSecret checks the form of a secret before it costs a look into the store.
func isSecret(text string) bool {
	if len(text) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil
}

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

// invalidToken is one answer for all reasons, so that nobody learns from it which tokens exist.
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
// takes depends on a hash that the sender could not choose, and not on the tokens that exist.
func (a *Authenticator) validToken(ctx context.Context, hash string) (*store.Token, error) {
	t, err := a.config.Store.Token(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &t, err
}

// clientKey is how clients without an identity are distinguished: by address, IPv6 by the network of 64 bits that one client may have.
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
