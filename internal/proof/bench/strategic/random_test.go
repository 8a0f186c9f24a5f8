package strategic_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// random makes objects from few names, so that two of them have much in common. A part of an object is made anew with the
// chance fresh, and otherwise stays as it was.
type random struct {
	*rand.Rand
	fresh float64
}

func (r random) again() bool { return r.Float64() < r.fresh }

func (r random) word(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, r.IntN(n)) }

// change replaces *p, or the parts of it that make goes into, as often as fresh says.
func change[T any](r random, p *T, make func() T) {
	if r.again() {
		*p = make()
	}
}

// some makes a list of different items, in any order. Items that stay go through keep.
func some[T any](r random, list []T, n int, key func(T) string, item func(i int) T, keep func(*T)) []T {
	for i := range list {
		if r.again() {
			keep(&list[i])
		}
	}
	if !r.again() {
		return list
	}
	list = slices.DeleteFunc(list, func(T) bool { return r.IntN(3) == 0 })
	for range r.IntN(3) {
		added := item(r.IntN(n))
		if !slices.ContainsFunc(list, func(v T) bool { return key(v) == key(added) }) {
			list = slices.Insert(list, r.IntN(len(list)+1), added)
		}
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}

func (r random) labels() map[string]string {
	m := make(map[string]string)
	for range r.IntN(4) {
		m[r.word("k/a~", 4)] = r.word("v", 3)
	}
	return m
}

func (r random) meta(m *metav1.ObjectMeta) {
	change(r, &m.Labels, r.labels)
	change(r, &m.Annotations, r.labels)
	change(r, &m.Generation, func() int64 { return 1<<53 + int64(r.IntN(3)) })
	m.Finalizers = some(r, m.Finalizers, 5, func(s string) string { return s },
		func(i int) string { return fmt.Sprintf("example.com/f%d", i) }, func(*string) {})
	m.OwnerReferences = some(r, m.OwnerReferences, 3, func(o metav1.OwnerReference) string { return string(o.UID) },
		func(i int) metav1.OwnerReference {
			return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: types.UID(fmt.Sprint(i))}
		}, func(o *metav1.OwnerReference) { o.Name = r.word("n", 3) })
}

func (r random) env(list []corev1.EnvVar) []corev1.EnvVar {
	value := func(e *corev1.EnvVar) {
		e.Value, e.ValueFrom = "", nil
		switch r.IntN(3) {
		case 0:
			e.Value = r.word("v", 3)
		case 1:
			e.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: r.word("f", 3)}}
		default:
			e.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: r.word("k", 3)}}
		}
	}
	return some(r, list, 6, func(e corev1.EnvVar) string { return e.Name }, func(i int) corev1.EnvVar {
		e := corev1.EnvVar{Name: fmt.Sprintf("E%d", i)}
		value(&e)
		return e
	}, value)
}

func (r random) resources() corev1.ResourceList {
	if r.IntN(3) == 0 {
		return nil
	}
	return corev1.ResourceList{
		corev1.ResourceName(r.word("r", 3)): resource.MustParse(r.word("1", 3)),
		corev1.ResourceCPU:                  resource.MustParse("100m"),
	}
}

func (r random) container(c *corev1.Container) {
	change(r, &c.Image, func() string { return r.word("image:", 3) })
	change(r, &c.Command, func() []string { return []string{r.word("a", 3), r.word("b", 3)}[:r.IntN(3)] })
	c.Env = r.env(c.Env)
	c.Ports = some(r, c.Ports, 4, func(p corev1.ContainerPort) string { return fmt.Sprint(p.ContainerPort) },
		func(i int) corev1.ContainerPort { return corev1.ContainerPort{ContainerPort: int32(8*i + 1)} },
		func(p *corev1.ContainerPort) { p.Name = r.word("p", 3) })
	c.VolumeMounts = some(r, c.VolumeMounts, 4, func(v corev1.VolumeMount) string { return v.MountPath },
		func(i int) corev1.VolumeMount {
			return corev1.VolumeMount{MountPath: fmt.Sprint("/m", i), Name: r.word("v", 4)}
		},
		func(v *corev1.VolumeMount) { v.ReadOnly = r.IntN(2) == 0 })
	change(r, &c.Resources.Limits, r.resources)
	change(r, &c.LivenessProbe, func() *corev1.Probe {
		return [...]*corev1.Probe{
			nil,
			{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}},
			{PeriodSeconds: 3, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}},
			{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
		}[r.IntN(4)]
	})
}

