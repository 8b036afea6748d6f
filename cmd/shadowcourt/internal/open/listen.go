package open

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// ListenAddress completes what --listen takes: a port alone is one of this machine.
func ListenAddress(text string) string {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		return net.JoinHostPort("127.0.0.1", text)
	}
	return text
}

// Listen listens at an address in the form of [ListenAddress]. An error says what to write.
func Listen(ctx context.Context, text string) (net.Listener, error) {
	address := ListenAddress(text)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen %q: use a host and a port, such as 127.0.0.1:8712, or a port alone: %w", text, err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %s is in use at %s: another service may run there; stop it, or use --listen %s for any free port", port, address, net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("--listen %q: %w", text, err)
	}
	return l, nil
}
