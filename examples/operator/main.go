// Operator is a controller as it runs in production: a finalizer, an owned object, a status condition, records, leader election or
// replicas that share the work, and probes, against the cluster that kubectl uses, or the one of its pod. GUIDE.md explains it.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/client/shards"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Page is a custom resource. Its CustomResourceDefinition has a status subresource.
type Page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
	Status struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// ConfigMap has the fields of a ConfigMap that this program uses.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// Where the server has them.
var (
	Pages      = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)

type operator struct {
	pages      client.Resource[*Page]
	configMaps client.Resource[*ConfigMap]
	mapCache   *informer.Informer[*ConfigMap]
	records    recorder.About[*Page]
	unpublish  func(*Page) error // the cleanup
}

// run works until ctx ends. If several operators run with one cluster and namespace, one at a time works, or with share each of them
// works on a part of the namespaces. probes may be nil.
func run(ctx context.Context, cfg client.Config, namespace string, share bool, probes net.Listener, unpublish func(*Page) error) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	records := recorder.New(c, recorder.Options{Controller: "example.com/pages"})
	o := &operator{
		pages: client.For(c, Pages), configMaps: client.For(c, ConfigMaps), records: recorder.For(records, Pages), unpublish: unpublish,
	}
	cached := informer.Options{}
	options := controller.Options{Workers: 4, Timeout: time.Minute, Grace: 5 * time.Second}
	// A page and the ConfigMap that it owns have different uids, but the same namespace.
	replicas := shards.New(c, shards.Options{Namespace: namespace, Name: "page-operator", By: meta.ShardByNamespace})
	if share {
		cached.Shards, options.Shards = replicas, replicas
	}
	pageCache := informer.New(o.pages, cached)
	o.mapCache = informer.New(o.configMaps, cached)
	ctl := controller.New("pages", options,
		controller.Finalize(o.pages, pageCache.Reader(), "example.com/unpublish", o.reconcile, o.delete, controller.FinalizeOptions{}),
		controller.Watch(pageCache), controller.Owns(o.mapCache, Pages),
		controller.Fresh[meta.Key](pageCache, o.mapCache)) // a reconcile finds what the one before it wrote

	group := &informer.Group{
		Services:    []informer.Runner{records},
		Runners:     []informer.Runner{ctl},
		StopTimeout: 20 * time.Second,
	}
	if probes != nil {
		group.Services = append(group.Services, serve(probes, group.Handler()))
	}
	if share {
		return replicas.Run(ctx, group.Run)
	}
	group.Leader = leader.New(c, leader.Options{Namespace: namespace, Name: "page-operator"})
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

// reconcile is called for pages that have the finalizer.
func (o *operator) reconcile(ctx context.Context, page *Page) (controller.Result, error) {
	failed := o.publish(ctx, page)
	ready := meta.Condition{Type: "Ready", Status: meta.ConditionTrue, Reason: "Published"}
	if failed != nil {
		ready.Status, ready.Reason, ready.Message = meta.ConditionFalse, "Failed", failed.Error()
		if ctx.Err() == nil { // otherwise the program ends, and the page is none the worse
			o.records.Warning(page, "Failed", failed.Error())
		}
	}
	_, err := o.pages.Status().ModifyWith(ctx, page.Key(), func(live *Page) error {
		return meta.SetCondition(&live.Status.Conditions, page.Generation, ready)
	}, client.ModifyOptions{Known: page}) // sends nothing if the cached page has the condition
	return controller.Result{}, errors.Join(failed, apierrors.Ignore(err, apierrors.NotFound))
}

// publish makes the server have the page's ConfigMap.
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

// delete is called before a page goes. The server's garbage collector deletes the ConfigMap.
func (o *operator) delete(_ context.Context, page *Page) (controller.Result, error) {
	return controller.Result{}, o.unpublish(page)
}

func main() {
	namespace := flag.String("namespace", "default", "the namespace of the lease")
	share := flag.Bool("replicas", false, "share the namespaces with other replicas, instead of waiting until this one leads")
	address := flag.String("probes", "", "the address for /livez and /readyz; empty means none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	var probes net.Listener
	if err == nil && *address != "" {
		if probes, err = net.Listen("tcp", *address); err == nil {
			log.Printf("probes at http://%s", probes.Addr())
		}
	}
	if err == nil {
		err = run(ctx, loaded.Config, *namespace, *share, probes, func(p *Page) error {
			log.Printf("%s is not published any more", p.Key())
			return nil
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}
