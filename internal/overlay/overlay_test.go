package overlay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/overlay"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/internal/proof/randomdoc"
	"github.com/bowline-go/bowline/patch"
)

// pains 34
func TestOverlayComparesOnlyTheGivenFields(t *testing.T) {
	for _, test := range []struct {
		name             string
		live, want, left string // left is empty where nothing changes
	}{
		{"nothing", `{"a":1}`, `{}`, ""},
		{"equal values", `{"a":1,"b":[1,{"x":2}],"c":"d"}`, `{"c":"d","b":[1,{"x":2.0}]}`, ""},
		{"a member", `{"a":1,"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		{"a new member", `{"a":1}`, `{"b":{"c":null,"d":1}}`, `{"a":1,"b":{"d":1}}`},
		{"null", `{"a":1}`, `{"a":null,"b":null}`, ""},
		{"null for something", `{"a":null}`, `{"a":0}`, `{"a":0}`},
		{"nothing for null", `{"a":null}`, `{"a":[]}`, ""},
		{"numbers to the digit", `{"a":9007199254740993}`, `{"a":9007199254740992}`, `{"a":9007199254740992}`},
		{"a number otherwise written", `{"a":1.0,"b":10}`, `{"a":1,"b":1e1}`, ""},
		{"within objects", `{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":3}}}`, `{"a":{"b":{"c":3,"d":2}}}`},
		{"an empty object over one", `{"a":{"b":1}}`, `{"a":{}}`, ""},
		{"an empty object where there is none", `{"v":{}}`, `{"v":{"emptyDir":{}}}`, `{"v":{"emptyDir":{}}}`},
		{"an object over a scalar", `{"a":1}`, `{"a":{}}`, `{"a":{}}`},
		{"an empty map where there is none", `{"spec":{"selector":{}}}`, `{"spec":{"selector":{"matchLabels":{}},"template":{"metadata":{"labels":{}}}}}`, `{"spec":{"selector":{},"template":{"metadata":{"labels":{}}}}}`},
		{"labels", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"b":"2"}}}`, `{"metadata":{"labels":{"a":"1","b":"2"}}}`},
		{"fields that only a server sets", `{"metadata":{"generation":2}}`, `{"metadata":{"generation":1,"creationTimestamp":"2020-01-01T00:00:00Z","resourceVersion":"7","managedFields":[{}],"selfLink":"x","generateName":"y"}}`, ""},
		{"status", `{"status":{"a":1}}`, `{"status":{"a":2}}`, ""},
		{"zeros that the built-in kinds leave out", `{"spec":{}}`, `{"spec":{"hostNetwork":false,"minReadySeconds":0,"schedulerName":""}}`, ""},
		{"zeros of the same names where somebody chose them", `{"data":{},"spec":{"selector":{}}}`, `{"data":{"group":"","tty":false},"spec":{"selector":{"key":""}}}`, `{"data":{"group":"","tty":false},"spec":{"selector":{"key":""}}}`},
		{"zeros of the same names in a custom resource", `{"apiVersion":"example.com/v1","spec":{}}`, `{"spec":{"paused":false}}`, `{"apiVersion":"example.com/v1","spec":{"paused":false}}`},
		{"zeros of a custom resource whose group ends in k8s.io", `{"apiVersion":"gateway.networking.k8s.io/v1","spec":{}}`, `{"spec":{"group":""}}`, `{"apiVersion":"gateway.networking.k8s.io/v1","spec":{"group":""}}`},
		{"zeros within what somebody made up", `{"kind":"ControllerRevision","apiVersion":"apps/v1","data":{"spec":{}}}`, `{"data":{"spec":{"paused":false}}}`, `{"kind":"ControllerRevision","apiVersion":"apps/v1","data":{"spec":{"paused":false}}}`},
		{"an empty map of a custom resource", `{"apiVersion":"example.com/v1","metadata":{},"spec":{}}`, `{"metadata":{"labels":{}},"spec":{"limits":{},"labels":{}}}`, `{"apiVersion":"example.com/v1","metadata":{},"spec":{"limits":{},"labels":{}}}`},
		{"zeros that mean something", `{"spec":{}}`, `{"spec":{"automountServiceAccountToken":false,"storageClassName":"","replicas":0}}`, `{"spec":{"automountServiceAccountToken":false,"storageClassName":"","replicas":0}}`},
		{"zeros over a value", `{"spec":{"hostNetwork":true,"subdomain":"x"}}`, `{"spec":{"hostNetwork":false,"subdomain":""}}`, `{"spec":{"hostNetwork":false,"subdomain":""}}`},
		{"false is said", `{}`, `{"a":false,"b":0,"c":""}`, `{"a":false,"b":0,"c":""}`},
		{"an escaped name", `{"é":1}`, `{"\u00e9":1}`, ""},

		{"a list without elements", `{"a":[1]}`, `{"a":[]}`, `{"a":[]}`},
		{"a list without elements where there is none", `{}`, `{"a":[]}`, ""},
		{"a list of scalars", `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[2,1]}`},
		{"an element by its name", `{"apiVersion":"example.com/v1","l":[{"name":"a","x":1,"y":2},{"name":"b"}]}`, `{"l":[{"name":"b"},{"name":"a","x":3}]}`, `{"apiVersion":"example.com/v1","l":[{"name":"b"},{"name":"a","x":3,"y":2}]}`},
		{"an element less", `{"apiVersion":"example.com/v1","l":[{"name":"a","x":1},{"name":"b","x":2}]}`, `{"l":[{"name":"b"}]}`, `{"apiVersion":"example.com/v1","l":[{"name":"b","x":2}]}`},
		{"an element more", `{"apiVersion":"example.com/v1","l":[{"name":"a","x":1}]}`, `{"l":[{"name":"n","z":null},{"name":"a"}]}`, `{"apiVersion":"example.com/v1","l":[{"name":"n"},{"name":"a","x":1}]}`},
		{"an element by its key", `{"l":[{"key":"a","x":1}]}`, `{"l":[{"key":"a"}]}`, ""},
		{"elements of one name", `{"apiVersion":"example.com/v1","l":[{"name":"v","at":"/a","ro":true},{"name":"v","at":"/b"}]}`, `{"l":[{"name":"v","at":"/b"},{"name":"v","at":"/a"}]}`, `{"apiVersion":"example.com/v1","l":[{"name":"v","at":"/b"},{"name":"v","at":"/a"}]}`},
		{"elements without a name that say no more", `{"l":[{"port":80,"protocol":"TCP"}]}`, `{"l":[{"port":80}]}`, ""},
		// A port that was filled in for another one must not stay.
		{"an element without a name that is another", `{"l":[{"port":80,"targetPort":80}]}`, `{"l":[{"port":443}]}`, `{"l":[{"port":443}]}`},
		{"elements without a name at another place", `{"l":[{"port":80,"targetPort":80},{"port":81}]}`, `{"l":[{"port":81},{"port":80}]}`, `{"l":[{"port":81},{"port":80}]}`},
		// What was filled in, or set, for one element and stayed in another made an object that no server takes.
		{"a toleration of the same key", `{"tolerations":[{"key":"a","operator":"Equal","value":"v","effect":"NoSchedule"}]}`, `{"tolerations":[{"key":"a","operator":"Exists"}]}`, `{"tolerations":[{"key":"a","operator":"Exists"}]}`},
		{"an expression of the same key", `{"matchExpressions":[{"key":"a","operator":"In","values":["x"]}]}`, `{"matchExpressions":[{"key":"a","operator":"Exists"}]}`, `{"matchExpressions":[{"key":"a","operator":"Exists"}]}`},
		{"a metric of the same type", `{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":50}}}]}`, `{"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"averageValue":"1Gi"}}}]}`, `{"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"averageValue":"1Gi"}}}]}`},
		{"a subject of the same name", `{"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"n"}]}`, `{"subjects":[{"kind":"User","name":"a"}]}`, `{"subjects":[{"kind":"User","name":"a"}]}`},
		{"another port of the same name", `{"kind":"Service","spec":{"ports":[{"name":"http","port":80,"targetPort":80,"protocol":"TCP"}]}}`, `{"spec":{"ports":[{"name":"http","port":8080}]}}`, `{"kind":"Service","spec":{"ports":[{"name":"http","port":80,"targetPort":80,"protocol":"TCP"},{"name":"http","port":8080}]}}`},
		{"a port by its number", `{"kind":"Service","spec":{"ports":[{"port":53,"protocol":"UDP","nodePort":1},{"port":53,"protocol":"TCP","nodePort":2}]}}`, `{"spec":{"ports":[{"name":"t","port":53},{"name":"u","port":53,"protocol":"UDP"}]}}`, `{"kind":"Service","spec":{"ports":[{"name":"t","port":53,"protocol":"TCP","nodePort":2},{"name":"u","port":53,"protocol":"UDP","nodePort":1}]}}`},
		{"a container's port by its number", `{"containers":[{"name":"c","ports":[{"name":"a","containerPort":80,"hostPort":80}]}]}`, `{"containers":[{"name":"c","ports":[{"name":"b","containerPort":80}]}]}`, `{"containers":[{"name":"c","ports":[{"name":"b","containerPort":80,"hostPort":80}]}]}`},
		{"a mount of the same volume", `{"volumeMounts":[{"name":"v","mountPath":"/a","readOnly":true}]}`, `{"volumeMounts":[{"name":"v","mountPath":"/b"}]}`, `{"volumeMounts":[{"name":"v","mountPath":"/a","readOnly":true},{"name":"v","mountPath":"/b"}]}`},
		// What an admission plugin adds is not the caller's to take away: an injected container went with each Ensure, and came back.
		{"elements that admission added to a list with keys", `{"spec":{"containers":[{"name":"first"},{"name":"a","image":"x"},{"name":"proxy"},{"name":"b"}]}}`, `{"spec":{"containers":[{"name":"a","image":"y"},{"name":"n"},{"name":"b"}]}}`, `{"spec":{"containers":[{"name":"first"},{"name":"a","image":"y"},{"name":"proxy"},{"name":"n"},{"name":"b"}]}}`},
		{"a list with keys in another order", `{"spec":{"initContainers":[{"name":"a"},{"name":"proxy"},{"name":"b"}]}}`, `{"spec":{"initContainers":[{"name":"b"},{"name":"a"}]}}`, `{"spec":{"initContainers":[{"name":"b"},{"name":"a"},{"name":"proxy"}]}}`},
		{"a list with keys without elements", `{"spec":{"volumes":[{"name":"a"}]}}`, `{"spec":{"volumes":[]}}`, ""},
		{"a list with keys without a key", `{"spec":{"volumes":[{"name":"a"},{"x":1}]}}`, `{"spec":{"volumes":[{"name":"a"}]}}`, `{"spec":{"volumes":[{"name":"a"}]}}`},
		{"a list with keys in an element that is as wanted", `{"l":[{"containers":[{"name":"proxy"},{"name":"a","x":1}]}]}`, `{"l":[{"containers":[{"name":"a"}]}]}`, ""},
		// podSelector: {} over one with labels stayed what it was, so that a policy was for other pods than it said.
		{"a selector that becomes empty", `{"kind":"NetworkPolicy","spec":{"podSelector":{"matchLabels":{"a":"b"}}}}`, `{"spec":{"podSelector":{}}}`, `{"kind":"NetworkPolicy","spec":{"podSelector":{}}}`},
		{"a selector with a label less", `{"spec":{"selector":{"matchLabels":{"a":"b","c":"d"}}}}`, `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`, `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
		{"the selector of a service", `{"kind":"Service","spec":{"selector":{"a":"b","c":"d"}}}`, `{"spec":{"selector":{"a":"b"}}}`, `{"kind":"Service","spec":{"selector":{"a":"b"}}}`},
		{"a reference", `{"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}}}`, `{"spec":{"scaleTargetRef":{"kind":"Knot","name":"a"}}}`, `{"spec":{"scaleTargetRef":{"kind":"Knot","name":"a"}}}`},
		{"fields that a server fills into a reference", `{"env":[{"name":"a","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"x"}}}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}}`, `{"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],"roleRef":{"apiGroup":"","kind":"Role","name":"r"}}`, ""},
		{"a selector in a custom resource", `{"apiVersion":"example.com/v1","spec":{"pods":{"matchLabels":{"a":"b"}},"other":{"matchLabels":{"a":"b"},"x":1}}}`, `{"spec":{"pods":{},"other":{}}}`, `{"apiVersion":"example.com/v1","spec":{"pods":{},"other":{"matchLabels":{"a":"b"},"x":1}}}`},
		{"a zero that a server replaces", `{"spec":{"strategy":{"type":"RollingUpdate"},"template":{"spec":{"schedulerName":"default-scheduler"}}}}`, `{"spec":{"strategy":{"type":""},"template":{"spec":{"schedulerName":""}}}}`, ""},
		{"a zero over what is not its default", `{"spec":{"strategy":{"type":"Recreate"}}}`, `{"spec":{"strategy":{"type":""}}}`, `{"spec":{"strategy":{"type":""}}}`},
		{"fields that a server allocates", `{"kind":"Service","spec":{"clusterIP":"10.0.0.1","ports":[{"port":80,"targetPort":80,"nodePort":30000}]}}`, `{"spec":{"clusterIP":"","ports":[{"port":80,"targetPort":0,"nodePort":0}]}}`, ""},
		{"a mount by its path", `{"volumeMounts":[{"name":"v","mountPath":"/a","readOnly":true}]}`, `{"volumeMounts":[{"name":"w","mountPath":"/a"}]}`, `{"volumeMounts":[{"name":"w","mountPath":"/a","readOnly":true}]}`},
		{"lists in lists", `{"l":[[{"a":1,"b":2}],[1]]}`, `{"l":[[{"a":1}],[1]]}`, ""},
		{"null in a list", `{"l":[null,1]}`, `{"l":[null,1]}`, ""},

		{"finalizers", `{"metadata":{"finalizers":["a/a"]}}`, `{"metadata":{"finalizers":["b/b","a/a"]}}`, `{"metadata":{"finalizers":["a/a","b/b"]}}`},
		{"no finalizers", `{"metadata":{"finalizers":["a/a"]}}`, `{"metadata":{"finalizers":[]}}`, ""},
		{"owners", `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A","controller":true}]}}`, `{"metadata":{"ownerReferences":[{"uid":"2","kind":"B"},{"uid":"1","kind":"A"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A","controller":true},{"uid":"2","kind":"B"}]}}`},
		{"an owner otherwise", `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A","controller":true}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A","controller":true}]}}`},
		{"owners where there is none", `{"metadata":{}}`, `{"metadata":{"ownerReferences":[{"uid":"1"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1"}]}}`},
		// Values that no server takes were a change each time.
		{"mistyped finalizers", `{"metadata":{"finalizers":["a/a"]}}`, `{"metadata":{"finalizers":[1,2,{"x":1},{"y":null},["z"],null,1]}}`, `{"metadata":{"finalizers":["a/a",2,{"x":1},{},["z"],1]}}`},
		{"an owner that is there twice", `{"metadata":{"ownerReferences":[{"uid":"1","kind":"A"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1","kind":"B"},{"uid":"1","kind":"C"}]}}`, `{"metadata":{"ownerReferences":[{"uid":"1","kind":"C"}]}}`},
		{"empty lists in the metadata of a custom resource", `{"apiVersion":"example.com/v1","metadata":{}}`, `{"metadata":{"finalizers":[],"ownerReferences":[]}}`, ""},

		{"quantities", `{"resources":{"limits":{"cpu":"1","memory":"1Gi","x":"500m"},"requests":{"cpu":"2"}}}`, `{"resources":{"limits":{"cpu":"1000m","memory":"1024Mi","x":"0.5"},"requests":{"cpu":2}}}`, ""},
		{"quantities that differ by the least", `{"resources":{"limits":{"cpu":"1"}}}`, `{"resources":{"limits":{"cpu":"1.000000001"}}}`, `{"resources":{"limits":{"cpu":"1.000000001"}}}`},
		{"not quantities", `{"data":{"cpu":"1"},"env":[{"name":"a","value":"1"}]}`, `{"data":{"cpu":"1000m"},"env":[{"name":"a","value":"1000m"}]}`, `{"data":{"cpu":"1000m"},"env":[{"name":"a","value":"1000m"}]}`},
		{"the names of requested devices", `{"apiVersion":"resource.k8s.io/v1","spec":{"devices":{"requests":[{"deviceClassName":"1.0"}]}}}`, `{"spec":{"devices":{"requests":[{"deviceClassName":"1"}]}}}`, `{"apiVersion":"resource.k8s.io/v1","spec":{"devices":{"requests":[{"deviceClassName":"1"}]}}}`},
		{"quantities of a custom resource", `{"apiVersion":"example.com/v1","spec":{"limits":{"version":"1.0"},"resources":{"limits":{"cpu":"1"}}}}`, `{"spec":{"limits":{"version":"1"},"resources":{"limits":{"cpu":"1000m"}}}}`, `{"apiVersion":"example.com/v1","spec":{"limits":{"version":"1"},"resources":{"limits":{"cpu":"1"}}}}`},
		{"a quota", `{"kind":"ResourceQuota","spec":{"hard":{"pods":"10"}}}`, `{"spec":{"hard":{"pods":"1e1"}}}`, ""},
		{"a limit range", `{"kind":"LimitRange","spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}}`, `{"spec":{"limits":[{"type":"Pod","max":{"cpu":"1000m"}}]}}`, ""},
		{"sizes", `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1Gi"}}]}`, `{"volumes":[{"name":"a","emptyDir":{"sizeLimit":"1024Mi"}}]}`, ""},
		{"a volume's capacity", `{"kind":"PersistentVolume","spec":{"capacity":{"storage":"1k"}}}`, `{"spec":{"capacity":{"storage":"1000"}}}`, ""},

		{"a time", `{"spec":{"renewTime":"2026-01-02T03:04:05.000000Z"}}`, `{"spec":{"renewTime":"2026-01-02T04:04:05+01:00"}}`, ""},
		{"a time too exact for the server", `{"spec":{"renewTime":"2026-01-02T03:04:05Z"}}`, `{"spec":{"renewTime":"2026-01-02T03:04:05.1Z"}}`, ""},
		{"a time of a custom resource", `{"apiVersion":"example.com/v1","spec":{"atTime":"2026-01-02T03:04:05Z"}}`, `{"spec":{"atTime":"2026-01-02T03:04:05.1Z"}}`, `{"apiVersion":"example.com/v1","spec":{"atTime":"2026-01-02T03:04:05.1Z"}}`},
		{"another time", `{"spec":{"renewTime":"2026-01-02T03:04:05.000000Z"}}`, `{"spec":{"renewTime":"2026-01-02T03:04:05.000001Z"}}`, `{"spec":{"renewTime":"2026-01-02T03:04:05.000001Z"}}`},
		{"text that looks like a time", `{"data":{"aTime":"2026-01-02T03:04:05Z"}}`, `{"data":{"aTime":"2026-01-02T04:04:05+01:00"}}`, `{"data":{"aTime":"2026-01-02T04:04:05+01:00"}}`},

		{"base64 in lines", `{"apiVersion":"v1","kind":"Secret","data":{"a":"YWI="}}`, `{"data":{"a":"YW\nI=\n"}}`, ""},
		{"text in lines", `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"YWI="},"binaryData":{"b":"YWI="}}`, `{"data":{"a":"YWI=\n"},"binaryData":{"b":"YWI=\n"}}`, `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"YWI=\n"},"binaryData":{"b":"YWI="}}`},
		{"text in lines of a custom resource", `{"apiVersion":"example.com/v1","kind":"Blob","binaryData":{"a":"ab"}}`, `{"binaryData":{"a":"a\nb"}}`, `{"apiVersion":"example.com/v1","kind":"Blob","binaryData":{"a":"a\nb"}}`},
		{"the text of a secret", `{"apiVersion":"v1","kind":"Secret","data":{"a":"YWI="}}`, `{"stringData":{"a":"ab"}}`, ""},
		{"other text of a secret", `{"apiVersion":"v1","kind":"Secret","data":{"a":"YWI=","b":"YQ=="}}`, `{"data":{"b":"YQ=="},"stringData":{"a":"","c":"ab","d":null}}`, `{"apiVersion":"v1","kind":"Secret","data":{"a":"","b":"YQ==","c":"YWI="}}`},
		{"text of a secret without data", `{"apiVersion":"v1","kind":"Secret"}`, `{"stringData":{"c":"<é>"}}`, `{"apiVersion":"v1","kind":"Secret","data":{"c":"PMOpPg=="}}`},

		{"an autoscaler's tolerance", hpa(`"50m"`), hpa(`0.05`), ""},
		{"an autoscaler's tolerance as a text", hpa(`"50m"`), hpa(`" 5e-02 "`), ""},
		{"another tolerance", hpa(`"50m"`), hpa(`0.051`), hpa(`0.051`)},
		{"a quantity too exact for the server", hpa(`"1n"`), hpa(`"0.0000000001"`), ""},
		{"a resource too exact for the server", `{"apiVersion":"v1","kind":"ResourceQuota","spec":{"hard":{"requests.cpu":"1m"}}}`, `{"spec":{"hard":{"requests.cpu":"100u"}}}`, ""},
		{"a quantity that the server does not round to a resource's", hpa(`"1m"`), hpa(`"100u"`), hpa(`"100u"`)},
		{"a quantity too large for the server", hpa(`"9223372036854775807"`), hpa(`"99999999999Gi"`), ""},
		{"a list of bytes where there is a text", `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"YWI="}}`, `{"data":{"a":[97,98]}}`, `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":[97,98]}}`},
		{"a taint's time", `{"apiVersion":"v1","kind":"Node","spec":{"taints":[{"key":"a","timeAdded":"2026-01-02T03:04:05Z"}]}}`, `{"spec":{"taints":[{"key":"a","timeAdded":"2026-01-02T04:04:05.5+01:00"}]}}`, ""},
		{"the zero time", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"renewTime":null}}`, `{"spec":{"renewTime":"0001-01-01T00:00:00.000000Z","acquireTime":"0001-01-01T00:00:00.000000Z"}}`, ""},
		{"the zero time over another", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"renewTime":"2026-01-02T03:04:05.000000Z"}}`, `{"spec":{"renewTime":"0001-01-01T00:00:00.000000Z"}}`, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"renewTime":"0001-01-01T00:00:00.000000Z"}}`},
		{"the zero time of a custom resource", `{"apiVersion":"example.com/v1","kind":"Lease","spec":{}}`, `{"spec":{"renewTime":"0001-01-01T00:00:00Z"}}`, `{"apiVersion":"example.com/v1","kind":"Lease","spec":{"renewTime":"0001-01-01T00:00:00Z"}}`},
		{"a bundle in lines", webhook(`"YWI="`), webhook(`"YW\r\nI=\n"`), ""},
		{"a bundle with other bits behind its end", webhook(`"YWI="`), webhook(`"YWJ="`), ""},
		{"a bundle as a list of bytes", webhook(`"YWI="`), webhook(`[97,98]`), ""},
		{"another bundle", webhook(`"YWI="`), webhook(`"YWM=\n"`), webhook(`"YWM=\n"`)},
		{"an empty bundle where there is none", webhook(`null`), webhook(`"\n"`), ""},
		{"an empty bundle over another", webhook(`"YWI="`), webhook(`""`), webhook(`""`)},
		{
			"the bundle of a definition", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"YWI="}}}}}`,
			`{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"YW\nI="}}}}}`, "",
		},
		{"a bundle of a custom resource", `{"apiVersion":"example.com/v1","spec":{"caBundle":"YWI="}}`, `{"spec":{"caBundle":"YW\nI="}}`, `{"apiVersion":"example.com/v1","spec":{"caBundle":"YW\nI="}}`},
		{
			"a kind of the same name in another group", `{"apiVersion":"example.com/v1","kind":"HorizontalPodAutoscaler","spec":{"behavior":{"scaleUp":{"tolerance":"50m"}}}}`,
			`{"spec":{"behavior":{"scaleUp":{"tolerance":"0.05"}}}}`, `{"apiVersion":"example.com/v1","kind":"HorizontalPodAutoscaler","spec":{"behavior":{"scaleUp":{"tolerance":"0.05"}}}}`,
		},
		{"an entry of a secret with the name of a place", `{"apiVersion":"v1","kind":"Secret","data":{"b=b":"YWI="}}`, `{"data":{"b=b":"YW\nI="}}`, ""},
		{"an empty entry of a secret", `{"apiVersion":"v1","kind":"Secret","data":{}}`, `{"data":{"a":""}}`, `{"apiVersion":"v1","kind":"Secret","data":{"a":""}}`},
		{
			"a port otherwise written", `{"kind":"Service","apiVersion":"v1","spec":{"ports":[{"port":80,"protocol":"TCP","nodePort":30000}]}}`, `{"spec":{"ports":[{"port":80.0},{"port":8.1e1}]}}`,
			`{"kind":"Service","apiVersion":"v1","spec":{"ports":[{"port":80,"protocol":"TCP","nodePort":30000},{"port":81}]}}`,
		},
		{"a zero otherwise written", `{"spec":{}}`, `{"spec":{"minReadySeconds":-0.0e5}}`, ""},
		{"a number that a server keeps as a float", `{"apiVersion":"example.com/v1","a":0.12345678901234568,"b":12345678901234567000}`, `{"a":0.1234567890123456789,"b":12345678901234567890}`, ""},
		{"a float that is another number", `{"apiVersion":"example.com/v1","a":9007199254740993,"b":0.5}`, `{"a":9007199254740992.0,"b":0.50001}`, `{"apiVersion":"example.com/v1","a":9007199254740992.0,"b":0.50001}`},

		{"tolerations that admission has added", podWith(`{"key":"a","operator":"Exists"},` + added), podWith(`{"key":"a","operator":"Exists"}`), ""},
		{"tolerations that admission has put first", podWith(added + `,{"key":"a"}`), podWith(`{"key":"a","operator":"Equal"}`), podWith(`{"key":"a","operator":"Equal"},` + added)},
		{"one toleration more", podWith(`{"key":"a","operator":"Exists"},` + added), podWith(`{"key":"a","operator":"Exists"},{"key":"b","value":"c"}`), podWith(`{"key":"a","operator":"Exists"},{"key":"b","value":"c"},` + added)},
		{
			"a wanted toleration that admission adds", podWith(added), podWith(`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}`),
			podWith(`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},` + unreachable),
		},
		{"no tolerations", podWith(added), podWith(``), ""},
		{
			"tolerations of a template", `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"tolerations":[` + added + `]}}}}`, `{"spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}}`,
			`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}}`,
		},
		{
			"tolerations of a custom resource", `{"apiVersion":"example.com/v1","kind":"Pod","spec":{"tolerations":[` + added + `]}}`, `{"spec":{"tolerations":[{"key":"a"}]}}`,
			`{"apiVersion":"example.com/v1","kind":"Pod","spec":{"tolerations":[{"key":"a"}]}}`,
		},
		{"a selector of nodes that admission has added to", `{"apiVersion":"v1","kind":"Pod","spec":{"nodeSelector":{"a":"b","runtime":"x"}}}`, `{"spec":{"nodeSelector":{"a":"b"}}}`, ""},
		{
			"a selector of nodes of a template", `{"apiVersion":"v1","kind":"PodTemplate","template":{"spec":{"nodeSelector":{"a":"b","c":"d"}}}}`, `{"template":{"spec":{"nodeSelector":{"a":"b"}}}}`,
			`{"apiVersion":"v1","kind":"PodTemplate","template":{"spec":{"nodeSelector":{"a":"b"}}}}`,
		},
		{
			"taints that Kubernetes has added", `{"apiVersion":"v1","kind":"Node","spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`,
			`{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`, "",
		},
		{
			"a taint that another has added", `{"apiVersion":"v1","kind":"Node","spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","effect":"NoSchedule"}]}}`,
			`{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`, `{"apiVersion":"v1","kind":"Node","spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`,
		},
		{"the second address of a service", `{"apiVersion":"v1","kind":"Service","spec":{"ipFamilies":["IPv4","IPv6"],"clusterIPs":["10.0.0.1","fd00::1"]}}`, `{"spec":{"ipFamilies":["IPv4"],"clusterIPs":["10.0.0.1"]}}`, ""},
		{"another first family of a service", `{"apiVersion":"v1","kind":"Service","spec":{"ipFamilies":["IPv4","IPv6"]}}`, `{"spec":{"ipFamilies":["IPv6"]}}`, `{"apiVersion":"v1","kind":"Service","spec":{"ipFamilies":["IPv6"]}}`},

		{"another type of a strategy", `{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}`, `{"strategy":{"type":"Recreate"}}`, `{"strategy":{"type":"Recreate"}}`},
		{"the same type of a strategy", `{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}`, `{"strategy":{"type":"RollingUpdate"}}`, ""},
		{"another source of a volume", `{"volumes":[{"name":"a","hostPath":{"path":"/x"},"other":1}]}`, `{"volumes":[{"name":"a","emptyDir":{}}]}`, `{"volumes":[{"name":"a","other":1,"emptyDir":{}}]}`},
		{"a volume without a source", `{"volumes":[{"name":"a","hostPath":{"path":"/x"}}]}`, `{"volumes":[{"name":"a","hostPath":null}]}`, ""},
		{"another source of a variable", `{"env":[{"name":"a","value":"x"}]}`, `{"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"y"}}}]}`, `{"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"y"}}}]}`},
		{"no text for another source", `{"env":[{"name":"a","valueFrom":{}}]}`, `{"env":[{"name":"a","value":""}]}`, `{"env":[{"name":"a"}]}`},
		{"another bound of a disruption budget", `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","spec":{"minAvailable":1,"x":2}}`, `{"spec":{"maxUnavailable":"50%"}}`, `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","spec":{"x":2,"maxUnavailable":"50%"}}`},
		{"a port of an ingress by its name", `{"kind":"Ingress","spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`, `{"spec":{"defaultBackend":{"service":{"port":{"name":"http"}}}}}`, `{"kind":"Ingress","spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"http"}}}}}`},
		{"another backend of an ingress", `{"kind":"Ingress","spec":{"defaultBackend":{"service":{"name":"s"}}}}`, `{"spec":{"defaultBackend":{"resource":{"name":"r"}}}}`, `{"kind":"Ingress","spec":{"defaultBackend":{"resource":{"name":"r"}}}}`},
		{"a port that has a name and a number elsewhere", `{"apiVersion":"example.com/v1","kind":"Gateway","spec":{"port":{"number":80,"name":"a"}}}`, `{"spec":{"port":{"number":81}}}`, `{"apiVersion":"example.com/v1","kind":"Gateway","spec":{"port":{"number":81,"name":"a"}}}`},
		{"a webhook that becomes a service", `{"webhooks":[{"name":"w","clientConfig":{"url":"u","caBundle":"x"}}]}`, `{"webhooks":[{"name":"w","clientConfig":{"service":{"name":"s"}}}]}`, `{"webhooks":[{"name":"w","clientConfig":{"caBundle":"x","service":{"name":"s"}}}]}`},
		{"another type of a profile", `{"seccompProfile":{"type":"Localhost","localhostProfile":"x"}}`, `{"seccompProfile":{"type":"RuntimeDefault"}}`, `{"seccompProfile":{"type":"RuntimeDefault"}}`},
		{"the same type of a profile", `{"seccompProfile":{"type":"Localhost","localhostProfile":"x"}}`, `{"seccompProfile":{"type":"Localhost"}}`, ""},
		{"another probe", `{"livenessProbe":{"exec":{},"periodSeconds":10}}`, `{"livenessProbe":{"httpGet":{"port":1}}}`, `{"livenessProbe":{"periodSeconds":10,"httpGet":{"port":1}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := strings.Clone(test.live)
			got, changed, err := overlay.Apply(raw(live), raw(test.want), overlay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			left := test.left
			if left == "" {
				left = test.live
			}
			if !isSame(t, got, []byte(left)) || (len(changed) > 0) != (test.left != "") {
				t.Errorf("got %s, changed %v, want %s", got, changed, left)
			}
			if live != test.live {
				t.Errorf("live became %s", live)
			}
			if again, changed, err := overlay.Apply(got, raw(test.want), overlay.Options{}); err != nil || len(changed) > 0 || !isSame(t, again, got) {
				t.Errorf("a second time it is %s, changed %v, %v", again, changed, err)
			}
		})
	}
}

// The tolerations that the server adds to a pod.
const (
	unreachable = `{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}`
	added       = `{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` + unreachable
)

func podWith(tolerations string) string {
	return `{"apiVersion":"v1","kind":"Pod","spec":{"tolerations":[` + tolerations + `]}}`
}

func hpa(tolerance string) string {
	return `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","spec":{"behavior":{"scaleUp":{"tolerance":` + tolerance + `}}}}`
}

func webhook(bundle string) string {
	return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","webhooks":[{"name":"a","clientConfig":{"caBundle":` + bundle + `}}]}`
}

type (
	plainShape struct {
		Kind string `json:"kind"`
		N    int    `json:"n"`
	}
	plainTime struct{ time.Time }
)

func (t plainTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`"never"`), nil
	}
	return t.Time.MarshalJSON()
}

