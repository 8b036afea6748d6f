package telemetry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
)

// FromEnvironment gives the tracing that the environment variables of OpenTelemetry ask for: nil where none names an exporter or its
// endpoint, so that nothing is sent to a default one. A value that this program can't honour is an error.
func FromEnvironment(ctx context.Context, getenv func(string) string, version string, log *slog.Logger) (*Tracing, error) {
	client, err := clientOf(environment{getenv}, log)
	if client == nil || err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	return New(ctx, exporter, version)
}

// environment reads variables.
type environment struct{ getenv func(string) string }

// otlp reads a setting of the exporter: the variable for traces comes before that for all signals.
func (e environment) otlp(name string) (variable, value string) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if value := strings.TrimSpace(e.getenv(variable)); value != "" {
			return variable, value
		}
	}
	return "", ""
}

// Defaults of the exporter, by its specification.
const (
	defaultEndpoint = "http://localhost:4318"
	tracesPath      = "/v1/traces"
	defaultTimeout  = 10 * time.Second
)

// clientOf gives what sends spans; nil where nothing asks for them.
func clientOf(e environment, log *slog.Logger) (*client, error) {
	exporter := strings.TrimSpace(e.getenv("OTEL_TRACES_EXPORTER"))
	_, endpoint := e.otlp("ENDPOINT")
	if strings.EqualFold(strings.TrimSpace(e.getenv("OTEL_SDK_DISABLED")), "true") || exporter == "none" || exporter == "" && endpoint == "" {
		return nil, nil //nolint:nilnil // no traces
	}
	if exporter != "" && exporter != "otlp" {
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not supported: use otlp or none", exporter)
	}
	if variable, value := e.otlp("PROTOCOL"); value != "" && value != "http/protobuf" {
		return nil, fmt.Errorf("%s: %q is not supported: use http/protobuf", variable, value)
	}
	c := &client{log: log, timeout: defaultTimeout, headers: http.Header{}}
	var faults []error
	check := func(variable string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", variable, err))
		}
	}
	variable, value := e.otlp("ENDPOINT")
	check(variable, c.setEndpoint(variable, value))
	variable, value = e.otlp("HEADERS")
	check(variable, c.setHeaders(value))
	variable, value = e.otlp("TIMEOUT")
	check(variable, c.setTimeout(value))
	variable, value = e.otlp("COMPRESSION")
	check(variable, c.setCompression(value))
	config, err := e.tls()
	faults = append(faults, err)
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // nobody replaces it in this program
	transport.TLSClientConfig = config
	// A collector that sends requests elsewhere is not followed: the headers may have its key.
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, errors.Join(faults...)
}

// setEndpoint takes the URL for all signals, below which traces have a path, or that for traces as it is.
func (c *client) setEndpoint(variable, value string) error {
	forAll := !strings.Contains(variable, "_TRACES_")
	if value == "" {
		value = defaultEndpoint
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("use a URL such as http://localhost:4318") // without the value: it may have a password
	}
	if forAll {
		u = u.JoinPath(tracesPath)
	}
	c.url = u.String()
	return nil
}

// setHeaders takes name=value,... with percent signs for other characters.
func (c *client) setHeaders(list string) error {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return errors.New("use NAME=VALUE, and commas between several") // without the value: it may be a key
		}
		c.headers.Set(name, value)
	}
	return nil
}

func (c *client) setTimeout(value string) error {
	if value == "" {
		return nil
	}
	ms, err := strconv.Atoi(value)
	if err != nil || ms <= 0 {
		return fmt.Errorf("%q: use a number of milliseconds above 0", value)
	}
	c.timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func (c *client) setCompression(value string) error {
	switch value {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		return fmt.Errorf("%q: use gzip or none", value)
	}
	return nil
}

// tls reads the certificates to trust and to show; nil for the system's.
func (e environment) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if variable, name := e.otlp("CERTIFICATE"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variable, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM", variable, name)
		}
	}
	variable, certificate := e.otlp("CLIENT_CERTIFICATE")
	_, key := e.otlp("CLIENT_KEY")
	if certificate == "" && key == "" {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s with OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", variable, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
