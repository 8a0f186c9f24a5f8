package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
)

// boundCase is a namespace with LimitRanges or quotas, and requests for objects in it.
type boundCase struct {
	name   string
	bounds string // the limits of a LimitRange, or the spec of a quota
	used   string // of the quota, when the requests begin
	steps  []string
}

// LimitRanges complete and refuse the same pods and claims as on a kube-apiserver.
func TestLimitRangesOfBothServers(t *testing.T) {
	t.Parallel()
	compareBounds(t, "limits", limitCases(), func(c boundCase) []string {
		return []string{"POST {core}/limitranges\n" + `{"metadata":{"name":"l"},"spec":{"limits":[` + c.bounds + `]}}`}
	})
}

// Quotas refuse the same objects as on a kube-apiserver. No controller runs there, so the test writes the status of each
// quota; clienttest has the same already.
func TestQuotasOfBothServers(t *testing.T) {
	t.Parallel()
	compareBounds(t, "quotas", quotaCases(), func(c boundCase) []string {
		hard := regexp.MustCompile(`"hard":\{[^}]*\}`).FindString(c.bounds)
		return []string{
			"POST {core}/resourcequotas\n" + `{"metadata":{"name":"q"},"spec":{` + c.bounds + `}}`,
			"PATCH {core}/resourcequotas/q/status merge-patch+json\n" + `{"status":{` + hard + `,"used":{` + c.used + `}}}`,
		}
	})
}

func compareBounds(t *testing.T, name string, cases []boundCase, setup func(boundCase) []string) {
	t.Helper()
	_, ns := admin(t) // for its name, which both servers use
	ns = name + "-" + ns
	want := playBounds(t, open(t, adminConfig()), ns, cases, setup)
	got := playBounds(t, open(t, clienttest.Start(t, clienttest.Options{}).Config()), ns, cases, setup)
	for i, step := range want {
		if got[i] != step {
			head, _, _ := strings.Cut(step, "\n")
			t.Errorf("%s: kube-apiserver and clienttest differ in\n%s", head, differences(step, got[i]))
		}
	}
}

// playBounds sends the requests of all cases, and returns the answers.
func playBounds(t *testing.T, c *client.Client, prefix string, cases []boundCase, setup func(boundCase) []string) (shown []string) {
	t.Helper()
	send := func(ns, step string) string {
		return sendStep(t, c, strings.NewReplacer("{core}", "/api/v1/namespaces/"+ns, "{apps}", "/apis/apps/v1/namespaces/"+ns).Replace(step))
	}
	// A real server reads the bounds from a watch, which has those of the last namespace last.
	last := boundCase{name: "last", bounds: `{"type":"PersistentVolumeClaim","max":{"storage":"1"}}`}
	if strings.Contains(setup(last)[0], "quota") {
		last.bounds, last.used = `"hard":{"persistentvolumeclaims":"0"}`, `"persistentvolumeclaims":"0"`
	}
	home := func(of boundCase) string { return prefix + "-" + strings.ReplaceAll(of.name, " ", "-") }
	for _, of := range append(cases, last) {
		if answer := send("", "POST /api/v1/namespaces\n"+`{"metadata":{"name":"`+home(of)+`"}}`); !strings.HasPrefix(answer, "201") {
			t.Fatal(answer)
		}
		for _, step := range setup(of) {
			if answer := send(home(of), step); !strings.HasPrefix(answer, "20") {
				t.Fatalf("%s: %s", step, answer)
			}
		}
	}
	eventually(t, func() error {
		if answer := send(home(last), "POST {core}/persistentvolumeclaims?dryRun=All\n"+claimOf("a", "2")); !strings.HasPrefix(answer, "403") {
			return fmt.Errorf("the answer is %s", answer)
		}
		return nil
	})
	for _, of := range cases {
		for _, step := range of.steps {
			answer := hideChance(send(home(of), step), home(of), "")
			if strings.Contains(step, "/resourcequotas/") { // who owns the status differs
				_, answer, _ = strings.Cut(answer, `"status": {`)
			}
			answer = regexp.MustCompile(`^(\d+) \[.*?\] \{`).ReplaceAllString(answer, "$1 {") // without warnings
			answer = regexp.MustCompile(`"nodePort": \d+|"10\.\d+\.\d+\.\d+"`).ReplaceAllString(answer, "CHANCE")
			shown = append(shown, "> "+of.name+": "+step+"\n"+answer)
		}
	}
	return shown
}

