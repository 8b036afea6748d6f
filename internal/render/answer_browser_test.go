//go:build browser

package render_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var pictures = flag.String("pictures", "", "folder to write pictures of the answers into")

// The report of answers in a real Chromium: nothing is wider than the window, and axe finds no serious fault, above and below the fold.
func TestAccept_AL10_AnswersInABrowser(t *testing.T) {
	axe, err := os.ReadFile(os.Getenv("SHADOWCOURT_AXE"))
	if err != nil {
		t.Fatalf("SHADOWCOURT_AXE must name axe.min.js of the npm package axe-core; make browser-tests does that: %v", err)
	}
	file := filepath.Join(t.TempDir(), "answers.html")
	must.Do(t, os.WriteFile(file, []byte(written(t, answerHTML, sample.Answers()...)), 0o600))
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			tab := openTab(t, file, width, scheme)
			eval[chromedp.Void](tab, string(axe)+"\n;undefined")
			for _, fold := range []string{"closed", "open"} {
				name := fmt.Sprintf("answers-%d-%s-%s", width, scheme, fold)
				tab.picture(name)
				for _, fault := range eval[[]string](tab, `axe.run(document).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
					.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " | " + (n.any[0] ? n.any[0].message : "")).join(" || ")))`) {
					t.Errorf("%s: %s", name, fault)
				}
				if wide := eval[int64](tab, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s: the page is %d pixels wide", name, wide)
				}
				eval[chromedp.Void](tab, `document.querySelectorAll("details").forEach((d) => { d.open = true }), undefined`)
			}
		}
	}
}

// tab is a page in a real Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func openTab(t *testing.T, file string, width int64, scheme string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	var size []chromedp.EmulateViewportOption
	if width < 600 {
		size = append(size, chromedp.EmulateMobile)
	}
	for _, action := range []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(width, 860, size...), chromedp.Navigate("file://" + file)} {
		must.Do(t, chromedp.Do(ctx, action))
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	must.Get(chromedp.Call(ctx, emulation.SetEmulatedMedia, media))(t)
	return &tab{t, ctx}
}

// eval gives what an expression gives.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// picture writes all of the page, where pictures are asked for.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	size := eval[[]float64](b, `[innerWidth, document.documentElement.scrollHeight]`)
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: new(true), Clip: &page.Viewport{Width: size[0], Height: size[1], Scale: 1},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), shot.Data, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
