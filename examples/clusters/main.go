// Clusters is one controller over several clusters: it copies ConfigMaps of a hub into all others, while one of them
// goes away and comes back, and another one is removed and added. It needs nothing but Go, checks its result, and ends
// by itself.
//
//	go run ./examples/clusters
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

// ConfigMap has the fields of a ConfigMap that this program uses.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// ConfigMaps is the resource on the servers.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// The labels of originals and of their copies.
var original, copied = map[string]string{"copy": "everywhere"}, map[string]string{"copy-of": "hub"}

// Site is what this program keeps for a cluster.
type Site struct {
	client *client.Client
	maps   client.Resource[*ConfigMap]
	cache  *informer.Informer[*ConfigMap]
}

// open returns a cluster with a client, and with a cache of the ConfigMaps that selector selects. The cache has the
// name of the cluster, so its errors in the log and its metrics name the cluster.
func open(name string, cfg client.Config, selector string) (*Site, error) {
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Site{client: c, maps: client.For(c, ConfigMaps)}
	s.cache = informer.New(s.maps, informer.Options{
		Name:          name,
		LabelSelector: selector,
	})
	return s, nil
}

// newController returns a controller that copies the ConfigMaps of the hub into each cluster. add adds clusters to it.
func newController(hub *Site, onError func(error)) *clusters.Controller[*Site] {
	o := controller.Options{
		Workers: 4,
		Timeout: 10 * time.Second, // a cluster whose requests hang keeps a worker no longer than this
		// When a cluster comes back, its keys are retried within this time.
		MaxBackoff: 2 * time.Second,
		OnError:    onError,
	}
	return clusters.New("copies", o, func(ctx context.Context, site *Site, key clusters.Key) (controller.Result, error) {
		want, found := hub.cache.Reader().Get(key.Key)
		known, exists := site.cache.Reader().Get(key.Key)
		if !found {
			if !exists {
				return controller.Result{}, nil
			}
			err := site.maps.Delete(ctx, key.Key, client.DeleteOptions{UID: known.UID})
			return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
		}
		made := &ConfigMap{ObjectMeta: key.ObjectMeta(), Data: want.Data}
		made.Labels = copied
		_, _, err := site.maps.Ensure(ctx, made, client.EnsureOptions{Known: known})
		return controller.Result{}, err
	})
}

// add adds a cluster. The controller reconciles it for each ConfigMap of the hub, and for each copy in the cluster.
func add(ctl *clusters.Controller[*Site], hub *Site, name string, cfg client.Config) (*Site, error) {
	site, err := open(name, cfg, "copy-of=hub")
	if err != nil {
		return nil, err
	}
	return site, ctl.Add(name, site, controller.Watch(hub.cache), controller.Watch(site.cache))
}

// remove removes a cluster. When it returns, nothing of the cluster runs.
func remove(ctx context.Context, ctl *clusters.Controller[*Site], name string) error {
	site, _ := ctl.Get(name)
	err := ctl.Remove(ctx, name)
	if err == nil {
		site.client.Close()
	}
	return err
}

// run runs the story on three servers in the process.
func run(ctx context.Context, out io.Writer) error {
	servers := map[string]*clienttest.Server{}
	group := &informer.Group{}
	for _, name := range []string{"hub", "east", "west"} {
		servers[name] = clienttest.New(clienttest.Options{})
		group.Services = append(group.Services, servers[name])
	}
	hub, err := open("hub", servers["hub"].Config(), "copy=everywhere")
	if err != nil {
		return err
	}
	defer hub.client.Close()
	failed := make(chan error, 1)
	ctl := newController(hub, func(err error) {
		select {
		case failed <- err:
		default: // the first one is enough
		}
	})
	ctx, stop := context.WithCancel(ctx)
	group.Runners = []informer.Runner{ctl, informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		return (&story{out, servers, hub, ctl, failed}).tell(ctx)
	})}
	return group.Run(ctx)
}

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatalf("clusters: %v", err)
	}
}

// story makes things happen to the clusters.
type story struct {
	out     io.Writer
	servers map[string]*clienttest.Server
	hub     *Site
	ctl     *clusters.Controller[*Site]
	failed  chan error
}

