package client_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
)

// tokens is a server that remembers which token came, and refuses one of them.
type tokens struct {
	mu      sync.Mutex // guards the rest
	got     []string
	refused string
}

func (s *tokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := r.Header.Get("Authorization")
	s.got = append(s.got, token)
	if s.refused != "" && token == s.refused {
		answer{code: 401, body: status(401, "Unauthorized", "Unauthorized")}.write(w)
		return
	}
	answer{body: object("a", "1")}.write(w)
}

func (s *tokens) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[len(s.got)-1]
}

// behaviours 110 and 112
func TestTheTokenFileTakesPrecedenceOverTheToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	writeFile(t, file, []byte("from-file\n"))
	for _, test := range []struct {
		name string
		cfg  client.Config
		want string
	}{
		{"none", client.Config{}, ""},
		{"the configured one", client.Config{BearerToken: "abc"}, "Bearer abc"},
		{"that of the file, without the line's end", client.Config{BearerTokenFile: file}, "Bearer from-file"},
		{"the file wins", client.Config{BearerToken: "abc", BearerTokenFile: file}, "Bearer from-file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := &tokens{}
			cfg := serve(t, srv)
			cfg.BearerToken, cfg.BearerTokenFile = test.cfg.BearerToken, test.cfg.BearerTokenFile
			must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
			if got := srv.last(); got != test.want {
				t.Errorf("the server got Authorization %q, want %q", got, test.want)
			}
		})
	}
}

func TestNothingIsSentWithoutAValidToken(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"no file", "", "read Config.BearerTokenFile: open "},
		{"an empty file", " \n", " is empty"},
		{"two tokens in the file", "s3cr3t one\n", "must have no spaces or control characters"},
		{"a header in the file", "s3cr3t\r\nX-Evil: 1", "must have no spaces or control characters"}, // guarantee S9
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "token")
			if test.content != "" {
				writeFile(t, file, []byte(test.content))
			}
			srv := &tokens{}
			cfg := serve(t, srv)
			cfg.BearerTokenFile = file
			r := client.For(dial(t, cfg), slims)
			wantErr(t, drop(r.Create(t.Context(), &Slim{Identity: at(web)})), test.want)
			_, err := r.Get(t.Context(), web)
			wantErr(t, err, test.want)
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("error shows the token: %v", err)
			}
			if len(srv.got) != 0 {
				t.Errorf("the server got a request with %q", srv.got)
			}
		})
	}
}

// behaviour 112; guarantee S19
func TestTheTokenFileIsReadAgainAtLeastOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		srv := &tokens{}
		cfg := serve(t, srv)
		cfg.BearerTokenFile = file
		var stale []string
		cfg.Hooks.Stale = func(_ context.Context, err error) { stale = append(stale, err.Error()) }
		r := client.For(dial(t, cfg), slims)
		send := func(want string) {
			t.Helper()
			must[*Slim](t)(r.Get(t.Context(), web))
			if got := srv.last(); got != "Bearer "+want {
				t.Errorf("the server got %q, want %q", got, want)
			}
		}
		writeFile(t, file, []byte("one"))
		send("one")
		writeFile(t, file, []byte("two"))
		time.Sleep(time.Minute)
		send("two")

		// While the file is bad the last good token goes on, and the file is looked at each time.
		for _, bad := range []func(){
			func() { writeFile(t, file, nil) },
			func() { writeFile(t, file, []byte("half a token")) },
			func() { _ = os.Remove(file) },
		} {
			bad()
			time.Sleep(time.Hour)
			for range 10 {
				send("two")
			}
		}
		if len(stale) != 3 || !strings.HasSuffix(stale[0], " is empty") || !strings.HasPrefix(stale[2], "read Config.BearerTokenFile: open ") {
			t.Errorf("told %q", stale)
		}
		// As a mounted secret changes: a link that is swapped.
		other := filepath.Join(filepath.Dir(file), "..data")
		writeFile(t, other, []byte("three"))
		if err := os.Symlink(other, file); err != nil {
			t.Fatal(err)
		}
		send("three")
	})
}

// fault F28: a request whose token is refused is sent again with the newer one that the file has.
func TestARefusedTokenIsReadAgainAndTheRequestReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		writeFile(t, file, []byte("one"))
		srv := &tokens{}
		cfg := serve(t, srv)
		cfg.BearerTokenFile = file
		r := client.For(dial(t, cfg), slims)
		must[*Slim](t)(r.Get(t.Context(), web))
		writeFile(t, file, []byte("two"))
		srv.mu.Lock()
		srv.refused = "Bearer one"
		srv.mu.Unlock()
		must[*Slim](t)(r.Get(t.Context(), web))
		if got := strings.Join(srv.got, ", "); got != "Bearer one, Bearer one, Bearer two" {
			t.Errorf("the server got %s", got)
		}
		// One that is refused although it is the newest is kept, and tried again.
		srv.mu.Lock()
		srv.refused = "Bearer two"
		srv.mu.Unlock()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := r.Get(t.Context(), web); err == nil {
				t.Error("a refused token is no error")
			}
			if got := srv.last(); got != "Bearer two" {
				t.Errorf("the server got %q", got)
			}
		}
		if got := len(srv.got); got != 5 { // there was nothing else to try
			t.Errorf("the server got %d requests", got)
		}
	})
}

// A refusal that comes late is not held against the token that has taken the refused one's place.
func TestALateRefusalMeansTheTokenThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		srv, release := &tokens{}, make(chan struct{})
		cfg := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer one" {
				<-release
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			srv.ServeHTTP(w, r)
		}))
		cfg.BearerTokenFile = file
		r := client.For(dial(t, cfg), slims)
		writeFile(t, file, []byte("one"))
		var slow sync.WaitGroup
		slow.Go(func() { _, _ = r.Get(t.Context(), web) })
		synctest.Wait()
		writeFile(t, file, []byte("two"))
		time.Sleep(time.Minute)
		must[*Slim](t)(r.Get(t.Context(), web))
		close(release)
		slow.Wait()
		writeFile(t, file, []byte("three"))
		must[*Slim](t)(r.Get(t.Context(), web))
		if got := srv.last(); got != "Bearer two" {
			t.Errorf("the server got %q, want the token that was not refused", got)
		}
	})
}

// behaviour 114
func TestManyRequestsShareOneToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		writeFile(t, file, []byte("one"))
		srv := &tokens{}
		cfg := serve(t, srv)
		cfg.BearerTokenFile = file
		r := client.For(dial(t, cfg), slims)
		for range 3 {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if _, err := r.Get(t.Context(), web); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			time.Sleep(time.Minute)
		}
		for _, got := range srv.got {
			if got != "Bearer one" {
				t.Errorf("the server got %q", got)
			}
		}
	})
}
