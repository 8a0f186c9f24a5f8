package typedclients

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// traffic notes the media types of requests and answers.
type traffic struct {
	http.RoundTripper
	mu   sync.Mutex // guards seen
	seen []exchange
}

type exchange struct{ method, path, sent, answered string }

func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.seen = append(t.seen, exchange{r.Method, r.URL.Path, r.Header.Get("Content-Type"), resp.Header.Get("Content-Type")})
	}
	return resp, err
}

// others returns the exchanges that were not in protobuf.
func (t *traffic) others() []exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.seen), func(e exchange) bool {
		return (e.sent == "" || e.sent == protobuf) && (e.answered == protobuf || e.answered == protobuf+";stream=watch")
	})
}

// connect starts a server, and returns the configuration of a client-go client of it.
func connect(t *testing.T, o clienttest.Options) (*clienttest.Server, *rest.Config, *traffic) {
	t.Helper()
	s := clienttest.Start(t, o)
	config := s.Config()
	seen := &traffic{}
	r := &rest.Config{Host: config.Server, Dial: config.Dial, QPS: -1, WrapTransport: func(inner http.RoundTripper) http.RoundTripper {
		seen.RoundTripper = inner
		return seen
	}}
	t.Cleanup(func() {
		if c, ok := seen.RoundTripper.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	})
	return s, r, seen
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestTypedClientsReadAndWriteProtobuf(t *testing.T) {
	_, config, seen := connect(t, clienttest.Options{})
	c := must(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()

	pods := c.CoreV1().Pods("default")
	w := must(pods.Watch(ctx, metav1.ListOptions{}))(t)
	defer w.Stop()
	next := func(want watch.EventType) *corev1.Pod {
		t.Helper()
		e := <-w.ResultChan()
		pod, ok := e.Object.(*corev1.Pod)
		if e.Type != want || !ok {
			t.Fatalf("the event is %s of %#v, want %s of a pod", e.Type, e.Object, want)
		}
		return pod
	}
	grace := int64(7)
	made := must(pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", Labels: map[string]string{"app": "web", "e": ""}, Finalizers: []string{"example.com/f"}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Volumes:                       []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Containers: []corev1.Container{{
				Name: "c", Image: "i",
				Resources:     corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
				LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("http")}}},
			}},
		},
	}, metav1.CreateOptions{}))(t)
	if made.Name == "" || made.UID == "" || made.CreationTimestamp.IsZero() || made.Spec.Volumes[0].EmptyDir == nil || *made.Spec.TerminationGracePeriodSeconds != 7 ||
		made.Spec.Containers[0].Resources.Requests.Cpu().String() != "100m" || made.Spec.Containers[0].LivenessProbe.HTTPGet.Port.StrVal != "http" || len(made.ManagedFields) == 0 {
		t.Errorf("created is %+v", made)
	}
	same := func(what string, got *corev1.Pod) {
		t.Helper()
		if !reflect.DeepEqual(got, made) {
			t.Errorf("%s is\n%+v\nwant\n%+v", what, got, made)
		}
	}
	same("the event", next(watch.Added))
	same("the pod", must(pods.Get(ctx, made.Name, metav1.GetOptions{}))(t))
	list := must(pods.List(ctx, metav1.ListOptions{LabelSelector: "app=web"}))(t)
	if len(list.Items) != 1 || list.ResourceVersion == "" {
		t.Fatalf("the list is %+v", list)
	}
	same("the item", &list.Items[0])

	made.Spec.Containers[0].Image = "j"
	made = must(pods.Update(ctx, made, metav1.UpdateOptions{}))(t)
	same("the event of the update", next(watch.Modified))
	made.Status.Phase = corev1.PodRunning
	made = must(pods.UpdateStatus(ctx, made, metav1.UpdateOptions{}))(t)
	next(watch.Modified)
	made = must(pods.Patch(ctx, made.Name, types.StrategicMergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"},"finalizers":null}}`), metav1.PatchOptions{}))(t)
	if made.Annotations["a"] != "b" || made.Status.Phase != corev1.PodRunning {
		t.Errorf("patched is %+v", made)
	}
	next(watch.Modified)

	zero, other := int64(0), types.UID("other")
	err := pods.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	if !apierrors.IsConflict(err) {
		t.Errorf("a delete of another uid: %v", err)
	}
	if err := pods.Delete(ctx, made.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	next(watch.Modified) // the shorter grace period
	if got := next(watch.Deleted); got.UID != made.UID {
		t.Errorf("deleted is %+v", got)
	}
	_, err = pods.Get(ctx, made.Name, metav1.GetOptions{})
	if status := apierrors.APIStatus(nil); !apierrors.IsNotFound(err) || !asStatus(err, &status) || status.Status().Details.Name != made.Name {
		t.Errorf("after the delete: %v", err)
	}
	for _, e := range seen.others() {
		if e.method != http.MethodPatch || e.answered != protobuf {
			t.Errorf("%+v was not protobuf", e)
		}
	}
}

func asStatus(err error, into *apierrors.APIStatus) (ok bool) {
	*into, ok = err.(apierrors.APIStatus)
	return ok
}

func TestSubresourcesAndReviewsAreProtobuf(t *testing.T) {
	s, config, seen := connect(t, clienttest.Options{})
	c := must(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()
	must(c.CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{}))(t)
	bind := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	if err := c.CoreV1().Pods("default").Bind(ctx, bind, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if pod := must(c.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{}))(t); pod.Spec.NodeName != "n" {
		t.Errorf("bound is %+v", pod)
	}
	zero := int64(0)
	evict := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: &zero}}
	if err := c.PolicyV1().Evictions("default").Evict(ctx, evict); err != nil {
		t.Error(err)
	}
	if _, err := c.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the eviction: %v", err)
	}

	replicas := int32(2)
	must(c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}, metav1.CreateOptions{}))(t)
	scale := must(c.AppsV1().Deployments("default").GetScale(ctx, "d", metav1.GetOptions{}))(t)
	if scale.Spec.Replicas != 2 || scale.Status.Selector != "a=b" {
		t.Errorf("the scale is %+v", scale)
	}
	scale.Spec.Replicas = 5
	if scale = must(c.AppsV1().Deployments("default").UpdateScale(ctx, "d", scale, metav1.UpdateOptions{}))(t); !reflect.DeepEqual(scale.Spec, autoscalingv1.ScaleSpec{Replicas: 5}) {
		t.Errorf("the updated scale is %+v", scale)
	}

	must(c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}}, metav1.CreateOptions{}))(t)
	token := must(c.CoreV1().ServiceAccounts("default").CreateToken(ctx, "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))(t)
	if token.Status.Token == "" || token.Status.ExpirationTimestamp.IsZero() {
		t.Errorf("the token is %+v", token)
	}
	access := must(c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{}))(t)
	if !access.Status.Allowed || access.Spec.ResourceAttributes.Verb != "get" {
		t.Errorf("the review is %+v", access)
	}
	for _, e := range seen.others() {
		if !strings.HasSuffix(e.path, "/binding") && !strings.HasSuffix(e.path, "/eviction") { // client-go sends these as JSON
			t.Errorf("%+v was not protobuf", e)
		}
	}
	if n := s.Requests()[clienttest.Call{Verb: "create", Resource: "pods"}]; n != 3 {
		t.Errorf("there were %d creates of pods", n)
	}
}

