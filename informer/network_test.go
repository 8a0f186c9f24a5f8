package informer_test

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// What lies between an informer and its server may be exchanged under way: tokens, certificates, connections.

func (r *rig) write(file string, content []byte) {
	r.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		r.Error(err)
	}
}

// guard is a rig whose client reads its token from a file, and whose server refuses lists and watches with any other token
// than the one in force.
type guard struct {
	*rig
	file    string
	valid   atomic.Value
	refused atomic.Int64
}

// guarded returns a guard. Before a request is looked at it is given to on, which may rotate the token, or answer instead.
func (r *rig) guarded(on func(g *guard, q *http.Request) http.HandlerFunc) *guard {
	r.Helper()
	g := &guard{file: filepath.Join(r.TempDir(), "token")}
	cfg := r.server.Config()
	cfg.BearerTokenFile = g.file
	g.rig = r.with(cfg)
	g.rotate("one")
	deny := failure(401, "Unauthorized", "who is that")
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if !collects(q) && asks(q) != "watch" {
			return nil
		}
		instead := on(g, q)
		if q.Header.Get("Authorization") != g.valid.Load() {
			g.refused.Add(1)
			return deny
		}
		return instead
	})
	return g
}

// rotate puts another token in force, and into the file.
func (g *guard) rotate(token string) {
	g.Helper()
	g.write(g.file, []byte(token))
	g.valid.Store("Bearer " + token)
}

// fault F28: a token that expires in a list or in a watch costs one refusal, which the informer does not notice.
func TestATokenThatExpiresUnderWay(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  informer.Mode
		on    func(g *guard, q *http.Request) http.HandlerFunc // the first time
		lists int
	}{
		{"between two pages", informer.Paged, func(g *guard, q *http.Request) http.HandlerFunc {
			if q.URL.Query().Get("continue") != "" {
				g.rotate("two")
			}
			return nil
		}, 1},
		{"in a streaming list that breaks", informer.Streaming, func(g *guard, q *http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, q *http.Request) {
				g.rotate("two")
				g.server.ResetBody(400)(w, q)
			}
		}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				for _, name := range []string{"a", "b", "c", "d", "e"} {
					r.put(name)
				}
				var rotated sync.Once
				g := r.guarded(func(g *guard, q *http.Request) (instead http.HandlerFunc) {
					if test.mode == informer.Streaming || q.URL.Query().Get("continue") != "" {
						rotated.Do(func() { instead = test.on(g, q) })
					}
					return instead
				})
				i := g.informer(informer.Options{Mode: test.mode, PageSize: 2})
				i.run()
				r.Cleanup(i.stop)
				r.within(2500*time.Millisecond, "synced", func() bool { return i.Status().Synced })
				i.current()
				i.tells("add a", "add b", "add c", "add d", "add e")
				if s := i.Status(); s.Lists != test.lists || g.refused.Load() != 1 || i.hasReported("Unauthorized (401)") {
					r.Errorf("%d refusals, and the status is %v", g.refused.Load(), s)
				}
			})
		})
	}
	t.Run("in a watch", func(t *testing.T) {
		modes(t, func(t *testing.T, mode informer.Mode) {
			bubble(t, func(r *rig) {
				r.put("a")
				g := r.guarded(func(*guard, *http.Request) http.HandlerFunc { return nil })
				i := g.start(informer.Options{Mode: mode})
				for n, token := range []string{"two", "three", "four"} {
					g.rotate(token)
					r.put("a", "token", token)
					i.tells([]string{"add a", "update a"}[min(n, 1)], "update a") // a watch that runs goes on
					r.server.DropWatches()
					r.put("a", "token", token, "watch", "new")
					r.within(time.Second, "current", func() bool { return i.held()[key("a")].Data["watch"] == "new" })
				}
				i.relisted(nil)
				if n := g.refused.Load(); n != 3 {
					r.Errorf("%d refusals, want one for each of 3 tokens", n)
				}
				i.current()
			})
		})
	})
}