type (
	tagless struct {
		N     int      `json:"n"`
		Text  string   `json:"text"`
		On    bool     `json:"on"`
		List  []string `json:"list"`
		Inner tagInner `json:"inner"`
	}
	tagInner struct {
		A string `json:"a,omitempty"`
	}
	tagged struct {
		N       int         `json:"n,omitempty"`
		Inner   plainShape  `json:"inner,omitempty"`
		Zero    plainShape  `json:"zero,omitzero"`
		Array   [2]int      `json:"array,omitempty"`
		When    plainTime   `json:"when,omitempty"`
		Pointer *plainShape `json:"pointer,omitempty"`
		Number  *int        `json:"number,omitempty"`
		Deep    struct {
			In *tagged `json:"In"`
		} `json:"deep"`
	}
	tagKeys struct {
		Parts []plainPart       `json:"parts" patchStrategy:"merge" patchMergeKey:"id"`
		Ref   map[string]string `json:"ref" patchStrategy:"replace"`
	}
	plainPart struct {
		ID    string `json:"id"`
		Other string `json:"other,omitempty"`
	}
	twice struct {
		One
		Other
	}
	One   struct{ Same string }
	Other struct {
		Same string
		B    plainShape
	}
)

// What encoding/json writes is wanted, except null, and except the zero of a field tagged omitempty or omitzero. A zero was wanted or
// not by what stood beside it: `{"n":0}` over `{"n":3}` was nothing, if it was all.
func TestOverlayWantsTheFieldsThatJSONEncodes(t *testing.T) {
	zero := 0
	for _, test := range []struct {
		name string
		live string
		want any
		left string
	}{
		{"a number alone", `{"spec":{"n":3}}`, map[string]any{"spec": struct {
			N int `json:"n"`
		}{}}, `{"spec":{"n":0}}`},
		{"all zeros", `{"n":3,"text":"x","on":true,"list":["a"],"inner":{"a":"x"}}`, tagless{}, `{"n":0,"text":"","on":false,"list":["a"],"inner":{"a":"x"}}`},
		{"all zeros beside something", `{"n":3,"text":"x","on":true,"inner":{}}`, &tagless{Text: "y"}, `{"n":0,"text":"y","on":false,"inner":{}}`},
		{"all zeros where there is nothing", `{}`, tagless{}, `{"n":0,"text":"","on":false,"inner":{}}`},
		{"an empty list", `{"list":["a"],"n":0,"text":"","on":false,"inner":{}}`, tagless{List: []string{}}, `{"list":[],"n":0,"text":"","on":false,"inner":{}}`},
		{"fields that leave zeros out", `{"n":3,"inner":{"kind":"x"},"array":[1,2],"when":"1","deep":{}}`, tagged{}, ""},
		{"and where there is nothing", `{}`, tagged{}, `{"deep":{}}`},
		{"a pointer to a zero", `{"deep":{},"number":3,"pointer":{"kind":"x","n":1}}`, tagged{Number: &zero, Pointer: &plainShape{}}, `{"deep":{},"number":0,"pointer":{"kind":"","n":0}}`},
		{"fields within what has something", `{"deep":{"In":{"inner":{"kind":"x"},"deep":{}}}}`, func() (w tagged) { w.Deep.In = &tagged{}; return w }(), ""},
		{"part of a struct that leaves its zero out", `{"deep":{}}`, tagged{Inner: plainShape{Kind: "x"}}, `{"deep":{},"inner":{"kind":"x","n":0}}`},
		{"within an object that is new", `{}`, map[string]any{"spec": struct {
			Name  string     `json:"name"`
			Inner plainShape `json:"inner,omitempty"`
		}{Name: "x"}}, `{"spec":{"name":"x"}}`},
		{"in a map", `{"a":{"deep":{}}}`, map[string]tagged{"a": {}}, ""},
		{"in a map by number", `{"7":{"deep":{}}}`, map[int]tagged{7: {}}, ""},
		{"in a list", `{"l":[{"deep":{}}]}`, map[string]any{"l": []any{tagged{}}}, ""},
		{"zero and null in a map", `{"spec":{"flag":true}}`, map[string]any{"spec": map[string]any{"flag": false, "n": nil}}, `{"spec":{"flag":false}}`},
		{"zero and null in JSON", `{"inner":{"kind":"x"}}`, raw(`{"inner":{"kind":"","n":0},"n":null}`), `{"inner":{"kind":"","n":0}}`},
		{"a type that encodes itself", `{"spec":{"when":"1"}}`, map[string]any{"spec": struct {
			When plainTime `json:"when"`
		}{}}, `{"spec":{"when":"never"}}`},
		{"two embedded fields of one name", `{"Same":"x","B":{"kind":"","n":0}}`, twice{One: One{Same: "y"}}, ""},
		{
			"lists with the key of a tag", `{"parts":[{"id":"x"},{"id":"a","other":"1"}],"ref":{"a":"b"}}`,
			tagKeys{Parts: []plainPart{{ID: "a"}, {ID: "b"}}, Ref: map[string]string{}},
			`{"parts":[{"id":"x"},{"id":"a","other":"1"},{"id":"b"}],"ref":{}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			const kind = `{"apiVersion":"example.com/v1",`
			live, left := strings.Replace(kind+test.live[1:], ",}", "}", 1), test.left
			if left == "" {
				left = live
			} else {
				left = strings.Replace(kind+left[1:], ",}", "}", 1)
			}
			got, changed, err := overlay.Apply(raw(live), test.want, overlay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !isSame(t, got, []byte(left)) || (len(changed) > 0) != (left != live) {
				t.Errorf("got %s, changed %v, want %s", got, changed, left)
			}
			if again, changed, err := overlay.Apply(got, test.want, overlay.Options{}); err != nil || len(changed) > 0 || !isSame(t, again, got) {
				t.Errorf("a second time it is %s, changed %v, %v", again, changed, err)
			}
		})
	}
}

func TestOverlayRefusesInvalidArguments(t *testing.T) {
	const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"u"}}`
	for _, test := range []struct {
		name      string
		live      string
		want      any
		text      string
		malformed bool
	}{
		{"another name", live, raw(`{"metadata":{"name":"b"}}`), `metadata.name is "b" in want and "a" in live`, true},
		{"another namespace", live, raw(`{"metadata":{"namespace":"b"}}`), `metadata.namespace is "b" in want and "n" in live`, true},
		{"another uid", live, raw(`{"metadata":{"uid":"b"}}`), `metadata.uid is "b" in want and "u" in live`, true},
		{"another kind", live, raw(`{"kind":"Secret"}`), `kind is "Secret" in want and "ConfigMap" in live`, true},
		{"another version", live, raw(`{"apiVersion":"v2"}`), `apiVersion is "v2" in want and "v1" in live`, true},
		{"no object", live, 7, `want is int, which does not encode to a JSON object`, false},
		{"no live object", `[]`, raw(`{}`), `live is json.RawMessage, which does not encode to a JSON object`, false},
		{"no JSON", `{`, raw(`{}`), `live is not JSON: it ends too early`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, changed, err := overlay.Apply(raw(test.live), test.want, overlay.Options{})
			if err == nil || err.Error() != test.text || changed != nil || errors.Is(err, patch.ErrMalformed) != test.malformed {
				t.Errorf("error is %v, want %s", err, test.text)
			}
		})
	}
	for _, fits := range []string{`{"metadata":{"name":"a","uid":""}}`, `{"kind":"","metadata":null}`, `{"metadata":7}`} {
		if _, _, err := overlay.Apply(raw(live), raw(fits), overlay.Options{}); err != nil {
			t.Errorf("%s: %v", fits, err)
		}
	}
}

// What is read keeps its order and its numbers where nothing is said about it.
func TestOverlayKeepsTheRestAsItIsWritten(t *testing.T) {
	const live = `{"z":1.50,"y":9007199254740993,"a":{"x":1e400,"w":"\u00e9"}}`
	got, _, err := overlay.Apply(raw(live), raw(`{"a":{"b":2}}`), overlay.Options{})
	if want := `{"z":1.50,"y":9007199254740993,"a":{"x":1e400,"w":"\u00e9","b":2}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// A key that a user has chosen may look like a part of the place of a field, such as /type, where the server drops the zero.
func TestOverlayTakesNoMapKeyForAFieldPath(t *testing.T) {
	for _, want := range []string{`{"a":{"":{"type":""}}}`, `{"a":{"":{"reason":""}}}`, `{"a":{"addresses/hostname":""}}`, `{"a":{"Service:spec/type":""}}`} {
		if got, _, err := overlay.Apply(raw(`{"a":{}}`), raw(want), overlay.Options{}); err != nil || string(got) != want {
			t.Errorf("%s over an empty object gives %s, %v", want, got, err)
		}
	}
}

// An overlay done is done: what comes of it has all that was wanted.
func TestOverlayOfRandomDocumentsConverges(t *testing.T) {
	for seed := range histories.Seeds(800) {
		r := randomdoc.New(seed)
		live := r.Object(4)
		want := r.ChangeObject(live, 4)
		converges(t, string(marshal(t, live)), string(marshal(t, want)))
		if got, _, err := overlay.Apply(live, want, overlay.Options{}); err == nil {
			if missing := unsaid(decode(t, got), decode(t, marshal(t, want)), ""); missing != "" {
				t.Errorf("%s over %s gives %s, without %s", marshal(t, want), marshal(t, live), got, missing)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func converges(t *testing.T, live, want string) {
	t.Helper()
	got, changed, err := overlay.Apply(raw(live), raw(want), overlay.Options{})
	if err != nil {
		return
	}
	if !json.Valid(got) {
		t.Fatalf("%s over %s gives %s", want, live, got)
	}
	if len(changed) == 0 && !isSame(t, got, []byte(live)) {
		t.Errorf("%s over %s gives %s, and says that nothing changed", want, live, got)
	}
	again, changed, err := overlay.Apply(got, raw(want), overlay.Options{})
	if err != nil || len(changed) > 0 || !isSame(t, again, got) {
		t.Errorf("%s over %s gives %s, and again %s, changed %v, %v", want, live, got, again, changed, err)
	}
	if self, changed, err := overlay.Apply(raw(live), raw(live), overlay.Options{}); err != nil || len(changed) > 0 || !isSame(t, self, []byte(live)) {
		t.Errorf("%s over itself gives %s, changed %v, %v", live, self, changed, err)
	}
}

// unsaid returns where a random document does not have what is wanted.
func unsaid(is, want any, at string) string {
	if want == nil || is == nil && want == "" && (strings.Contains(at, "/key") || at == "/type") { // an empty one is none
		return ""
	}
	switch want := want.(type) {
	case map[string]any:
		object, ok := is.(map[string]any)
		if !ok {
			return at
		}
		for name, v := range want {
			if missing := unsaid(object[name], v, at+"/"+name); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		list, ok := is.([]any)
		if is == nil && len(want) == 0 {
			return ""
		}
		if !ok || len(list) != len(want) {
			return at
		}
		for i := range want {
			if missing := unsaid(list[i], want[i], at+"/0"); missing != "" {
				return missing
			}
		}
		return ""
	}
	a, _ := json.Marshal(is)
	b, _ := json.Marshal(want)
	if _, err := patch.ApplyJSON([]byte(`{"v":`+string(a)+`}`), []byte(`[{"op":"test","path":"/v","value":`+string(b)+`}]`)); err != nil {
		return at
	}
	return ""
}

func FuzzOverlay(f *testing.F) {
	for _, docs := range [][2]string{
		{`{"a":1,"l":[{"name":"a","x":1},{"key":"b"}]}`, `{"a":null,"l":[{"key":"b","y":[]},{"name":"a"}]}`},
		{`{"metadata":{"finalizers":["a"],"ownerReferences":[{"uid":"1"}]}}`, `{"metadata":{"finalizers":["b"],"ownerReferences":[{"uid":"1","x":2}]}}`},
		{`{"apiVersion":"v1","kind":"Secret","data":{"a":"YQ=="}}`, `{"stringData":{"a":"b","c":""},"data":{"a":"\n"}}`},
		{`{"resources":{"limits":{"cpu":"1"}},"renewTime":"2026-01-02T03:04:05Z"}`, `{"resources":{"limits":{"cpu":"1000m"}},"renewTime":"2026-01-02T03:04:05+00:00"}`},
		{`{"strategy":{"type":"a","rollingUpdate":{}},"volumes":[{"name":"v","nfs":{}}]}`, `{"strategy":{"type":"b"},"volumes":[{"name":"v","emptyDir":{}}]}`},
		{`{"l":[[1,{}],null]}`, `{"l":[null,[{"a":1}]]}`},
	} {
		f.Add(docs[0], docs[1])
	}
	f.Fuzz(converges)
}

func TestQuantitiesAreComparedExactly(t *testing.T) {
	equal := func(a, b string) bool {
		doc := func(q string) json.RawMessage {
			return marshal(t, map[string]any{"resources": map[string]any{"limits": map[string]any{"x": q}}})
		}
		_, changed, err := overlay.Apply(doc(a), doc(b), overlay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return len(changed) == 0
	}
	for _, group := range [][]string{
		{"1", "1000m", "1.0", "+1", "1e0", "1E0", "0.001k", "1000000u", "1000000000n", ".001k", "1."},
		{"1Ki", "1024", "1.024k", "0.0009765625Mi"},
		{"1Gi", "1024Mi", "1048576Ki", "1073741824"},
		{"1e3", "1k", "1000", "1E3", "1e+3"},
		{"1E", "1000P", "1e18"},
		{"1Ei", "1024Pi"},
		{"0", "0m", "0.0", "-0", "0Gi"},
		{"-1500m", "-1.5"},
		{"123456789012345678901234567890", "123456789012345678901234567.890k"},
	} {
		for _, a := range group {
			for _, b := range group {
				if !equal(a, b) {
					t.Errorf("%s is not %s", a, b)
				}
			}
		}
	}
	for _, pair := range [][2]string{
		{"1", "1m"},
		{"1", "-1"},
		{"1k", "1Ki"},
		{"1M", "1m"},
		{"123456789012345678901234567890", "123456789012345678901234567891"},
		{"", "0"},
		{"x", "X"},
		{"1 ", "1"},
		{"1e", "1"},
		{"1ee1", "10"},
		{"1e1000", "1e1001"},
		{"1-", "1"},
		{"1.0.0", "1"},
		{".", "0"},
		{"1K", "1k"},
		{"1e-+1", "0.1"},
		{"--1", "-1"},
		{"1e0x1", "10"},
		{strings.Repeat("0", 100) + "1", "1"},
	} {
		if equal(pair[0], pair[1]) {
			t.Errorf("%s is %s", pair[0], pair[1])
		}
	}
}

func TestOverlayDoesNotChangeWhatItIsGiven(t *testing.T) {
	live, want := raw(`{"a":[ {"name":"x", "y":1} ]}`), &tagKeys{Parts: []plainPart{{}}}
	before := marshal(t, want)
	if _, _, err := overlay.Apply(live, want, overlay.Options{}); err != nil {
		t.Fatal(err)
	}
	if string(live) != `{"a":[ {"name":"x", "y":1} ]}` || !reflect.DeepEqual(before, marshal(t, want)) {
		t.Errorf("live is %s, want is %+v", live, want)
	}
}

// A CustomResourceDefinition was no built-in kind, so that what its server drops was wanted each time; and the quantities of devices
// were text.
func TestOverlayKnowsDefinitionsAndDevices(t *testing.T) {
	for _, test := range []struct{ live, want, changed string }{
		{`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"conversion":{"strategy":"None"}}}`, `{"spec":{"preserveUnknownFields":false,"conversion":{"strategy":""},"versions":[]}}`, "[]"},
		{`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":{"readOnly":true}}}}]}}`, `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":{"readOnly":true,"paused":false,"l":[]}}}}]}}`, "[/spec/versions]"},
		{`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","spec":{"devices":[{"capacity":{"memory":{"value":"1Gi"}}}],"sharedCounters":[{"counters":{"c":{"value":"1"}}}]}}`, `{"spec":{"devices":[{"capacity":{"memory":{"value":"1024Mi"}}}],"sharedCounters":[{"counters":{"c":{"value":"1000m"}}}]}}`, "[]"},
	} {
		_, changed, err := overlay.Apply(raw(test.live), raw(test.want), overlay.Options{})
		if err != nil || fmt.Sprint(changed) != test.changed {
			t.Errorf("%s changes %v, %v, want %s", test.want, changed, err, test.changed)
		}
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// isSame compares two documents by a test operation.
func isSame(t *testing.T, a, b []byte) bool {
	t.Helper()
	same, err := patch.JSON(patch.Test("", json.RawMessage(b))).Body()
	if err != nil {
		t.Fatal(err)
	}
	_, err = patch.ApplyJSON(a, same)
	return err == nil
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decode(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
