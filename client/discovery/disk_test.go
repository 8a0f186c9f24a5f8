package discovery_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

// kept returns the one file of a folder that has a text in its name.
func kept(t *testing.T, dir, part string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+part+"*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files are %v, %v", files, err)
	}
	return files[0]
}

// behaviour 152 and guarantee S16: what is kept on disk is private, and serves the next run of the program.
func TestTheNextRunBeginsWithWhatIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "deep", "cache")
		o := discovery.Options{Dir: dir, OnError: func(err error) { t.Error(err) }}
		r := newRig(t, o, widgets("v1"))
		ask := func() { must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget)) }
		ask()
		r.wantRequests(t, "/apis")
		if runtime.GOOS != "windows" {
			for name, want := range map[string]os.FileMode{dir: 0o700, kept(t, dir, "apis"): 0o600} {
				if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s has mode %v, %v, want %v", name, info.Mode().Perm(), err, want)
				}
			}
		}
		r.connect(t, o)
		ask()
		r.wantRequests(t, "")
		time.Sleep(time.Minute)
		r.connect(t, o)
		ask()
		r.wantRequests(t, "/apis 304")
		time.Sleep(30 * time.Second)
		r.connect(t, o)
		ask() // confirmed half a minute ago
		r.wantRequests(t, "")
		r.connect(t, o)
		r.catalog.Invalidate()
		ask()
		r.wantRequests(t, "/apis 304")
		for range 2 {
			if _, err := r.catalog.OpenAPI(t.Context(), exampleV1); err != nil {
				t.Fatal(err)
			}
			r.connect(t, o)
		}
		r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1")
		if files, _ := filepath.Glob(filepath.Join(dir, "new-*")); len(files) > 0 {
			t.Errorf("%v was left behind", files)
		}
	})
}

// behaviour 152: a file that is not exactly what was written is a miss, is told of, and is replaced.
func TestASpoiledFileIsAMissAndHeals(t *testing.T) {
	for name, spoil := range map[string]func(good string) string{
		"empty":                    func(string) string { return "" },
		"cut":                      func(good string) string { return good[:len(good)-10] },
		"changed":                  func(good string) string { return strings.Replace(good, "Widget", "Gadget", 1) },
		"without its first line":   func(good string) string { return good[strings.Index(good, "\n")+1:] },
		"of another document":      nil,
		"a folder in its place":    nil,
		"from the time to come":    nil,
		"too large to be believed": func(good string) string { return good + strings.Repeat(" ", 2<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.Chmod(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				var told []error
				o := discovery.Options{Dir: dir, OnError: func(err error) { told = append(told, err) }}
				r := newRig(t, o, widgets("v1"))
				discovery.SetMaxDocument(r.catalog, 1<<20)
				ask := func() { must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget)) }
				ask()
				file := kept(t, dir, "apis")
				good, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case spoil != nil:
					err = os.WriteFile(file, []byte(spoil(string(good))), 0o600)
				case name == "of another document":
					must[discovery.ServerVersion](t)(r.catalog.Version(t.Context()))
					err = os.Rename(kept(t, dir, "version"), file)
				case name == "a folder in its place":
					if err = os.Remove(file); err == nil {
						err = os.Mkdir(file, 0o700)
					}
				default:
					err = os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour))
				}
				if err != nil {
					t.Fatal(err)
				}
				r.requests()
				r.connect(t, o)
				discovery.SetMaxDocument(r.catalog, 1<<20)
				ask()
				if name == "from the time to come" {
					r.wantRequests(t, "/apis 304")
					return
				}
				r.wantRequests(t, "/apis")
				if len(told) == 0 || !strings.HasPrefix(told[0].Error(), "discovery.Options.Dir: ") {
					t.Errorf("told of %v", told)
				}
				if name == "a folder in its place" { // there is nothing to be done about that
					return
				}
				r.connect(t, o)
				ask()
				r.wantRequests(t, "")
			})
		})
	}
}

// The folder of one server was believed of another, by a tool whose user changed the context.
func TestAFolderThatHasAnotherServersAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := discovery.Options{Dir: filepath.Join(t.TempDir(), "cache"), OnError: func(err error) { t.Error(err) }}
		r := newRig(t, o, widgets("v1"))
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.requests()
		cfg := r.server.Config()
		cfg.Server += "/clusters/b"
		cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(q *http.Request) (*http.Response, error) {
				if tag := q.Header.Get("If-None-Match"); tag != "" {
					t.Errorf("it is asked whether %s has changed", tag)
				}
				q = q.Clone(q.Context())
				q.URL.Path, q.URL.RawPath = strings.TrimPrefix(q.URL.Path, "/clusters/b"), ""
				return next.RoundTrip(q)
			})
		}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if err := r.server.Unregister(widgets("v1").GVR()); err != nil {
			t.Fatal(err)
		}
		if has, err := discovery.New(c, o).Has(t.Context(), widget); has || err != nil {
			t.Errorf("the other server has it: %t, %v", has, err)
		}
	})
}

