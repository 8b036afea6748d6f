package open

import (
	"io"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

// Client makes a client with the token for a server: one that the user gave, or that of the user's own service.
func Client(stderr io.Writer, server string, config client.Config) (*client.Client, error) {
	token, err := Token(server, stderr)
	if err != nil {
		return nil, cli.InputError(err)
	}
	config.Server, config.Token = server, token
	if token == "" {
		if _, err := Own(&config, stderr); err != nil {
			return nil, cli.InputError(err)
		}
	}
	WarnOfClearText(stderr, config.Server, config.Token)
	c, err := client.New(config)
	return c, cli.InputError(err)
}
