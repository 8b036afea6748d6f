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
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// options are the flags of `serve`.
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

// oidc are the flags of OpenID Connect.
type oidc struct {
	issuer, clientID, secretFile string
	public                       bool
	allow, operate               []string
}

// defaultListen is where the service listens.
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
	defer closeTracing(ctx, config)
	process, err := service.New(ctx, *config)
	if err != nil {
		return err
	}
	return process.Run(ctx, func() { o.announce(process, all, loopback, s.Err) }, listeners...)
}

// lastTraces is how long the last spans have to be sent.
const lastTraces = 5 * time.Second

func closeTracing(ctx context.Context, config *service.Config) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
	defer cancel()
	if err := config.Tracing.Close(ctx); err != nil {
		config.Log.Warn("the last traces were not sent", "error", err)
	}
}

// config is what the flags say, without the store.
func (o *options) config(ctx context.Context, s cli.Streams) (*service.Config, error) {
	config := &service.Config{
		Role: service.Role(o.role), Workers: o.workers, MaxUpload: o.maxUpload, Version: o.version, Now: time.Now, Random: rand.Reader,
	}
	config.Machine, _ = os.Hostname() // only a name for people
	var faults []error
	switch config.Role {
	case service.RoleAPI, service.RoleWorker, service.RoleAll:
	default:
		faults = append(faults, fmt.Errorf("--role %q: use api, worker or all", o.role))
	}
	if config.Role != service.RoleAll && !o.named() {
		faults = append(faults, fmt.Errorf("--role %s needs --database postgres://...: one process has a SQLite file to itself", o.role))
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	if o.maxUpload < 1 {
		faults = append(faults, fmt.Errorf("--max-upload %d: use a number of bytes above 0", o.maxUpload))
	}
	switch options := (&slog.HandlerOptions{Level: slog.LevelInfo}); o.logFormat {
	case "json":
		config.Log = slog.New(slog.NewJSONHandler(s.Err, options))
	case "text":
		options.Level = slog.LevelWarn // people see what needs them; programs everything
		config.Log = slog.New(slog.NewTextHandler(s.Err, options))
	default:
		faults = append(faults, fmt.Errorf("--log-format %q: use text or json", o.logFormat))
	}
	var err error
	config.Keep, err = keepOf(o.keep)
	faults = append(faults, err)
	key, err := o.signingKey()
	faults = append(faults, err)
	config.Key = key
	for _, name := range o.proofKeys {
		key, err := proofKey(name)
		faults, config.ProofKeys = append(faults, err), append(config.ProofKeys, key)
	}
	config.Laboratories, err = o.experiments.Laboratories(ctx, o.cache)
	faults = append(faults, err)
	config.Open = open.ServiceHosts{Cache: o.cache, Record: key != nil}.Open
	if config.Trust, err = o.trust.TrustPolicy(); config.Trust != nil {
		config.Registries, err = open.Registries()
	}
	faults = append(faults, err)
	config.TLS, err = o.tlsConfig()
	faults = append(faults, err)
	if o.publicURL != "" {
		u, err := url.Parse(o.publicURL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
			faults = append(faults, fmt.Errorf("--public-url %q: use a URL without a path, such as https://court.example", o.publicURL))
		}
		config.PublicURL = u
	}
	if o.webhooks != "" {
		if config.Webhooks, err = work.ReadHooks(o.webhooks, os.Getenv); err != nil {
			faults = append(faults, fmt.Errorf("--webhooks: %w", err))
		}
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
	text, err := open.ReadBounded(name, open.MaxKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("--proof-key: %w", err)
	}
	key, err := record.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("--proof-key %s: %w", name, err)
	}
	return key, nil
}

func (o *options) signingKey() (*record.Key, error) {
	if o.key == "" && os.Getenv("SHADOWCOURT_KEY") == "" {
		return nil, nil //nolint:nilnil // no records
	}
	return open.Key(o.key)
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
		text, err := open.ReadBounded(o.secretFile, open.MaxKeyBytes)
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
