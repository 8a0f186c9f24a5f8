package warm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
)

// only returns the only file of the folder.
func (r *rig) only() string {
	r.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "*.warm"))
	if err != nil || len(files) != 1 {
		r.Fatalf("files are %q: %v", files, err)
	}
	return files[0]
}

func (r *rig) change(name string, f func([]byte) []byte) {
	r.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, f(b), 0o600)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// A file that cannot be used is ignored, and the status has the reason. The cache is that of the server in every case.
func TestAnInformerSaysWhyItIgnoresAFile(t *testing.T) {
	sealed := warm.Options{Seal: seal, Open: open}
	for _, test := range []struct {
		name   string
		first  warm.Options
		change func(r *rig)
		second warm.Options
		want   string
	}{
		{name: "there is none", change: func(r *rig) { _ = os.Remove(r.only()) }, want: "no such file"},
		{name: "it is cut off", change: func(r *rig) { r.change(r.only(), func(b []byte) []byte { return b[:len(b)-1] }) }, want: "it is cut off"},
		{name: "it is damaged", change: func(r *rig) { r.change(r.only(), func(b []byte) []byte { b[len(b)-3]++; return b }) }, want: "it is damaged"},
		{name: "it is foreign", change: func(r *rig) { r.change(r.only(), func([]byte) []byte { return []byte("{}") }) }, want: "it is not a file of package warm"},
		{name: "it is of another cluster", change: func(r *rig) {
			r.use(clienttest.Start(r.T, clienttest.Options{}))
			for range 20 {
				r.put("b", fmt.Sprint("v", r.server.ResourceVersion()))
			}
		}, want: "of another cluster"},
		{name: "it is of another cluster, as the program says", first: warm.Options{Cluster: "one"}, second: warm.Options{Cluster: "two"}, want: `of another cluster: "one", not "two"`},
		{name: "it is of another Revision", first: warm.Options{Revision: "1"}, second: warm.Options{Revision: "2"}, want: `of another Revision: "1", not "2"`},
		{name: "it is encrypted", first: sealed, want: "encrypted, and Options.Open is not set"},
		{name: "it is not encrypted", second: sealed, want: "not encrypted, and Options.Open is set"},
		{
			name: "it is encrypted by another key", first: sealed,
			second: warm.Options{Seal: seal, Open: func([]byte) ([]byte, error) { return nil, errBad }}, want: "warm.Options.Open: this one does not fit",
		},
		{name: "others may write it", change: func(r *rig) {
			if err := os.Chmod(r.only(), 0o666); err != nil {
				r.Fatal(err)
			}
		}, want: "must belong to this user and not be writable by others, got mode 666"},
		{name: "it is a link", change: func(r *rig) {
			name := r.only()
			if err := errors.Join(os.Rename(name, name+".moved"), os.Symlink(name+".moved", name)); err != nil {
				r.Fatal(err)
			}
		}, want: "must be a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a", "1")
				r.keep(test.first)
				r.put("b", "1")
				if test.change != nil {
					test.change(r)
				}
				p := r.process(test.second, r.things, informer.Options{}).run().synced()
				if s := p.Status(); s.Cold == nil || !strings.Contains(s.Cold.Error(), test.want) || s.Warm != 0 || s.Lists != 1 {
					t.Errorf("want %q: %v", test.want, s)
				}
				if !strings.Contains(p.held(), "b=") {
					t.Errorf("the cache has %q", p.held())
				}
				p.stop()
			})
		})
	}
}

// The name of a file is no proof of what it is.
func TestAFileOfAnotherCollectionIsIgnored(t *testing.T) {
	for _, test := range []struct {
		name string
		o    informer.Options
		want string
	}{
		{"namespace", informer.Options{Namespace: "default"}, `of another namespace: "", not "default"`},
		{"labels", informer.Options{LabelSelector: "app"}, `of another label selector: "", not "app"`},
		{"fields", informer.Options{FieldSelector: "metadata.name=a"}, `of another field selector: "", not "metadata.name=a"`},
		{"managed fields", informer.Options{KeepManagedFields: true}, "of an informer with KeepManagedFields false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a", "1")
				r.keep(warm.Options{})
				file := r.only()
				content, err := os.ReadFile(file)
				if err != nil {
					r.Fatal(err)
				}
				p := r.process(warm.Options{}, r.things, test.o).run().synced()
				p.stop()
				files, _ := filepath.Glob(filepath.Join(r.dir, "*.warm"))
				for _, f := range files {
					if err := os.WriteFile(f, content, 0o600); err != nil {
						r.Fatal(err)
					}
				}
				p = r.process(warm.Options{}, r.things, test.o).run().synced()
				if s := p.Status(); s.Cold == nil || !strings.Contains(s.Cold.Error(), test.want) {
					t.Errorf("want %q: %v", test.want, s)
				}
				p.stop()
			})
		})
	}
}

