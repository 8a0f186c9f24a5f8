package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// chance makes pods, deployments and changes of them, always the same of one seed.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 36))} }

// one in n.
func (r chance) one(n int) bool { return r.IntN(n) == 0 }

func (r chance) pick(words ...string) string { return words[r.IntN(len(words))] }

// some returns some of the numbers below n, in any order.
func (r chance) some(n int) []int { return r.Perm(n)[:r.IntN(n+1)] }

// list makes the items of some of the numbers below n.
func (r chance) list(n int, item func(i int) any) []any {
	out := []any{}
	for _, i := range r.some(n) {
		out = append(out, item(i))
	}
	return out
}

// sometimes sets a member, half the time.
func (r chance) sometimes(o map[string]any, name string, make func() any) {
	if r.one(2) {
		o[name] = make()
	}
}

// words has members whose values are any text, or those that a label may have.
func (r chance) words(prefix string, n int, values ...string) map[string]any {
	if values == nil {
		values = []string{"x", "y", "", "é", "e\u0301", "a\nb \"c\""}
	}
	out := map[string]any{}
	for _, i := range r.some(n) {
		out[fmt.Sprint(prefix, i)] = r.pick(values...)
	}
	return out
}

// metadata is that of an object.
func (r chance) metadata() map[string]any {
	m := map[string]any{"labels": map[string]any{"app": "web", "tier": r.pick("front", "back")}}
	r.sometimes(m, "annotations", func() any { return r.words("example.invalid/a", 4) })
	r.sometimes(m, "finalizers", func() any {
		return r.list(5, func(i int) any { return fmt.Sprint("example.invalid/f", i) })
	})
	r.sometimes(m, "ownerReferences", func() any {
		return r.list(3, func(i int) any {
			o := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": r.pick("a", "b"), "uid": fmt.Sprint("uid-", i)}
			r.sometimes(o, "blockOwnerDeletion", func() any { return r.one(2) })
			return o
		})
	})
	return m
}

func (r chance) deployment() map[string]any {
	spec := map[string]any{
		"replicas": r.IntN(3), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "web", "v": r.pick("1", "2")}, "annotations": r.words("a", 3)},
			"spec":     r.podSpec(),
		},
	}
	r.sometimes(spec, "strategy", func() any {
		if r.one(2) {
			return map[string]any{"type": "Recreate"}
		}
		how := map[string]any{"maxSurge": []any{1, "25%", 2}[r.IntN(3)]}
		r.sometimes(how, "maxUnavailable", func() any { return 1 })
		return map[string]any{"type": "RollingUpdate", "rollingUpdate": how}
	})
	r.sometimes(spec, "minReadySeconds", func() any { return r.IntN(3) })
	r.sometimes(spec, "paused", func() any { return r.one(2) })
	r.sometimes(spec, "revisionHistoryLimit", func() any { return 1 + r.IntN(3) })
	return repaired(map[string]any{"metadata": r.metadata(), "spec": spec})
}

func (r chance) pod() map[string]any {
	spec := r.podSpec()
	r.sometimes(spec, "activeDeadlineSeconds", func() any { return 100 + r.IntN(2) })
	r.sometimes(spec, "schedulingGates", func() any {
		return r.list(3, func(i int) any { return map[string]any{"name": fmt.Sprint("example.invalid/g", i)} })
	})
	return repaired(map[string]any{"metadata": r.metadata(), "spec": spec})
}

