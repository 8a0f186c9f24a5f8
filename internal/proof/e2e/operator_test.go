package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// The durations of the operator's lease: the defaults of package leader.
const (
	operatorLease = 15 * time.Second
	operatorRetry = 2 * time.Second
)

var (
	clusterRoles        = client.Type[object]{Group: rbac, Version: "v1", Kind: "ClusterRole", Resource: "clusterroles", Scope: meta.Cluster}
	clusterRoleBindings = client.Type[object]{Group: rbac, Version: "v1", Kind: "ClusterRoleBinding", Resource: "clusterrolebindings", Scope: meta.Cluster}
)

// operator runs processes of examples/operator.
type operator struct {
	t                             *testing.T
	binary, kubeconfig, namespace string
	all                           []*replica // that were started
}

// newOperator builds the program, and gives it a user with the rights that it needs and no others.
func newOperator(t *testing.T, p *controlplane.ControlPlane, admin *client.Client, namespace string) *operator {
	t.Helper()
	role := create(t, client.For(admin, clusterRoles), "", exampleFile(t, "operator/role.yaml"))
	create(t, client.For(admin, clusterRoleBindings), "", `{"metadata": {"name": "operator"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "`+role.GetName()+`"},
		"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "operator"}]}`)
	cert, key, err := p.Issue("operator", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	user := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA), CertData: client.Secret(cert), KeyData: client.Secret(key)}})
	eventually(t, func() error {
		_, err := client.For(user, pageMaps).List(t.Context(), client.ListOptions{})
		return err
	})
	file := must(json.Marshal(map[string]any{ // bytes are written in base64
		"apiVersion": "v1", "kind": "Config", "current-context": "operator",
		"contexts": []any{map[string]any{"name": "operator", "context": map[string]any{"cluster": "e2e", "user": "operator"}}},
		"clusters": []any{map[string]any{"name": "e2e", "cluster": map[string]any{"server": p.Server, "certificate-authority-data": p.CA}}},
		"users": []any{map[string]any{"name": "operator", "user": map[string]any{
			"client-certificate-data": cert, "client-key-data": key,
		}}},
	}))(t)
	o := &operator{t: t, binary: buildExample(t, "operator"), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), namespace: namespace}
	if err := os.WriteFile(o.kubeconfig, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}

// replica is one process.
type replica struct {
	t       *testing.T
	name    string
	cmd     *exec.Cmd
	address string         // of its probes
	leads   chan time.Time // has one when it says that it leads
	ended   chan struct{}  // closed when the process is gone; exit is set by then
	exit    error

	mu       sync.Mutex // guards the rest
	identity string     // of its last term
	said     []string   // lines
}

var (
	saysProbes = regexp.MustCompile(`probes at (\S+)$`)
	saysLeads  = regexp.MustCompile(`this process leads identity=(\S+)`)
	saysGone   = regexp.MustCompile(`(\S+) is not published any more$`)
)

// start starts a replica.
func (o *operator) start() *replica {
	o.t.Helper()
	r := &replica{
		t: o.t, name: fmt.Sprint("replica ", len(o.all)+1), leads: make(chan time.Time, 100), ended: make(chan struct{}),
		cmd: exec.Command(o.binary, "-namespace", o.namespace, "-probes", "127.0.0.1:0"),
	}
	r.cmd.Env = append(os.Environ(), "KUBECONFIG="+o.kubeconfig)
	stderr := must(r.cmd.StderrPipe())(o.t)
	if err := r.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	listens := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			r.hear(lines.Text(), listens)
		}
		r.exit = r.cmd.Wait()
		close(r.ended)
	}()
	o.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has ended, if the test has come to its end
		<-r.ended
		if o.t.Failed() {
			o.t.Logf("%s said\n%s", r.name, strings.Join(r.lines(), "\n"))
		}
	})
	o.all = append(o.all, r)
	select {
	case r.address = <-listens:
	case <-r.ended:
		o.t.Fatalf("%s ended at once", r.name)
	}
	return r
}

// hear takes a line of the process.
func (r *replica) hear(line string, listens chan<- string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, line)
	if m := saysProbes.FindStringSubmatch(line); m != nil {
		listens <- m[1]
	}
	if m := saysLeads.FindStringSubmatch(line); m != nil {
		r.identity = m[1]
		r.leads <- time.Now()
	}
}

func (r *replica) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.said)
}

// is reports whether the holder of a lease is this process.
func (r *replica) is(holder string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return holder != "" && r.identity == holder
}

// probe returns how the process answers a probe.
func (r *replica) probe(path string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+path, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body))), err
}

// answers fails unless the process answers a probe so, now.
func (r *replica) answers(path, want string) {
	r.t.Helper()
	if got, err := r.probe(path); err != nil || !strings.HasPrefix(got, want) {
		r.t.Errorf("%s answers %s with %q, %v; want %s", r.name, path, got, err, want)
	}
}