// Slim is a config map of which the program reads nothing.
type Slim struct {
	meta.ObjectMeta `json:"metadata"`
}

func TestAFileOfAnotherGoTypeIsIgnored(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		r.keep(warm.Options{})
		slim := informer.New(client.Retype[*Slim](r.things), informer.Options{Warm: warm.New(warm.Options{Dir: r.dir})})
		ctx, cancel := context.WithCancel(r.Context())
		ended := make(chan error, 1)
		go func() { ended <- slim.Run(ctx) }()
		if err := slim.WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		if s := slim.Status(); s.Cold == nil || !strings.Contains(s.Cold.Error(), `of another Go type: "*warm_test.Thing `) {
			t.Errorf("the status is %v", s)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// counted counts what a client receives about config maps.
type counted struct {
	next  http.RoundTripper
	bytes *atomic.Int64
}

func (c counted) RoundTrip(q *http.Request) (*http.Response, error) {
	a, err := c.next.RoundTrip(q)
	if err == nil && strings.Contains(q.URL.Path, "configmaps") {
		a.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(a.Body, writes(func(n int) { c.bytes.Add(int64(n)) })), a.Body}
	}
	return a, err
}

// counting makes a client count in n.
func counting(n *atomic.Int64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return counted{next, n} }
}

type writes func(n int)

func (w writes) Write(b []byte) (int, error) { w(len(b)); return len(b), nil }

// counting is the rig with a client that counts the bytes that it receives about config maps.
func (r *rig) counting() (*rig, *atomic.Int64) {
	r.Helper()
	cfg, n := r.server.Config(), new(atomic.Int64)
	cfg.Uncompressed = true
	cfg.Wrap = counting(n)
	c, err := client.New(cfg)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(c.Close)
	return &rig{T: r.T, server: r.server, client: c, things: client.For(c, things), dir: r.dir}, n
}

// The server sends what has changed, and not the rest.
func TestAWarmStartReadsFewBytes(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 500 {
			r.put(fmt.Sprint("a", n), strings.Repeat("x", 200))
		}
		r.keep(warm.Options{})
		for n := range 5 {
			r.put(fmt.Sprint("a", n*100), "changed")
		}
		cold, all := r.counting()
		p := cold.process(warm.Options{Dir: filepath.Join(r.dir, "empty")}, cold.things, informer.Options{}).run().synced()
		p.stop()
		hot, some := r.counting()
		p = hot.process(warm.Options{}, hot.things, informer.Options{}).run().synced()
		if s := p.Status(); s.Warm != 500 || !strings.Contains(p.held(), "a100=changed") {
			t.Errorf("the status is %v", s)
		}
		p.stop()
		t.Logf("500 objects, 5 of them changed: %d bytes from the server, instead of %d", some.Load(), all.Load())
		if some.Load() > all.Load()/20 {
			t.Errorf("the server has sent %d bytes, and %d without a file", some.Load(), all.Load())
		}
	})
}

// Counts is a Checked that counts how often it is decoded.
type Counts Checked

var decoded atomic.Int64

func (c Counts) MarshalJSON() ([]byte, error) { return marshal(map[string]string(c)) }

func (c *Counts) UnmarshalJSON(b []byte) error {
	decoded.Add(1)
	return (*Checked)(c).UnmarshalJSON(b)
}

// Counting is a config map whose decoding is counted.
type Counting struct {
	meta.ObjectMeta `json:"metadata"`
	Data            Counts `json:"data,omitempty"`
}

