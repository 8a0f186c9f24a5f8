package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/bowline-go/bowline/client/meta"
)

// This file has the kinds of TestEnsureWritesNothingForAnUnchangedObjectOfEveryKind that clusters are made of, and the test that none is missing.

// namesOf are the names of kinds that may not have any name.
var namesOf = map[string]func(name string) string{
	"APIService":               func(name string) string { return "v1." + name + ".example.com" },
	"CustomResourceDefinition": func(name string) string { return "knots." + name + ".example.com" },
	"IPAddress": func(name string) string {
		sum := crc32.ChecksumIEEE([]byte(name))
		return fmt.Sprintf("10.200.%d.%d", byte(sum), byte(sum>>8))
	},
}

// notEnsured are the resources of a stable version that can be created and updated and that no manifest is of.
var notEnsured = map[string]string{
	"podcertificaterequests":   "it has the proof that a kubelet has a key, which is good once",
	"clustertrustbundles":      "the type is not in k8s.io/api/certificates/v1 of all releases",
	"devicetaintrules":         "the type is not in k8s.io/api/resource/v1 of all releases",
	"storageversionmigrations": "the type is not in k8s.io/api of all releases",
}

// Every resource that the server has in a stable version, and that can be ensured, is one of TestEnsureWritesNothingForAnUnchangedObjectOfEveryKind, so that a new
// release of the server, which has new kinds, is looked at.
func TestEveryKindIsEnsured(t *testing.T) {
	t.Parallel()
	c := open(t, adminConfig())
	var groups struct {
		Groups []struct {
			Name     string
			Versions []struct{ GroupVersion, Version string }
		}
	}
	fetch(t, c, "/apis", http.Header{}, &groups)
	paths := map[string]string{"/api/v1": ""}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if !strings.Contains(g.Name, "example") && !strings.Contains(v.Version, "alpha") && !strings.Contains(v.Version, "beta") {
				paths["/apis/"+v.GroupVersion] = g.Name
			}
		}
	}
	looked := 0
	for path, group := range paths {
		var list struct {
			Resources []struct {
				Name, Kind string
				Verbs      []string
			}
		}
		fetch(t, c, path, http.Header{}, &list)
		for _, r := range list.Resources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "create") || !slices.Contains(r.Verbs, "update") {
				continue
			}
			looked++
			has := slices.ContainsFunc(slices.Concat(manifests, moreManifests), func(m manifest) bool {
				return m.resource == r.Name && m.gvk.Group == group && m.gvk.Kind == r.Kind && strings.HasSuffix(path, "/"+m.gvk.Version)
			})
			if why := notEnsured[r.Name]; !has && why == "" {
				t.Errorf("%s: the server has %s, and there is no manifest of it", path, r.Name)
			} else if has && why != "" {
				t.Errorf("%s: %s is ensured, and is said not to be", path, r.Name)
			}
		}
	}
	if looked < 60 {
		t.Errorf("looked at %d resources only", looked)
	}
}

// certificateRequest returns the base64 of a request that a server takes.
func certificateRequest() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "e2e"}}, key)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

const (
	matched    = `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["e2e.example.com"],"apiVersions":["v1"],"resources":["knots"]}]}`
	mutation   = `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: \"add\", path: \"/spec/x\", value: \"y\"}]"}}],"reinvocationPolicy":"Never"`
	named      = `"group":"NAME.example.com","names":{"kind":"Knot","plural":"knots"},"scope":"Namespaced"`
	device     = `"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c.example.com"}}]}`
	deviceFull = `"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c.example.com","allocationMode":"All","selectors":[{"cel":{"expression":"true"}}]}},{"name":"s","firstAvailable":[{"name":"t","deviceClassName":"c.example.com","count":2}]}],
		"constraints":[{"requests":["r"],"matchAttribute":"example.com/a"}],"config":[{"requests":["r"],"opaque":{"driver":"d.example.com","parameters":{"a":1}}}]}`
	target = `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}`
)

