package clientgo_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func TestOptionsOfAManagerThatIsExplored(t *testing.T) {
	o, err := clientgo.ManagerOptions(t.Context(), manager.Options{
		Metrics: server.Options{BindAddress: ":8080"}, HealthProbeBindAddress: ":8081", PprofBindAddress: ":8082", LeaderElectionID: "id",
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Metrics.BindAddress != "0" || o.HealthProbeBindAddress != "0" || o.PprofBindAddress != "0" || !*o.Controller.SkipNameValidation ||
		o.LeaderElectionID != "id" {
		t.Errorf("the options are %+v", o)
	}
}

func TestOptionsThatCannotBeExploredAreRefusedByName(t *testing.T) {
	for name, o := range map[string]manager.Options{
		"WebhookServer must be nil":                      {WebhookServer: webhook.NewServer(webhook.Options{})},
		"GracefulShutdownTimeout must not be negative":   {GracefulShutdownTimeout: new(-time.Second)},
		"LeaderElection needs a LeaderElectionNamespace": {LeaderElection: true},
	} {
		if _, err := clientgo.ManagerOptions(t.Context(), o); err == nil || !strings.Contains(err.Error(), "manager.Options: "+name) {
			t.Errorf("the error is %v, want one with %q", err, name)
		}
	}
}

// indexed runs a manager with an index, which makes an informer before the start, at a server that does not list. It
// returns a channel that is closed when the manager has returned, and a function that lets the server list.
func indexed(t *testing.T, ctx context.Context, wrapped bool) (ended chan struct{}, list func()) {
	ctrl.SetLogger(logr.Discard())
	server := clienttest.Start(t, clienttest.Options{})
	held := make(chan struct{})
	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if strings.HasSuffix(r.URL.Path, "/configmaps") {
			<-held
		}
		return nil
	})
	cfg, err := ctrlcache.RESTConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	o, err := clientgo.ManagerOptions(ctx, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !wrapped {
		o.NewCache = nil
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "name", func(o client.Object) []string {
		return []string{o.GetName()}
	}); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	}()
	return ended, func() { close(held) }
}

func TestAManagerEndsBeforeItsCacheHasSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended, list := indexed(t, ctx, true)
		time.Sleep(time.Second)
		stop()
		<-ended
		list()
	})
}

// The reason why ManagerOptions wraps NewCache. It runs in real time, because the manager spins. When this test fails,
// the wrapper can go.
func TestAManagerOfControllerRuntimeSpinsIfItEndsBeforeItsCacheHasSynced(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended, list := indexed(t, ctx, false)
	stop()
	select {
	case <-ended:
		t.Error("the manager has returned")
	case <-time.After(500 * time.Millisecond):
	}
	list()
	<-ended
}
