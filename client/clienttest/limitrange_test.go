package clienttest_test

import (
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const limitRanges = "/api/v1/namespaces/default/limitranges"

// A LimitRange completes pods, and refuses what it does not allow.
func TestLimitRangesCompleteAndRefuse(t *testing.T) {
	const (
		pods   = "/api/v1/namespaces/default/pods"
		claims = "/api/v1/namespaces/default/persistentvolumeclaims"
	)
	for _, test := range []struct {
		name, limits, path, object string
		want                       string // the annotation, or the message of the refusal
	}{
		{
			"defaults", `{"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"100m"}}`, pods,
			`{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i","resources":{"requests":{"cpu":"1","memory":"1Mi"},"limits":{"cpu":"2","memory":"2Mi"}}}],
				"initContainers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}}}]}`,
			"LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; " +
				"memory request for init container c; memory limit for init container c",
		},
		{
			"minimum and maximum", `{"type":"Container","min":{"cpu":"100m"},"max":{"memory":"1Gi"}}`, pods,
			`{"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"50m"},"limits":{"memory":"2Gi"}}}]}`,
			`pods "a" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, ` +
				`maximum memory usage per Container is 1Gi, but limit is 2Gi]`,
		},
		{
			"ratio", `{"type":"Container","maxLimitRequestRatio":{"cpu":"2"}}`, pods,
			`{"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2500m"}}}]}`,
			`pods "a" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000`,
		},
		{
			"sum of a pod", `{"type":"Pod","max":{"cpu":"2"}}`, pods,
			`{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"b","image":"i","resources":{"limits":{"cpu":"500m"}}}],
				"initContainers":[{"name":"c","image":"i","restartPolicy":"Always","resources":{"limits":{"cpu":"750m"}}}]}`,
			`pods "a" is forbidden: maximum cpu usage per Pod is 2, but limit is 2250m`,
		},
		{
			"claim", `{"type":"PersistentVolumeClaim","max":{"storage":"2Gi"},"min":{"storage":"1Gi"}}`, claims,
			`{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"3Gi"}}}`,
			`persistentvolumeclaims "a" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, clienttest.Options{})
			h.must(t, http.MethodPost, limitRanges, `{"metadata":{"name":"l"},"spec":{"limits":[`+test.limits+`]}}`)
			got := h.do(t, http.MethodPost, test.path, `{"metadata":{"name":"a"},"spec":`+test.object+`}`)
			text := at(got.body, "metadata", "annotations", "kubernetes.io/limit-ranger")
			if got.code != http.StatusCreated {
				text = got.status(t).Message
			}
			if text != test.want {
				t.Errorf("%d\ngot  %s\nwant %s", got.code, text, test.want)
			}
		})
	}
}

// A LimitRange bounds the updates of a claim, until it is deleted.
func TestLimitRangesBoundUpdatesOfClaims(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const claims = "/api/v1/namespaces/default/persistentvolumeclaims"
	h.must(t, http.MethodPost, claims, `{"metadata":{"name":"a","finalizers":["example.com/a"]},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"3Gi"}}}}`)
	h.must(t, http.MethodPost, limitRanges, `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"2Gi"}}]}}`)
	change := `{"metadata":{"labels":{"a":"b"}}}`
	if got := h.do(t, http.MethodPatch, claims+"/a", change); got.code != http.StatusForbidden {
		t.Errorf("an update is answered with %d", got.code)
	}
	h.must(t, http.MethodDelete, claims+"/a", "")
	h.must(t, http.MethodPatch, claims+"/a", change)
}