// A process that has its answer confirmed says nothing of the one that another process put in its place.
func TestAnAnswerOfAnotherProcessIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "cache")
		o := discovery.Options{Dir: dir, OnError: func(err error) { t.Error(err) }}
		r := newRig(t, o)
		ask := func() bool { return must[bool](t)(r.catalog.Has(t.Context(), widget)) }
		ask()
		file := kept(t, dir, "apis")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.server.Register(widgets("v1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if !ask() {
			t.Error("it is not seen")
		}
		// The other one asked before, and was slow to write.
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		ask()
		r.connect(t, discovery.Options{Dir: dir, MissTTL: time.Hour})
		if !ask() {
			t.Error("the next run believes what was not confirmed")
		}
	})
}

// Processes that share a folder never read half a file.
func TestAFolderOfManyProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := discovery.Options{Dir: filepath.Join(t.TempDir(), "cache"), OnError: func(err error) { t.Error(err) }}
		r := newRig(t, o)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 5 {
					if has, err := discovery.New(r.client, o).Has(t.Context(), meta.GVK{Group: "apps"}); !has || err != nil {
						t.Errorf("Has says %t, %v", has, err)
					}
					time.Sleep(time.Minute)
				}
			})
		}
		for version := range 10 {
			if err := r.server.Register(widgets(fmt.Sprintf("v%d", version+1))); err != nil {
				t.Error(err)
			}
			time.Sleep(30 * time.Second)
			if err := r.server.Unregister(widgets(fmt.Sprintf("v%d", version+1)).GVR()); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
	})
}

// guarantee S16: what others can write is not believed, and nothing is put there.
func TestAFolderThatOthersCanWriteIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no such modes
	}
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		var told string
		r := newRig(t, discovery.Options{Dir: dir, OnError: func(err error) { told = err.Error() }}, widgets("v1"))
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.wantRequests(t, "/apis")
		if want := `must not be writable by others, got mode 777`; !strings.HasSuffix(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("files are %v, %v", files, err)
		}
	})
}

// A document that one client had read without verifying the server was believed by another that verifies it.
func TestUnverifiedDocumentsAreNotUsedByAVerifyingClient(t *testing.T) {
	r := &rig{server: clienttest.Start(t, clienttest.Options{TLS: true, Resources: []clienttest.Resource{widgets("v1")}})}
	o := discovery.Options{Dir: filepath.Join(t.TempDir(), "cache"), OnError: func(err error) { t.Error(err) }}
	verified := r.server.Config()
	for _, step := range []struct {
		name   string
		change func(*client.TLS)
		want   int // how often the server is asked
	}{
		{"unverified", func(c *client.TLS) { *c = client.TLS{Insecure: true} }, 1},
		{"unverified again", func(c *client.TLS) { *c = client.TLS{Insecure: true} }, 0},
		{"verified", func(*client.TLS) {}, 1},
		{"verified again", func(*client.TLS) {}, 0},
		{"by other authorities", func(c *client.TLS) { c.CAData = "# another\n" + c.CAData }, 1},
		{"unverified once more", func(c *client.TLS) { *c = client.TLS{Insecure: true} }, 1},
	} {
		cfg, asked := verified, 0
		step.change(&cfg.TLS)
		cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(q *http.Request) (*http.Response, error) {
				asked++
				return next.RoundTrip(q)
			})
		}
		c := must[*client.Client](t)(client.New(cfg))
		if _, err := discovery.New(c, o).Resource(t.Context(), widget); err != nil || asked != step.want {
			t.Errorf("%s: %d requests, %v, want %d", step.name, asked, err, step.want)
		}
		c.Close()
	}
}

// A file that other users can write must not be believed either.
func TestAFileThatOthersCanWriteIsNotBelieved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its modes say nothing")
	}
	var errs []error
	o := discovery.Options{Dir: filepath.Join(t.TempDir(), "cache"), OnError: func(err error) { errs = append(errs, err) }}
	r := newRig(t, o, widgets("v1"))
	must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
	if err := os.Chmod(kept(t, o.Dir, "apis"), 0o622); err != nil {
		t.Fatal(err)
	}
	r.connect(t, o)
	r.requests()
	must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
	if r.wantRequests(t, "/apis"); len(errs) != 1 || !strings.Contains(errs[0].Error(), "must belong to this user and not be writable by others, got mode 622") {
		t.Errorf("errors are %v", errs)
	}
}
