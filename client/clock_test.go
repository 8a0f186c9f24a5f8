package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// told collects what Hooks.Stale is told.
type told struct {
	mu    sync.Mutex
	texts []string
}

func (s *told) hook(_ context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, err.Error())
}

func (s *told) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.texts...)
}

// A credential that had ended by this machine's clock was never sent. The clock may be wrong, and the server's decides: each
// kind of credential is sent, Stale is told at a bounded pace, and the source is asked at a growing pace.
func TestACredentialThatHasEndedHereIsSent(t *testing.T) {
	type ending struct {
		token string           // with the end in it
		pair  *tls.Certificate // which ends
		cert  []byte
		key   []byte
		end   time.Time
		dir   string
	}
	const ended = "expired at 1999-12-31T23:00:00Z, and the time here is 2000-01-01T00:00:0"
	for name, set := range map[string]func(*client.Config, ending, func(client.Credential) *client.Credentials){
		"a token": func(c *client.Config, e ending, made func(client.Credential) *client.Credentials) {
			c.Credentials = made(client.Credential{Token: "t", Expires: e.end})
		},
		"a certificate": func(c *client.Config, e ending, made func(client.Credential) *client.Credentials) {
			c.Credentials = made(client.Credential{Certificate: e.pair})
		},
		"a certificate that is said to last": func(c *client.Config, e ending, made func(client.Credential) *client.Credentials) {
			c.Credentials = made(client.Credential{Token: "t", Certificate: e.pair, Expires: e.end.AddDate(1, 0, 0)})
		},
		"a fixed token": func(c *client.Config, e ending, _ func(client.Credential) *client.Credentials) {
			c.BearerToken = client.Secret(e.token)
		},
		"a token file": func(c *client.Config, e ending, _ func(client.Credential) *client.Credentials) {
			c.BearerTokenFile = filepath.Join(e.dir, "token")
		},
		"a fixed certificate": func(c *client.Config, e ending, _ func(client.Credential) *client.Credentials) {
			c.TLS.CertData, c.TLS.KeyData = client.Secret(e.cert), client.Secret(e.key)
		},
		"certificate files": func(c *client.Config, e ending, _ func(client.Credential) *client.Credentials) {
			c.TLS.CertFile, c.TLS.KeyFile = filepath.Join(e.dir, "cert"), filepath.Join(e.dir, "key")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent int
				cfg, _ := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") != "" || len(r.TLS.PeerCertificates) > 0 {
						sent++
					}
					answer{body: object("a", "1")}.write(w)
				}), asksForCertificates)
				e := ending{end: time.Now().Add(-time.Hour), dir: t.TempDir()}
				e.token = jwt(e.end)
				e.cert, e.key = newAuthority(t).issueFrom(t, "jane", e.end.Add(-time.Hour), e.end)
				pair := must[tls.Certificate](t)(tls.X509KeyPair(e.cert, e.key))
				e.pair = &pair
				for file, data := range map[string][]byte{"token": []byte(e.token), "cert": e.cert, "key": e.key} {
					writeFile(t, filepath.Join(e.dir, file), data)
				}
				var stale told
				fetches := 0
				cfg.Hooks.Stale = stale.hook
				set(&cfg, e, func(c client.Credential) *client.Credentials {
					return client.NewCredentials(func(context.Context) (client.Credential, error) { fetches++; return c, nil })
				})
				c := dial(t, cfg)
				for range 10 {
					must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
				}
				if got := stale.all(); sent != 10 || fetches > 1 || len(got) != 1 || !strings.Contains(got[0], ended) {
					t.Errorf("the credential was sent %d times of 10, after %d fetches; told %q", sent, fetches, got)
				}
				if s := c.CredentialStatus(); !s.Expires.Equal(e.end) || fetches > 0 && s.Err == nil {
					t.Errorf("the status is %+v", s)
				}
				for range 3600 / 10 {
					time.Sleep(10 * time.Second)
					must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
				}
				synctest.Wait()
				if n := len(stale.all()); n < 29 || n > 36 || fetches > n {
					t.Errorf("within an hour %d fetches, and told %d times", fetches, n)
				}
			})
		})
	}
}