func (s *story) tell(ctx context.Context) error {
	sites := map[string]*Site{}
	for _, name := range []string{"east", "west"} {
		site, err := add(s.ctl, s.hub, name, s.servers[name].Config())
		if err != nil {
			return err
		}
		sites[name] = site
	}
	for _, step := range []struct {
		text string
		do   func() error
	}{
		{"The hub gets three ConfigMaps: east and west have copies.", func() error {
			return errors.Join(s.put(ctx, "one", "blue"), s.put(ctx, "two", "blue"), s.put(ctx, "three", "blue"), s.until(ctx, sites["east"], sites["west"]))
		}},
		{"East goes away, and two of them change: west has the changes.", func() error {
			s.servers["east"].Refuse(syscall.ECONNREFUSED)
			s.servers["east"].DropWatches()
			s.servers["east"].GoAway() // closes the connections that are left
			return errors.Join(s.put(ctx, "one", "red"), s.put(ctx, "two", "red"), s.until(ctx, sites["west"]))
		}},
		{"Reconciles of east fail, and are tried again.", func() error {
			return poll(ctx, func() error {
				select {
				case err := <-s.failed:
					_, _ = fmt.Fprintf(s.out, "  %v\n", err)
					return nil
				default:
					return errors.New("none has failed")
				}
			})
		}},
		{"East comes back: it has them too.", func() error {
			s.servers["east"].Refuse(nil)
			return errors.Join(s.until(ctx, sites["east"]), poll(ctx, func() error { return s.ctl.Clusters()[0].Away }))
		}},
		{"West is removed, and two change again: east has the changes, and nothing watches west.", func() error {
			err := errors.Join(remove(ctx, s.ctl, "west"), s.put(ctx, "two", "green"), s.put(ctx, "three", "green"), s.until(ctx, sites["east"]))
			return errors.Join(err, poll(ctx, func() error {
				if n := s.servers["west"].Watches(); n > 0 {
					return fmt.Errorf("%d watches of west are left", n)
				}
				return nil
			}))
		}},
		{"West is added: it has them.", func() error {
			site, err := add(s.ctl, s.hub, "west", s.servers["west"].Config())
			if err != nil {
				return err
			}
			sites["west"] = site
			return errors.Join(s.ctl.WaitSynced(ctx, "west"), s.until(ctx, site))
		}},
		{"One is deleted in the hub: it is gone in both.", func() error {
			return errors.Join(s.hub.maps.Delete(ctx, at("one"), client.DeleteOptions{}), s.until(ctx, sites["east"], sites["west"]))
		}},
	} {
		_, _ = fmt.Fprintln(s.out, step.text)
		if err := step.do(); err != nil {
			return err
		}
	}
	for _, one := range s.ctl.Clusters() {
		_, _ = fmt.Fprintln(s.out, one)
	}
	return errors.Join(remove(ctx, s.ctl, "east"), remove(ctx, s.ctl, "west"))
}

func at(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// put gives a ConfigMap of the hub a color.
func (s *story) put(ctx context.Context, name, color string) error {
	m := &ConfigMap{ObjectMeta: at(name).ObjectMeta(), Data: map[string]string{"color": color}}
	m.Labels = original
	_, _, err := s.hub.maps.Ensure(ctx, m, client.EnsureOptions{})
	return err
}

// until waits until the servers of sites have copies of what the hub has, and nothing else.
func (s *story) until(ctx context.Context, sites ...*Site) error {
	colors := func(of *Site, selector string) (map[string]string, error) {
		list, err := of.maps.List(ctx, client.ListOptions{LabelSelector: selector})
		all := make(map[string]string)
		for _, m := range list.Items {
			all[m.Name] = m.Data["color"]
		}
		return all, err
	}
	return poll(ctx, func() error {
		want, err := colors(s.hub, "copy=everywhere")
		for _, site := range sites {
			have, listErr := colors(site, "copy-of=hub")
			if err = errors.Join(err, listErr); err == nil && !maps.Equal(have, want) {
				err = fmt.Errorf("a cluster has %v, want %v", have, want)
			}
		}
		return err
	})
}

// poll calls f until it returns nil.
func poll(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
