package apiserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// The test binary also plays the programs of a control plane, by the name under which it is called. Its API server is a
// server of clienttest, so these tests need no build of Kubernetes.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "etcd":
		playEtcd()
	case "kube-apiserver":
		playServer()
	case "kube-controller-manager":
		playManager()
	case "outsider": // a program that uses the package and is killed
		playOutsider()
	}
	os.Exit(m.Run())
}

// hold ends the process when its standard input ends, as the real programs do.
func hold() {
	go func() {
		dir, _ := io.ReadAll(os.Stdin)
		if len(dir) > 0 {
			_ = os.RemoveAll(string(dir))
		}
		os.Exit(1)
	}()
}

// flagOf returns the value of a flag; the last one counts.
func flagOf(name string) (value string) {
	for _, arg := range os.Args[1:] {
		if v, found := strings.CutPrefix(arg, "--"+name+"="); found {
			value = v
		}
	}
	return value
}

func playEtcd() {
	hold()
	http.HandleFunc("/v3/cluster/member/list", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"members":[{"name":%q}]}`, flagOf("name"))
	})
	fmt.Println(http.ListenAndServe(strings.TrimPrefix(flagOf("listen-client-urls"), "http://"), nil))
	os.Exit(1)
}

// playServer serves what clienttest does. With the flag --die=METHOD it ends at the first such request for a ConfigMap.
func playServer() {
	hold()
	fmt.Println("this is the log of the API server")
	server := clienttest.New(clienttest.Options{})
	go func() { fmt.Println(server.Run(context.Background())) }()
	serve(flagOf("secure-port"), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == flagOf("die") && strings.Contains(r.URL.Path, "/configmaps") {
			fmt.Println("ended on demand")
			os.Exit(7)
		}
		server.ServeHTTP(w, r)
	})
}

func playManager() {
	hold()
	serve(flagOf("secure-port"), func(http.ResponseWriter, *http.Request) {})
}

func serve(port string, handler http.HandlerFunc) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", handler)
	for _, path := range []string{"/readyz", "/healthz", "/api/v1/namespaces/default/serviceaccounts/default"} {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	fmt.Println(http.ListenAndServeTLS(net.JoinHostPort("127.0.0.1", port), flagOf("tls-cert-file"), flagOf("tls-private-key-file"), mux))
	os.Exit(1)
}

// programs returns a directory with the programs that the test binary plays.
func programs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "outsider"} {
		path := build.Path(dir, name)
		if os.Link(self, path) == nil {
			continue
		}
		if err := os.WriteFile(path, text, 0o700); err != nil { // another file system
			t.Fatal(err)
		}
	}
	return dir
}

// playOutsider runs a server, prints where its files are, and waits to be killed.
func playOutsider() {
	s := New(Options{bin: filepath.Dir(os.Args[0])})
	go func() {
		if err := s.WaitReady(context.Background()); err == nil {
			fmt.Println(filepath.Dir(s.Kubeconfig()), s.Config().Server)
		}
	}()
	fmt.Println(s.Run(context.Background()))
	os.Exit(1)
}
