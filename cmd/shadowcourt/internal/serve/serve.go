// Package serve are the commands of the docket service: serve, serve migrate and serve token.
package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

type options struct {
	database
	listen    []string
	role      string
	workers   int
	maxUpload int64
	keep      []string
	webhooks  string
	publicURL string
	tlsCert   string
	tlsKey    string
	oidc      oidc
	key       string
	proofKeys []string
	cache     string
	logFormat string
	version   string
	// experiments are those of the flags that say what dockets may run.
	experiments open.Flags
	trust       open.Trust
}

type oidc struct {
	issuer, clientID, secretFile string
	public                       bool
	allow, operate               []string
}

const defaultListen = "127.0.0.1:8712"

// New is the command `serve` of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	o := &options{version: version}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the docket service that a team shares",
		Long: `Run the docket service: an HTTP API and pages, a queue of dockets, and workers that try them.
Without flags everything is in one SQLite file, and the service listens on loopback alone. It
prints an address that signs in your browser, once; your own programs on this machine, such
as ` + "`shadowcourt try --server`" + `, find a token in a file that only you may read. Everybody else
needs a token. With --database postgres://... any number of processes share the work; run
` + "`shadowcourt serve migrate`" + ` first.

Exit codes: 0 told to stop; 1 something failed while running; 2 the command line is wrong.`,
		Example: `  shadowcourt serve --data court`,
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	f := cmd.Flags()
	o.flags(cmd)
	f.StringArrayVar(&o.listen, "listen", []string{defaultListen}, "address to listen on, or a port of this machine alone; may be repeated")
	f.StringVar(&o.role, "role", string(service.RoleAll), "what this process does: api, worker or all")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	f.Int64Var(&o.maxUpload, "max-upload", 256<<20, "most bytes of a docket, before and after decompression")
	f.StringSliceVar(&o.keep, "keep", nil, "remove old dockets: beyond an age such as 90d, or beyond a size such as 20GB of compressed content, looked at every 10 minutes; dockets of the last day stay for it, records go last and corrected cases stay (default: keep everything)")
	f.StringVar(&o.webhooks, "webhooks", "", "file (YAML) with the webhooks to send events to; give it to all processes")
	f.StringVar(&o.publicURL, "public-url", "", "how browsers reach the service, such as https://court.example; needed behind a proxy and for OIDC")
	f.StringVar(&o.oidc.issuer, "oidc-issuer", "", "issuer of OpenID Connect, for people to sign in")
	f.StringVar(&o.oidc.clientID, "oidc-client-id", "", "with --oidc-issuer: ID of the client")
	f.StringVar(&o.oidc.secretFile, "oidc-client-secret-file", "", "with --oidc-issuer: file with the client's secret (default: the variable "+secretVariable+")")
	f.BoolVar(&o.oidc.public, "oidc-public-client", false, "with --oidc-issuer: the client has no secret at the issuer")
	f.StringSliceVar(&o.oidc.allow, "oidc-allow", nil, "with --oidc-issuer: who may submit and review: an address, @domain, group:NAME or *")
	f.StringSliceVar(&o.oidc.operate, "oidc-operate", nil, "with --oidc-issuer: who may do everything, in the form of --oidc-allow")
	f.StringVar(&o.tlsCert, "tls-cert", "", "serve https: file with the certificate and its chain in PEM")
	f.StringVar(&o.tlsKey, "tls-key", "", "with --tls-cert: file with the private key in PEM")
	open.KeyFlag(cmd, &o.key, "key that signs the records of trials")
	f.StringArrayVar(&o.proofKeys, "proof-key", nil, "file with a public key: of the proofs that are sent to the service, only those signed with one of these are accepted; may be repeated (default: every key, which the pages name)")
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	o.experiments.ServiceFlags(cmd)
	o.trust.PolicyFlag(f)
	cli.RemovedFlags(f, "let Renovate read the registry's tags", "update-interval", "update-share")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	cmd.AddCommand(newMigrate(s), newToken(s),
		cli.Removed("audit", "`GET /api/v1/audit-log` lists the audit log; shorten the table audit_log by the database's own tools"))
	return cmd
}

