package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/client/shards"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// operator has what the functions of the controller use.
type operator struct {
	pages      client.Resource[*Page]
	configMaps client.Resource[*ConfigMap]
	pageCache  *informer.Informer[*Page]
	mapCache   *informer.Informer[*ConfigMap]
	records    recorder.About[*Page]
	unpublish  func(*Page) error // the cleanup
}

// newOperator returns an operator whose caches have the given options.
func newOperator(c *client.Client, caches informer.Options, records *recorder.Recorder, unpublish func(*Page) error) *operator {
	pages, configMaps := client.For(c, Pages), client.For(c, ConfigMaps)
	return &operator{
		pages: pages, configMaps: configMaps,
		pageCache: informer.New(pages, caches), mapCache: informer.New(configMaps, caches),
		records: recorder.For(records, Pages), unpublish: unpublish,
	}
}

// newController returns a controller that reconciles pages.
func (o *operator) newController(options controller.Options) *controller.Controller[meta.Key] {
	options.Permissions = slices.Concat(
		o.pages.Access("get", "patch"), o.pages.Status().Access("get", "update"),
		o.pages.Sub("finalizers").Access("update"), // the owner reference of the ConfigMap blocks the deletion of the page
		o.configMaps.Access("get", "create", "update"),
	)
	return controller.New("pages", options,
		controller.Finalize(o.pages, o.pageCache.Reader(), "example.com/unpublish", o.reconcile, o.delete, controller.FinalizeOptions{}),
		controller.Watch(o.pageCache), controller.Owns(o.mapCache, Pages),
		controller.Fresh[meta.Key](o.pageCache, o.mapCache)) // a reconcile finds what the one before it wrote
}

// publish creates or changes the page's ConfigMap on the server.
func (o *operator) publish(ctx context.Context, page *Page) error {
	want := &ConfigMap{ObjectMeta: page.Key().ObjectMeta(), Data: map[string]string{"text": page.Spec.Text}}
	if err := client.SetController(want, client.OwnerOf(Pages, page)); err != nil {
		return err
	}
	known, _ := o.mapCache.Reader().Get(page.Key()) // nil if there is none
	_, did, err := o.configMaps.Ensure(ctx, want, client.EnsureOptions{Known: known})
	if err == nil && did.Outcome != client.Unchanged {
		o.records.Normalf(page, "Published", "ConfigMap %s has the text of generation %d", want.Name, page.Generation)
	}
	return err
}

// delete is called before a page is removed. The server's garbage collector deletes the ConfigMap.
func (o *operator) delete(_ context.Context, page *Page) (controller.Result, error) {
	return controller.Result{}, o.unpublish(page)
}

// reconcile is called for pages that have the finalizer.
func (o *operator) reconcile(ctx context.Context, page *Page) (controller.Result, error) {
	failed := o.publish(ctx, page)
	ready := meta.Condition{Type: "Ready", Status: meta.ConditionTrue, Reason: "Published"}
	if failed != nil {
		ready.Status, ready.Reason, ready.Message = meta.ConditionFalse, "Failed", failed.Error()
		if ctx.Err() == nil { // otherwise the program is ending, and the page has not failed
			o.records.Warning(page, "Failed", failed.Error())
		}
	}
	_, err := o.pages.Status().ModifyWith(ctx, page.Key(), func(live *Page) error {
		return meta.SetCondition(&live.Status.Conditions, page.Generation, ready)
	}, client.ModifyOptions{Known: page}) // sends nothing if the cached page has the condition
	return controller.Result{}, errors.Join(failed, apierrors.Ignore(err, apierrors.NotFound))
}

// newGroup returns the parts of the program. Without share, one replica works at a time: the one that holds the lease in
// namespace. With share, each replica works on some namespaces of the cluster, and the caller runs g by replicas.Run.
func newGroup(c *client.Client, namespace string, share bool, unpublish func(*Page) error) (g *informer.Group, replicas *shards.Group) {
	caches, options := informer.Options{}, controller.Options{Workers: 4, Timeout: time.Minute, Grace: 5 * time.Second}
	// A page and its ConfigMap must belong to the same replica. Their uids differ, and their namespace is the same.
	replicas = shards.New(c, shards.Options{Namespace: namespace, Name: "page-operator", By: meta.ShardByNamespace})
	if share {
		caches.Shards, options.Shards = replicas, replicas
	}
	records := recorder.New(c, recorder.Options{Controller: "example.com/pages"})
	o := newOperator(c, caches, records, unpublish)
	g = &informer.Group{
		Services:    []informer.Runner{records},
		Runners:     []informer.Runner{o.newController(options)},
		StopTimeout: 20 * time.Second,
	}
	if !share {
		g.Leader = leader.New(c, leader.Options{Namespace: namespace, Name: "page-operator"})
	}
	return g, replicas
}

// run works until ctx ends; see newGroup. It serves the probes and the calls of the webhook, unless the listener is nil.
func run(ctx context.Context, cfg client.Config, namespace string, share bool, probes, calls net.Listener, unpublish func(*Page) error) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	group, replicas := newGroup(c, namespace, share, unpublish)
	if probes != nil {
		group.Services = append(group.Services, serve(probes, group.Handler()))
	}
	if calls != nil {
		group.Services = append(group.Services, newWebhook(c, namespace, calls))
	}
	if share {
		return replicas.Run(ctx, group.Run)
	}
	return group.Run(ctx)
}

// serve answers HTTP requests until its context ends.
func serve(l net.Listener, h http.Handler) informer.RunnerFunc {
	return func(ctx context.Context) error {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = s.Close() })()
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
