package certificates_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// Site is a custom resource in its second version, and siteV1 in its first.
type (
	Site struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Hosts []string `json:"hosts,omitempty"`
			Note  string   `json:"note,omitempty"`
		} `json:"spec"`
	}
	siteV1 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Host string `json:"host,omitempty"`
			Note string `json:"note,omitempty"`
		} `json:"spec"`
	}
)

func version[T meta.Object](name string) client.Type[T] {
	return client.Type[T]{Group: "example.com", Version: name, Kind: "Site", Resource: "sites"}
}

// handler answers all webhooks of sites.
func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/validate", webhook.Validate(version[*Site]("v2"), func(_ context.Context, r *webhook.Request[*Site]) error {
		if r.Operation != webhook.Delete && slices.Contains(r.Object.Spec.Hosts, "") {
			return webhook.Invalid("spec.hosts", "must not have an empty host")
		}
		return nil
	}))
	mux.Handle("/default", webhook.Default(version[*Site]("v2"), func(_ context.Context, r *webhook.Request[*Site]) error {
		if len(r.Object.Spec.Hosts) == 0 {
			r.Object.Spec.Hosts = []string{r.Key.Name + ".example.com"}
		}
		return nil
	}))
	mux.Handle("/convert", webhook.Convert(webhook.Between(version[*siteV1]("v1"), version[*Site]("v2"), func(_ context.Context, from *siteV1, to *Site) error {
		to.Spec.Note = from.Spec.Note
		if from.Spec.Host != "" {
			to.Spec.Hosts = []string{from.Spec.Host}
		}
		return nil
	}, func(_ context.Context, from *Site, to *siteV1) error {
		to.Spec.Note = from.Spec.Note
		if len(from.Spec.Hosts) > 0 {
			to.Spec.Host = from.Spec.Hosts[0]
		}
		return nil
	})))
	return mux
}

// program is a replica of a program with webhooks.
type program struct {
	server *webhook.Server
	issuer *certificates.Issuer
	group  *informer.Group
	stop   func()
	ended  chan error
}

// program starts a replica. It looks rarely if the test lasts for years.
func (w *world) program(name string, pace time.Duration, change ...func(*certificates.Options)) *program {
	p := &program{issuer: w.replica(name, change...), ended: make(chan error, 1)}
	if pace > 0 {
		p.issuer.SetPace(pace)
	}
	p.server = &webhook.Server{Handler: handler(), Listener: w.server.ListenService(serviceKey), Certificates: p.issuer}
	p.group = &informer.Group{Services: []informer.Runner{p.server}}
	ctx, stop := context.WithCancel(w.quiet())
	p.stop = stop
	go func() { p.ended <- p.group.Run(ctx) }()
	return p
}

// end ends a replica.
func (p *program) end(t *testing.T) {
	t.Helper()
	p.stop()
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// write makes the API server call all webhooks: defaults, validation and conversion.
func (w *world) write(name string) error {
	key := meta.Key{Namespace: "default", Name: name}
	made, err := client.For(w.c, version[*siteV1]("v1")).Create(w.t.Context(), &siteV1{ObjectMeta: key.ObjectMeta()})
	if err == nil && made.Spec.Host != name+".example.com" {
		w.t.Errorf("the host is %q", made.Spec.Host)
	}
	return err
}

// The API server verifies the certificate by the caBundle that the program has written.
func TestTheAPIServerCallsTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		if err := w.write("early"); err == nil {
			t.Error("a write succeeds although nobody serves the webhooks")
		}
		a, b := w.program("a", 0), w.program("b", 0)
		if err := a.group.Ready(); err == nil {
			t.Error("the program is ready at once")
		}
		time.Sleep(time.Second)
		if err := errors.Join(a.group.Ready(), b.group.Ready()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two", "three", "four"} {
			if err := w.write(name); err != nil {
				t.Error(err)
			}
		}
		_, err := client.For(w.c, version[*Site]("v2")).Modify(t.Context(), meta.Key{Namespace: "default", Name: "one"}, func(s *Site) error {
			s.Spec.Hosts = []string{""}
			return nil
		})
		if !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), "must not have an empty host") {
			t.Errorf("got %v", err)
		}
		for _, p := range []*program{a, b} {
			if s := p.server.Status(); s.Calls < 3 || !s.Called.Equal(time.Now()) || !s.Serving || time.Until(s.Expires).Round(time.Hour) != 90*day {
				t.Errorf("the status is %+v", s)
			}
		}
		a.end(t)
		if err := w.write("five"); err != nil { // by the other replica
			t.Error(err)
		}
		if s := a.server.Status(); s.Serving || a.server.Ready() == nil || a.issuer.Status().Running {
			t.Errorf("after the end: %+v", s)
		}
		b.end(t)
	})
}