// secretVariable has the secret of the OIDC client.
const secretVariable = "SHADOWCOURT_OIDC_CLIENT_SECRET"

func (o *options) run(ctx context.Context, s cli.Streams) error {
	config, err := o.config(ctx, s)
	if err != nil {
		return cli.InputError(err)
	}
	listeners, err := listen(ctx, o.listen) // before a database is made: it is a check of the flag, too
	if err != nil {
		return cli.InputError(err)
	}
	for _, l := range listeners {
		defer func() { _ = l.Close() }()
	}
	if config.Store, err = o.open(ctx, config.Log, makeMissing); err != nil {
		return err
	}
	defer config.Store.Close()
	all, loopback := origins(config, listeners)
	remove, err := keepLocal(config, loopback, s.Err)
	if err != nil {
		return err
	}
	defer remove()
	if config.Tracing, err = telemetry.FromEnvironment(ctx, os.Environ(), o.version, config.Log); err != nil {
		config.Log.Warn("there are no traces", "error", err) // no reason to stop: such variables are often set for all programs of a cluster
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
		defer cancel()
		if err := config.Tracing.Close(ctx); err != nil {
			config.Log.Warn("the last traces were not sent", "error", err)
		}
	}()
	process, err := service.New(ctx, *config)
	if err != nil {
		return err
	}
	return process.Run(ctx, func() { o.announce(process, all, loopback, s.Err) }, listeners...)
}

// lastTraces is how long the last spans have to be sent.
const lastTraces = 5 * time.Second

// config is what the flags say, without the store.
func (o *options) config(ctx context.Context, s cli.Streams) (*service.Config, error) {
	config := &service.Config{
		Role: service.Role(o.role), Workers: o.workers, MaxUpload: o.maxUpload, Version: o.version, Now: time.Now, Random: rand.Reader,
	}
	config.Machine, _ = os.Hostname() // only a name for people
	faults := []error{
		cli.OneOf("--role", o.role, string(service.RoleAPI), string(service.RoleWorker), string(service.RoleAll)),
		cli.Fault(config.Role != service.RoleAll && !o.named(), "--role %s needs --database postgres://...: one process has a SQLite file to itself", o.role),
		cli.Fault(o.workers < 0, "--workers %d: use 0 or more", o.workers),
		cli.Fault(o.maxUpload < 1, "--max-upload %d: use a number of bytes above 0", o.maxUpload),
		cli.OneOf("--log-format", o.logFormat, "text", "json"),
	}
	switch options := (&slog.HandlerOptions{Level: slog.LevelInfo}); o.logFormat {
	case "json":
		config.Log = slog.New(slog.NewJSONHandler(s.Err, options))
	case "text":
		options.Level = slog.LevelWarn // people see what needs them; programs everything
		config.Log = slog.New(slog.NewTextHandler(s.Err, options))
	}
	var err error
	config.Keep, err = keepOf(o.keep)
	faults = append(faults, err)
	if o.key != "" || os.Getenv("SHADOWCOURT_KEY") != "" {
		config.Key, err = open.Key(o.key)
		faults = append(faults, err)
	}
	for _, name := range o.proofKeys {
		key, err := proofKey(name)
		faults, config.ProofKeys = append(faults, err), append(config.ProofKeys, key)
	}
	config.Laboratories, err = o.experiments.Laboratories(ctx, o.cache)
	faults = append(faults, err)
	config.Open = open.ServiceHosts{Cache: o.cache, Record: config.Key != nil}.Open
	if config.Trust, err = o.trust.TrustPolicy(); config.Trust != nil {
		config.Registries, err = open.Registries()
	}
	faults = append(faults, err)
	config.TLS, err = o.tlsConfig()
	faults = append(faults, err)
	if o.publicURL != "" {
		u, err := url.Parse(o.publicURL)
		wrong := err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != ""
		faults = append(faults, cli.Fault(wrong, "--public-url %q: use a URL without a path, such as https://court.example", o.publicURL))
		config.PublicURL = u
	}
	if o.webhooks != "" {
		config.Webhooks, err = work.ReadHooks(o.webhooks, os.Getenv)
		faults = append(faults, cli.Fault(err != nil, "--webhooks: %w", err))
	}
	config.OIDC, err = o.oidc.config(config.PublicURL)
	return config, errors.Join(append(faults, err)...)
}