func (r chance) podSpec() map[string]any {
	spec := map[string]any{"automountServiceAccountToken": false}
	for len(asList(spec["containers"])) == 0 {
		spec["containers"] = r.list(4, func(i int) any { return r.container(fmt.Sprint("c", i)) })
	}
	r.sometimes(spec, "initContainers", func() any {
		return r.list(2, func(i int) any { return r.container(fmt.Sprint("i", i)) })
	})
	r.sometimes(spec, "volumes", func() any { return r.list(4, func(i int) any { return r.volume(fmt.Sprint("v", i)) }) })
	r.sometimes(spec, "tolerations", func() any { return r.list(3, r.toleration) })
	r.sometimes(spec, "affinity", r.affinity)
	r.sometimes(spec, "nodeSelector", func() any { return r.words("n", 2, "x", "y", "") })
	r.sometimes(spec, "terminationGracePeriodSeconds", func() any { return r.IntN(3) })
	r.sometimes(spec, "hostAliases", func() any {
		return r.list(3, func(i int) any {
			return map[string]any{"ip": fmt.Sprint("10.0.0.", i), "hostnames": []any{r.pick("a", "b"), "c"}}
		})
	})
	r.sometimes(spec, "imagePullSecrets", func() any {
		return r.list(3, func(i int) any { return map[string]any{"name": fmt.Sprint("s", i)} })
	})
	r.sometimes(spec, "topologySpreadConstraints", func() any {
		return r.list(4, func(i int) any { // two of one merge key
			return map[string]any{
				"topologyKey": fmt.Sprint("zone", i/2), "maxSkew": 1 + r.IntN(2),
				"whenUnsatisfiable": []string{"DoNotSchedule", "ScheduleAnyway"}[i%2],
			}
		})
	})
	r.sometimes(spec, "securityContext", func() any {
		o := map[string]any{"supplementalGroups": []any{r.IntN(3), 7}}
		r.sometimes(o, "runAsUser", func() any { return 1<<31 - 1 - r.IntN(2) })
		r.sometimes(o, "sysctls", func() any {
			return r.list(2, func(i int) any { return map[string]any{"name": fmt.Sprint("net.a", i), "value": r.pick("1", "2")} })
		})
		return o
	})
	r.sometimes(spec, "dnsConfig", func() any {
		return map[string]any{
			"nameservers": []any{"10.0.0.1", r.pick("10.0.0.2", "10.0.0.3")},
			"options":     r.list(2, func(i int) any { return map[string]any{"name": fmt.Sprint("o", i)} }),
		}
	})
	return spec
}

func (r chance) toleration(i int) any {
	o := map[string]any{"key": fmt.Sprint("k", i), "operator": r.pick("Exists", "Equal")}
	if o["operator"] == "Equal" {
		o["value"] = r.pick("x", "y")
	}
	return o
}

func (r chance) affinity() any {
	term := func(i int) any {
		return map[string]any{"matchExpressions": []any{map[string]any{"key": fmt.Sprint("k", i), "operator": "In", "values": []any{r.pick("x", "y"), "z"}}}}
	}
	affinity := map[string]any{}
	r.sometimes(affinity, "nodeAffinity", func() any {
		node := map[string]any{}
		r.sometimes(node, "requiredDuringSchedulingIgnoredDuringExecution", func() any {
			return map[string]any{"nodeSelectorTerms": append(r.list(2, term), term(2))}
		})
		r.sometimes(node, "preferredDuringSchedulingIgnoredDuringExecution", func() any {
			return r.list(2, func(i int) any { return map[string]any{"weight": 1 + i, "preference": term(i)} })
		})
		return node
	})
	r.sometimes(affinity, "podAntiAffinity", func() any {
		return map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": r.list(2, func(i int) any {
			return map[string]any{"topologyKey": fmt.Sprint("zone", i), "labelSelector": map[string]any{"matchLabels": r.words("l", 2, "x", "y")}}
		})}
	})
	return affinity
}

func (r chance) volume(name string) any {
	v := map[string]any{"name": name}
	switch r.IntN(5) {
	case 0:
		v["emptyDir"] = map[string]any{}
	case 1:
		v["emptyDir"] = map[string]any{"medium": "Memory", "sizeLimit": r.pick("1Gi", "64Mi")}
	case 2:
		o := map[string]any{"name": r.pick("a", "b")}
		r.sometimes(o, "items", func() any {
			return r.list(2, func(i int) any {
				return map[string]any{"key": fmt.Sprint("k", i), "path": r.pick("p", "q") + fmt.Sprint(i)}
			})
		})
		v["configMap"] = o
	case 3:
		v["secret"] = map[string]any{"secretName": r.pick("a", "b"), "optional": r.one(2)}
	case 4:
		v["hostPath"] = map[string]any{"path": r.pick("/a", "/b")}
	}
	return v
}

