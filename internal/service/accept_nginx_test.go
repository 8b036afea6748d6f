//go:build nginx

package service_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// proxies are what stands between `location / {` and `}`: the default, and what people add to it.
var proxies = map[string]string{
	"default":       "",
	"HTTP/1.1":      "proxy_http_version 1.1; proxy_set_header Connection '';",
	"Host":          "proxy_set_header Host $host;",
	"a local Host":  "proxy_set_header Host localhost;",
	"forwarding":    "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto https;",
	"an empty Host": "proxy_set_header Host '';",
}

// nginx starts Debian's nginx before a process, and gives a client for each configuration.
func nginx(t *testing.T, upstream string) map[string]*http.Client {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Fatalf("%v: install it (Debian: apt-get install nginx-light)", err)
	}
	dir, err := os.MkdirTemp("", "n") // names of sockets must be short
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var servers strings.Builder
	sockets := map[string]string{}
	for name, settings := range proxies {
		sockets[name] = filepath.Join(dir, fmt.Sprint(len(sockets)))
		fmt.Fprintf(&servers, "server { listen unix:%s; location / { proxy_pass %s; %s } }\n", sockets[name], upstream, settings)
	}
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("daemon off; pid %s/pid; error_log stderr; events {}\nhttp { access_log off;\n%s%s}\n", dir, temporary, servers.String())
	if os.Geteuid() == 0 {
		text = "user root;\n" + text
	}
	must.Do(t, os.WriteFile(config, []byte(text), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "-p", dir, "-c", config)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	must.Do(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { <-ended }) // it is told to stop by the end of the test's context
	clients := map[string]*http.Client{}
	for name, socket := range sockets {
		for {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket)
			if err == nil {
				_ = c.Close()
				break
			}
			select {
			case <-ended:
				t.Fatal("nginx ended")
			case <-time.After(20 * time.Millisecond):
			}
		}
		jar := must.Get(cookiejar.New(nil))(t)
		clients[name] = &http.Client{
			Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			}},
		}
	}
	return clients
}

// Nobody who comes through nginx, in its default configuration or another one, may do anything without credentials, whatever the headers
// say; those who have some may, and the owner signs in there, too.
func TestAccept_FZ2_NginxMakesNobodyTheOperator(t *testing.T) {
	t.Parallel()
	p := start(t, "127.0.0.1:0")
	for name, client := range nginx(t, p.url) {
		send := func(method, address, body string, header map[string]string) (int, string) {
			t.Helper()
			r := must.Get(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))(t)
			for key, value := range header {
				if r.Header.Set(key, value); key == "Host" {
					r.Host = value
				}
			}
			response, err := client.Do(r)
			must.Do(t, err, name)
			defer func() { _ = response.Body.Close() }()
			text := must.Get(io.ReadAll(response.Body))(t, name)
			return response.StatusCode, string(text)
		}
		const site = "http://court.example"
		for forgery, header := range map[string]map[string]string{
			"nothing": nil, "Host": {"Host": "127.0.0.1"}, "X-Forwarded-For": {"X-Forwarded-For": "127.0.0.1"}, "X-Real-IP": {"X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
			"Authorization": {"Authorization": "Bearer sct_" + strings.Repeat("A", 43)}, "Cookie": {"Cookie": "shadowcourt_session=" + strings.Repeat("A", 43)},
		} {
			for _, r := range secured {
				if status, body := send(r.method, site+r.path, r.body, header); status != http.StatusUnauthorized {
					t.Errorf("%s, forged %s: %s %s: %d %.200s", name, forgery, r.method, r.path, status, body)
				}
			}
		}
		if status, body := send("GET", site+"/api/v1/me", "", map[string]string{"Authorization": "Bearer " + p.token}); status != 200 {
			t.Errorf("%s: with the token: %d %s", name, status, body)
		}
		_, body := p.ask(t, "POST", "/login/address", "")
		_, address, _ := strings.Cut(body, `"address":"`)
		address, _, _ = strings.Cut(address, `"`)
		if name == "forwarding" || name == "an empty Host" {
			continue // a cookie for https alone; HTTP/1.1 without a Host is rejected
		}
		if status, body := send("GET", site+address, "", nil); status != http.StatusSeeOther {
			t.Errorf("%s: signing in: %d %s", name, status, body)
		}
		if status, body := send("GET", site+"/", "", map[string]string{"Accept": "text/html"}); status != 200 {
			t.Errorf("%s: signed in: %d %s", name, status, body)
		}
		if status, body := send("POST", site+"/login/address", "", map[string]string{"Origin": "http://attacker.example", "Sec-Fetch-Site": "cross-site"}); status != 403 {
			t.Errorf("%s: another site: %d %s", name, status, body)
		}
		if u, err := url.Parse(site); err != nil || len(client.Jar.Cookies(u)) == 0 {
			t.Errorf("%s: no session", name)
		}
	}
}