// If the watch cannot go on from the version of the file, a list follows, which decodes only what has changed. After a
// rollback it decodes everything, because the server uses versions again.
func TestAListDecodesOnlyWhatTheFileDoesNotHave(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(r *rig)
		cause   informer.Cause
		cold    string // Status.Cold, as a regular expression
		decodes int64  // after the file
	}{
		{"the history is gone", func(r *rig) { r.put("a3", "2"); r.server.Compact() }, informer.Expired, `^Expired: the server did not confirm the objects at resource version \d+: .*Expired`, 1},
		{"there are no bookmarks", func(r *rig) {
			r.put("a3", "2")
			r.remove("a4")
			secret := &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "s"}}
			if _, err := client.For(r.client, client.Type[*Thing]{Version: "v1", Kind: "Secret", Resource: "secrets"}).Create(r.Context(), secret); err != nil {
				r.Fatal(err)
			}
			r.server.MuteBookmarks(true)
		}, informer.Resumed, `^Resumed: the server did not confirm the objects at resource version \d+$`, 2}, // the two events; the list decodes nothing
		{"the server was rolled back", func(r *rig) {
			if err := r.server.Rollback("8"); err != nil {
				r.Fatal(err)
			}
		}, informer.Reset, "server went back from resource version", -1},
	} {
		for _, mode := range []informer.Mode{informer.Paged, informer.Streaming} {
			t.Run(fmt.Sprint(test.name, ", ", mode), func(t *testing.T) {
				bubble(t, func(r *rig) {
					for n := range 9 {
						r.put(fmt.Sprint("a", n), "1")
					}
					things := client.Retype[*Counting](r.things)
					start := func() (*informer.Informer[*Counting], func()) {
						inf := informer.New(things, informer.Options{Mode: mode, Warm: warm.New(warm.Options{Dir: r.dir}), OnError: func(error) {}})
						ctx, cancel := context.WithCancel(r.Context())
						ended := make(chan error, 1)
						go func() { ended <- inf.Run(ctx) }()
						if err := inf.WaitSynced(r.Context()); err != nil {
							r.Fatal(err)
						}
						synctest.Wait()
						return inf, func() {
							cancel()
							if err := <-ended; err != nil {
								t.Error(err)
							}
						}
					}
					inf, stop := start()
					stop()
					kept := int64(inf.Reader().Len())
					test.change(r)
					before := decoded.Load()
					inf, stop = start()
					defer stop()
					if got := decoded.Load() - before - kept; test.decodes >= 0 && got != test.decodes {
						t.Errorf("it has decoded %d objects, want %d", got, test.decodes)
					}
					s := inf.Status()
					if s.Relists[test.cause] != 1 || s.Cold == nil || !regexp.MustCompile(test.cold).MatchString(s.Cold.Error()) || s.Warm != 0 {
						t.Errorf("the status is %v", s)
					}
					list, err := things.List(r.Context(), client.ListOptions{})
					if err != nil {
						r.Fatal(err)
					}
					if len(list.Items) != s.Objects {
						t.Errorf("the cache has %d objects, and the server %d", s.Objects, len(list.Items))
					}
					for _, want := range list.Items {
						if got, _ := inf.Reader().Get(meta.KeyOf(want)); got == nil || got.ResourceVersion != want.ResourceVersion || got.Data["k"] != want.Data["k"] {
							t.Errorf("the cache has %+v, want %+v", got, want)
						}
					}
				})
			})
		}
	}
}

// Whatever stands in front of the cluster's uid is said, and does not stop the informer.
func TestAProgramThatMayNotReadTheUIDNamesTheCluster(t *testing.T) {
	bubble(t, func(r *rig) {
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(q).Resource.Resource == "namespaces" {
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "no"})
			}
			return nil
		})
		r.put("a", "1")
		p := r.process(warm.Options{}, r.things, informer.Options{}).run().synced()
		p.stop()
		if errs := fmt.Sprint(p.reported()); !strings.Contains(errs, "identify the cluster: ") || !strings.Contains(errs, "set warm.Options.Cluster") {
			t.Errorf("reported %s", errs)
		}
		named := warm.Options{Cluster: "production"}
		r.keep(named)
		p = r.process(named, r.things, informer.Options{}).run().synced()
		if s := p.Status(); s.Warm != 1 || s.Cold != nil {
			t.Errorf("the status is %v", s)
		}
		p.stop()
	})
}

