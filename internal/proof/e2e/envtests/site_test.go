package envtests

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The suite finds the same in each environment.
func TestSites(t *testing.T) {
	plane := startReal(t)
	real := installed(func(*testing.T) *rest.Config { return plane })
	for _, e := range environments(real) {
		t.Run(e.name, func(t *testing.T) {
			c := e.start(t)
			for _, spec := range []struct {
				name string
				run  func(t *testing.T, c client.Client, namespace string)
			}{
				{"defaults, and a deployment", servesASite},
				{"rules", refusesWrongSites},
				{"a change of a site and of its deployment", repairsTheDeployment},
				{"a deployment that the server refuses", saysWhyADeploymentIsRefused},
				{"deletion", undoesTheRegistration},
				{"nothing to do", staysQuiet},
			} {
				t.Run(spec.name, func(t *testing.T) {
					ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
					must(t, c.Create(t.Context(), ns))
					spec.run(t, c, ns.Name)
				})
			}
		})
	}
}

// newSite returns a Site that is not created yet.
func newSite(namespace, name string) *Site {
	return &Site{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       SiteSpec{Host: name + ".example.com", Image: "web:1"},
	}
}

func deploymentOf(s *Site) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}}
}

func exists(*appsv1.Deployment) bool { return true }

func reason(s *Site) string {
	if c := meta.FindStatusCondition(s.Status.Conditions, available); c != nil && c.ObservedGeneration == s.Generation {
		return c.Reason
	}
	return ""
}

func servesASite(t *testing.T, c client.Client, namespace string) {
	site := newSite(namespace, "a")
	must(t, c.Create(t.Context(), site))
	if site.Spec.Port != 8080 || site.Spec.Replicas == nil || *site.Spec.Replicas != 1 {
		t.Errorf("the defaults are %+v", site.Spec)
	}
	d := eventually(t, c, deploymentOf(site), "the deployment", exists)
	if !metav1.IsControlledBy(d, site) || *d.Spec.Replicas != 1 {
		t.Errorf("the deployment is %+v", d)
	}
	pod := d.Spec.Template.Spec
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || pod.RestartPolicy != corev1.RestartPolicyAlways ||
		pod.Containers[0].ImagePullPolicy != corev1.PullIfNotPresent || pod.Containers[0].Ports[0].Protocol != corev1.ProtocolTCP {
		t.Errorf("the deployment lacks defaults: %+v", d.Spec)
	}
	eventually(t, c, site, "the first status", func(s *Site) bool { return reason(s) == "Waiting" })

	before := d.DeepCopy()
	d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1, 1
	must(t, c.Status().Patch(t.Context(), d, client.MergeFrom(before)))
	eventually(t, c, site, "the status", func(s *Site) bool { return reason(s) == "Served" && s.Status.Available == 1 })
}

// refusesWrongSites also compares the words of the server.
func refusesWrongSites(t *testing.T, c client.Client, namespace string) {
	for _, tt := range []struct {
		name   string
		change func(s *Site)
		want   string
	}{
		{"too many replicas", func(s *Site) { s.Spec.Replicas = new(int32(11)) }, "spec.replicas in body should be less than or equal to 10"},
		{"no host", func(s *Site) { s.Spec.Host = "" }, "spec.host in body should be at least 1 chars long"},
		{"a rule", func(s *Site) {
			s.Spec.Host, s.Spec.Replicas = "example.org", new(int32(5))
		}, `spec: Invalid value: only sites of example.com may have 5 replicas or more`},
	} {
		site := newSite(namespace, "wrong")
		tt.change(site)
		if err := c.Create(t.Context(), site); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	site := newSite(namespace, "fixed")
	must(t, c.Create(t.Context(), site))
	change := client.MergeFrom(site.DeepCopyObject().(*Site))
	site.Spec.Host = "other.example.com"
	err := c.Patch(t.Context(), site, change)
	if want := `spec.host: Invalid value: "other.example.com": a site keeps its host`; !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("another host: got %v, want an error with %q", err, want)
	}
}

