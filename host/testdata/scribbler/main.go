// A module for tests in the place of the rulebook: it brings the item that the subject of the case says, as "source_ref|content|label".
package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

func init() {
	node.Handle(func(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
		item := strings.Split(r.Case.Subject+"||", "|")
		return &abi.Artifact{Investigate: &abi.InvestigateArtifact{Evidence: []abi.Evidence{
			{SourceRef: item[0], Content: item[1], RelevanceConfidence: 1, Supports: item[2]},
		}}}, nil
	})
}

func main() {}