// awaitReady waits until the process is ready.
func (r *replica) awaitReady() {
	r.t.Helper()
	eventually(r.t, func() error {
		got, err := r.probe("/readyz")
		if err == nil && got != "200 ok" {
			err = fmt.Errorf("%s answers %q", r.name, got)
		}
		return err
	})
	r.answers("/livez", "200 ok")
}

// awaitLead waits until the process says that it leads, and returns when it said so.
func (r *replica) awaitLead() (at time.Time) {
	r.t.Helper()
	select {
	case at = <-r.leads:
	case <-r.ended:
		r.t.Fatalf("%s has ended: %v", r.name, r.exit)
	case <-time.After(patience):
		r.t.Fatalf("%s does not lead, %v later", r.name, patience)
	}
	return at
}

// terminate asks the process to end.
func (r *replica) terminate() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
}

// awaitEnd waits until the process has ended, as it should after terminate.
func (r *replica) awaitEnd() {
	r.t.Helper()
	select {
	case <-r.ended:
		if r.exit != nil {
			r.t.Errorf("%s ended: %v", r.name, r.exit)
		}
	case <-time.After(patience):
		r.t.Fatalf("%s has not ended, %v later", r.name, patience)
	}
}

// The manifests that GUIDE.md has.
func TestTheServerTakesTheManifestsOfTheOperator(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pages.yaml", "role.yaml", "account.yaml", "deployment.yaml", "webhook.yaml", "webhookrole.yaml"} {
		file := filepath.Join("..", "..", "..", "examples", "operator", name)
		if _, err := plane.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", file); err != nil {
			t.Error(err)
		}
	}
}

// Two replicas of examples/operator, one of which leads. The leader is killed, the API server restarts, and the next leader is
// asked to end, while people change and delete pages. In the end exactly the right objects exist.
func TestTheOperatorRunsAsTwoReplicas(t *testing.T) {
	t.Parallel() // it waits most of its time
	// The plugin lets only those set owners who may change the finalizers of the owner. After a restart of the server it takes up to
	// 30 s until it knows custom resources again. Meanwhile it refuses each new ConfigMap, and the operator goes on trying.
	p := must(controlplane.Start(t.Context(), servers("--enable-admission-plugins=OwnerReferencesPermissionEnforcement")))(t)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	namespace := must(client.For(c, conformance.Namespaces).Create(t.Context(), &conformance.Namespace{ObjectMeta: meta.ObjectMeta{Name: "operator"}}))(t).Name
	define(t, c, exampleFile(t, "operator/pages.yaml"))
	o, e := newOperator(t, p, c, namespace), newEditor(t, c, namespace)
	began := time.Now()
	phase := func(text string) { t.Logf("%v: %s", time.Since(began).Round(100*time.Millisecond), text) }
	holder := func() string {
		t.Helper()
		lease := must(client.For(c, leases).Get(t.Context(), meta.Key{Namespace: namespace, Name: "page-operator"}))(t)
		return nested[string](t, lease, "spec", "holderIdentity")
	}

	phase("two replicas start")
	first := o.start()
	first.awaitLead()
	second := o.start()
	second.awaitReady()
	first.awaitReady()

	phase("a page is made again before the garbage collector has deleted its ConfigMap")
	again := e.key(0)
	e.create(again, "once")
	until(t, e.pages, again, "published", func(p *page) bool { return p.ready().Status == meta.ConditionTrue })
	old := must(e.pages.Get(t.Context(), again))(t)
	e.delete(again)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.WaitFor(ctx, e.pages, again, client.UntilDeleted(old.UID)); err != nil {
		t.Fatal(err)
	}
	e.create(again, "twice")
	refused := until(t, e.pages, again, "refused", func(p *page) bool { return p.ready().Status == meta.ConditionFalse })
	if got := refused.ready(); got.Reason != "Failed" || !strings.Contains(got.Message, old.UID) {
		t.Errorf("the condition is %+v, want the uid %s of the other owner", got, old.UID)
	}
	e.collect()
	until(t, e.pages, again, "published", func(p *page) bool { return p.ready().Status == meta.ConditionTrue })
	eventually(t, func() error { // the process is killed soon
		for _, r := range must(client.For(c, pageRecords).List(t.Context(), client.ListOptions{Namespace: namespace}))(t).Items {
			if r.Type == "Warning" && r.Reason == "Failed" && r.Regarding.UID == refused.UID && strings.Contains(r.Note, old.UID) {
				return nil
			}
		}
		return errors.New("there is no record of the failure")
	})

	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		e.work(stop)
	}()
	stopEditor := sync.OnceFunc(func() { close(stop); <-stopped })
	t.Cleanup(stopEditor)
	until(t, e.pages, e.key(2), "published", func(p *page) bool { return p.ready().Status == meta.ConditionTrue })

	phase("the leader is killed")
	killed := time.Now()
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	took := second.awaitLead().Sub(killed)
	t.Logf("failover after a crash: %v", took.Round(time.Millisecond))
	if took < operatorLease-2*operatorRetry || took > operatorLease+2*operatorRetry {
		t.Errorf("the other replica leads %v after the crash; the lease is %v long", took, operatorLease)
	}
	second.answers("/readyz", "200 ok")
	second.answers("/livez", "200 ok")

	phase("the API server restarts")
	var third *replica
	if err := p.RestartServer(t.Context(), func() {
		third = o.start() // it has no caches, and need not be started again for that
		third.answers("/readyz", "503 [-]")
		third.answers("/livez", "200 ok")
		second.answers("/readyz", "200 ok") // it has its caches
		second.answers("/livez", "200 ok")
	}); err != nil {
		t.Fatal(err)
	}
	third.awaitReady()
	// If the server was away for longer than the deadline of a renewal, the leader has ended, and is started again by a kubelet.
	leading, other := second, third
	eventually(t, func() error {
		select {
		case <-second.ended:
			if last := second.lines(); !strings.Contains(last[len(last)-1], "lost") {
				t.Fatalf("%s has ended, and not lost the lease: %v", second.name, second.exit)
			}
			phase("the leader has lost the lease")
			second = o.start()
		default:
		}
		switch h := holder(); {
		case second.is(h):
			leading, other = second, third
		case third.is(h):
			leading, other = third, second
		default:
			return fmt.Errorf("the holder is %q", h)
		}
		return nil
	})
	leading.awaitReady()
	other.awaitReady()
	published := meta.Key{Namespace: namespace, Name: "after-the-restart"}
	stopEditor()
	e.create(published, "news")
	until(t, e.pages, published, "published", func(p *page) bool { return p.ready().Status == meta.ConditionTrue })

	phase("the leader is asked to end, while every page changes")
	var asked time.Time
	keys := e.keys()
	for i, key := range keys {
		if i == len(keys)/2 {
			asked = time.Now()
			leading.terminate()
		}
		if i%10 == 9 {
			e.delete(key)
		} else {
			e.change(key, "last "+key.Name)
		}
	}
	took = other.awaitLead().Sub(asked)
	t.Logf("failover after an orderly end, which finishes the work that it has begun: %v", took.Round(time.Millisecond))
	if took > 3*time.Second { // without a watch of the lease, up to 1.75 of its retry period more
		t.Errorf("the other replica leads %v after the leader was asked to end", took)
	}
	leading.awaitEnd()
	other.answers("/readyz", "200 ok")
	other.answers("/livez", "200 ok")
	eventually(t, func() error { return e.settled(true) })
	e.collect()
	other.terminate()
	other.awaitEnd()
	equal(t, "the holder of the lease", holder(), "")

	phase("all is checked")
	if err := e.settled(false); err != nil {
		t.Error(err)
	}
	checkCleanups(t, e, o)
	checkRecords(t, c, e)
	t.Logf("%d pages exist, %d were deleted, of which %d exist again", len(e.want), len(e.cleanups), len(e.cleanups)-len(e.gone))
	if len(e.want) < 15 || len(e.cleanups) < 5 {
		t.Error("the editor has not done what this test needs")
	}
}

