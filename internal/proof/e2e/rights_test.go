package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// caretaker is a controller of somebody with few rights.
type caretaker struct {
	t     *testing.T
	inf   *informer.Informer[*conformance.ConfigMap]
	ctl   *controller.Controller[meta.Key]
	group *informer.Group

	mu   sync.Mutex
	seen map[meta.Key]string // the field v of the objects that were reconciled
}

// care runs a controller of the ConfigMaps of namespaces for a user of a group, until the test ends.
func care(t *testing.T, group string, namespaces ...string) *caretaker {
	t.Helper()
	c := &caretaker{t: t, seen: map[meta.Key]string{}}
	all := client.For(open(t, userConfig(t, "carl", group)), conformance.ConfigMaps)
	quiet := func(error) {}
	c.inf = informer.New(all, informer.Options{Namespaces: namespaces, OnError: quiet})
	c.ctl = controller.New("care", controller.Options{OnError: quiet}, func(_ context.Context, key meta.Key) (controller.Result, error) {
		obj, ok := c.inf.Reader().Get(key)
		c.mu.Lock()
		defer c.mu.Unlock()
		if ok {
			c.seen[key] = obj.Data["v"]
		}
		return controller.Result{}, nil
	}, controller.Watch(c.inf))
	c.group = &informer.Group{Runners: []informer.Runner{c.inf, c.ctl}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.group.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the controller ended with %v", err)
		}
	})
	return c
}

// sees waits until the object has been reconciled with the value.
func (c *caretaker) sees(key meta.Key, v string) {
	c.t.Helper()
	eventually(c.t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.seen[key] != v {
			return fmt.Errorf("%v has been reconciled with %q, want %q", key, c.seen[key], v)
		}
		return nil
	})
}

// A refused namespace keeps back its own keys alone.
func TestAForbiddenNamespaceHoldsUpOnlyItsOwnKeys(t *testing.T) {
	t.Parallel()
	const rules = `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]`
	var spaces []string
	var keys []meta.Key
	for n := range 3 {
		c, ns := admin(t)
		if n > 0 {
			grant(t, c, ns, "carers", rules)
		}
		create(t, client.For(c, configMaps), ns, `{"metadata": {"name": "a"}, "data": {"v": "1"}}`)
		spaces, keys = append(spaces, ns), append(keys, meta.Key{Namespace: ns, Name: "a"})
	}
	c := care(t, "carers", spaces...)
	c.sees(keys[1], "1")
	c.sees(keys[2], "1")
	eventually(t, func() error {
		if err := c.group.Ready(); !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), spaces[0]) {
			return fmt.Errorf("the group is ready: %v, want that %s is forbidden", err, spaces[0])
		}
		return nil
	})
	if s := c.ctl.Status(); len(s.Unsynced) != 1 || !strings.Contains(s.Unsynced[0].Error(), spaces[0]) {
		t.Errorf("the controller waits for %v, want %s", s.Unsynced, spaces[0])
	}
	root := open(t, adminConfig())
	grant(t, root, spaces[0], "carers", rules)
	c.sees(keys[0], "1")
	eventually(t, c.group.Ready)
}

// The commonest mistake in a Role: it has get and list, and not watch.
func TestAControllerSaysThatItMayNotWatch(t *testing.T) {
	t.Parallel()
	root, ns := admin(t)
	const rules = `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": [%s]}]`
	grant(t, root, ns, "listers", fmt.Sprintf(rules, `"get", "list"`))
	create(t, client.For(root, configMaps), ns, `{"metadata": {"name": "a"}, "data": {"v": "1"}}`)
	key := meta.Key{Namespace: ns, Name: "a"}
	change := func(v string) {
		t.Helper()
		must(client.For(root, conformance.ConfigMaps).Modify(t.Context(), key, func(m *conformance.ConfigMap) error {
			m.Data["v"] = v
			return nil
		}))(t)
	}
	c := care(t, "listers", ns)
	c.sees(key, "1")
	change("2")
	c.sees(key, "2")
	if err := c.inf.Status().Polling; !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), "cannot watch") {
		t.Errorf("the cache is polled because of %v, want that the watch is forbidden", err)
	}
}
