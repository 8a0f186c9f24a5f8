package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
)

// clienttest with its CEL library decides by ValidatingAdmissionPolicies, and by the matchConditions of webhooks, as a
// kube-apiserver does.
func TestPoliciesOfBothServers(t *testing.T) {
	t.Parallel()
	_, ns := admin(t) // for its name, which both servers use
	ns = "policies-" + ns
	want := playPolicies(t, open(t, adminConfig()), ns)
	got := playPolicies(t, open(t, clienttest.Start(t, clienttest.Options{RBAC: true, Rules: cel.Rules()}).Config()), ns)
	for i, step := range want {
		if got[i] != step {
			head, _, _ := strings.Cut(step, "\n")
			t.Errorf("%s: kube-apiserver and clienttest differ in\n%s", head, differences(step, got[i]))
		}
	}
}

// policyOf returns a policy for the config maps of the namespace, and its binding.
func policyOf(name, more, binding string) string {
	const path = "POST {admission}/validatingadmissionpolic"
	if !strings.Contains(more, "matchConstraints") {
		more = `"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},` + more
	}
	if !strings.Contains(binding, "validationActions") {
		binding += `,"validationActions":["Deny"]`
	}
	return path + "ies\n" + `{"metadata":{"name":"{ns}-` + name + `"},"spec":{` + more + `}}` + "\n\n" +
		path + "ybindings\n" + `{"metadata":{"name":"{ns}-` + name + `"},"spec":{"policyName":"{ns}-` + name + `",
		"matchResources":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"{ns}"}}}` + binding + `}}`
}

// forCase is the condition of a policy that applies to the objects whose label case is its name.
func forCase(name string) string {
	return `"matchConditions":[{"name":"case","expression":"object != null && has(object.metadata.labels) && 'case' in object.metadata.labels && object.metadata.labels['case'] == '` + name + `'"}]`
}

// forLabel is the constraint of a policy with a parameter, which is looked for before its conditions are asked.
func forLabel(name string) string {
	return `"matchConstraints":{"objectSelector":{"matchLabels":{"case":"` + name + `"}},
		"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}`
}

func policySetup() string {
	deny := func(name, validations, more string) string {
		return policyOf(name, forCase(name)+`,"validations":[`+validations+`]`+more, "")
	}
	return strings.Join([]string{
		deny("plain", `{"expression":"has(object.data)"}`, ""),
		deny("message", `{"expression":"false","message":"never","reason":"Forbidden"}`, ""),
		deny("said", `{"expression":"false","messageExpression":"'not ' + object.metadata.name + ' of ' + request.namespace"}`, ""),
		deny("fails", `{"expression":"object.data.none == 'x'"}`, ""),
		deny("fails-open", `{"expression":"object.data.none == 'x'"}`, `,"failurePolicy":"Ignore"`),
		deny("two", `{"expression":"true"},{"expression":"object.metadata.name == 'x'","message":"b"},{"expression":"false","message":"c"}`, ""),
		deny("variables", `{"expression":"variables.n < 3","messageExpression":"string(variables.n)"}`, `,"variables":[{"name":"n","expression":"size(object.metadata.name)"}]`),
		deny("home", `{"expression":"namespaceObject.metadata.labels['team'] == 'a'"}`, ""),
		deny("user", `{"expression":"request.userInfo.username == 'nobody' || authorizer.group('').resource('pods').namespace(request.namespace).check('get').allowed()"}`, ""),
		deny("may", `{"expression":"!authorizer.group('').resource('pods').namespace(request.namespace).check('get').allowed()"}`, ""),
		deny("old", `{"expression":"oldObject == null || object.data == oldObject.data","message":"immutable"}`, ""),
		deny("request", `{"expression":"false","messageExpression":"request.operation + ' ' + request.resource.resource + ' ' + request.kind.kind + ' ' + string(request.dryRun) + ' ' + string(request.options.kind)"}`, ""),
		policyOf("warn", forCase("warn")+`,"validations":[{"expression":"false","message":"be careful"}]`, `,"validationActions":["Warn","Audit"]`),
		"POST {core}/configmaps\n" + `{"metadata":{"name":"limits","labels":{"l":"limits"}},"data":{"max":"2"}}`,
		policyOf("params", forCase("params")+`,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},
			"validations":[{"expression":"size(object.metadata.name) <= int(params.data.max)","messageExpression":"'more than ' + params.data.max"}]`,
			`,"paramRef":{"name":"limits","parameterNotFoundAction":"Deny"}`),
		policyOf("no-params", forLabel("no-params")+`,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"false"}]`,
			`,"paramRef":{"selector":{"matchLabels":{"l":"none"}},"parameterNotFoundAction":"Deny"}`),
		policyOf("no-params-allowed", forLabel("no-params-allowed")+`,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"false"}]`,
			`,"paramRef":{"name":"none","parameterNotFoundAction":"Allow"}`),
		policyOf("scale", `"matchConstraints":{"resourceRules":[{"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/scale"]}]},
			"validations":[{"expression":"object.spec.replicas <= 5","message":"at most 5"}]`, ""),
		policyOf("deletion", `"matchConditions":[{"name":"kept","expression":"request.operation == 'DELETE' && oldObject.metadata.name == 'kept'"}],
			"validations":[{"expression":"false","message":"it stays"}]`, ""),
		policyOf("excluded", `"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"resourceNames":["named","excluded"]}],
			"excludeResourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"resourceNames":["excluded"]}]},
			"validations":[{"expression":"false","message":"by name"}]`, ""),
	}, "\n\n")
}

