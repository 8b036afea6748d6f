package runtime

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Judge makes a judge call.
func (s *Session) Judge(ctx context.Context, module, node string, req *abi.JudgeRequest) (*abi.JudgeResponse, error) {
	buffer := requests.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer requests.Put(buffer)
	*buffer = codec.AppendJudgeRequest((*buffer)[:0], req)
	// A judge is no persona of the pipeline, and so is granted nothing.
	output, err := s.call(ctx, s.broker(module, node, req.Judge), abi.CallJudge, *buffer)
	if err != nil {
		return nil, err
	}
	return accept(codec.DecodeJudgeResponse(output, len(output)))
}
