package clienttest

import (
	"encoding/base64"
	"maps"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// builtins returns the resources that every server has. Their traits are those of the real server's strategies.
func builtins() []*resource {
	dataColumn := column{"Data", func(m members) any { return len(textMap(m, "data")) + len(textMap(m, "binaryData")) }}
	return []*resource{
		{
			Resource: Resource{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", ShortNames: []string{"cm"}},
			builtinTraits: builtinTraits{
				unconditional: true, anyField: true,
				textMaps: []string{"data", "binaryData"},
				columns:  []column{dataColumn},
			},
		},
		{
			Resource: Resource{
				Version: "v1", Kind: "Event", Resource: "events", ShortNames: []string{"ev"},
				SelectableFields: []string{
					"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
					"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
					"reason", "reportingComponent", "source", "type",
				},
			},
			builtinTraits: builtinTraits{
				blank: `"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,` +
					`"reportingComponent":"","reportingInstance":""`,
				unconditional: true, createOnUpdate: true,
				columns: []column{field("Type", "type"), field("Reason", "reason"), field("Message", "message")},
			},
		},
		{
			Resource: Resource{
				Version: "v1", Kind: "Namespace", Resource: "namespaces", ShortNames: []string{"ns"},
				Scope: meta.Cluster, Status: true, SelectableFields: []string{"status.phase"},
			},
			builtinTraits: builtinTraits{
				blank:         `"spec":{},"status":{}`,
				unconditional: true, returnDeleted: true, label: true, single: true,
				columns: []column{field("Status", "status.phase")},
				prepare: prepareNamespace,
				// It changes nothing: this server finishes namespaces by itself.
				subresources: map[string]*subresource{"finalize": {verbs: []string{"update"}, part: finalizePart}},
			},
		},
		{
			Resource: Resource{
				Version: "v1", Kind: "Node", Resource: "nodes", ShortNames: []string{"no"},
				Scope: meta.Cluster, Status: true, SelectableFields: []string{"spec.unschedulable"},
			},
			builtinTraits: builtinTraits{
				unconditional: true,
				blank: `"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{` +
					`"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"",` +
					`"kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}`,
			},
		},
		{
			Resource: Resource{
				Version: "v1", Kind: "Pod", Resource: "pods", ShortNames: []string{"po"}, Categories: []string{"all"}, Status: true,
				SelectableFields: []string{
					"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
					"status.phase", "status.podIP", "status.nominatedNodeName",
				},
			},
			builtinTraits: builtinTraits{
				blank:      `"spec":{"containers":null},"status":{}`,
				generation: true, unconditional: true, returnDeleted: true, graceful: true,
				columns: []column{field("Status", "status.phase")},
				prepare: preparePod,
				subresources: map[string]*subresource{
					"binding":             callOf("", "", "Binding", (*call).bind),
					"ephemeralcontainers": partOf(ephemeralPart),
					"eviction":            callOf("policy", "v1", "Eviction", (*call).evict),
					"resize":              partOf(resizePart),
				},
			},
		},
		{
			Resource: Resource{Version: "v1", Kind: "Secret", Resource: "secrets", SelectableFields: []string{"type"}},
			builtinTraits: builtinTraits{
				unconditional: true,
				textMaps:      []string{"data", "stringData"},
				columns:       []column{field("Type", "type"), dataColumn},
				prepare:       prepareSecret,
			},
		},
		{
			Resource: Resource{
				Version: "v1", Kind: "Service", Resource: "services", ShortNames: []string{"svc"}, Categories: []string{"all"},
				Status: true, SelectableFields: []string{"spec.clusterIP", "spec.type"},
			},
			builtinTraits: builtinTraits{
				blank:         `"spec":{},"status":{"loadBalancer":{}}`,
				unconditional: true, createOnUpdate: true, returnDeleted: true, label: true,
				columns: []column{field("Type", "spec.type"), field("Cluster-IP", "spec.clusterIP")},
			},
		},
		{
			Resource: Resource{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", ShortNames: []string{"sa"}},
			builtinTraits: builtinTraits{
				unconditional: true, returnDeleted: true, anyField: true,
				subresources: map[string]*subresource{
					"token": callOf("authentication.k8s.io", "v1", "TokenRequest", (*call).token),
				},
			},
		},
		{
			Resource: Resource{
				Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", ShortNames: []string{"deploy"},
				Categories: []string{"all"}, Status: true,
			},
			builtinTraits: builtinTraits{
				generation: true, unconditional: true, anyField: true,
				subresources: map[string]*subresource{"scale": scaleSubresource()},
				blank:        `"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}`,
			},
		},
		{
			Resource: Resource{
				Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests",
				ShortNames: []string{"csr"}, Scope: meta.Cluster, Status: true, SelectableFields: []string{"spec.signerName"},
			},
			builtinTraits: builtinTraits{
				blank:         `"spec":{"request":null,"signerName":""},"status":{}`,
				unconditional: true, fixed: true,
				complete: completeRequest, check: checkRequest,
				subresources: map[string]*subresource{"approval": partOf(approvalPart), "status": partOf(certificatePart)},
			},
		},
		{
			Resource: Resource{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"},
			builtinTraits: builtinTraits{
				blank:          `"spec":{}`,
				createOnUpdate: true, anyField: true,
				columns: []column{field("Holder", "spec.holderIdentity")},
			},
		},
	}
}

func preparePod(d *draft, creating bool) {
	if creating {
		d.content["status"] = members{"phase": "Pending", "qosClass": "BestEffort"}
	}
}

// prepareNamespace gives a namespace what controllers and admission give it on a real server.
func prepareNamespace(d *draft, creating bool) {
	d.meta.Labels = withEntry(d.meta.Labels, "kubernetes.io/metadata.name", d.meta.Name)
	d.content["spec"] = members{"finalizers": []any{"kubernetes"}}
	if creating {
		d.content["status"] = members{"phase": "Active"}
	}
}

// prepareSecret moves stringData, which is write-only, into data.
func prepareSecret(d *draft, _ bool) {
	if _, found := d.content["type"]; !found {
		d.content["type"] = "Opaque"
	}
	text, _ := d.content["stringData"].(members)
	delete(d.content, "stringData")
	if len(text) == 0 {
		return
	}
	data, _ := d.content["data"].(members)
	data, _ = patch.MergeValue(maps.Clone(data), text).(members)
	for k := range text {
		s, _ := text[k].(string)
		data[k] = base64.StdEncoding.EncodeToString([]byte(s))
	}
	d.content["data"] = data
}

func withEntry(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