func policySteps() (steps []string) {
	for _, name := range []string{
		"plain", "message", "said", "fails", "fails-open", "two", "variables", "home", "user", "may", "request", "warn", "params", "no-params", "no-params-allowed",
	} {
		steps = append(steps, fmt.Sprintf("POST {core}/configmaps\n"+`{"metadata":{"name":"c-%[1]s","labels":{"case":%[1]q}}}`, name))
	}
	return append(steps,
		"POST {core}/configmaps?dryRun=All\n"+`{"metadata":{"name":"dry","labels":{"case":"request"}}}`,
		"POST {core}/configmaps\n"+`{"metadata":{"name":"o","labels":{"case":"old"}},"data":{"a":"b"}}`,
		"PATCH {core}/configmaps/o merge-patch+json\n"+`{"data":{"a":"c"}}`,
		"PATCH {core}/configmaps/o merge-patch+json\n"+`{"metadata":{"annotations":{"a":"c"}}}`,
		"POST {core}/configmaps\n"+`{"metadata":{"name":"p","labels":{"case":"params"}}}`,
		"POST {core}/configmaps\n"+`{"metadata":{"name":"kept"}}`,
		"DELETE {core}/configmaps/kept\n",
		"POST {core}/configmaps\n"+`{"metadata":{"name":"named"}}`,
		"POST {core}/configmaps\n"+`{"metadata":{"name":"excluded"}}`,
		"POST {apps}/deployments\n"+`{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
		"PATCH {apps}/deployments/d/scale merge-patch+json\n"+`{"spec":{"replicas":6}}`,
		"PATCH {apps}/deployments/d/scale merge-patch+json\n"+`{"spec":{"replicas":4}}`,
		// Expressions that a server refuses.
		"POST {admission}/validatingadmissionpolicies\n"+`{"metadata":{"name":"{ns}-wrong"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],
			"apiVersions":["v1"],"resources":["configmaps"]}]},"validations":[{"expression":"object."},{"expression":"1 + 1"},{"expression":"true","messageExpression":"1"}],
			"variables":[{"name":"v","expression":"x"}],"matchConditions":[{"name":"c","expression":"'text'"}],"auditAnnotations":[{"key":"k","valueExpression":"1"}]}}`,
		"POST {admission}/validatingwebhookconfigurations\n"+`{"metadata":{"name":"{ns}-wrong"},"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
			"clientConfig":{"url":"https://127.0.0.1:1/x"},"matchConditions":[{"name":"c","expression":"object.x +"}]}]}`,
	)
}

// playPolicies sends the requests to a server with policies, and returns the answers.
func playPolicies(t *testing.T, c *client.Client, ns string) (shown []string) {
	t.Helper()
	names := strings.NewReplacer("{ns}", ns, "{core}", "/api/v1/namespaces/"+ns, "{apps}", "/apis/apps/v1/namespaces/"+ns,
		"{admission}", "/apis/admissionregistration.k8s.io/v1")
	send := func(step string) string { return sendStep(t, c, names.Replace(step)) }
	send("POST /api/v1/namespaces\n" + `{"metadata":{"name":"{ns}","labels":{"team":"b"}}}`)
	for step := range strings.SplitSeq(policySetup(), "\n\n") {
		if answer := send(step); !strings.HasPrefix(answer, "201") {
			t.Fatalf("%s: %s", step, answer)
		}
		if path, body, _ := strings.Cut(names.Replace(step), "\n"); strings.Contains(path, "policies") {
			_, name, _ := strings.Cut(body, `"name":"`)
			name, _, _ = strings.Cut(name, `"`)
			t.Cleanup(func() {
				for _, kind := range []string{"ybindings/", "ies/"} {
					sendStep(t, c, names.Replace("DELETE {admission}/validatingadmissionpolic"+kind)+name+"\n")
				}
			})
		}
	}
	eventually(t, func() error { // the last policy is in effect a little later
		if answer := send("POST {core}/configmaps?dryRun=All\n" + `{"metadata":{"name":"named"}}`); !strings.HasPrefix(answer, "422") {
			return fmt.Errorf("the answer is %s", answer)
		}
		return nil
	})
	for _, step := range policySteps() {
		shown = append(shown, "> "+step+"\n"+hideChance(send(step), ns, ""))
	}
	return shown
}