// checkCleanups compares the cleanups that the processes have said with those that they should have made. One that a crash
// interrupted is made twice.
func checkCleanups(t *testing.T, e *editor, o *operator) {
	t.Helper()
	made := map[string]int{}
	for _, r := range o.all {
		for _, line := range r.lines() {
			if m := saysGone.FindStringSubmatch(line); m != nil {
				made[m[1]]++
			}
		}
	}
	for key, n := range e.cleanups {
		if made[key.String()] < n {
			t.Errorf("%d cleanups of %s, which was deleted %d times", made[key.String()], key, n)
		}
		delete(made, key.String())
	}
	for key := range made {
		t.Errorf("a cleanup of %s, which was not deleted", key)
	}
}

// checkRecords looks for a record of the last change of each page. An orderly end sends all of them.
func checkRecords(t *testing.T, c *client.Client, e *editor) {
	t.Helper()
	all := must(client.For(c, pageRecords).List(t.Context(), client.ListOptions{Namespace: e.namespace}))(t).Items
	for _, p := range must(e.pages.List(t.Context(), client.ListOptions{Namespace: e.namespace}))(t).Items {
		note := fmt.Sprintf("ConfigMap %s has the text of generation %d", p.Name, p.Generation)
		if !slices.ContainsFunc(all, func(r *pageRecord) bool {
			return r.Type == "Normal" && r.Reason == "Published" && r.Note == note && r.ReportingController == "example.com/pages" &&
				r.Regarding.Kind == "Page" && r.Regarding.Name == p.Name && r.Regarding.UID == p.UID
		}) {
			t.Errorf("no record about %s says %q", p.Key(), note)
		}
	}
}