func TestMetadataIsProtobufForEveryResource(t *testing.T) {
	widgets := clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}
	_, config, seen := connect(t, clienttest.Options{Resources: []clienttest.Resource{widgets}})
	c := must(kubernetes.NewForConfig(config))(t)
	must(c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}))(t)
	err := c.RESTClient().Post().AbsPath("/apis/example.com/v1/namespaces/default/widgets").SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").
		Body([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
	before := len(seen.others())
	m := must(metadata.NewForConfig(config))(t)
	for _, r := range []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}, {Group: "example.com", Version: "v1", Resource: "widgets"}} {
		of := m.Resource(r).Namespace("default")
		w := must(of.Watch(t.Context(), metav1.ListOptions{}))(t)
		e := <-w.ResultChan()
		w.Stop()
		one := must(of.Get(t.Context(), "a", metav1.GetOptions{}))(t)
		list := must(of.List(t.Context(), metav1.ListOptions{}))(t)
		if one.UID == "" || len(list.Items) != 1 || list.Items[0].UID != one.UID || list.ResourceVersion == "" {
			t.Errorf("%s: got %+v and %+v", r.Resource, one, list)
		}
		if got, ok := e.Object.(*metav1.PartialObjectMetadata); e.Type != watch.Added || !ok || got.UID != one.UID {
			t.Errorf("%s: the event is %+v", r.Resource, e)
		}
	}
	for _, e := range seen.others()[before:] {
		t.Errorf("%+v was not protobuf", e)
	}
}

