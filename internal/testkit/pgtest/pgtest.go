//go:build unix

// Package pgtest runs PostgreSQL servers for tests, from the programs that the system's package has installed. A server listens on
// loopback alone and keeps its files in a temporary folder.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing: there is no PostgreSQL on this machine.
var ErrMissing = errors.New("no PostgreSQL in /usr/lib/postgresql/*/bin or the PATH: install the package postgresql")

// patience is how long a server may take to start or stop.
const patience = 60 * time.Second

// Server is a running server. Not safe for concurrent use.
type Server struct {
	bin, dir   string
	port       int
	credential *syscall.Credential // nil: this user's
	process    *exec.Cmd
	ended      chan error
	databases  int
}

// Start makes a cluster and starts its server. The caller closes it. The context is that of the programs.
func Start(ctx context.Context) (_ *Server, err error) {
	s := &Server{}
	if s.bin, err = programs(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "shadowcourt-postgres-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	if err := s.otherUser(); err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	if out, err := s.command(ctx, "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if s.port, err = freePort(ctx); err != nil {
		return nil, err
	}
	return s, s.Run(ctx)
}

// programs is the folder of the newest server.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrMissing
}

// otherUser finds a user for the server where this one is root, as whom it doesn't run.
func (s *Server) otherUser() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return err
		}
		s.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, int(uid), int(gid))
	}
	return errors.New("PostgreSQL doesn't run as root, and there is neither a user postgres nor nobody")
}

func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...) //nolint:gosec // the system's own
	c.Dir = s.dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential, Setpgid: true}
	return c
}

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%s is no TCP address", l.Addr())
	}
	return address.Port, nil
}

// Run starts the server again, after a Stop, and waits until it answers.
func (s *Server) Run(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process = s.command(context.WithoutCancel(ctx), "postgres", "-D", filepath.Join(s.dir, "data"), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.dir, "-c", "max_connections=200", "-c", "shared_buffers=64MB")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func(process *exec.Cmd, ended chan error) { ended <- process.Wait() }(s.process, s.ended)
	until := time.Now().Add(patience) //nolint:forbidigo // how long to wait for another program
	for {
		_, err := s.SQL(ctx, "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case ended := <-s.ended:
			s.ended <- ended
			text, _ := os.ReadFile(log.Name()) // what it says is all there is to know
			return fmt.Errorf("postgres ended: %w\n%s", ended, tail(text))
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) { //nolint:forbidigo // as above
			return fmt.Errorf("postgres does not answer: %w", err)
		}
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-4096):] }

// Stop stops the server as if the machine had failed: connections are cut, and nothing is written any more. What was committed is
// there at the next Run.
func (s *Server) Stop() error { return s.signal(syscall.SIGQUIT) }

func (s *Server) signal(how os.Signal) error {
	if s.process == nil || s.ended == nil {
		return nil
	}
	_ = s.process.Process.Signal(how) // it may have ended
	select {
	case <-s.ended: //nolint:errcheck // the exit code is that of the signal
	case <-time.After(patience):
		_ = s.process.Process.Kill()
		<-s.ended //nolint:errcheck // as above
	}
	s.process, s.ended = nil, nil
	return nil
}

// SQL runs statements in a database, and gives what they say.
func (s *Server) SQL(ctx context.Context, database, statements string) (string, error) {
	c := s.command(ctx, "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "postgres",
		"-d", database, "-c", statements)
	var out, fault bytes.Buffer
	c.Stdout, c.Stderr = &out, &fault
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, strings.TrimSpace(fault.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Database makes an empty database, and gives its URL.
func (s *Server) Database(ctx context.Context) (url string, err error) {
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	if _, err := s.SQL(ctx, "postgres", "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, name), nil
}

// Cut cuts all connections to databases.
func (s *Server) Cut(ctx context.Context) error {
	_, err := s.SQL(ctx, "postgres", "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	return err
}

// Close ends the server, and removes its files.
func (s *Server) Close() error {
	return errors.Join(s.signal(syscall.SIGINT), os.RemoveAll(s.dir))
}