func repairsTheDeployment(t *testing.T, c client.Client, namespace string) {
	site := newSite(namespace, "a")
	must(t, c.Create(t.Context(), site))
	first := eventually(t, c, deploymentOf(site), "the deployment", exists).DeepCopy()

	eventually(t, c, site, "the finalizer", func(s *Site) bool { return len(s.Finalizers) == 1 })
	change := client.MergeFrom(site.DeepCopyObject().(*Site))
	site.Spec.Image, site.Spec.Replicas = "web", new(int32(3))
	must(t, c.Patch(t.Context(), site, change))
	d := eventually(t, c, deploymentOf(site), "the change", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 3 })
	if d.Generation != first.Generation+1 || d.Spec.Template.Spec.Containers[0].Image != "web" {
		t.Errorf("generation %d with %+v, want %d", d.Generation, d.Spec.Template.Spec, first.Generation+1)
	}

	drift := client.MergeFrom(d.DeepCopy())
	d.Spec.Replicas = new(int32(7))
	must(t, c.Patch(t.Context(), d, drift))
	eventually(t, c, deploymentOf(site), "the repair", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 3 })

	must(t, c.Delete(t.Context(), d))
	eventually(t, c, deploymentOf(site), "the next deployment", func(d *appsv1.Deployment) bool { return d.UID != first.UID })
}

func saysWhyADeploymentIsRefused(t *testing.T, c client.Client, namespace string) {
	site := newSite(namespace, "a")
	site.Spec.Port = 70_000
	must(t, c.Create(t.Context(), site))
	eventually(t, c, site, "the refusal", func(s *Site) bool { return reason(s) == "Refused" })
	got := meta.FindStatusCondition(site.Status.Conditions, available).Message
	const want = `Deployment.apps "a" is invalid: spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: ` +
		`must be between 1 and 65535, inclusive`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	change := client.MergeFrom(site.DeepCopyObject().(*Site))
	site.Spec.Port = 80
	must(t, c.Patch(t.Context(), site, change))
	eventually(t, c, site, "another port", func(s *Site) bool { return reason(s) == "Waiting" })
}

func undoesTheRegistration(t *testing.T, c client.Client, namespace string) {
	a, b := newSite(namespace, "a"), newSite(namespace, "b")
	hosts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registry}}
	for _, site := range []*Site{a, b} {
		must(t, c.Create(t.Context(), site))
		eventually(t, c, hosts, "the host", func(m *corev1.ConfigMap) bool { return m.Data[site.Name] == site.Spec.Host })
	}
	must(t, c.Delete(t.Context(), a))
	eventually(t, c, hosts, "the end of the registration", func(m *corev1.ConfigMap) bool {
		return m.Data["a"] == "" && m.Data["b"] == "b.example.com"
	})
	last := newSite(namespace, "a") // may be created as soon as the other has gone
	for {
		err := c.Create(t.Context(), last)
		if !apierrors.IsAlreadyExists(err) {
			must(t, err)
			break
		}
	}
	if last.UID == a.UID {
		t.Error("it is the same Site")
	}
}

// staysQuiet checks that the operator does not fight with the server's defaults.
func staysQuiet(t *testing.T, c client.Client, namespace string) {
	site := newSite(namespace, "a")
	must(t, c.Create(t.Context(), site))
	eventually(t, c, site, "the status", func(s *Site) bool { return reason(s) == "Waiting" })
	d := eventually(t, c, deploymentOf(site), "the deployment", exists)
	was, version := site.ResourceVersion, d.ResourceVersion
	// Another Site of the same operator is reconciled after the events of the first.
	other := newSite(namespace, "b")
	must(t, c.Create(t.Context(), other))
	eventually(t, c, other, "the status", func(s *Site) bool { return reason(s) == "Waiting" })
	must(t, c.Get(t.Context(), keyOf(site), site))
	must(t, c.Get(t.Context(), keyOf(d), d))
	if site.ResourceVersion != was || d.ResourceVersion != version || d.Generation != 1 {
		t.Errorf("the operator has written again: site %s and %s, deployment %s and %s", was, site.ResourceVersion, version, d.ResourceVersion)
	}
}