// fault F27: a machine that has slept finds all at once that its connections are dead, its token has expired and the history
// is gone. For the clock that it measures with no time has passed, and none of them costs more than one attempt.
func TestAMachineThatHasSlept(t *testing.T) {
	for _, test := range []struct {
		name string
		o    clienttest.Options
		most time.Duration // until it has noticed
	}{
		{"over HTTP/1.1", clienttest.Options{}, 3 * time.Minute},
		{"over HTTP/2", clienttest.Options{HTTP2: true}, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubbleOf(t, test.o, func(r *rig) {
					r.put("a")
					r.put("b")
					g := r.guarded(func(*guard, *http.Request) http.HandlerFunc { return nil })
					i := g.start(informer.Options{Mode: mode})
					i.told()
					r.pass(200 * time.Second)
					before := i.Status()

					r.server.Freeze()
					other := r.another()
					other.put("a", "v", "1")
					other.remove("b")
					other.put("c")
					r.server.Compact()
					g.rotate("two")
					r.within(test.most+5*time.Second, "current", func() bool { return i.Status().Relists[informer.Expired] == 1 })
					i.tells("add c", "delete b", "update a")
					r.pass(10 * time.Minute)
					s := i.Status()
					if s.Err != nil || s.Watches-before.Watches > 6 || s.Lists-before.Lists > 2 || g.refused.Load() > 1 {
						r.Errorf("%d refusals, and the status is %v, before it was %v", g.refused.Load(), s, before)
					}
				})
			})
		})
	}
}

// fault F30: other certificates of the server, and of the client, are used for the next connections, and those that are there
// live on.
func TestCertificatesThatAreExchanged(t *testing.T) {
	t.Run("the server's", func(t *testing.T) {
		bubbleOf(t, clienttest.Options{HTTP2: true}, func(r *rig) {
			i := r.start(informer.Options{})
			for range 3 {
				r.server.SwapCertificate()
				r.another().put("a", "at", time.Now().String())
				i.current()
				r.server.GoAway()
				r.server.EndWatches()
				r.another().put("b", "at", time.Now().String())
				r.within(800*time.Millisecond, "current", func() bool { return i.difference() == "" })
			}
			i.relisted(nil)
			if errs := i.reported(); len(errs) != 0 {
				r.Errorf("reported %v", errs)
			}
		})
	})
	t.Run("the client's, after those who vouch for it have changed", func(t *testing.T) {
		bubbleOf(t, clienttest.Options{HTTP2: true, Token: "secret"}, func(r *rig) {
			cfg := r.server.Config()
			cfg.BearerToken, cfg.TLS.CAData, cfg.TLS.Insecure = "", "", true
			cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(r.TempDir(), "cert"), filepath.Join(r.TempDir(), "key")
			renew := func() {
				cert, key := r.server.ClientCertificate("jane")
				r.write(cfg.TLS.CertFile, cert)
				r.write(cfg.TLS.KeyFile, key)
			}
			renew()
			i := r.with(cfg).start(informer.Options{})
			r.server.SwapCA()
			r.another().put("a")
			i.tells("add a") // on the connection that is there
			r.server.GoAway()
			r.server.EndWatches()
			r.another().put("b")
			r.pass(10 * time.Minute)
			if s := i.Status(); s.Err == nil || s.Objects != 1 {
				r.Errorf("with a certificate that nobody trusts the status is %v", s)
			}
			renew()
			r.within(35*time.Second, "current", func() bool { return i.Status().Objects == 2 })
			i.current()
			i.relisted(nil)
		})
	})
}

// fault F32: when a server goes away, what runs on its connections goes on until it ends, and the informers come to the next
// server one after the other, without a list.
func TestInformersOfAServerThatGoesAway(t *testing.T) {
	const informers = 100
	for _, test := range []struct {
		name string
		end  func(s *clienttest.Server) int
	}{
		{"and ends its watches", (*clienttest.Server).EndWatches},
		{"and cuts its watches", (*clienttest.Server).DropWatches},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbleOf(t, clienttest.Options{HTTP2: true}, func(r *rig) {
				var all []*informed
				for range informers {
					i := r.informer(informer.Options{})
					i.run()
					r.Cleanup(i.stop)
					all = append(all, i)
				}
				r.within(time.Minute, "all watch", func() bool { return r.server.Watches() == informers })
				var back journal[time.Time]
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) == "watch" {
						back.add(time.Now())
					}
					return nil
				})
				r.server.GoAway()
				r.put("a")
				for _, i := range all {
					i.tells("add a")
				}
				if n := len(back.list()); n != 0 {
					r.Errorf("%d watches were opened again before they had ended", n)
				}
				test.end(r.server)
				r.put("b")
				r.within(time.Second, "all watch again", func() bool { return r.server.Watches() == informers })
				for _, i := range all {
					i.tells("add b")
					i.relisted(nil)
				}
				at := back.list()
				if spread := at[len(at)-1].Sub(at[0]); len(at) != informers || spread < 500*time.Millisecond {
					r.Errorf("%d watches were opened within %v", len(at), spread)
				}
				for n := range len(at) - informers/3 {
					if at[n+informers/3].Sub(at[n]) < 100*time.Millisecond {
						r.Errorf("more than a third came back within 100 ms")
						break
					}
				}
			})
		})
	}
}
