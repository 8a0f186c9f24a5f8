package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// The durations of both contenders. They are short, so that the test is.
const (
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

const (
	contended      = "contended" // the name of the lease
	oursIdentity   = "bowline"
	theirsIdentity = "client-go"
)

var leases = client.Type[object]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// contenderEvent is what a contender says. Its writes are in the server.
type contenderEvent struct {
	Event  string
	Term   int64
	N      int
	Reason string
	Err    string
}

// ours is a contender of package client/leader, in a process of its own, which is that package's test binary.
type ours struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	events chan contenderEvent
}

// startOurs builds the process, and starts it with the rights that the documentation of the package names.
func startOurs(t *testing.T, p *controlplane.ControlPlane, admin *client.Client, namespace string) *ours {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "leader.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "github.com/bowline-go/bowline/client/leader")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the contender: %v\n%s", err, out)
	}
	create(t, client.For(admin, roles), namespace, `{"metadata": {"name": "contender"}, "rules": [
		{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
		{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["contended"], "verbs": ["get", "update", "watch"]},
		{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]}`)
	create(t, client.For(admin, roleBindings), namespace, `{"metadata": {"name": "contender"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "contender"},
		"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "contender"}]}`)
	cert, key, err := p.Issue("contender", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	config := must(json.Marshal(map[string]any{
		"Server": p.Server, "CA": p.CA, "Cert": cert, "Key": key, "Namespace": namespace, "Name": contended, "Identity": oursIdentity,
		"LeaseDuration": leaseDuration, "RenewDeadline": renewDeadline, "RetryPeriod": retryPeriod, "Every": 100 * time.Millisecond,
	}))(t)
	o := &ours{t: t, cmd: exec.Command(binary, "contend", string(config)), events: make(chan contenderEvent, 1000)}
	o.cmd.Stderr = os.Stderr
	o.stdin = must(o.cmd.StdinPipe())(t)
	stdout := must(o.cmd.StdoutPipe())(t)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(o.events)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var e contenderEvent
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				o.events <- e
			}
		}
	}()
	t.Cleanup(func() {
		_ = o.cmd.Process.Kill() // it has ended, if the test has come to its end
		<-read
		_ = o.cmd.Wait()
	})
	return o
}

func (o *ours) signal(s syscall.Signal) {
	o.t.Helper()
	if err := o.cmd.Process.Signal(s); err != nil {
		o.t.Fatal(err)
	}
}

// step sets the wall clock of the process.
func (o *ours) step(d time.Duration) {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.stdin, d); err != nil {
		o.t.Fatal(err)
	}
}

// await returns the next event of that name.
func (o *ours) await(name string) contenderEvent {
	o.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, ok := <-o.events:
			if !ok {
				o.t.Fatalf("the process has ended, and not said %q", name)
			}
			if e.Event == name {
				return e
			}
			o.t.Logf("the process says %+v", e)
		case <-limit:
			o.t.Fatalf("the process has not said %q for %v", name, patience)
		}
	}
}

// silent forgets what the process has said, and fails if it has ended to lead.
func (o *ours) silent() {
	o.t.Helper()
	for {
		select {
		case e := <-o.events:
			if e.Event == "ended" || e.Event == "leads" {
				o.t.Errorf("the process says %+v", e)
			}
		default:
			return
		}
	}
}

// end ends the process, which releases the lease.
func (o *ours) end() {
	o.t.Helper()
	_ = o.stdin.Close()
	for range o.events {
	}
	if err := o.cmd.Wait(); err != nil {
		o.t.Errorf("the process ended: %v", err)
	}
}

// theirs is a contender of client-go.
type theirs struct {
	t      *testing.T
	leads  chan int64 // terms
	cancel context.CancelFunc
	ended  chan struct{}
}

// startTheirs starts one. It writes while it leads, and releases the lease when it is stopped and has ended its writes.
func startTheirs(t *testing.T, clients *clientset.Clientset, namespace string) *theirs {
	ctx, cancel := context.WithCancel(t.Context())
	c := &theirs{t: t, leads: make(chan int64, 100), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for ctx.Err() == nil {
			c.run(ctx, clients, namespace)
		}
	}()
	t.Cleanup(c.stop)
	return c
}

// run contends once. client-go releases the lease when it ends the context of the work, so here the work ends first.
func (c *theirs) run(ctx context.Context, clients *clientset.Clientset, namespace string) {
	electing, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: contended}, Client: clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: theirsIdentity},
		},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				defer release()
				c.work(ctx, leading, clients, namespace)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		c.t.Error(err)
		return
	}
	defer context.AfterFunc(ctx, func() {
		if !elector.IsLeader() { // otherwise the work releases
			release()
		}
	})()
	elector.Run(electing)
}