// An informer follows a list and its changes, with a streaming list as its default is, and over a watch that is cut.
func TestInformersFollowInProtobuf(t *testing.T) {
	s, config, seen := connect(t, clienttest.Options{})
	c := must(kubernetes.NewForConfig(config))(t)
	name := func(i int) string { return fmt.Sprintf("c%d", i) }
	for i := range 20 {
		must(c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, metav1.CreateOptions{}))(t)
	}
	changes := make(chan string, 100)
	factory := informers.NewSharedInformerFactory(c, 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, o any) { changes <- o.(*corev1.ConfigMap).Data["k"] },
		DeleteFunc: func(o any) { changes <- "deleted " + o.(*corev1.ConfigMap).Name },
	}))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	if n := len(informer.GetStore().List()); n != 20 {
		t.Errorf("the cache has %d objects", n)
	}
	update := func(i int, v string) {
		t.Helper()
		must(c.CoreV1().ConfigMaps("default").Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name(i)}, Data: map[string]string{"k": v}}, metav1.UpdateOptions{}))(t)
	}
	update(3, "x")
	if got := <-changes; got != "x" {
		t.Errorf("the change is %s", got)
	}
	s.DropWatches()
	update(4, "y")
	if got := <-changes; got != "y" {
		t.Errorf("the change is %s", got)
	}
	if err := c.CoreV1().ConfigMaps("default").Delete(t.Context(), name(5), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-changes; got != "deleted c5" {
		t.Errorf("the change is %s", got)
	}
	for _, e := range seen.others() {
		t.Errorf("%+v was not protobuf", e)
	}
}

// An error that ends a watch is an event with a Status, and a watch that is cut ends within a frame.
func TestFaultsOfWatchesAreProtobuf(t *testing.T) {
	s, config, _ := connect(t, clienttest.Options{})
	c := must(kubernetes.NewForConfig(config))(t)
	w := must(c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{}))(t)
	s.FailWatches(meta.Status{Status: "Failure", Code: 410, Reason: "Expired", Message: "too old"})
	e := <-w.ResultChan()
	if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) {
		t.Errorf("the event is %+v, %v", e, err)
	}
	w.Stop()
	w = must(c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{}))(t)
	s.DropWatches()
	if e, ok := <-w.ResultChan(); ok {
		t.Errorf("a watch that is cut brings %+v", e)
	}
}

// Leader election works with its defaults: one of two holds the lease for a minute, and gives it to the other.
func TestLeaderElectionWorksInProtobuf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, config, seen := connect(t, clienttest.Options{})
		c := must(kubernetes.NewForConfig(config))(t)
		leading := make(chan string, 2)
		run := func(ctx context.Context, id string) {
			lock := must(resourcelock.New(resourcelock.LeasesResourceLock, "default", "l", c.CoreV1(), c.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: id}))(t)
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leading <- id }, OnStoppedLeading: func() {}},
			})
		}
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { run(ctx, "a") })
		if got := <-leading; got != "a" {
			t.Errorf("%s leads", got)
		}
		second, stopSecond := context.WithCancel(t.Context())
		all.Go(func() { run(second, "b") })
		time.Sleep(time.Minute)
		lease := must(c.CoordinationV1().Leases("default").Get(t.Context(), "l", metav1.GetOptions{}))(t)
		if *lease.Spec.HolderIdentity != "a" || time.Since(lease.Spec.RenewTime.Time) > 3*time.Second || len(leading) > 0 {
			t.Errorf("after a minute the lease is %+v", lease.Spec)
		}
		stop()
		if got := <-leading; got != "b" {
			t.Errorf("%s leads", got)
		}
		stopSecond()
		all.Wait()
		for _, e := range seen.others() {
			t.Errorf("%+v was not protobuf", e)
		}
	})
}