func (r random) containers(list []corev1.Container) []corev1.Container {
	return some(r, list, 4, func(c corev1.Container) string { return c.Name }, func(i int) corev1.Container {
		c := corev1.Container{Name: fmt.Sprintf("c%d", i)}
		random{r.Rand, 0.7}.container(&c)
		return c
	}, r.container)
}

func (r random) volume(v *corev1.Volume) {
	v.VolumeSource = [...]corev1.VolumeSource{
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}},
		{HostPath: &corev1.HostPathVolumeSource{Path: r.word("/", 2)}},
		{Secret: &corev1.SecretVolumeSource{Items: []corev1.KeyToPath{{Key: r.word("k", 2), Path: "p"}}}},
		{},
	}[r.IntN(5)]
}

func (r random) spec(s *corev1.PodSpec) {
	if s.Containers = r.containers(s.Containers); s.Containers == nil {
		s.Containers = []corev1.Container{} // null is nothing that a server has here, and apimachinery does not take it
	}
	s.InitContainers = r.containers(s.InitContainers)
	s.Volumes = some(r, s.Volumes, 4, func(v corev1.Volume) string { return v.Name }, func(i int) corev1.Volume {
		v := corev1.Volume{Name: fmt.Sprintf("v%d", i)}
		r.volume(&v)
		return v
	}, r.volume)
	change(r, &s.NodeSelector, r.labels)
	change(r, &s.HostNetwork, func() bool { return r.IntN(2) == 0 })
	s.ImagePullSecrets = some(r, s.ImagePullSecrets, 3, func(l corev1.LocalObjectReference) string { return l.Name },
		func(i int) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: fmt.Sprint("s", i)} },
		func(*corev1.LocalObjectReference) {})
	s.Tolerations = some(r, s.Tolerations, 3, func(t corev1.Toleration) string { return t.Key },
		func(i int) corev1.Toleration { return corev1.Toleration{Key: fmt.Sprint(i)} },
		func(t *corev1.Toleration) { t.Value = r.word("v", 3) })
	change(r, &s.Affinity, func() *corev1.Affinity {
		return [...]*corev1.Affinity{nil, {}, {NodeAffinity: &corev1.NodeAffinity{}}, {PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: r.word("t", 3)}},
		}}}[r.IntN(4)]
	})
	s.TopologySpreadConstraints = some(r, s.TopologySpreadConstraints, 3,
		func(c corev1.TopologySpreadConstraint) string { return c.TopologyKey },
		func(i int) corev1.TopologySpreadConstraint {
			return corev1.TopologySpreadConstraint{TopologyKey: fmt.Sprint("z", i), MaxSkew: 1}
		}, func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = int32(r.IntN(3)) })
	s.HostAliases = some(r, s.HostAliases, 3, func(h corev1.HostAlias) string { return h.IP },
		func(i int) corev1.HostAlias { return corev1.HostAlias{IP: fmt.Sprint("10.0.0.", i)} },
		func(h *corev1.HostAlias) { h.Hostnames = []string{r.word("h", 3)} })
}

func (r random) pod(from *corev1.Pod) *corev1.Pod {
	p := from.DeepCopy()
	r.meta(&p.ObjectMeta)
	r.spec(&p.Spec)
	p.Status.Conditions = some(r, p.Status.Conditions, 4, func(c corev1.PodCondition) string { return string(c.Type) },
		func(i int) corev1.PodCondition {
			return corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint("C", i))}
		},
		func(c *corev1.PodCondition) { c.Status = corev1.ConditionStatus(r.word("S", 3)) })
	return p
}

func (r random) deployment(from *appsv1.Deployment) *appsv1.Deployment {
	d := from.DeepCopy()
	r.meta(&d.ObjectMeta)
	change(r, &d.Spec.Replicas, func() *int32 { return [...]*int32{nil, new(int32(0)), new(int32(3))}[r.IntN(3)] })
	change(r, &d.Spec.Selector, func() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: r.labels()} })
	change(r, &d.Spec.Strategy, func() appsv1.DeploymentStrategy {
		surge := intstr.FromInt32(int32(r.IntN(2)))
		percent := intstr.FromString("25%")
		return [...]appsv1.DeploymentStrategy{
			{},
			{Type: appsv1.RecreateDeploymentStrategyType},
			{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge}},
			{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &percent}},
		}[r.IntN(4)]
	})
	r.meta(&d.Spec.Template.ObjectMeta)
	r.spec(&d.Spec.Template.Spec)
	return d
}