var moreManifests = []manifest{
	of[*corev1.Namespace]("", "v1", "Namespace", "namespaces", meta.Cluster, `{}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"c":""}}}`),
	of[*corev1.Node]("", "v1", "Node", "nodes", meta.Cluster, `{}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"podCIDR":"10.7.0.0/24","podCIDRs":["10.7.0.0/24"],"providerID":"x://y","unschedulable":true}}`),
	//lint:ignore SA1019 endpoints are deprecated, and still served
	of[*corev1.Endpoints]("", "v1", "Endpoints", "endpoints", meta.Namespaced, `{}`, `{"subsets":[{"addresses":[{"ip":"10.1.2.3","nodeName":"n","targetRef":{"kind":"Pod","name":"p","namespace":"n"}}],"notReadyAddresses":[{"ip":"10.1.2.4"}],"ports":[{"name":"a","port":80},{"name":"b","port":53,"protocol":"UDP"}]}]}`),
	of[*corev1.Event]("", "v1", "Event", "events", meta.Namespaced, `{"involvedObject":{"namespace":"NSPACE"}}`,
		`{"involvedObject":{"kind":"Pod","namespace":"NSPACE","name":"p","apiVersion":"v1","uid":"u"},"reason":"R","message":"m","type":"Normal","count":2,"firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:04:06Z","source":{"component":"c"}}`),
	of[*eventsv1.Event]("events.k8s.io", "v1", "Event", "events", meta.Namespaced, `{"regarding":{"namespace":"NSPACE"},"eventTime":"2026-01-02T03:04:05.000000Z","reportingController":"example.com/c","reportingInstance":"c-0","action":"A","reason":"R","type":"Normal"}`,
		`{"regarding":{"kind":"Pod","namespace":"NSPACE","name":"p","apiVersion":"v1"},"related":{"kind":"Node","name":"n"},"eventTime":"2026-01-02T03:04:05.000006Z","reportingController":"example.com/c","reportingInstance":"c-0","action":"A","reason":"R","type":"Warning","note":"n","series":{"count":3,"lastObservedTime":"2026-01-02T03:04:05.000007Z"}}`),
	of[*appsv1.ControllerRevision]("apps", "v1", "ControllerRevision", "controllerrevisions", meta.Namespaced, `{"revision":0,"data":{"a":"b"}}`, `{"metadata":{"labels":{"a":"b"}},"revision":7,"data":{"a":"b"}}`),
	of[*autoscalingv1.HorizontalPodAutoscaler]("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", meta.Namespaced, `{"spec":{"maxReplicas":2,`+target+`}}`, `{"spec":{"minReplicas":1,"maxReplicas":2,"targetCPUUtilizationPercentage":50,`+target+`}}`),
	of[*certificatesv1.CertificateSigningRequest]("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", meta.Cluster,
		`{"spec":{"request":"`+certificateRequest()+`","signerName":"example.com/s","usages":["client auth"]}}`, `{"spec":{"request":"`+certificateRequest()+`","signerName":"example.com/s","usages":["client auth","digital signature"],"expirationSeconds":600}}`),
	of[*networkingv1.IPAddress]("networking.k8s.io", "v1", "IPAddress", "ipaddresses", meta.Cluster, `{"spec":{"parentRef":{"resource":"services","name":"s","namespace":"n"}}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"parentRef":{"group":"example.com","resource":"knots","name":"s","namespace":"n"}}}`),
	of[*networkingv1.ServiceCIDR]("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", meta.Cluster, `{"spec":{"cidrs":["10.250.0.0/24"]}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"cidrs":["10.251.0.0/24"]}}`),
	of[*storagev1.CSINode]("storage.k8s.io", "v1", "CSINode", "csinodes", meta.Cluster, `{"spec":{"drivers":[]}}`, `{"spec":{"drivers":[{"name":"d.example.com","nodeID":"n","topologyKeys":["zone"],"allocatable":{"count":0}}]}}`),
	of[*storagev1.CSIStorageCapacity]("storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", meta.Namespaced, `{"storageClassName":"s"}`, `{"storageClassName":"s","capacity":"1024Mi","maximumVolumeSize":"1Gi","nodeTopology":{"matchLabels":{"zone":"a"}}}`),
	of[*storagev1.VolumeAttachment]("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", meta.Cluster, `{"spec":{"attacher":"d.example.com","nodeName":"n","source":{"persistentVolumeName":"v"}}}`,
		`{"spec":{"attacher":"d.example.com","nodeName":"n","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"csi":{"driver":"d.example.com","volumeHandle":"h","nodePublishSecretRef":{"name":"s","namespace":"n"}}}}}}`),
	of[*storagev1.VolumeAttributesClass]("storage.k8s.io", "v1", "VolumeAttributesClass", "volumeattributesclasses", meta.Cluster, `{"driverName":"d.example.com","parameters":{"a":"b"}}`, `{"metadata":{"labels":{"a":"b"}},"driverName":"d.example.com","parameters":{"a":"b","c":""}}`),
	of[*admissionregistrationv1.ValidatingAdmissionPolicyBinding]("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", meta.Cluster, `{"spec":{"policyName":"p","validationActions":["Deny"]}}`,
		`{"spec":{"policyName":"p","validationActions":["Warn","Audit"],"paramRef":{"selector":{},"parameterNotFoundAction":"Deny"},"matchResources":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}}`),
	of[*admissionregistrationv1.MutatingAdmissionPolicy]("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", meta.Cluster, `{"spec":{`+matched+`,`+mutation+`}}`,
		`{"spec":{"failurePolicy":"Ignore","variables":[{"name":"v","expression":"1"}],"matchConditions":[{"name":"c","expression":"true"}],`+matched+`,`+mutation+`}}`),
	of[*admissionregistrationv1.MutatingAdmissionPolicyBinding]("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", meta.Cluster, `{"spec":{"policyName":"p"}}`,
		`{"spec":{"policyName":"p","matchResources":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}}`),
	of[*flowcontrolv1.PriorityLevelConfiguration]("flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", meta.Cluster, `{"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":1,"limitResponse":{"type":"Reject"}}}}`,
		`{"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"lendablePercent":0,"limitResponse":{"type":"Queue","queuing":{"queues":4,"handSize":2,"queueLengthLimit":5}}}}}`),
	of[*resourcev1.DeviceClass]("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", meta.Cluster, `{"spec":{}}`, `{"spec":{"selectors":[{"cel":{"expression":"true"}}],"config":[{"opaque":{"driver":"d.example.com","parameters":{"a":1}}}]}}`),
	of[*resourcev1.ResourceClaim]("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", meta.Namespaced, `{"spec":{`+device+`}}`, `{"spec":{`+deviceFull+`}}`),
	of[*resourcev1.ResourceClaimTemplate]("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", meta.Namespaced, `{"spec":{"spec":{`+device+`}}}`, `{"spec":{"metadata":{"labels":{"a":"b"}},"spec":{`+deviceFull+`}}}`),
	of[*resourcev1.ResourceSlice]("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", meta.Cluster, `{"spec":{"driver":"d.example.com","pool":{"name":"NAME","generation":1,"resourceSliceCount":1},"allNodes":true}}`,
		`{"spec":{"driver":"d.example.com","pool":{"name":"NAME","generation":0,"resourceSliceCount":1},"nodeName":"n","devices":[{"name":"a","attributes":{"m":{"string":"x"},"n":{"int":0},"o":{"bool":false}},"capacity":{"memory":{"value":"1024Mi"}}}]}}`),
	of[*apiextensionsv1.CustomResourceDefinition]("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", meta.Cluster, `{"spec":{`+named+`,"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		`{"spec":{`+named+`,"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"N","type":"integer","jsonPath":".spec.n"}],
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer","minimum":0,"default":0}}}}}}}],"preserveUnknownFields":false}}`),
	of[*apiregistrationv1.APIService]("apiregistration.k8s.io", "v1", "APIService", "apiservices", meta.Cluster, `{"spec":{"group":"NAME.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":10}}`,
		`{"metadata":{"labels":{"a":"b"}},"spec":{"group":"NAME.example.com","version":"v1","groupPriorityMinimum":200,"versionPriority":20}}`),
}