// Over three years of two replicas, one of which is replaced every 56 days, each write succeeds.
func TestYearsOfRotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		a, b := w.program("a", 4*day), w.program("b", 4*day)
		time.Sleep(time.Minute)
		authorities := map[string]bool{}
		for n := range 40 {
			if err := errors.Join(a.group.Ready(), b.group.Ready(), w.write("site"), w.write("other")); err != nil {
				t.Fatalf("after %d times 28 days: %v", n, err)
			}
			for _, name := range []string{"site", "other"} {
				if err := client.For(w.c, version[*Site]("v2")).Delete(t.Context(), meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			_, by := a.issuer.Served()
			authorities[string(by.Raw)] = true
			if n%2 == 1 {
				a.end(t)
				a, b = b, w.program("c", 4*day)
			}
			time.Sleep(28 * day)
		}
		if len(authorities) != 3 || w.authorities() > 2 {
			t.Errorf("%d authorities in three years, %d of them trusted, want 3 and at most 2", len(authorities), w.authorities())
		}
		a.end(t)
		b.end(t)
	})
}

// Missing configurations are named in the log and in Ready, and get the authority soon after they are made.
func TestConfigurationsMayComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		hooks, err := client.For(w.c, validate).Get(t.Context(), sites)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.For(w.c, validate).Delete(t.Context(), sites, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		var said log
		p := w.program("a", 0, func(o *certificates.Options) {
			o.OnError, o.Logger = nil, logr.FromSlogHandler(slog.NewTextHandler(&said, nil))
		})
		time.Sleep(time.Hour)
		const want = `ValidatingWebhookConfiguration "sites" does not exist`
		if err := p.group.Ready(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Ready returns %v", err)
		}
		if n := strings.Count(said.String(), strings.ReplaceAll(want, `"`, `\"`)); n < 2 || n > 20 {
			t.Errorf("%d lines in an hour:\n%s", n, said.String())
		}
		if s := p.issuer.Status().Configurations; s[0].Trusts || s[0].Err == nil || !s[1].Trusts || !s[2].Trusts {
			t.Errorf("the status is %+v", s)
		}
		again := &Configuration{ObjectMeta: sites.ObjectMeta(), Webhooks: hooks.Webhooks}
		if _, err := client.For(w.c, validate).Create(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if err := errors.Join(p.group.Ready(), w.write("late")); err != nil {
			t.Error(err)
		}
		if !strings.Contains(said.String(), "works again") {
			t.Errorf("the log does not say that it works:\n%s", said.String())
		}
		p.end(t)
	})
}

// log is a log that the test reads while the program writes.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// An API server that is away for hours changes nothing: the replica goes on serving, and stays ready.
func TestAnAPIServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		p := w.program("a", 0)
		time.Sleep(time.Minute)
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.UserAgent() == "a" {
				return clienttest.Reset()
			}
			return nil
		})
		time.Sleep(5 * time.Hour)
		if err := errors.Join(p.group.Ready(), w.write("away")); err != nil {
			t.Error(err)
		}
		if p.issuer.Status().Err == nil {
			t.Error("the status has no error")
		}
		w.server.Intercept(nil)
		time.Sleep(time.Minute)
		if err := p.issuer.Status().Err; err != nil {
			t.Error(err)
		}
		p.end(t)
	})
}

// With MustBeCalled a program is ready after the first call.
func TestAProgramThatMustBeCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		s := &webhook.Server{Handler: handler(), Listener: w.server.ListenService(serviceKey), Certificates: w.replica("a"), MustBeCalled: true}
		ctx, stop := context.WithCancel(w.quiet())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		time.Sleep(time.Minute)
		if err := s.Ready(); err == nil || err.Error() != "webhook: the API server has not called yet" {
			t.Errorf("got %v", err)
		}
		if err := errors.Join(w.write("one"), s.Ready()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		for want, change := range map[string]func(*certificates.Options){
			`Secret must have a namespace and a name, got "hooks"`:                      func(o *certificates.Options) { o.Secret = meta.Key{Name: "hooks"} },
			`Service must have a namespace and a name, got "hooks"`:                     func(o *certificates.Options) { o.Service = meta.Key{Name: "hooks"} },
			`Service or Names must be set`:                                              func(o *certificates.Options) { o.Service = meta.Key{} },
			`the names of the certificate must be DNS names or IP addresses, got "a_b"`: func(o *certificates.Options) { o.Names = []string{"a_b"} },
			`at least one of Validating, Mutating and Definitions must be set`:          func(o *certificates.Options) { o.Validating, o.Mutating, o.Definitions = nil, nil, nil },
			`Mutating must not have an empty name`:                                      func(o *certificates.Options) { o.Mutating = []string{""} },
			`Lifetime must be 0, or 1h0m0s to 87600h0m0s, got 1m0s`:                     func(o *certificates.Options) { o.Lifetime = time.Minute },
		} {
			if err := w.replica("a", change).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "certificates.Options: "+want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		p := w.program("b", 0)
		synctest.Wait()
		if err := p.issuer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "already running") {
			t.Errorf("a second Run: %v", err)
		}
		p.end(t)
	})
}