func TestOptionsThatCannotBeMeantAreErrorsOfRun(t *testing.T) {
	same := func(t *Thing) *Thing { return t }
	for _, test := range []struct {
		name   string
		o      warm.Options
		secret bool
		change bool
		want   string
	}{
		{name: "no folder", o: warm.Options{}, want: "warm.Options: Dir must not be empty"},
		{name: "half of a cipher", o: warm.Options{Dir: "x", Seal: seal}, want: "warm.Options: Seal and Open must both be set"},
		{name: "plain Secrets", o: warm.Options{Dir: "x"}, secret: true, want: "warm.Options: secrets.v1 must not be written without encryption"},
		{
			name: "plain sensitive objects", want: "warm.Options: configmaps.v1 must not be written without encryption",
			o: warm.Options{Dir: "x", Sensitive: []meta.GVR{{Resource: "configmaps"}}},
		},
		{name: "a Transform", o: warm.Options{Dir: "x"}, change: true, want: "warm.Options: Revision must be set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				var src informer.Source[*Thing] = r.things
				if test.secret {
					src = client.For(r.client, client.Type[*Thing]{Version: "v1", Kind: "Secret", Resource: "secrets"})
				}
				if test.change {
					src = informer.Transform(src, same)
				}
				err := informer.New(src, informer.Options{Warm: warm.New(test.o)}).Run(r.Context())
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "informer.Options: Warm: ") {
					t.Errorf("got %v, want %q", err, test.want)
				}
			})
		})
	}
	t.Run("a nil Files", func(t *testing.T) {
		bubble(t, func(r *rig) {
			var none *warm.Files
			err := informer.New(r.things, informer.Options{Warm: none}).Run(r.Context())
			if err == nil || !strings.Contains(err.Error(), "informer.Options: Warm is a nil *warm.Files") {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("Shards", func(t *testing.T) {
		bubble(t, func(r *rig) {
			o := informer.Options{Warm: warm.New(warm.Options{Dir: "x"}), Shards: informer.FixedShards(meta.ShardByUID, meta.Ranges{})}
			if err := informer.New(r.things, o).Run(r.Context()); err == nil || !strings.Contains(err.Error(), "Shards and Warm exclude each other") {
				t.Errorf("got %v", err)
			}
		})
	})
}

// Secrets reach the disk encrypted, or by an explicit word.
func TestSecretsAreEncryptedOrPlainByAnExplicitWord(t *testing.T) {
	for _, test := range []struct {
		name  string
		o     warm.Options
		plain bool
	}{
		{"encrypted", warm.Options{Seal: seal, Open: open}, false},
		{"by an explicit word", warm.Options{PlainSecrets: true}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.things = client.For(r.client, client.Type[*Thing]{Version: "v1", Kind: "Secret", Resource: "secrets"})
				r.put("a", "aGlkZGVu")
				r.keep(test.o)
				b, err := os.ReadFile(r.only())
				if err != nil || bytes.Contains(b, []byte("aGlkZGVu")) != test.plain {
					t.Errorf("the file has the secret: %v; %v", !test.plain, err)
				}
				if info, err := os.Stat(r.only()); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("the mode is %v: %v", info.Mode(), err)
				}
				p := r.process(test.o, r.things, informer.Options{}).run().synced()
				if s := p.Status(); s.Warm != 1 || p.held() != "a=aGlkZGVu" {
					t.Errorf("the cache has %q: %v", p.held(), s)
				}
				p.stop()
			})
		})
	}
}

// An informer that is told to end before the server has confirmed the file begins with the file again.
func TestAnUnconfirmedFileIsReadAgain(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		r.keep(warm.Options{})
		before, _ := os.ReadFile(r.only())
		r.server.Refuse(errors.New("not yet"))
		r, _ = r.counting() // whose client has no connection
		p := r.process(warm.Options{}, r.things, informer.Options{}).run()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := p.Status(); s.Err == nil || s.Synced || s.State != informer.Waiting {
			t.Errorf("while the server cannot be reached, the status is %v", s)
		}
		p.stop()
		if after, _ := os.ReadFile(r.only()); !bytes.Equal(before, after) {
			t.Error("the file has changed")
		}
		p.run()
		time.Sleep(10 * time.Second)
		r.server.Refuse(nil)
		p.synced()
		if s := p.Status(); s.Warm != 1 || s.Lists != 0 || p.held() != "a=1" || fmt.Sprint(p.calls()) != "[add a=1]" {
			t.Errorf("the cache has %q: %v", p.held(), s)
		}
		p.stop()
	})
}

