package debug

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Options configure a [Page]. The zero value shows everything that runs with the context of [Page.Context], but no
// object.
type Options struct {
	// Title is the name of the program at the top of the page. Empty means the name of its executable.
	Title string
	// Objects allows everyone who reaches the page to search the caches and to read the objects in them. Without it the
	// page has names of objects, in events, queues and errors, but no content.
	//
	// The data, stringData and kubectl.kubernetes.io/last-applied-configuration of Secrets are never shown. Other kinds
	// may hold secrets too; see Redact.
	Objects bool
	// Redact, if set, is called with a copy of each object before it is shown, and may change the copy: to remove a
	// password from a custom resource, for example. The copy has the types of encoding/json, with json.Number for
	// numbers.
	Redact func(resource meta.GVR, object map[string]any)
	// Group, if set, is asked whether the program is alive and ready.
	Group *informer.Group
	// Clients are the clients whose credentials are described: their source, their age and their end, but never their
	// content.
	Clients []*client.Client
	// Allow, if set, is called before each request is answered. If it returns an error, the answer is 403 with the text
	// of the error. Nil allows everyone who reaches the handler. It runs on the goroutine of the request. It is also
	// called for the style sheet, and once for a stream of events.
	Allow func(*http.Request) error
	// Hosts are the names under which browsers may reach the page, without a port, such as "operator.example.com". If
	// there are any, a request for another host is answered with 403. Without them, only a page that is reached over
	// the loopback interface checks the host: it must be localhost or an IP address. Otherwise a web site could make
	// its own name point at 127.0.0.1, and read the page of everyone who visits the site.
	Hosts []string
}

const (
	// keptEvents is how many events of each kind are kept.
	keptEvents = 500
	// mostStreams is how many streams of events may be open at once. Each open page of events has one.
	mostStreams = 16
)

func (o Options) withDefaults() (Options, error) {
	for i, c := range o.Clients {
		if c == nil {
			return o, fmt.Errorf("debug.Options: Clients[%d] must not be nil", i)
		}
	}
	hosts := make([]string, len(o.Hosts))
	for i, h := range o.Hosts {
		if err := validHost(h); err != nil {
			return o, fmt.Errorf("debug.Options: Hosts[%d] %w", i, err)
		}
		hosts[i] = strings.ToLower(h)
	}
	o.Hosts = hosts
	o.Title = cmp.Or(o.Title, executable())
	return o, nil
}

func validHost(h string) error {
	switch {
	case h == "":
		return errors.New("must not be empty")
	case net.ParseIP(h) != nil:
		return nil
	case strings.ContainsAny(h, ":/ []*"):
		return fmt.Errorf("must be a host name without a port, or an IP address, got %q", h)
	}
	return nil
}