// tlsConfig is nil where the flags name no certificate.
func (o *options) tlsConfig() (*tls.Config, error) {
	switch {
	case o.tlsCert == "" && o.tlsKey == "":
		return nil, nil //nolint:nilnil // no TLS
	case o.tlsCert == "" || o.tlsKey == "":
		return nil, errors.New("--tls-cert and --tls-key need each other: a file with the certificate and its chain, and one with the private key, both in PEM")
	}
	pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	// The limits of HTTP/1.1 are those of connections.
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: []tls.Certificate{pair}}, nil
}

func proofKey(name string) (*record.Key, error) {
	text, err := disk.ReadBounded(name, open.MaxKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("--proof-key: %w", err)
	}
	key, err := record.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("--proof-key %s: %w", name, err)
	}
	return key, nil
}

// config is nil without an issuer.
func (o *oidc) config(public *url.URL) (*auth.OIDC, error) {
	if o.issuer == "" {
		if o.clientID != "" || o.secretFile != "" || o.public || len(o.allow)+len(o.operate) > 0 {
			return nil, errors.New("--oidc-client-id, --oidc-client-secret-file, --oidc-public-client, --oidc-allow and --oidc-operate need --oidc-issuer")
		}
		return nil, nil //nolint:nilnil // nobody signs in by OIDC
	}
	if public == nil {
		return nil, errors.New("--oidc-issuer needs --public-url, where the issuer sends people back to")
	}
	secret := os.Getenv(secretVariable)
	if o.secretFile != "" {
		text, err := disk.ReadBounded(o.secretFile, open.MaxKeyBytes)
		if err != nil {
			return nil, fmt.Errorf("--oidc-client-secret-file: %w", err)
		}
		if secret = string(text); strings.TrimSpace(secret) == "" {
			return nil, fmt.Errorf("--oidc-client-secret-file %q is empty: write the client's secret to it", o.secretFile)
		}
	}
	switch secret = strings.TrimSpace(secret); {
	case secret == "" && !o.public:
		return nil, errors.New("--oidc-issuer needs the client's secret: set the variable " + secretVariable + ", or use --oidc-client-secret-file FILE; --oidc-public-client for a client without one")
	case secret != "" && o.public:
		return nil, errors.New("--oidc-public-client has no secret: leave out " + secretVariable + " and --oidc-client-secret-file")
	}
	config := &auth.OIDC{Issuer: o.issuer, ClientID: o.clientID, Secret: secret, Allow: o.allow, Operate: o.operate}
	return config, config.Check(public)
}