func claimOf(name, size string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":%q}}}}`, name, size)
}

// newPod is a request for a pod whose container has resources, and whose spec has more members.
func newPod(name, resources, more string) string {
	return "POST {core}/pods\n" + fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"i","resources":{%s}}]%s}}`, name, resources, more)
}

// resized is a request for other resources of the container of a pod.
func resized(name, resources string) string {
	return "PATCH {core}/pods/" + name + "/resize strategic-merge-patch+json\n" + `{"spec":{"containers":[{"name":"c","resources":{` + resources + `}}]}}`
}

func limitCases() []boundCase {
	const sidecar = `,"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}},
		{"name":"t","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}}]`
	cpu := func(request, limit string) string {
		return fmt.Sprintf(`"requests":{"cpu":%q},"limits":{"cpu":%q}`, request, limit)
	}
	claims := []string{"POST {core}/persistentvolumeclaims\n" + claimOf("a", "1Gi")}
	for _, size := range []string{"500Mi", "1", "5Gi", "2147483649"} {
		claims = append(claims, "POST {core}/persistentvolumeclaims\n"+claimOf("b", size))
	}
	return []boundCase{
		{name: "defaults", bounds: `{"type":"Container","default":{"cpu":"1","memory":"1Gi","example.com/gpu":"1"},"defaultRequest":{"cpu":"100m","memory":"1000Mi"}}`, steps: []string{
			newPod("a", "", ""), newPod("b", `"requests":{"cpu":"2"},"limits":{"cpu":"3"}`, sidecar), newPod("c", `"limits":{"cpu":"500m"}`, ""), newPod("d", `"requests":{"cpu":"1500m"}`, ""),
			newPod("e", cpu("1", "1"), `,"resources":{"requests":{"cpu":"2"}}`), strings.Replace(newPod("f", "", ""), `"name":"f"`, `"name":"f","annotations":{"kubernetes.io/limit-ranger":"mine"}`, 1),
		}},
		{name: "only bounds", bounds: `{"type":"Container","min":{"cpu":"100m"},"max":{"memory":"1Gi"}}`, steps: []string{newPod("a", "", ""), newPod("b", `"requests":{"memory":"2Gi"}`, "")}},
		{name: "minimum", bounds: `{"type":"Container","min":{"cpu":"100m"},"defaultRequest":{"memory":"1"}}`, steps: []string{
			newPod("a", cpu("50m", "1"), ""), newPod("b", cpu("50m", "60m"), ""), newPod("c", cpu("0.1", "1e2"), sidecar), newPod("d", `"requests":{"cpu":"0"}`, ""),
			resized("c", cpu("50m", "1e2")), resized("c", cpu("200m", "1e2")),
		}},
		{name: "maximum", bounds: `{"type":"Container","max":{"cpu":"2"}}`, steps: []string{
			newPod("a", cpu("1", "3"), ""), newPod("b", `"requests":{"cpu":"3"}`, ""), newPod("c", cpu("1", "2"), sidecar), newPod("d", cpu("1", "2001m"), sidecar),
			resized("c", cpu("1", "2500m")), "PATCH {core}/pods/c merge-patch+json\n" + `{"metadata":{"labels":{"a":"b"}}}`,
		}},
		{name: "ratio", bounds: `{"type":"Container","maxLimitRequestRatio":{"cpu":"1500m"}}`, steps: []string{
			newPod("a", cpu("1", "2"), ""), newPod("b", cpu("2", "3"), ""), newPod("c", "", ""), newPod("d", `"requests":{"cpu":"1"}`, ""), newPod("e", `"limits":{"memory":"1"}`, ""), newPod("f", cpu("0", "1"), ""),
			newPod("g", cpu("3", "7"), ""),
		}},
		{name: "pod", bounds: `{"type":"Pod","max":{"cpu":"3"},"min":{"memory":"1Mi"},"maxLimitRequestRatio":{"cpu":"2"}}`, steps: []string{
			newPod("a", "", ""), newPod("b", `"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"2500m","memory":"1Mi"}`, sidecar), newPod("c", `"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"2","memory":"1Mi"}`, sidecar),
			newPod("d", `"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"2"}`, `,"resources":{"limits":{"cpu":"4"},"requests":{"cpu":"3"}}`),
			newPod("e", `"requests":{"cpu":"1","memory":"500k"},"limits":{"cpu":"3"}`, ""),
		}},
		{name: "claim", bounds: `{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}`, steps: append(claims,
			"PATCH {core}/persistentvolumeclaims/a merge-patch+json\n"+`{"metadata":{"labels":{"a":"b"}}}`,
			newPod("a", "", ""),
		)},
	}
}

