package containers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

type pod struct {
	meta.Identity `json:"metadata"`
	Spec          spec `json:"spec"`
}

type spec struct {
	Containers []named `json:"containers"`
}

type named struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// newServer makes a server with the pod web, and returns a client of it and the pod's key.
func newServer(t *testing.T, s *containers.Server) (*client.Client, meta.Key) {
	c, err := client.New(clienttest.Start(t, clienttest.Options{Containers: s}).Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	web := &pod{Identity: meta.Identity{Namespace: "default", Name: "web"}, Spec: spec{[]named{{"app", "none"}}}}
	if _, err := client.For(c, client.Type[*pod]{Version: "v1", Kind: "Pod", Resource: "pods"}).Create(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	return c, web.Key()
}

func get(t *testing.T, c *client.Client, query string) (string, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Raw(t.Context(), client.RawRequest{Path: "/api/v1/namespaces/default/pods/web/log", Query: q})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// The texts are those of ValidatePodLogOptions in Kubernetes 1.37.
func TestInvalidOptionsOfLogsAreRefused(t *testing.T) {
	c, _ := newServer(t, &containers.Server{Logs: new(containers.Logs).Serve})
	for query, want := range map[string]string{
		"tailLines=-1":   `PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`,
		"limitBytes=0":   `PodLogOptions "web" is invalid: limitBytes: Invalid value: 0: must be greater than 0`,
		"sinceSeconds=0": `PodLogOptions "web" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0`,
		"sinceSeconds=1&sinceTime=2026-05-01T12:00:00Z": "at most one of `sinceTime` or `sinceSeconds` may be specified",
		"stream=Stdout&tailLines=1":                     "`tailLines` and specific `stream` are mutually exclusive for now",
		"stream=stdout":                                 `stream: Unsupported value: "stdout": supported values: "All", "Stderr", "Stdout"`,
	} {
		if _, err := get(t, c, query); !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	for _, query := range []string{"tailLines=x", "sinceSeconds=1.5", "sinceTime=noon"} {
		if _, err := get(t, c, query); !errors.Is(err, apierrors.BadRequest) {
			t.Errorf("%s: %v, want BadRequest", query, err)
		}
	}
}

func TestLogsAreKeptAsAKubeletKeepsThem(t *testing.T) {
	logs := new(containers.Logs)
	c, web := newServer(t, &containers.Server{Logs: logs.Serve})
	log := logs.Of(web, "app")
	log.Rotate(1) // of a container that has not started, which changes nothing
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	log.Add(
		containers.Entry{Time: noon, Text: "one"},
		containers.Entry{Time: noon.Add(time.Second), Text: "a long ", Partial: true},
		containers.Entry{Time: noon.Add(2 * time.Second), Text: "line"},
		containers.Entry{Time: noon.Add(3 * time.Second), Text: "three", Stderr: true},
	)
	log.End()
	for query, want := range map[string]string{
		"follow=true":                                    "one\na long line\nthree\n",
		"timestamps=true&tailLines=1":                    "2026-05-01T12:00:03.000000000Z three\n",
		"sinceTime=2026-05-01T12:00:02Z&timestamps=true": "line\n2026-05-01T12:00:03.000000000Z three\n", // as a kubelet 1.37
		"sinceTime=2026-05-01T12:00:03.9Z":               "three\n",
		"stream=Stderr":                                  "three\n",
		"stream=All&limitBytes=5":                        "one\na",
	} {
		if text, err := get(t, c, query); err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", query, text, err, want)
		}
	}
	log.Rotate(-1)
	log.Rotate(3)
	log.Rotate(10)
	log.Start()
	log.Print("now", 1)
	if text, err := get(t, c, "previous=1"); text != "" || err != nil {
		t.Errorf("the previous log, of which all is rotated: %q, %v", text, err)
	}
	if text, err := get(t, c, ""); text != "now 1\n" || err != nil {
		t.Errorf("the log of the second run: %q, %v", text, err)
	}
}

func TestAnErrorOfLogsReachesTheClient(t *testing.T) {
	for _, begun := range []bool{false, true} {
		c, _ := newServer(t, &containers.Server{Logs: func(_ context.Context, _ meta.Key, _ remote.LogOptions, w io.Writer) error {
			if begun {
				fmt.Fprintln(w, "a")
			}
			return errors.New("it broke")
		}})
		switch text, err := get(t, c, ""); {
		case begun && (text != "a\nit broke" || err != nil):
			t.Errorf("after the log has begun: %q, %v", text, err)
		case !begun && (!errors.Is(err, apierrors.BadRequest) || !strings.Contains(err.Error(), "it broke")):
			t.Errorf("before: %q, %v", text, err)
		}
	}
}
