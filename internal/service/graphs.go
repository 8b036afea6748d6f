package service

import (
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// graphs are those of the courts of generations. They never change, so that the latest are kept. Safe for concurrent use.
type graphs struct {
	store *store.Store
	mu    sync.Mutex
	kept  map[string]*pipeline.Graph // by the digest of the pipeline; that of this program under ""
}

// mostGraphs is how many are kept: generations seldom have pipelines of their own.
const mostGraphs = 64

// of gives the graph of a generation.
func (g *graphs) of(ctx context.Context, generation int64) (*pipeline.Graph, error) {
	row, err := g.store.Generation(ctx, generation)
	if err != nil {
		return nil, err
	}
	digest := row.Files[PipelineFile]
	g.mu.Lock()
	graph := g.kept[digest]
	g.mu.Unlock()
	if graph != nil {
		return graph, nil
	}
	if graph, err = g.read(ctx, digest); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kept == nil || len(g.kept) >= mostGraphs {
		g.kept = map[string]*pipeline.Graph{}
	}
	g.kept[digest] = graph
	return graph, nil
}

func (g *graphs) read(ctx context.Context, digest string) (*pipeline.Graph, error) {
	if digest == "" {
		def, err := pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt)
		if err != nil {
			return nil, err
		}
		return pipeline.NewGraph(def)
	}
	text, err := g.store.Blob(ctx, digest)
	if err != nil {
		return nil, err
	}
	def, err := pipeline.Parse(PipelineFile, text)
	if err != nil {
		return nil, err
	}
	return pipeline.NewGraph(def)
}
