// Operator is a controller as it runs in production: a finalizer, an owned object, a status condition, records, leader
// election or replicas that share the work, a webhook, and probes. It uses the cluster of kubectl, or that of its pod.
// GUIDE.md explains it.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/bowline-go/bowline/client/kubeconfig"
)

func main() {
	namespace := flag.String("namespace", "default", "the namespace of the lease")
	share := flag.Bool("replicas", false, "share the namespaces with other replicas, instead of waiting until this one leads")
	address := flag.String("probes", "", "the address for /livez and /readyz; empty means none")
	hook := flag.String("webhook", "", "the address at which the API server asks whether pages are valid; empty means none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	var probes, calls net.Listener
	if err == nil && *address != "" {
		if probes, err = net.Listen("tcp", *address); err == nil {
			log.Printf("probes at http://%s", probes.Addr())
		}
	}
	if err == nil && *hook != "" {
		calls, err = net.Listen("tcp", *hook)
	}
	if err == nil {
		err = run(ctx, loaded.Config, *namespace, *share, probes, calls, func(p *Page) error {
			log.Printf("%s is not published any more", p.Key())
			return nil
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}
