package canned

// This file makes pods like those of a real cluster. The files under cluster are written by hand, and resemble the
// usual manifests of node agents, services, a mesh, a database and a job. A pod repeats the text of its workload and of
// its kind as on a real cluster. It differs from the other pods in the name of the volume of its token, hashes,
// addresses, nodes, identifiers of containers, and times.

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:embed cluster/*.yaml
var templates embed.FS

// perNode is how many pods a node has.
const perNode = 30

// agents are the workloads with a pod on each node.
var agents = []string{"kube-proxy", "network-agent", "log-collector"}

// services are the other kinds of workloads: the percentage of the workloads that are of a kind, and how many pods a
// workload has, at least and at most.
var services = []struct {
	name        string
	percent     int
	least, most int
}{
	{"web", 50, 2, 20}, {"mesh", 25, 2, 10}, {"database", 10, 1, 3}, {"job", 15, 1, 3},
}

// clusterPods returns n pods of a cluster, always the same.
func clusterPods(n int) ([]*corev1.Pod, error) {
	c := &cluster{random: rand.New(rand.NewPCG(7, 11)), nodes: (n + perNode - 1) / perNode}
	for _, name := range agents {
		w, err := c.workload(name)
		if err != nil {
			return nil, err
		}
		for node := 0; node < c.nodes && len(c.pods) < n; node++ {
			if err := c.add(w, node); err != nil {
				return nil, err
			}
		}
	}
	for len(c.pods) < n {
		s, pick := 0, c.random.IntN(100)
		for ; pick >= services[s].percent; s++ {
			pick -= services[s].percent
		}
		w, err := c.workload(services[s].name)
		if err != nil {
			return nil, err
		}
		pods := services[s].least + c.random.IntN(services[s].most-services[s].least+1)
		for range min(pods, n-len(c.pods)) {
			if err := c.add(w, c.random.IntN(c.nodes)); err != nil {
				return nil, err
			}
		}
	}
	return c.pods, nil
}

// cluster is a cluster whose pods are being made.
type cluster struct {
	random    *rand.Rand
	nodes     int
	workloads int
	pods      []*corev1.Pod
}

// workload has the parts that the pods of a workload share.
type workload struct {
	kind, app, namespace, hash, tag, owner string
	template                               string // a pod in JSON, with placeholders
	pods                                   int
}

func (c *cluster) workload(kind string) (*workload, error) {
	text, err := templates.ReadFile("cluster/" + kind + ".yaml")
	if err != nil {
		return nil, err
	}
	pod, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("read the pods of %s: %w", kind, err)
	}
	c.workloads++
	return &workload{
		kind: kind, app: fmt.Sprintf("%s-%d", kind, c.workloads), namespace: fmt.Sprintf("team-%d", c.random.IntN(Namespaces)),
		hash: c.letters(10), tag: fmt.Sprintf("v%d.%d.%d", c.random.IntN(4), c.random.IntN(30), c.random.IntN(10)), owner: c.uid(),
		template: string(pod),
	}, nil
}

// Namespaces is how many namespaces have services.
const Namespaces = 50

// add adds a pod of a workload.
func (c *cluster) add(w *workload, node int) error {
	i := len(c.pods)
	created := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.random.IntN(200*24*60*60)) * time.Second)
	after := func(most int) string {
		created = created.Add(time.Duration(1+c.random.IntN(most)) * time.Second)
		return created.Format(time.RFC3339)
	}
	owner := w.app
	if w.kind != "database" {
		owner += "-" + w.hash
	}
	restarts := 0
	if c.random.IntN(10) == 0 {
		restarts = 1 + c.random.IntN(5)
	}
	name := owner + "-" + c.letters(5)
	if slices.Contains(agents, w.kind) {
		name = w.kind + "-" + c.letters(5)
	}
	host := fmt.Sprintf("10.%d.%d.%d", 200+node>>16, node>>8&255, node&255)
	raw := strings.NewReplacer(
		`"$RESTARTS"`, strconv.Itoa(restarts),
		"$OWNERNAME", owner, "$OWNERUID", w.owner, "$NAMESPACE", w.namespace, "$NAME", name, "$NODE", fmt.Sprintf("node-%04d", node),
		"$UID", c.uid(), "$VERSION", strconv.Itoa(100_000+i), "$HASH", w.hash, "$TAG", w.tag, "$TOKEN", c.letters(5), "$APP", w.app,
		"$ORDINAL", strconv.Itoa(w.pods), "$DIGEST0", digest(w.app+w.hash), "$DIGEST1", digest(w.kind+w.app),
		"$CONTAINER1", c.container(), "$CONTAINER2", c.container(), "$CONTAINER3", c.container(),
		"$HOSTIP", host, "$PODIP", fmt.Sprintf("10.%d.%d.%d", i>>16&127, i>>8&255, i&255),
		"$T0", created.Format(time.RFC3339), "$T1", after(3), "$T2", after(10), "$T3", after(60),
	).Replace(w.template)
	pod := new(corev1.Pod)
	if err := json.Unmarshal([]byte(raw), pod); err != nil {
		return fmt.Errorf("make a pod of %s: %w", w.kind, err)
	}
	pod.ManagedFields = managedFields(pod.CreationTimestamp, w.owner)
	w.pods++
	c.pods = append(c.pods, pod)
	return nil
}

// letters returns a random name of n characters, from the letters and digits that Kubernetes uses for random names.
func (c *cluster) letters(n int) string {
	const from = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = from[c.random.IntN(len(from))]
	}
	return string(b)
}

func (c *cluster) uid() string {
	a, b := c.random.Uint64(), c.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1))
}

// container returns an identifier of a container.
func (c *cluster) container() string { return digest(strconv.FormatUint(c.random.Uint64(), 16)) }

func digest(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])
}
