package browser

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/debug"
)

var chromium = flag.String("chromium", "", "the browser; empty looks for it")

// ConfigMap is what the program under the page watches.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var configMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// program is a program with a page.
type program struct {
	*testing.T
	server *clienttest.Server
	maps   client.Resource[*ConfigMap]
	keys   chan string // for the controller
	url    string
}

// start runs a program until the test ends.
func start(t *testing.T) *program {
	t.Helper()
	server := clienttest.Start(t, clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	page, err := debug.Handler(debug.Options{Title: "packer", Objects: true, Clients: []*client.Client{c}})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{T: t, server: server, maps: client.For(c, configMaps), keys: make(chan string)}
	inf := informer.New(p.maps, informer.Options{OnError: func(error) {}})
	ctl := controller.New("packer", controller.Options{Workers: 4, OnError: func(error) {}, MinBackoff: time.Hour, MaxBackoff: time.Hour},
		func(_ context.Context, key string) (controller.Result, error) {
			if strings.Contains(key, "broken") {
				return controller.Result{}, fmt.Errorf("write %s: the disk is full", key)
			}
			return controller.Result{}, nil
		}, controller.Chan(p.keys), controller.Map(inf, func(m *ConfigMap) []string { return []string{m.Name} }))
	ctx, cancel := context.WithCancel(page.Context(context.Background()))
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx, ctl) }()
	mux := httptest.NewServer(page)
	t.Cleanup(func() {
		mux.CloseClientConnections() // streams of events end with their connections
		mux.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := inf.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}
	p.url = mux.URL + "/"
	return p
}

func (p *program) create(names ...string) {
	p.Helper()
	for _, name := range names {
		m := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"greeting": "hello\nworld\n"}}
		if _, err := p.maps.Create(p.Context(), m); err != nil {
			p.Fatal(err)
		}
	}
}

// tab is a page of the browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu     sync.Mutex // guards errors
	errors []string   // that the browser says, of scripts and of the security policy
}

// open opens a tab of a browser of its own. An error that the browser reports fails the test.
func open(t *testing.T) *tab {
	t.Helper()
	path := *chromium
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		t.Fatal("there is no Chromium: apt-get install -y chromium")
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900)}
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-dev-shm-usage", "hide-scrollbars",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	ctx, endProcess := chromedp.NewExecAllocator(ctx, options...)
	ctx, _ = chromedp.NewContext(ctx)
	b := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(e any) {
		said := ""
		switch e := e.(type) {
		case *log.EventEntryAdded:
			said = e.Entry.Text
		case *runtime.EventExceptionThrown:
			said = e.ExceptionDetails.Error()
		default:
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.errors = append(b.errors, said)
	})
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits until the browser has closed its files, which are deleted next
			t.Errorf("close the browser: %v", err)
		}
		endProcess()
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, said := range b.errors {
			t.Errorf("the browser says: %s", said)
		}
	})
	b.do(log.Enable())
	return b
}

func (b *tab) do(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// until waits until an expression of JavaScript is true.
func (b *tab) until(expression string) {
	b.Helper()
	err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(20*time.Second)))
	for err != nil && b.ctx.Err() == nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context")) { // the page is another one now
		err = chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(20*time.Second)))
	}
	if err != nil {
		text := ""
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.body.innerText`, &text))
		b.Fatalf("it never holds that %s: %v\n%s", expression, err, text)
	}
}

// press presses a key as a person does: if a script prevents what the key does, no character follows.
func (b *tab) press(key string) {
	b.Helper()
	b.do(input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(key), input.DispatchKeyEvent(input.KeyUp).WithKey(key))
}

// is fails the test unless an expression has a value.
func (b *tab) is(want any, expression string) {
	b.Helper()
	var got any
	b.do(chromedp.Evaluate(expression, &got))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s is %v, want %v", expression, got, want)
	}
}

// rows returns the texts of one column of a table.
func (b *tab) rows(label string) []string {
	b.Helper()
	var all []string
	b.do(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll('td[data-label="%s"]')].map(e => e.innerText.trim())`, label), &all))
	slices.Sort(all)
	return all
}