func listen(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var list []net.Listener
	var faults error
	for _, address := range addresses {
		l, err := open.Listen(ctx, address)
		if faults = errors.Join(faults, err); err == nil {
			list = append(list, l)
		}
	}
	if faults != nil {
		for _, l := range list {
			_ = l.Close()
		}
	}
	return list, faults
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
		r, err := wire.KeepOwn(origin, config.Local)
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

// NewLogin is the command `login` of the program's version.
func NewLogin(s cli.Streams, version string) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Keep a token for a docket service, or sign in to your own",
		Long: `Keep a token for a docket service, for ` + "`shadowcourt try --server`" + `. The token is read from the
terminal without an echo, or from the standard input. When the service accepts it, it is
kept in a file that only you may read, in the folder shadowcourt/tokens of your
configuration, and sent to this scheme, host and port alone. The variable
` + open.TokenVariable + ` comes first.

A service that you run yourself on this machine needs no token from you: login prints an
address that signs in your browser, once. Without URL it is the one at
` + ownService + `.`,
		Example: `  shadowcourt login https://court.example`,
		Args:    cli.ArgsWithin(0, 1, "the address of one service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			server := ownService
			if len(args) > 0 {
				server = strings.TrimRight(args[0], "/")
			}
			if _, err := wire.Origin(server); err != nil {
				return cli.InputError(err)
			}
			if remove {
				removed, err := open.RemoveToken(server)
				if err == nil && !removed {
					err = cli.InputError(fmt.Errorf("no token is kept for %s", server))
				}
				if err == nil {
					fmt.Fprintf(s.Out, "the token for %s is removed; it stays valid until `shadowcourt serve token revoke`\n", server)
				}
				return err
			}
			return login(cmd.Context(), s, server, "shadowcourt/"+version)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the token that is kept for the service")
	return cmd
}

// ownService is where `shadowcourt serve` listens by default.
const ownService = "http://127.0.0.1:8712"

// own prints an address that signs in a browser to the user's own service, if this is one that runs.
func own(ctx context.Context, s cli.Streams, server, program string) (bool, error) {
	config := wire.ClientConfig{Server: server, Program: program}
	if found, err := open.Own(&config, s.Err); !found || err != nil {
		return false, err
	}
	c, err := wire.NewClient(config)
	if err != nil {
		return false, err
	}
	address, err := c.SignInAddress(ctx)
	if rejected, ok := errors.AsType[*wire.Error](err); ok && rejected.Rejected() {
		return false, nil // it is of a service that was killed, and another one listens there
	}
	if err != nil {
		return false, err
	}
	if removed, err := open.RemoveToken(config.Server); removed && err == nil {
		fmt.Fprintf(s.Err, "removed the token that was kept for %s: it is your own service\n", config.Server)
	}
	fmt.Fprintln(s.Out, sanitize.Line(address))
	fmt.Fprintln(s.Err, "open it to sign in; it works once, for an hour. Commands on this machine need no token")
	return true, nil
}

func login(ctx context.Context, s cli.Streams, server, program string) error {
	done, err := own(ctx, s, server, program)
	if done || err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	// Nobody should type a token for a server that is not there, or is no service.
	_, err = me(ctx, server, "", program)
	if rejected, ok := errors.AsType[*wire.Error](err); err != nil && (!ok || rejected.Problem.Code == "") {
		return err
	}
	token, err := readToken(ctx, s, server)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(err))
	}
	open.WarnOfClearText(s.Err, server, token)
	known, err := me(ctx, server, token, program)
	if err != nil {
		return err
	}
	if known.Via != "token" {
		return fmt.Errorf("%s did not look at the token", server)
	}
	file, err := open.KeepToken(server, token)
	if err != nil {
		return fmt.Errorf("the token was not kept: %w", err)
	}
	fmt.Fprintf(s.Out, "%s knows you as %s, with the scopes %s\n", server, sanitize.Line(known.Name), sanitize.Line(strings.Join(known.Scopes, ", ")))
	fmt.Fprintf(s.Err, "the token is kept in %s\n", sanitize.Line(file))
	if os.Getenv(open.TokenVariable) != "" {
		fmt.Fprintf(s.Err, "note: the variable %s is set and comes first\n", open.TokenVariable)
	}
	return nil
}

// me asks a server who somebody with a token is.
func me(ctx context.Context, server, token, program string) (*wire.Me, error) {
	c, err := wire.NewClient(wire.ClientConfig{Server: server, Token: token, Program: program})
	if err != nil {
		return nil, cli.InputError(err)
	}
	known, err := c.Me(ctx)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w `shadowcourt serve` starts your own, and `shadowcourt login URL` takes the address of another", err)
	}
	return known, cli.OrInterrupted(ctx, open.Rejection(err))
}

// readToken reads the token: from a terminal without an echo.
func readToken(ctx context.Context, s cli.Streams, server string) (string, error) {
	terminal := cli.TerminalFile(s.In)
	if terminal == nil {
		return open.ReadToken(run.NewReader(ctx, s.In))
	}
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(s.Err, "Token for %s: ", sanitize.Line(server))
	defer func() { fmt.Fprintln(s.Err) }()
	text, err := run.Await(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	if ctx.Err() != nil {
		_ = term.Restore(fd, before) // the echo
		return "", ctx.Err()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return open.ParseToken(string(text))
}