func (r chance) container(name string) any {
	c := map[string]any{"name": name, "image": "example.invalid/" + r.pick("a", "b")}
	r.sometimes(c, "args", func() any { return []any{r.pick("-a", "-b"), "-c"}[:1+r.IntN(2)] })
	r.sometimes(c, "env", func() any {
		return r.list(4, func(i int) any {
			e := map[string]any{"name": fmt.Sprint("E", i)}
			switch r.IntN(4) {
			case 0:
				e["value"] = r.pick("x", "y", "")
			case 1:
				e["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": r.pick("metadata.name", "metadata.uid")}}
			case 2:
				e["valueFrom"] = map[string]any{"secretKeyRef": map[string]any{"name": r.pick("a", "b"), "key": "k"}}
			}
			return e
		})
	})
	r.sometimes(c, "envFrom", func() any {
		return r.list(2, func(i int) any { return map[string]any{"configMapRef": map[string]any{"name": fmt.Sprint("cm", i)}} })
	})
	r.sometimes(c, "ports", func() any {
		return r.list(5, func(i int) any { // 53 of TCP and of UDP have one merge key
			p := map[string]any{"containerPort": []int{53, 53, 80, 443, 8080}[i], "protocol": []string{"TCP", "UDP", "TCP", "TCP", "TCP"}[i]}
			r.sometimes(p, "name", func() any { return fmt.Sprint("p", i) })
			return p
		})
	})
	r.sometimes(c, "volumeMounts", func() any {
		return r.list(4, func(i int) any {
			m := map[string]any{"mountPath": fmt.Sprint("/m", i), "name": fmt.Sprint("v", r.IntN(4))}
			r.sometimes(m, "readOnly", func() any { return r.one(2) })
			return m
		})
	})
	r.sometimes(c, "resources", func() any {
		return map[string]any{"requests": map[string]any{"cpu": r.pick("100m", "0.2")}, "limits": map[string]any{"memory": r.pick("64Mi", "1Gi")}}
	})
	r.sometimes(c, "readinessProbe", func() any {
		if r.one(2) {
			return map[string]any{"httpGet": map[string]any{"path": r.pick("/a", "/b"), "port": []any{80, "web"}[r.IntN(2)]}}
		}
		return map[string]any{"tcpSocket": map[string]any{"port": 80}, "periodSeconds": 1 + r.IntN(3)}
	})
	return c
}

// keysOf says what tells the items of a merged list apart, by the list's name: of the kinds here a name means but one thing.
// It is written down here once more so that the tests do not ask the schema whether the schema is right.
var keysOf = map[string]string{
	"containers": "name", "initContainers": "name", "env": "name", "ports": "containerPort", "volumes": "name", "volumeMounts": "mountPath",
	"hostAliases": "ip", "imagePullSecrets": "name", "topologySpreadConstraints": "topologyKey", "ownerReferences": "uid",
	"schedulingGates": "name", "conditions": "type",
}

// unions are the objects of which but one member may be set, so that they are not mixed.
var unions = []string{"strategy", "volumes", "env", "readinessProbe", "labelSelector", "resources"}

// mix returns an object that has something of both, which stay as they are.
func (r chance) mix(a, b map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range sortedNames(a) { // else a seed would not tell the result
		value := a[name]
		other, both := b[name]
		switch {
		case !both && r.one(3): // it goes
		case !both:
			out[name] = clone(value)
		default:
			out[name] = r.mixed(name, value, other)
		}
	}
	for _, name := range sortedNames(b) {
		if _, ok := a[name]; !ok && r.one(2) {
			out[name] = clone(b[name])
		}
	}
	return out
}

func (r chance) mixed(name string, a, b any) any {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok && !slices.Contains(unions, name) {
			return r.mix(x, y)
		}
	case []any:
		y, ok := b.([]any)
		if key := keysOf[name]; ok && (key != "" || name == "finalizers") {
			return r.mixList(name, key, x, y)
		}
	}
	if r.one(3) {
		return clone(b)
	}
	return clone(a)
}

