package meta_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

const serverMetadata = `"uid":"u","resourceVersion":"7","generation":3,"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[{"manager":"m"}],
	"deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":30,"selfLink":"/x",
	"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"o"}],"finalizers":["example.com/f"]`

func cloned(t *testing.T, kind, text string, to meta.CloneTarget) string {
	t.Helper()
	var u meta.Unstructured
	if err := json.Unmarshal([]byte(text), &u); err != nil {
		t.Fatal(err, text)
	}
	group, name, found := strings.Cut(kind, "/")
	if !found {
		group, name = "", kind
	}
	out, err := meta.CloneForCreate(&u, meta.GVK{Group: group, Version: "v1", Kind: name}, to)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestACopyLacksWhatTheServerAndControllersPutIn(t *testing.T) {
	b := meta.CloneTarget{Name: "b"}
	for _, test := range []struct {
		kind, text string
		to         meta.CloneTarget
		want       string
	}{
		{
			"example.com/Page", `{"kind":"Page","metadata":{"name":"a","namespace":"n","labels":{"app":"x","pod-template-hash":"y"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"},` +
				serverMetadata + `},"spec":{"nodeName":"n","big":9007199254740993},"status":{"x":1}}`, b,
			`{"kind":"Page","metadata":{"labels":{"app":"x"},"name":"b","namespace":"n"},"spec":{"big":9007199254740993,"nodeName":"n"}}`,
		},
		{"example.com/Page", `{"metadata":{"name":"a","namespace":"n"}}`, meta.CloneTarget{}, `{"metadata":{"generateName":"a-","namespace":"n"}}`},
		{"example.com/Page", `{"metadata":{"name":"a-x1","generateName":"a-","namespace":"n"}}`, meta.CloneTarget{Namespace: "n"}, `{"metadata":{"generateName":"a-","namespace":"n"}}`},
		{"example.com/Page", `{"metadata":{"name":"a-x1","generateName":"a-","namespace":"n"}}`, meta.CloneTarget{Namespace: "m"}, `{"metadata":{"name":"a-x1","namespace":"m"}}`},
		{"example.com/Page", `{"metadata":{"name":"a","namespace":"n"}}`, meta.CloneTarget{OtherCluster: true}, `{"metadata":{"name":"a","namespace":"n"}}`},
		{"Namespace", `{"metadata":{"name":"a","labels":{"kubernetes.io/metadata.name":"a"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`, b, `{"metadata":{"name":"b"},"spec":{}}`},
		{
			"Node", `{"metadata":{"name":"a"},"spec":{"podCIDR":"p","podCIDRs":["p"],"providerID":"i","unschedulable":true,"taints":[{"key":"node.kubernetes.io/not-ready"},{"key":"own"}]}}`,
			b, `{"metadata":{"name":"b"},"spec":{"taints":[{"key":"own"}],"unschedulable":true}}`,
		},
		{
			"Pod", `{"metadata":{"name":"a","namespace":"n"},"spec":{"nodeName":"n1","priority":0,"preemptionPolicy":"P","ephemeralContainers":[{}],"runtimeClassName":"r","overhead":{"cpu":"1"},
				"volumes":[{"name":"kube-api-access-x","projected":{}},{"name":"kube-api-access-own","emptyDir":{}}],"containers":[{"name":"c","volumeMounts":[{"name":"kube-api-access-x"}]},
				{"name":"d","volumeMounts":[{"name":"data"}]}]}}`, b,
			`{"metadata":{"name":"b","namespace":"n"},"spec":{"containers":[{"name":"c"},{"name":"d","volumeMounts":[{"name":"data"}]}],"runtimeClassName":"r","volumes":[{"emptyDir":{},"name":"kube-api-access-own"}]}}`,
		},
		{
			"Service", `{"metadata":{"name":"a","namespace":"n"},"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","healthCheckNodePort":1,"ports":[{"port":80,"nodePort":30000}]}}`,
			b, `{"metadata":{"name":"b","namespace":"n"},"spec":{"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","ports":[{"port":80}]}}`,
		},
		{
			"Service", `{"metadata":{"name":"a","namespace":"n"},"spec":{"clusterIP":"None","clusterIPs":["None"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}}`,
			meta.CloneTarget{OtherCluster: true},
			`{"metadata":{"name":"a","namespace":"n"},"spec":{"clusterIP":"None","clusterIPs":["None"]}}`,
		},
		{"PersistentVolumeClaim", `{"metadata":{"name":"a","namespace":"n","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"v","storageClassName":"s"}}`, b, `{"metadata":{"name":"b","namespace":"n"},"spec":{"storageClassName":"s"}}`},
		{"PersistentVolume", `{"metadata":{"name":"a"},"spec":{"claimRef":{"name":"c","namespace":"n","uid":"u","resourceVersion":"1"}}}`, b, `{"metadata":{"name":"b"},"spec":{"claimRef":{"name":"c","namespace":"n"}}}`},
		{"PersistentVolume", `{"metadata":{"name":"a","annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{"claimRef":{"name":"c"}}}`, b, `{"metadata":{"name":"b"},"spec":{}}`},
		{
			"batch/Job", `{"metadata":{"name":"a","namespace":"n","labels":{"job-name":"a"}},"spec":{"selector":{"matchLabels":{"controller-uid":"u"}},"template":{"metadata":{"labels":{"app":"x","controller-uid":"u","job-name":"a","batch.kubernetes.io/job-name":"a"}}}}}`,
			b, `{"metadata":{"name":"b","namespace":"n"},"spec":{"template":{"metadata":{"labels":{"app":"x"}}}}}`,
		},
		{
			"batch/Job", `{"metadata":{"name":"a","namespace":"n"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"job-name":"u"}},"template":{"metadata":{"labels":{"job-name":"u"}}}}}`,
			b, `{"metadata":{"name":"b","namespace":"n"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"job-name":"u"}},"template":{"metadata":{"labels":{"job-name":"u"}}}}}`,
		},
		{
			"apps/ReplicaSet", `{"metadata":{"name":"a","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"x","pod-template-hash":"h"}},"template":{"metadata":{"labels":{"app":"x","pod-template-hash":"h"}}}}}`,
			b, `{"metadata":{"name":"b","namespace":"n"},"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}}}}}`,
		},
		{
			"Secret", `{"type":"kubernetes.io/service-account-token","metadata":{"name":"a","namespace":"n","annotations":{"kubernetes.io/service-account.name":"s","kubernetes.io/service-account.uid":"u"}},"data":{"token":"t","ca.crt":"c","namespace":"n","own":"o"}}`,
			b, `{"data":{"own":"o"},"metadata":{"annotations":{"kubernetes.io/service-account.name":"s"},"name":"b","namespace":"n"},"type":"kubernetes.io/service-account-token"}`,
		},
		{"Secret", `{"type":"Opaque","metadata":{"name":"a","namespace":"n"},"data":{"token":"t"}}`, b, `{"data":{"token":"t"},"metadata":{"name":"b","namespace":"n"},"type":"Opaque"}`},
		{"events.k8s.io/Event", `{"metadata":{"name":"a","namespace":"n"},"regarding":{"kind":"Pod","namespace":"n"}}`, meta.CloneTarget{Namespace: "m"}, `{"metadata":{"name":"a","namespace":"m"},"regarding":{"kind":"Pod","namespace":"m"}}`},
		{"certificates.k8s.io/CertificateSigningRequest", `{"metadata":{"name":"a"},"spec":{"username":"u","groups":["g"],"uid":"i","extra":{},"request":"r"}}`, b, `{"metadata":{"name":"b"},"spec":{"request":"r"}}`},
		{"Pod", `{"metadata":{"name":"a","namespace":"n","labels":7,"annotations":null},"spec":"odd","status":3}`, b, `{"metadata":{"annotations":null,"labels":7,"name":"b","namespace":"n"},"spec":"odd"}`},
	} {
		if got := cloned(t, test.kind, test.text, test.to); got != test.want {
			t.Errorf("%s to %+v is\n%s\nwant\n%s", test.kind, test.to, got, test.want)
		}
	}
}

type copied struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            map[string]string `json:"spec,omitempty"`
}

