package main

import (
	"context"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// ServeArgument is the argument with which this program is a plugin of go-plugin's.
const ServeArgument = "serve-go-plugin"

var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "SHADOWCOURT_BENCH", MagicCookieValue: "node"}

const grpcMethod = "/bench.Node/Call"

// bridge is the plugin on both sides of the connection. What goes over it are
// the bytes of the contract, in protobuf's BytesValue.
type bridge struct {
	plugin.NetRPCUnsupportedPlugin
	call Call // of the server
}

func (b *bridge) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Node", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: func(server any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var in wrapperspb.BytesValue
			if err := decode(&in); err != nil {
				return nil, err
			}
			out, err := server.(*bridge).call(in.Value)
			return wrapperspb.Bytes(out), err
		}}},
	}, b)
	return nil
}

func (b *bridge) GRPCClient(ctx context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return Call(func(request []byte) ([]byte, error) {
		var out wrapperspb.BytesValue
		err := conn.Invoke(ctx, grpcMethod, wrapperspb.Bytes(request), &out)
		return out.Value, err
	}), nil
}

// ServeGoPlugin is the process of the plugin; it does not return.
func ServeGoPlugin(call Call) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake, Plugins: plugin.PluginSet{"node": &bridge{call: call}},
		GRPCServer: plugin.DefaultGRPCServer, Logger: hclog.NewNullLogger(),
	})
}

// GoPlugin is a native Go function in a process of its own, over gRPC.
func GoPlugin() (Call, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: handshake, Plugins: plugin.PluginSet{"node": &bridge{}}, Cmd: exec.Command(self, ServeArgument),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, Logger: hclog.NewNullLogger(),
	})
	protocol, err := client.Client()
	if err != nil {
		client.Kill()
		return nil, nil, err
	}
	raw, err := protocol.Dispense("node")
	if err != nil {
		client.Kill()
		return nil, nil, err
	}
	return raw.(Call), client.Kill, nil
}
