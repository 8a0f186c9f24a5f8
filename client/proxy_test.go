package client_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/memnet"
)

// behaviour 75: the proxies of the environment are used, except for what NO_PROXY names, by address ranges too. net/http
// reads the environment once in a process, so this is one of its own.
func TestProxiesOfTheEnvironment(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDialledThroughTheEnvironment$", "-test.v")
	cmd.Env = append(os.Environ(), "BOWLINE_TEST_CHILD=1",
		"HTTP_PROXY=http://proxy.invalid:3128", "HTTPS_PROXY=socks5://socks.invalid:1080", "NO_PROXY=10.0.0.0/8,fd00::/8,.internal",
		"http_proxy=", "https_proxy=", "no_proxy=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for server, want := range map[string]string{
		"http://10.1.2.3:8080":     "10.1.2.3:8080",
		"http://[fd00::1]:8080":    "[fd00::1]:8080",
		"https://api.internal":     "api.internal:443",
		"http://11.1.2.3:8080":     "proxy.invalid:3128",
		"http://[fe00::1]:8080":    "proxy.invalid:3128",
		"https://api.example.com":  "socks.invalid:1080",
		"http://api.example.com":   "proxy.invalid:3128",
		"http://127.0.0.1:8080":    "127.0.0.1:8080",
		"https://internal.invalid": "socks.invalid:1080",
	} {
		if line := fmt.Sprintf("dialled %s for %s\n", want, server); !strings.Contains(string(out), line) {
			t.Errorf("want %sin\n%s", line, out)
		}
	}
}

// TestDialledThroughTheEnvironment is the process that TestProxiesOfTheEnvironment starts; the servers are as there.
func TestDialledThroughTheEnvironment(t *testing.T) {
	servers := []string{
		"http://10.1.2.3:8080", "http://[fd00::1]:8080", "https://api.internal", "http://11.1.2.3:8080", "http://[fe00::1]:8080",
		"https://api.example.com", "http://api.example.com", "http://127.0.0.1:8080", "https://internal.invalid",
	}
	if os.Getenv("BOWLINE_TEST_CHILD") == "" {
		servers = nil
	}
	for _, server := range servers {
		c := dial(t, client.Config{Server: server, Retry: client.Retry{Attempts: 1}, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			fmt.Printf("dialled %s for %s\n", address, server)
			return nil, errors.New("no network")
		}})
		_, err := client.For(c, slims).Get(t.Context(), web)
		wantErr(t, err, "no network")
	}
}

// behaviour 75
func TestASOCKSProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := serve(t, says(object("a", "1")))
		proxy := memnet.Listen()
		asked := make(chan string, 1)
		var served sync.WaitGroup
		direct := cfg.Dial
		served.Go(func() {
			if err := socks(t.Context(), proxy, direct, asked); err != nil {
				t.Error(err)
			}
		})
		server := strings.TrimPrefix(cfg.Server, "http://")
		cfg.Dial = proxy.DialContext
		cfg.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("socks5://" + proxy.Addr().String()) }
		c := dial(t, cfg)
		must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
		if got := <-asked; got != server {
			t.Errorf("the proxy was asked for %s, want %s", got, server)
		}
		synctest.Wait() // until the connection is idle
		c.Close()
		served.Wait()
	})
}

// socks serves one connection as RFC 1928 says: without authentication, to a name, by a command CONNECT.
func socks(
	ctx context.Context, l net.Listener, dial func(ctx context.Context, network, address string) (net.Conn, error), asked chan<- string,
) error {
	down, err := l.Accept()
	if err != nil {
		return err
	}
	defer func() { _ = down.Close() }()
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, readErr := io.ReadFull(down, b); readErr != nil && err == nil {
			err = readErr
		}
		return b
	}
	read(int(read(2)[1])) // the methods
	_, _ = down.Write([]byte{5, 0})
	name := read(int(read(5)[4]))
	port := read(2)
	if err != nil {
		return err
	}
	address := net.JoinHostPort(string(name), fmt.Sprint(binary.BigEndian.Uint16(port)))
	asked <- address
	up, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_, _ = down.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(up, down); _ = up.Close() })
	both.Go(func() { _, _ = io.Copy(down, up); _ = down.Close() })
	both.Wait()
	return nil
}
