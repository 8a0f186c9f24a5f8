package warm_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
)

// Thing is a config map of which the program reads the data.
type Thing struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var things = client.Type[*Thing]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// rig is a server, a client of it, and a folder, in a bubble of virtual time.
type rig struct {
	*testing.T
	server *clienttest.Server
	client *client.Client
	things client.Resource[*Thing]
	dir    string
}

func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, dir: dir}
		r.use(clienttest.Start(t, clienttest.Options{HistoryAge: 1000 * time.Hour}))
		f(r)
	})
}

// use makes the rig one of another server.
func (r *rig) use(server *clienttest.Server) {
	r.Helper()
	c, err := client.New(server.Config())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(c.Close)
	r.server, r.client, r.things = server, c, client.For(c, things)
}

func (r *rig) put(name, value string) {
	r.Helper()
	obj := &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"k": value}}
	if _, err := r.things.Modify(r.Context(), key(name), func(t *Thing) error { t.Data = obj.Data; return nil }); err == nil {
		return
	}
	if _, err := r.things.Create(r.Context(), obj); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) remove(name string) {
	r.Helper()
	if err := r.things.Delete(r.Context(), key(name), client.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

// process is one process of a program: an informer with files.
type process struct {
	*informer.Informer[*Thing]
	r *rig

	mu   sync.Mutex
	told []string
	errs []string

	cancel context.CancelFunc
	ended  chan error
}

// process makes a new process. Without Dir, o gets the folder of the rig.
func (r *rig) process(o warm.Options, src informer.Source[*Thing], io informer.Options) *process {
	if o.Dir == "" {
		o.Dir = r.dir
	}
	p := &process{r: r}
	io.Warm, io.AllowEarlyReads = warm.New(o), true
	io.OnError = func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errs = append(p.errs, err.Error())
	}
	p.Informer = informer.New(src, io)
	p.Subscribe(cache.HandlerFuncs[*Thing]{
		Add:    func(obj *Thing) { p.note("add", obj) },
		Update: func(_, obj *Thing) { p.note("update", obj) },
		Delete: func(obj *Thing) { p.note("delete", obj) },
	})
	return p
}

func (p *process) note(call string, obj *Thing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, call+" "+obj.Name+"="+obj.Data["k"])
}

// calls returns the calls of the handler since the last time, in order of their text.
func (p *process) calls() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := slices.Sorted(slices.Values(p.told))
	p.told = nil
	return calls
}

func (p *process) reported() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errs)
}

func (p *process) run() *process {
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(p.r.Context())
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.Run(ctx) }()
	return p
}

func (p *process) stop() {
	p.r.Helper()
	p.cancel()
	if err := <-p.ended; err != nil {
		p.r.Errorf("Run returned %v", err)
	}
}

func (p *process) synced() *process {
	p.r.Helper()
	ctx, cancel := context.WithTimeout(p.r.Context(), time.Hour)
	defer cancel()
	if err := p.WaitSynced(ctx); err != nil {
		p.r.Fatal(err)
	}
	synctest.Wait()
	return p
}

// held returns the names and values in the cache.
func (p *process) held() string {
	have := map[string]string{}
	for obj := range p.Reader().All() {
		have[obj.Name] = obj.Data["k"]
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		out = append(out, name+"="+have[name])
	}
	return strings.Join(out, " ")
}

// keep runs a process until it is synced, and ends it, which writes the file.
func (r *rig) keep(o warm.Options) {
	r.Helper()
	p := r.process(o, r.things, informer.Options{}).run().synced()
	p.stop()
	if errs := p.reported(); len(errs) > 0 {
		r.Errorf("reported %q", errs)
	}
}

// A second process begins with the objects of the first one. It learns by the watch what has changed in between, and
// sees nothing before the server has confirmed it.
func TestTheNextProcessReadsOnlyWhatHasChanged(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 9 {
			r.put(fmt.Sprint("a", n), "1")
		}
		r.keep(warm.Options{})
		r.put("a3", "2")
		r.remove("a4")
		r.put("b", "1")

		release := make(chan struct{})
		lists := 0
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			of := clienttest.RequestOf(q)
			if of.Resource.Resource != "configmaps" {
				return nil
			}
			if of.Verb == "list" && q.URL.Query().Get("limit") != "1" || q.URL.Query().Get("sendInitialEvents") != "" {
				lists++
			}
			if of.Verb == "list" {
				<-release // the question for the server's version
			}
			return nil
		})
		p := r.process(warm.Options{}, r.things, informer.Options{}).run()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if s := p.Status(); p.held() != "" || s.Synced || s.ResourceVersion != "" || s.Objects != 0 {
			t.Errorf("before the server has confirmed it, the cache has %q: %v", p.held(), s)
		}
		if calls := p.calls(); len(calls) > 0 {
			t.Errorf("before the server has confirmed it, the handler was told %q", calls)
		}
		close(release)
		p.synced()
		if want := "a0=1 a1=1 a2=1 a3=2 a5=1 a6=1 a7=1 a8=1 b=1"; p.held() != want {
			t.Errorf("the cache has %q, want %q", p.held(), want)
		}
		if calls, want := p.calls(), "[add a0=1 add a1=1 add a2=1 add a3=2 add a5=1 add a6=1 add a7=1 add a8=1 add b=1]"; fmt.Sprint(calls) != want {
			t.Errorf("the handler was told %q, want %s", calls, want)
		}
		s := p.Status()
		if lists != 0 || s.Lists != 0 || s.Warm != 9 || s.Cold != nil || len(s.Relists) > 0 {
			t.Errorf("%d lists: %v", lists, s)
		}
		r.put("c", "1") // the watch goes on
		synctest.Wait()
		if calls := p.calls(); fmt.Sprint(calls) != "[add c=1]" {
			t.Errorf("the handler was told %q", calls)
		}
		p.stop()
		if errs := p.reported(); len(errs) > 0 {
			t.Errorf("reported %q", errs)
		}
		if files, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(files) != 1 || !strings.HasSuffix(files[0], ".warm") {
			t.Errorf("files are %q", files)
		}
	})
}
