package service

import (
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// labels are the names for people that the courts of generations have for labels. Safe for concurrent use.
type labels struct {
	store *store.Store

	mu   sync.Mutex
	kept map[string]map[string]string // by the digest of the pipeline, which never changes; that of this program under ""
}

// mostLabels is of how many pipelines names are kept.
const mostLabels = 64

// of gives the names of a generation, by label.
func (l *labels) of(ctx context.Context, generation int64) (map[string]string, error) {
	row, err := l.store.Generation(ctx, generation)
	if err != nil {
		return nil, err
	}
	digest := row.Files[PipelineFile]
	l.mu.Lock()
	names, ok := l.kept[digest]
	l.mu.Unlock()
	if ok {
		return names, nil
	}
	files := map[string][]byte{}
	if digest != "" {
		if files[PipelineFile], err = l.store.Blob(ctx, digest); err != nil {
			return nil, err
		}
	}
	def, err := Pipeline(files, PipelineFile)
	if err != nil {
		return nil, err
	}
	names = map[string]string{}
	for _, label := range def.Labels {
		names[label.ID] = label.Name
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil || len(l.kept) >= mostLabels {
		l.kept = map[string]map[string]string{}
	}
	l.kept[digest] = names
	return names, nil
}
