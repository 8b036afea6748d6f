package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/lab/bench/guests/verdict"
)

// indicted is a request for a verdict on an indictment with one item, 300 bytes
// long at the node "verdict".
func indicted(node string) []byte {
	return codec.AppendNodeRequest(nil, &abi.NodeRequest{
		Node: node, Family: abi.FamilyVerdict,
		Persona: abi.Persona{Name: "Specter", Element: abi.Lightning, Role: "judge", Alignment: "arbiter"},
		Case:    abi.CaseView{Labels: []string{"leak", "quota"}},
		Indictment: &abi.Indictment{
			ChargedDefectType: "leak", ProsecutionNarrative: "The curve only ever rises", Confidence: 0.7,
			Evidence: []abi.IndictmentItem{{SourceRef: "log:2", Content: "quota", Weight: 0.5}},
		},
	})
}

// exchange is a request and the response that every rival has to give.
type exchange struct{ request, response []byte }

func nodeExchange() exchange {
	request := indicted("verdict")
	return exchange{request, node.Answer(verdict.Affirm, request)}
}

func affirm(request []byte) ([]byte, error) { return node.Answer(verdict.Affirm, request), nil }

// once is a call whose response is compared with the right one.
func (x exchange) once(call Call) func() error {
	return func() error {
		response, err := call(x.request)
		if err != nil {
			return err
		}
		if !bytes.Equal(response, x.response) {
			return fmt.Errorf("%w: %q", errWrong, response)
		}
		return nil
	}
}

var errWrong = errors.New("a wrong response")