func (r chance) mixList(name, key string, a, b []any) any {
	id := func(v any) any {
		if o, ok := v.(map[string]any); ok {
			return fmt.Sprint(o[key], o["protocol"], o["whenUnsatisfiable"])
		}
		return v
	}
	out := []any{}
	used := map[any]bool{}
	for _, v := range a {
		used[id(v)] = true
		i := slices.IndexFunc(b, func(w any) bool { return id(w) == id(v) })
		switch o, isObject := v.(map[string]any); {
		case r.one(5): // it goes
		case isObject && i >= 0 && slices.Contains(unions, name):
			out = append(out, clone([]any{v, b[i]}[r.IntN(2)]))
		case isObject && i >= 0:
			merged := r.mix(o, b[i].(map[string]any))
			for _, keep := range []string{key, "protocol", "whenUnsatisfiable", "image", "name", "apiVersion", "kind", "maxSkew"} {
				if was, ok := o[keep]; ok && merged[keep] == nil {
					merged[keep] = was
				}
			}
			out = append(out, merged)
		default:
			out = append(out, clone(v))
		}
	}
	for _, v := range b {
		if !used[id(v)] && r.one(3) {
			out = slices.Insert(out, r.IntN(len(out)+1), clone(v))
		}
	}
	if r.one(4) {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// changed returns what a deployment or a pod becomes by somebody's work. It stays what a server accepts, as a rule.
func (r chance) changed(doc, other map[string]any) map[string]any {
	if asObject(doc["spec"])["template"] == nil && !r.one(4) {
		out := clone(doc).(map[string]any)
		out["metadata"] = r.mix(asObject(out["metadata"]), asObject(other["metadata"]))
		out["spec"] = r.changedPod(asObject(out["spec"]))
		return out
	}
	return repaired(r.mix(doc, other))
}

// changedPod returns the spec with changes such as a pod that exists may have.
func (r chance) changedPod(spec map[string]any) map[string]any {
	out := clone(spec).(map[string]any)
	for _, c := range asList(out["containers"]) {
		asObject(c)["image"] = "example.invalid/" + r.pick("a", "b", "c")
	}
	r.sometimes(out, "tolerations", func() any {
		return append(asList(out["tolerations"]), map[string]any{"key": fmt.Sprint("new", r.IntN(3)), "operator": "Exists"})
	})
	if gates := asList(out["schedulingGates"]); len(gates) > 0 {
		out["schedulingGates"] = gates[r.IntN(len(gates)):]
	}
	return out
}

// repaired sees to what a server demands of a deployment or a pod beyond its single fields.
func repaired(doc map[string]any) map[string]any {
	spec := asObject(doc["spec"])
	if template, ok := spec["template"].(map[string]any); ok {
		asObject(asObject(template["metadata"])["labels"])["app"] = "web"
		spec = asObject(template["spec"])
	}
	volumes := map[any]bool{}
	for _, v := range asList(spec["volumes"]) {
		volumes[v.(map[string]any)["name"]] = true
	}
	if len(asList(spec["containers"])) == 0 {
		spec["containers"] = []any{map[string]any{"name": "c9", "image": "example.invalid/a"}}
	}
	for _, c := range slices.Concat(asList(spec["containers"]), asList(spec["initContainers"])) {
		c := c.(map[string]any)
		if strings.HasPrefix(c["name"].(string), "i") {
			delete(c, "readinessProbe")
		}
		if mounts, ok := c["volumeMounts"].([]any); ok {
			c["volumeMounts"] = slices.DeleteFunc(mounts, func(m any) bool { return !volumes[m.(map[string]any)["name"]] })
		}
		if probe, ok := c["readinessProbe"].(map[string]any); ok && probe["httpGet"] != nil {
			asObject(probe["httpGet"])["port"] = 80
		}
	}
	return doc
}

func asObject(v any) map[string]any {
	o, _ := v.(map[string]any)
	if o == nil {
		o = map[string]any{}
	}
	return o
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = clone(value)
		}
		return out
	}
	return v
}

func sortedNames(o map[string]any) []string {
	out := make([]string, 0, len(o))
	for name := range o {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