// The same with a name of the cluster: then the informer asks the server for its version until the server answers.
func TestAServerThatCannotBeReachedIsAwaited(t *testing.T) {
	bubble(t, func(r *rig) {
		o := warm.Options{Cluster: "c"}
		r.put("a", "1")
		r.keep(o)
		r.put("b", "1")
		r.server.Refuse(errors.New("not yet"))
		r, _ = r.counting() // whose client has no connection
		p := r.process(o, r.things, informer.Options{}).run()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if p.held() != "" || p.Status().Synced {
			t.Errorf("the cache has %q: %v", p.held(), p.Status())
		}
		r.server.Refuse(nil)
		p.synced()
		if s := p.Status(); s.Warm != 2 || s.Lists != 0 || s.Cold != nil || p.held() != "a=1 b=1" {
			t.Errorf("the cache has %q: %v", p.held(), s)
		}
		p.stop()
	})
}

func TestTwoInformersDoNotWriteOneFile(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		files := warm.New(warm.Options{Dir: r.dir})
		run := func(name string) (*informer.Informer[*Thing], *[]string, func()) {
			errs := new([]string)
			inf := informer.New(r.things, informer.Options{Name: name, Warm: files, OnError: func(err error) { *errs = append(*errs, err.Error()) }})
			ctx, cancel := context.WithCancel(r.Context())
			ended := make(chan error, 1)
			go func() { ended <- inf.Run(ctx) }()
			if err := inf.WaitSynced(r.Context()); err != nil {
				r.Fatal(err)
			}
			synctest.Wait()
			return inf, errs, func() { cancel(); <-ended }
		}
		_, one, stopOne := run("")
		_, two, stopTwo := run("")
		_, three, stopThree := run("three")
		stopOne()
		stopTwo()
		stopThree()
		if len(*one) > 0 || len(*three) > 0 || len(*two) != 1 || !strings.Contains((*two)[0], "another informer writes this file: give the informers different Names") {
			t.Errorf("reported %q, %q and %q", *one, *two, *three)
		}
		if files, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(files) != 2 {
			t.Errorf("files are %q", files)
		}
	})
}

// A process that crashes leaves the file of its last regular write.
func TestFilesAreWrittenFromTimeToTime(t *testing.T) {
	for _, test := range []struct {
		every time.Duration
		wait  time.Duration
		wrote bool
	}{
		{0, 9 * time.Minute, false},
		{0, 12 * time.Minute, true},
		{time.Minute, 70 * time.Second, true},
		{-1, 24 * time.Hour, false},
	} {
		t.Run(fmt.Sprint(test.every, " ", test.wait), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a", "1")
				p := r.process(warm.Options{Every: test.every}, r.things, informer.Options{}).run().synced()
				time.Sleep(test.wait)
				synctest.Wait()
				files, _ := filepath.Glob(filepath.Join(r.dir, "*.warm"))
				if (len(files) == 1) != test.wrote {
					t.Errorf("files are %q", files)
				}
				p.stop()
				r.only()
			})
		})
	}
}

