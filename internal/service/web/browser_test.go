//go:build browser

package web_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var pictures = flag.String("pictures", "", "folder to write the pictures of the docs into")

// Limits, so that a fault fails a test and does not hold up all of them.
const (
	patience    = 20 * time.Second // for what a test waits for on a page
	actionLimit = time.Minute      // for one action of the browser
	tabLimit    = 5 * time.Minute  // for all of a tab
	endLimit    = 20 * time.Second // for the end of Chromium
)

// browser is a tab of a real Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
	s   *service

	mu     sync.Mutex
	faults []string // errors of scripts and of the console
}

// newBrowser opens a tab. Errors of scripts fail the test when it ends.
func newBrowser(t *testing.T, s *service, width, height int64) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(func() { ended(t, stop) })
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	ctx, expire := context.WithTimeout(ctx, tabLimit)
	t.Cleanup(expire)
	b := &browser{t: t, ctx: ctx, s: s}
	// The first action starts Chromium, which ends with the context of that action: it gets the tab's own.
	start := time.AfterFunc(actionLimit, expire)
	must.Do(t, chromedp.Do(ctx), "Chromium does not start")
	start.Stop()
	emulated := []chromedp.EmulateViewportOption{}
	if width < 600 {
		emulated = append(emulated, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.run(chromedp.EmulateViewport(width, height, emulated...))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			b.listen(m)
		}
	}()
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error("the page has an error: " + fault)
		}
	})
	b.signIn()
	return b
}

// ended waits until Chromium has ended, but not forever: a child of it can hold up the end.
func ended(t *testing.T, stop func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop()
	}()
	select {
	case <-done:
	case <-time.After(endLimit):
		t.Errorf("Chromium did not end in %s", endLimit)
	}
}

// limited gives the context of one action.
func (b *browser) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, actionLimit)
}

// evaluate gives what an expression gives, or why it does not.
func evaluate[T any](b *browser, expression string, options ...chromedp.EvaluateOption) (T, error) {
	ctx, cancel := b.limited()
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, options...))
}

// call calls a method of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := b.limited()
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// listen notes errors. A page whose status is an error is what some tests ask for.
func (b *browser) listen(m chromedp.ConsoleMessage) {
	bad := m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning
	if !bad || strings.Contains(m.Text, "Failed to load resource") {
		return
	}
	b.mu.Lock()
	b.faults = append(b.faults, m.Text)
	b.mu.Unlock()
}

// run does actions, one after the other.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		ctx, cancel := b.limited()
		err := chromedp.Do(ctx, action)
		cancel()
		must.Do(b.t, err)
	}
}

// open goes to a page and waits until its script has run.
func (b *browser) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.s.url + path))
	b.wait("true")
}

// wait waits until an expression is true on a page whose script has run.
func (b *browser) wait(expression string) {
	b.t.Helper()
	b.waitFor(expression, patience)
}

func (b *browser) waitFor(expression string, patience time.Duration) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		yes, err := evaluate[bool](b, `document.documentElement.classList.contains("js") && !!(`+expression+")")
		if err == nil && yes {
			return
		}
		if time.Now().After(deadline) {
			text, _ := evaluate[string](b, "location.href + '\\n' + document.body.innerText")
			b.t.Fatalf("it never came true: %s (%v)\n%s", expression, err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// value gives what an expression gives.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := evaluate[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// count counts the elements of a selector.
func (b *browser) count(selector string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// press presses keys, one after the other.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

// dark has pages shown dark, or light.
func (b *browser) dark(yes bool) {
	b.t.Helper()
	scheme := "light"
	if yes {
		scheme = "dark"
	}
	_, err := call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	must.Do(b.t, err)
}

// picture writes what the tab shows, where pictures are asked for.
func (b *browser) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	shot, err := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), shot.Data, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// texts gives the texts of the elements of a selector, each on one line.
func (b *browser) texts(selector string) []string {
	b.t.Helper()
	list := value[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText)", selector))
	for i := range list {
		list[i] = strings.Join(strings.Fields(list[i]), " ")
	}
	return list
}