// Without a hook, the client logs it, at growing intervals.
func TestACredentialThatHasEndedHereIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := func(w http.ResponseWriter, _ *http.Request) { answer{body: object("a", "1")}.write(w) }
		cfg, _ := serveOver(t, http2, http.HandlerFunc(answers), nil)
		said := &logLines{}
		cfg.Logger = said.logger()
		cfg.BearerToken = client.Secret(jwt(time.Now().Add(-time.Hour)))
		c := dial(t, cfg)
		get := func() { must[*Slim](t)(client.For(c, slims).Get(t.Context(), web)) }
		for range 10 {
			get()
		}
		said.want(t, "a credential or a CA certificate is out of date and stays in use")
		for range 3600 / 7 {
			time.Sleep(7 * time.Second)
			get()
		}
		if lines := said.take(); len(lines) < 2 || len(lines) > 5 {
			t.Errorf("within an hour it was logged %d times: %q", len(lines), lines)
		}
		cfg.Hooks.Stale = func(context.Context, error) {}
		c = dial(t, cfg)
		get()
		said.want(t)
	})
}

// A clock that is wrong by nearly the whole life of each credential leaves each a moment only, and the source was asked each time.
func TestACredentialThatEndsAtOnceDoesNotHammerTheSource(t *testing.T) {
	m := &mint{life: 50 * time.Millisecond}
	minted(t, m, func(t *testing.T, srv *tokens, _ client.Config, r client.Resource[*Slim]) {
		for range 600 {
			must[*Slim](t)(r.Get(t.Context(), web))
			time.Sleep(100 * time.Millisecond)
		}
		if n := m.count(); n < 5 || n > 12 {
			t.Errorf("%d fetches in a minute", n)
		}
	})
}

// The server refuses what has ended here: another is fetched at once, and the call is sent again.
func TestARefusedCredentialThatHasEndedHereIsRenewed(t *testing.T) {
	m := &mint{life: -time.Hour}
	minted(t, m, func(t *testing.T, srv *tokens, _ client.Config, r client.Resource[*Slim]) {
		must[*Slim](t)(r.Get(t.Context(), web))
		for n := 1; n < 4; n++ {
			srv.all()
			srv.refuse(fmt.Sprintf("t%d", n))
			must[*Slim](t)(r.Create(t.Context(), &Slim{Identity: at(web)}))
			if got, want := srv.all(), fmt.Sprintf("t%d t%d", n, n+1); got != want {
				t.Errorf("the server got %s, want %s", got, want)
			}
			time.Sleep(6 * time.Second)
		}
		// One that is always refused is the server's answer, and the source is asked twice in 10 s.
		before := m.count()
		for range 100 {
			m.mu.Lock()
			n := len(m.fetches)
			m.mu.Unlock()
			srv.refuse(fmt.Sprintf("t%d", n))
			_, err := r.Get(t.Context(), web)
			if err != nil && !errors.Is(err, apierrors.Unauthorized) {
				t.Errorf("error is %v", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := m.count() - before; n > 4 {
			t.Errorf("%d fetches in 10 s", n)
		}
	})
}

// A renewal that brings something that has ended does not replace what has not, unless the server refuses that.
func TestARenewalThatIsOlderIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, fetches, start := &tokens{}, 0, time.Now()
		var stale told
		cfg := serve(t, srv)
		cfg.Hooks.Stale = stale.hook
		cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			if fetches++; fetches == 1 {
				return client.Credential{Token: "good", Expires: start.Add(time.Hour)}, nil
			}
			return client.Credential{Token: "old", Expires: start}, nil
		})
		r := client.For(dial(t, cfg), slims)
		must[*Slim](t)(r.Get(t.Context(), web))
		time.Sleep(55 * time.Minute)
		must[*Slim](t)(r.Get(t.Context(), web)) // starts the renewal
		synctest.Wait()
		must[*Slim](t)(r.Get(t.Context(), web))
		srv.refuse("good")
		must[*Slim](t)(r.Get(t.Context(), web))
		if got := srv.all(); got != "good good good good old" || len(stale.all()) != 2 {
			t.Errorf("the server got %s, and told %q", got, stale.all())
		}
	})
}

