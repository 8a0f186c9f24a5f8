package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
)

// stormKinds are the resources of a recorded storm, each with the members of its objects beside metadata.
var stormKinds = []struct {
	group, version, resource, kind, members string
}{
	{"", "v1", "configmaps", "ConfigMap", `"data":{"a":"<b>&","c":"1.50"}`},
	{"", "v1", "secrets", "Secret", `"stringData":{"password":"hunter2"}`},
	{"", "v1", "pods", "Pod", `"spec":{"containers":[{"name":"a","image":"b"}]}`},
	{"", "v1", "services", "Service", `"spec":{"ports":[{"port":80}]}`},
	{"", "v1", "serviceaccounts", "ServiceAccount", `"automountServiceAccountToken":false`},
	{"apps", "v1", "deployments", "Deployment", `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}`},
	{"batch", "v1", "jobs", "Job", `"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}`},
	{"coordination.k8s.io", "v1", "leases", "Lease", `"spec":{"leaseDurationSeconds":7}`},
	{"rbac.authorization.k8s.io", "v1", "roles", "Role", `"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`},
	{"storm.e2e.bowline.example", "v1", "knots", "Knot", `"spec":{"rope":"hemp","turns":2}`},
}

func stormType(i int) client.Type[object] {
	k := stormKinds[i]
	return client.Type[object]{Group: k.group, Version: k.version, Kind: k.kind, Resource: k.resource}
}

// rain makes n random changes in a namespace.
func rain(t *testing.T, c *client.Client, ns string, random *rand.Rand, n int) {
	for range n {
		i := random.IntN(len(stormKinds))
		handle := client.For(c, stormType(i))
		key := meta.Key{Namespace: ns, Name: fmt.Sprintf("drop-%d", random.IntN(5))}
		switch random.IntN(3) {
		case 0:
			_, _ = handle.Create(t.Context(), parse(t, fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q},%s}`, ns, key.Name, stormKinds[i].members))) // it may exist
		case 1:
			_ = handle.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: client.NoGracePeriod, Propagation: client.Background}) // it may not exist
		default:
			_, _ = handle.Modify(t.Context(), key, func(o object) error {
				o.Object["metadata"].(map[string]any)["labels"] = map[string]any{"n": fmt.Sprint(random.IntN(1000))}
				return nil
			})
		}
	}
}

// cutter closes the connections of a client now and then.
type cutter struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// contents returns the objects of the storm as a client sees them, whole.
func contents(t *testing.T, c *client.Client, ns string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for i := range stormKinds {
		o := client.ListOptions{Namespace: ns, KeepManagedFields: true}
		for obj, err := range client.For(c, stormType(i)).All(t.Context(), o) {
			if err != nil {
				t.Fatal(err)
			}
			text := must(json.Marshal(obj))(t)
			all[stormKinds[i].resource+" "+obj.GetName()] = string(text)
		}
	}
	return all
}

func TestAReplayOfARealClustersStormLeavesTheSameObjects(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	install(t, c, "storm.e2e.bowline.example")
	for i := range stormKinds {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		if stormKinds[i].kind != "Knot" {
			rain(t, c, ns, random, 5)
		}
	}
	file := filepath.Join(t.TempDir(), "storm.jsonl")
	o := clienttest.RecordOptions{File: file, Namespaces: []string{ns}, Secrets: clienttest.SecretsKept}
	for i := range stormKinds {
		o.Resources = append(o.Resources, stormType(i).GVR())
	}
	o.Resources = append(o.Resources, definitions.GVR())
	recordStorm(t, c, ns, o)
	want := contents(t, c, ns)
	if len(want) < 2*len(stormKinds) {
		t.Fatalf("the storm has left %d objects", len(want))
	}

	server := clienttest.Start(t, clienttest.Options{Rules: cel.Rules(), Replay: file})
	copied := open(t, server.Config())
	if err := server.WaitReplayed(t.Context()); err != nil { // it takes as long as the storm
		t.Fatal(err)
	}
	got := contents(t, copied, ns)
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%s is\n%s\nwant\n%s", k, got[k], want[k])
		}
	}
	for k := range got {
		if want[k] == "" {
			t.Errorf("%s should not exist", k)
		}
	}
	if text := string(must(os.ReadFile(file))(t)); !strings.Contains(text, `"CUT"`) || !strings.Contains(text, `"RESUMED"`) {
		t.Error("nothing has disturbed the recorder")
	}
}

// recordStorm records a storm while the connections of the recorder are cut, and starts the recorder again twice.
func recordStorm(t *testing.T, c *client.Client, ns string, o clienttest.RecordOptions) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	cuts := &cutter{}
	config := adminConfig()
	config.Dial = cuts.dial
	recorder := open(t, config)
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- clienttest.Record(ctx, recorder, o) }()
		for range 4 {
			rain(t, c, ns, random, 40)
			cuts.cut()
		}
		var last []string
		for i, k := range stormKinds {
			text := fmt.Sprintf(`{"metadata":{"namespace":%q,"generateName":"last-"},%s}`, ns, k.members)
			last = append(last, must(client.For(c, stormType(i)).Create(t.Context(), parse(t, text)))(t).GetName())
		}
		waitRecorded(t, o.File, last)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// waitRecorded waits until the last object of each resource is recorded.
func waitRecorded(t *testing.T, file string, names []string) {
	t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(file)
		missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return bytes.Contains(text, []byte(name)) })
		if len(missing) == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%v are not recorded within %v; reading the file: %v", missing, patience, err)
		}
	}
}
