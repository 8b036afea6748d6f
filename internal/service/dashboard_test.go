package service

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// metricsOf are the labels of all metrics that a process can have, by name, those included of which there is nothing to measure yet.
func metricsOf(t *testing.T, m *metrics) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		m.registry.Describe(descriptions)
	}()
	text := regexp.MustCompile(`^Desc\{fqName: "([^"]+)".*variableLabels: \{([^}]*)\}\}$`)
	for d := range descriptions {
		parts := text.FindStringSubmatch(d.String())
		if parts == nil {
			t.Fatalf("%s can't be read", d)
		}
		list[parts[1]] = strings.Split(parts[2], ",")
	}
	return list
}

// The dashboard asks for metrics and labels that exist, and no metric of the service is missing on it.
func TestAccept_SV7_TheDashboardShowsMetricsThatExist(t *testing.T) {
	t.Parallel()
	db := must.Get(store.Open(t.Context(), store.Config{Database: filepath.Join(t.TempDir(), "test.db"), Now: time.Now}))(t)
	t.Cleanup(db.Close)
	known := metricsOf(t, newMetrics(db, slog.New(slog.DiscardHandler)))

	var dashboard struct {
		Panels []struct {
			Title, Description string
			GridPos            struct{ X, Y, W, H int }
			Targets            []struct{ Expr, LegendFormat string }
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("../../examples/grafana/shadowcourt.json"))(t), &dashboard)) //nolint:musttag // names of fields are found without regard to case
	shown, taken := map[string]bool{}, map[[2]int]string{}
	name := regexp.MustCompile(`\b((?:shadowcourt|go|process)_[a-z_]+)\{([^}]*)\}`)
	by := regexp.MustCompile(`\bby \(([^)]*)\)`)
	for _, p := range dashboard.Panels {
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("the panel %q says or asks nothing", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			found := name.FindAllStringSubmatch(target.Expr, -1)
			if len(found) != 1 || strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") {
				t.Errorf("%s: %s asks for %d metrics", p.Title, target.Expr, len(found))
				continue
			}
			metric, suffix := found[0][1], ""
			for _, end := range []string{"_bucket", "_count"} {
				if base, ok := strings.CutSuffix(metric, end); ok {
					metric, suffix = base, end
				}
			}
			own, ok := known[metric]
			if !ok {
				t.Errorf("%s: there is no metric %s", p.Title, metric)
			}
			shown[metric] = true
			labels := append([]string{"job", "instance"}, own...)
			if suffix == "_bucket" {
				labels = append(labels, "le")
			}
			asked := regexp.MustCompile(`\{\{([a-z]+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1)
			for _, group := range by.FindAllStringSubmatch(target.Expr, -1) {
				for label := range strings.SplitSeq(group[1], ",") {
					asked = append(asked, []string{"", strings.TrimSpace(label)})
				}
			}
			for matcher := range strings.SplitSeq(found[0][2], ",") {
				label, _, _ := strings.Cut(matcher, "=")
				asked = append(asked, []string{"", label})
			}
			for _, label := range asked {
				if !slices.Contains(labels, label[1]) {
					t.Errorf("%s: %s has no label %s, but %v", p.Title, metric, label[1], labels)
				}
			}
		}
	}
	for metric := range known {
		if strings.HasPrefix(metric, "shadowcourt_") && !shown[metric] {
			t.Errorf("no panel shows %s", metric)
		}
	}
}