func quotaCases() []boundCase {
	const status = "GET {core}/resourcequotas/q\n"
	service := func(name, more string) string {
		return "POST {core}/services\n" + `{"metadata":{"name":"` + name + `"},"spec":{"selector":{"a":"b"},"ports":[{"name":"x","port":80},{"name":"y","port":81}]` + more + `}}`
	}
	object := func(path, name string) string {
		return "POST {core}/" + path + "\n" + `{"metadata":{"name":"` + name + `"}}`
	}
	claim := func(name, class, size string) string {
		text := strings.Replace(claimOf(name, size), `"spec":{`, `"spec":{"storageClassName":"`+class+`",`, 1)
		return "POST {core}/persistentvolumeclaims\n" + text
	}
	const both = `"requests":{"cpu":"700m","memory":"600Mi"},"limits":{"cpu":"1","memory":"1Gi"}`
	return []boundCase{
		{name: "pods", bounds: `"hard":{"pods":"1","count/pods":"2"}`, used: `"pods":"0","count/pods":"0"`, steps: []string{
			strings.Replace(newPod("a", "", ""), "pods\n", "pods?dryRun=All\n", 1), newPod("a", "", ""), newPod("a", "", ""), newPod("b", "", ""), status,
			"PATCH {core}/pods/a merge-patch+json\n" + `{"metadata":{"labels":{"a":"b"}}}`, newPod("invalid", `"requests":{"cpu":"x"}`, ""),
		}},
		{
			name: "resources", bounds: `"hard":{"requests.cpu":"2","memory":"1Gi","limits.cpu":"3","requests.ephemeral-storage":"1Gi","requests.example.com/gpu":"1","hugepages-2Mi":"4Mi"}`,
			used: `"requests.cpu":"0","memory":"0","limits.cpu":"0","requests.ephemeral-storage":"0","requests.example.com/gpu":"0","hugepages-2Mi":"0"`, steps: []string{
				newPod("a", "", ""), newPod("a", `"requests":{"cpu":"1"}`, ""), newPod("a", both, `,"initContainers":[{"name":"i","image":"i"}]`), newPod("a", both, ""), status, newPod("b", both, ""),
				newPod("c", `"requests":{"cpu":"5","memory":"1"},"limits":{"cpu":"5"}`, ""), newPod("d", `"requests":{"cpu":"1m","memory":"1"},"limits":{"cpu":"1m","example.com/gpu":"2"}`, ""),
				newPod("e", `"requests":{"cpu":"1m","memory":"1"},"limits":{"cpu":"1m","hugepages-2Mi":"6Mi"}`, ""), newPod("f", `"requests":{"cpu":"1m","memory":"1","ephemeral-storage":"2Gi"},"limits":{"cpu":"1m"}`, ""),
				newPod("g", "", `,"resources":{"requests":{"cpu":"500m","memory":"1Mi"},"limits":{"cpu":"600m"}}`), status, resized("a", `"requests":{"cpu":"800m"}`), status, resized("a", `"requests":{"cpu":"2500m"},"limits":{"cpu":"2500m"}`),
				newPod("h", `"requests":{"cpu":"0","memory":"1"},"limits":{"cpu":"0","example.com/gpu":"1"}`, `,"initContainers":[{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"100m","memory":"1"},"limits":{"cpu":"200m"}}}]`), status,
			},
		},
		{name: "best effort", bounds: `"hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"]`, used: `"pods":"0"`, steps: []string{
			newPod("a", `"requests":{"cpu":"1"}`, ""), newPod("b", "", `,"activeDeadlineSeconds":9`), newPod("c", "", ""), newPod("d", "", ""), status,
		}},
		{name: "others", bounds: `"hard":{"pods":"1","requests.cpu":"5"},"scopes":["NotBestEffort"]`, used: `"pods":"0","requests.cpu":"0"`, steps: []string{
			newPod("a", "", ""), newPod("b", `"requests":{"memory":"1"}`, ""), newPod("c", `"requests":{"cpu":"1"}`, ""), newPod("d", `"requests":{"cpu":"1"}`, ""), status,
		}},
		{name: "deadline", bounds: `"hard":{"pods":"1"},"scopes":["Terminating"]`, used: `"pods":"0"`, steps: []string{
			newPod("a", "", ""), newPod("b", "", ""), "PATCH {core}/pods/a merge-patch+json\n" + `{"spec":{"activeDeadlineSeconds":9}}`, status,
			"PATCH {core}/pods/b merge-patch+json\n" + `{"spec":{"activeDeadlineSeconds":9}}`, newPod("c", "", `,"activeDeadlineSeconds":1`),
		}},
		{name: "priority", bounds: `"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["system-node-critical"]}]}`, used: `"pods":"0"`, steps: []string{
			newPod("a", "", `,"priorityClassName":"system-node-critical"`), newPod("b", "", ""), newPod("c", "", `,"priorityClassName":"system-cluster-critical"`), status,
		}},
		{name: "affinity", bounds: `"hard":{"pods":"0"},"scopes":["CrossNamespacePodAffinity"]`, used: `"pods":"0"`, steps: []string{
			newPod("a", "", ""), newPod("b", "", `,"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"k","namespaceSelector":{}}}]}}`),
		}},
		{
			name: "counts", bounds: `"hard":{"configmaps":"2","count/secrets":"1","secrets":"5","resourcequotas":"2","count/replicasets.apps":"0"}`,
			used: `"configmaps":"1","count/secrets":"0","secrets":"0","resourcequotas":"2","count/replicasets.apps":"0"`, steps: []string{
				object("configmaps", "a"), object("configmaps", "b"), object("secrets", "a"), object("secrets", "b"), status, object("serviceaccounts", "a"),
				"POST {core}/resourcequotas\n" + `{"metadata":{"name":"r"},"spec":{"hard":{"pods":"1"}}}`,
				"POST {apps}/replicasets\n" + `{"metadata":{"name":"r"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
			},
		},
		{name: "services", bounds: `"hard":{"services":"5","services.nodeports":"3","services.loadbalancers":"1"}`, used: `"services":"0","services.nodeports":"0","services.loadbalancers":"0"`, steps: []string{
			service("a", `,"type":"NodePort"`), status, service("b", `,"type":"LoadBalancer"`), service("c", `,"type":"LoadBalancer","allocateLoadBalancerNodePorts":false`), status,
			service("d", `,"type":"LoadBalancer","allocateLoadBalancerNodePorts":false`), service("e", ""), "PATCH {core}/services/e merge-patch+json\n" + `{"spec":{"type":"NodePort"}}`, status,
		}},
		{
			name: "claims", bounds: `"hard":{"persistentvolumeclaims":"3","requests.storage":"5Gi","gold.storageclass.storage.k8s.io/requests.storage":"2Gi","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"2"}`,
			used: `"persistentvolumeclaims":"0","requests.storage":"0","gold.storageclass.storage.k8s.io/requests.storage":"0","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"0"`, steps: []string{
				claim("a", "gold", "1Gi"), claim("b", "gold", "1500Mi"), claim("c", "silver", "6Gi"), claim("d", "silver", "1.5"), status, claim("e", "silver", "1k"), claim("f", "silver", "1k"),
			},
		},
		{name: "no use yet", bounds: `"hard":{"configmaps":"2"}`, used: `"configmaps":null`, steps: []string{object("configmaps", "a"), object("secrets", "a")}},
	}
}