// A clock that is slow takes a certificate for good that the server takes for ended. If the server ends the handshake for it, that
// is a refusal as a 401 is.
func TestAnAlertForTheClientsCertificateIsARefusal(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, verb := range []string{"get", "create"} {
			for _, ended := range []bool{false, true} { // by the clock here
				t.Run(fmt.Sprint(tls.VersionName(version), verb, ended), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						ca := newAuthority(t)
						fast, until := 30*time.Minute, 20*time.Minute
						if ended {
							fast, until = 0, -time.Minute
						}
						pool := x509.NewCertPool()
						pool.AddCert(ca.cert)
						cfg, _ := serveOver(t, http2, &people{}, func(s *http.Server) {
							s.TLSConfig.ClientAuth, s.TLSConfig.ClientCAs = tls.RequireAndVerifyClientCert, pool
							s.TLSConfig.MaxVersion = version
							s.TLSConfig.Time = func() time.Time { return time.Now().Add(fast) }
						})
						fetches := 0
						cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
							end := time.Now().Add(until)
							if fetches++; fetches > 1 {
								end = time.Now().Add(50 * time.Minute)
							}
							pair, err := tls.X509KeyPair(ca.issueFrom(t, "jane", time.Now().Add(-time.Hour), end))
							return client.Credential{Certificate: &pair}, err
						})
						r := client.For(dial(t, cfg), slims)
						call := func() error {
							if verb == "get" {
								return drop(r.Get(t.Context(), web))
							}
							return drop(r.Create(t.Context(), &Slim{Identity: at(web)}))
						}
						err := call()
						// A broken pipe may overtake the alert, see certrefusal_test.go, and may do so again, also in each of the five attempts of a get.
						for n := 0; version == tls.VersionTLS13 && err != nil && n < 20; n++ {
							err = call()
						}
						if err != nil || fetches != 2 {
							t.Errorf("after %d fetches: %v", fetches, err)
						}
					})
				})
			}
		}
	}
}

// The check of the server's certificate is as strict as before: the clock here decides, in both directions, and nothing is sent.
func TestTheServersCertificateIsCheckedByTheClock(t *testing.T) {
	for _, test := range []struct{ begin, end time.Duration }{{-2 * time.Hour, -time.Hour}, {time.Hour, 2 * time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			srv, ca := &people{}, newAuthority(t)
			cfg, n := serveOver(t, http2, srv, func(s *http.Server) {
				s.TLSConfig.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
					host, _, _ := net.SplitHostPort(hello.Conn.LocalAddr().String())
					pair, err := tls.X509KeyPair(ca.issueFrom(t, host, time.Now().Add(test.begin), time.Now().Add(test.end)))
					return &pair, err
				}
				s.TLSConfig.Certificates = nil
			})
			cfg.TLS.CAData = client.Secret(ca.pem)
			m := &mint{}
			cfg.Credentials, cfg.Retry.Attempts = client.NewCredentials(m.fetch), 1
			_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
			invalid := x509.CertificateInvalidError{}
			if made, _ := n.count(); !errors.As(err, &invalid) || invalid.Reason != x509.Expired || made != 1 || m.count() != 1 || srv.all() != "" {
				t.Errorf("after %d connections and %d fetches: %v", made, m.count(), err)
			}
		})
	}
}