// work writes until the lease is lost or ctx ends.
func (c *theirs) work(ctx, leading context.Context, clients *clientset.Clientset, namespace string) {
	lease, err := clients.CoordinationV1().Leases(namespace).Get(leading, contended, metav1.GetOptions{})
	if err != nil || *lease.Spec.HolderIdentity != theirsIdentity {
		return
	}
	term := int64(*lease.Spec.LeaseTransitions)
	c.leads <- term
	for leading.Err() == nil && ctx.Err() == nil {
		_, _ = clients.CoreV1().ConfigMaps(namespace).Create(leading, &corev1.ConfigMap{ // it fails while the server is away
			ObjectMeta: metav1.ObjectMeta{GenerateName: "write-"},
			Data:       map[string]string{"identity": theirsIdentity, "term": fmt.Sprint(term)},
		}, metav1.CreateOptions{})
		select {
		case <-leading.Done():
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *theirs) await() {
	c.t.Helper()
	select {
	case term := <-c.leads:
		c.t.Logf("client-go leads, term %d", term)
	case <-time.After(patience):
		c.t.Fatalf("client-go's contender does not lead, %v later", patience)
	}
}

func (c *theirs) stop() {
	c.cancel()
	<-c.ended
}

// A contender of ours and one of client-go's, through restarts of the API server, while ours is stopped, and with its clock set. At no
// write of either did the other have the lease, by the order of etcd's revisions.
func TestLeadersExcludeEachOther(t *testing.T) {
	p := must(controlplane.Start(t.Context(), servers()))(t)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	namespace := must(client.For(c, conformance.Namespaces).Create(t.Context(), &conformance.Namespace{ObjectMeta: meta.ObjectMeta{Name: "leaders"}}))(t).Name
	clients := must(clientset.NewForConfig(&rest.Config{
		Host: p.Server, BearerToken: p.Token, TLSClientConfig: rest.TLSClientConfig{CAData: p.CA}, QPS: -1, Timeout: renewDeadline / 2,
	}))(t)

	began := time.Now()
	phase := func(text string) { t.Logf("%v: %s", time.Since(began).Round(100*time.Millisecond), text) }
	a := startOurs(t, p, c, namespace)
	began = time.Now()
	a.await("leads")
	b := startTheirs(t, clients, namespace)

	phase("the API server restarts")
	if err := p.RestartServer(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// One of them leads now. Ours shall.
	toOurs := func() {
		t.Helper()
		b.stop()
		eventually(t, func() error {
			if holder := nested[string](t, must(client.For(c, leases).Get(t.Context(), meta.Key{Namespace: namespace, Name: contended}))(t), "spec", "holderIdentity"); holder != oursIdentity {
				return fmt.Errorf("the holder is %q", holder)
			}
			return nil
		})
		time.Sleep(retryPeriod)
		b = startTheirs(t, clients, namespace)
		time.Sleep(2 * retryPeriod)
		for len(a.events) > 0 {
			t.Logf("ours says %+v", <-a.events)
		}
	}
	toOurs()

	phase("ours is stopped for longer than the lease")
	a.signal(syscall.SIGSTOP)
	b.await()
	time.Sleep(time.Second)
	a.signal(syscall.SIGCONT)
	equal(t, "the reason of the loss", a.await("ended").Reason, "Expired")

	phase("client-go's releases")
	released := time.Now()
	b.stop()
	a.await("leads")
	t.Logf("failover after a release of client-go's: %v", time.Since(released))
	b = startTheirs(t, clients, namespace)

	phase("the clock of ours is set back")
	a.step(-time.Hour)
	time.Sleep(leaseDuration + renewDeadline)
	a.silent()

	phase("the clock of ours is set forward")
	a.step(2 * time.Hour)
	equal(t, "the reason of the loss", a.await("ended").Reason, "Expired")
	eventually(t, func() error {
		select {
		case <-b.leads:
			return nil
		case e := <-a.events:
			if e.Event == "leads" { // it was faster; the release is as good as any
				return nil
			}
			return fmt.Errorf("ours says %+v", e)
		default:
			return fmt.Errorf("nobody leads")
		}
	})

	phase("the API server restarts again")
	if err := p.RestartServer(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	toOurs()
	phase("ours ends")
	a.end()
	b.await()
	time.Sleep(2 * time.Second)
	b.stop()
	phase("the history is checked")
	checkWrites(t, c, namespace)
}

// checkWrites compares each write with the lease at its revision.
func checkWrites(t *testing.T, c *client.Client, namespace string) {
	t.Helper()
	all := must(client.For(c, configMaps).List(t.Context(), client.ListOptions{Namespace: namespace}))(t).Items
	all = slices.DeleteFunc(all, func(o object) bool { return !strings.HasPrefix(o.GetName(), "write-") })
	slices.SortFunc(all, func(a, b object) int {
		order, _ := meta.CompareVersions(a.GetResourceVersion(), b.GetResourceVersion())
		return order
	})
	writes, terms, inFlight := map[string]int{}, map[string]bool{}, 0
	for _, w := range all {
		identity, term := nested[string](t, w, "data", "identity"), nested[string](t, w, "data", "term")
		writes[identity]++
		terms[identity+" "+term] = true
		then := must(client.For(c, leases).List(t.Context(), client.ListOptions{
			Namespace: namespace, ResourceVersion: w.GetResourceVersion(), ResourceVersionMatch: client.Exact, PageSize: -1,
		}))(t)
		if len(then.Items) != 1 {
			t.Fatalf("%d leases at %s", len(then.Items), w.GetResourceVersion())
		}
		holder := nested[string](t, then.Items[0], "spec", "holderIdentity")
		number := fmt.Sprint(nested[int64](t, then.Items[0], "spec", "leaseTransitions"))
		switch {
		case holder == identity && number == term:
		case identity == oursIdentity && inFlight == 0:
			inFlight++ // it may have been under way when the process was stopped
		default:
			t.Errorf("a write of %q in term %s was accepted when %q had the lease in term %s", identity, term, holder, number)
		}
	}
	t.Logf("writes: %v in %d terms; %d of ours may have been under way when it was stopped", writes, len(terms), inFlight)
	if writes[oursIdentity] < 50 || writes[theirsIdentity] < 15 || len(terms) < 4 {
		t.Error("the contenders have not done what this test needs")
	}
}