// When another cluster answers behind the URL, the cache may still have the objects of the earlier one. They do not get
// into a file with the name of the later one.
func TestAFileNamesTheClusterOfItsObjects(t *testing.T) {
	bubble(t, func(r *rig) {
		var moved atomic.Bool
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if moved.Load() && clienttest.RequestOf(q).Resource.Resource == "namespaces" {
				return func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":"another"}}`)
				}
			}
			return nil
		})
		r.put("a", "1")
		p := r.process(warm.Options{Every: time.Minute}, r.things, informer.Options{}).run().synced()
		cluster := func() string {
			text, err := os.ReadFile(r.only())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"cluster":"another"`) {
				return "another"
			}
			return "first"
		}
		time.Sleep(70 * time.Second)
		r.put("a", "2")
		moved.Store(true)
		time.Sleep(70 * time.Second)
		if got := cluster(); got != "first" {
			t.Errorf("the first write after the move has cluster %q", got)
		}
		if errs := fmt.Sprint(p.reported()); !strings.Contains(errs, `the server is of cluster "another" now`) {
			t.Errorf("reported %s", errs)
		}
		time.Sleep(70 * time.Second)
		if got := cluster(); got != "another" {
			t.Errorf("the second write after the move has cluster %q", got)
		}
		p.stop()
	})
}

// Objects that do not decode are in the file: the next process reports them, and has their last good state.
func TestObjectsThatDoNotDecodeAreKept(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		r.put("b", "1")
		things := client.Retype[*Counting](r.things)
		run := func(during func(*informer.Informer[*Counting])) {
			inf := informer.New(things, informer.Options{Warm: warm.New(warm.Options{Dir: r.dir}), OnError: func(error) {}})
			ctx, cancel := context.WithCancel(r.Context())
			ended := make(chan error, 1)
			go func() { ended <- inf.Run(ctx) }()
			if err := inf.WaitSynced(r.Context()); err != nil {
				r.Fatal(err)
			}
			during(inf)
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		bad := func(name string) {
			if _, err := r.things.Modify(r.Context(), key(name), func(t *Thing) error { t.Data = map[string]string{"bad": "yes"}; return nil }); err != nil {
				r.Fatal(err)
			}
		}
		run(func(*informer.Informer[*Counting]) {
			bad("a")
			synctest.Wait()
		})
		bad("b")
		run(func(inf *informer.Informer[*Counting]) {
			s := inf.Status()
			if len(s.Undecodable) != 2 || s.Undecodable[0].Identity.Name != "a" || !strings.Contains(s.Undecodable[0].Err.Error(), "does not fit") || s.Warm != 2 {
				t.Errorf("the status is %v, %v", s, s.Undecodable)
			}
			for _, name := range []string{"a", "b"} {
				if obj, _ := inf.Reader().Get(key(name)); obj == nil || obj.Data["k"] != "1" {
					t.Errorf("%s is %+v", name, obj)
				}
			}
			r.put("a", "2")
			synctest.Wait()
			if s := inf.Status(); len(s.Undecodable) != 1 {
				t.Errorf("the status is %v", s)
			}
		})
	})
}

// Each of several namespaces has its file, and its own confirmation.
func TestNamespacesAreConfirmedOneByOne(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		other := &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "kube-public", Name: "o"}, Data: map[string]string{"k": "1"}}
		if _, err := r.things.Create(r.Context(), other); err != nil {
			r.Fatal(err)
		}
		o := informer.Options{Namespaces: []string{"default", "kube-public"}}
		r.process(warm.Options{}, r.things, o).run().synced().stop()
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if of := clienttest.RequestOf(q); of.Key.Namespace == "kube-public" && of.Verb == "list" {
				return clienttest.Hang()
			}
			return nil
		})
		p := r.process(warm.Options{}, r.things, o).run()
		time.Sleep(5 * time.Second)
		if calls := p.calls(); fmt.Sprint(calls) != "[add a=1]" || p.held() != "a=1" {
			t.Errorf("the handler was told %q, and the cache has %q", calls, p.held())
		}
		r.server.Intercept(nil)
		p.synced()
		if s := p.Status(); s.Warm != 1 || s.Namespaces["kube-public"].Relists[informer.Resumed] != 1 || p.held() != "a=1 o=1" || fmt.Sprint(p.calls()) != "[add o=1]" {
			t.Errorf("the cache has %q: %v", p.held(), s)
		}
		p.stop()
	})
}

// Seal may end its goroutine, as t.FailNow of a test does.
func TestASealThatExitsIsReported(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", "1")
		exits := warm.Options{Open: open, Seal: func(b []byte) ([]byte, error) {
			runtime.Goexit()
			return b, nil
		}}
		p := r.process(exits, r.things, informer.Options{}).run().synced()
		p.stop()
		want := "called runtime.Goexit instead of returning; they are kept again in the next Run"
		if errs := p.reported(); len(errs) != 1 || !strings.HasSuffix(errs[0], want) {
			t.Errorf("the errors are %q", errs)
		}
		if files, err := os.ReadDir(r.dir); err != nil || len(files) != 0 {
			t.Errorf("the folder has %v: %v", files, err)
		}
	})
}
