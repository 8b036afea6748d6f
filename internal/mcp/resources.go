package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	contract "github.com/shadowcourt/shadowcourt/abi/schema"
)

// The resources: trials and transcripts by the ids of their cases, the schemas of the contract by their names, and its text.
const (
	trialURI      = "shadowcourt://trials/"
	transcriptURI = "shadowcourt://transcripts/"
	schemasURI    = "shadowcourt://schemas"
	schemaURI     = schemasURI + "/"
	specURI       = "shadowcourt://spec"
)

func (s *Server) addResources() {
	s.server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "trial", URITemplate: trialURI + "{+case}", MIMEType: "application/json", Description: "The result of a trial",
	}, s.readTrial)
	s.server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "transcript", URITemplate: transcriptURI + "{+case}", MIMEType: "text/plain", Description: "A trial, told for people",
	}, s.readTranscript)
	s.server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "schema", URITemplate: schemaURI + "{type}", MIMEType: "application/schema+json", Description: "The JSON Schema of a type of the contract",
	}, readSchema)
	s.server.AddResource(&sdk.Resource{
		Name: "schemas", URI: schemasURI, MIMEType: "application/json", Description: "The names of the types of the contract",
	}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		names, err := json.Marshal(contract.Names())
		return contents(schemasURI, "application/json", string(names)), err
	})
	s.server.AddResource(&sdk.Resource{
		Name: "SPEC", URI: specURI, MIMEType: "text/markdown", Description: "The contract between the court and its modules",
	}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return contents(specURI, "text/markdown", s.config.Spec), nil
	})
}

func (s *Server) readTrial(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	t, err := s.finished(r.Session, strings.TrimPrefix(r.Params.URI, trialURI))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	result, err := resultOf(t)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(result)
	return contents(r.Params.URI, "application/json", string(text)), err
}

func (s *Server) readTranscript(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	t, err := s.finished(r.Session, strings.TrimPrefix(r.Params.URI, transcriptURI))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	text, err := transcript(t)
	if err != nil {
		return nil, err
	}
	return contents(r.Params.URI, "text/plain", text), nil
}

func readSchema(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	text, ok := contract.Get(strings.TrimPrefix(r.Params.URI, schemaURI))
	if !ok {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return contents(r.Params.URI, "application/schema+json", string(text)), nil
}

func contents(uri, kind, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}