type slimCopied struct {
	meta.Identity `json:"metadata"`
	Text          unwritable `json:"text"`
}

type unwritable string

func (u unwritable) MarshalJSON() ([]byte, error) {
	if u == "bad" {
		return nil, errors.New("it is bad")
	}
	return json.Marshal(string(u))
}

func TestTheCopyOfAStructIsItsOwn(t *testing.T) {
	page := meta.GVK{Group: "example.com", Version: "v1", Kind: "Page"}
	original := &copied{ObjectMeta: meta.ObjectMeta{Name: "a", Namespace: "n", UID: "u", Labels: map[string]string{"app": "x"}}, Spec: map[string]string{"k": "v"}}
	out, err := meta.CloneForCreate(original, page, meta.CloneTarget{Namespace: "m"})
	if err != nil || out.Name != "a" || out.Namespace != "m" || out.UID != "" || out.Spec["k"] != "v" || out.Labels["app"] != "x" {
		t.Fatalf("%+v, %v", out, err)
	}
	out.Spec["k"], out.Labels["app"] = "changed", "changed"
	if original.UID != "u" || original.Namespace != "n" || original.Spec["k"] != "v" || original.Labels["app"] != "x" {
		t.Errorf("the original is now %+v", original)
	}
	slim := &slimCopied{Identity: meta.Identity{Name: "a", Namespace: "n", UID: "u", ResourceVersion: "1"}}
	if out, err := meta.CloneForCreate(slim, page, meta.CloneTarget{Name: "b"}); err != nil || out.Identity != (meta.Identity{Name: "b", Namespace: "n"}) {
		t.Errorf("%+v, %v", out, err)
	}
	for want, err := range map[string]error{
		"clone Page for a create: CloneTarget.Name must be set, since *meta_test.slimCopied has no field for generateName": cloneError(slim, page, meta.CloneTarget{}),
		"clone Page for a create: the object must not be nil":                                                              cloneError((*copied)(nil), page, meta.CloneTarget{}),
		"clone an object for a create: the kind must have a Kind":                                                          cloneError(original, meta.GVK{}, meta.CloneTarget{}),
		"clone Page for a create: the object must have a name":                                                             cloneError(&copied{}, page, meta.CloneTarget{}),
		`clone Page for a create: the namespace must be empty, since "a" has none, got "n"`:                                cloneError(&copied{ObjectMeta: meta.ObjectMeta{Name: "a"}}, page, meta.CloneTarget{Namespace: "n"}),
		"clone Page for a create: json: error calling MarshalJSON for type meta_test.unwritable: it is bad":                cloneError(&slimCopied{Identity: slim.Identity, Text: "bad"}, page, meta.CloneTarget{Name: "b"}),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func cloneError[T meta.Object](obj T, kind meta.GVK, to meta.CloneTarget) error {
	out, err := meta.CloneForCreate(obj, kind, to)
	if err != nil && any(out) != any(*new(T)) {
		return errors.New("it returns an object with its error")
	}
	return err
}
