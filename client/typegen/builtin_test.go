package main

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/builtin/admissionregistration"
	"github.com/bowline-go/bowline/client/builtin/apiextensions"
	"github.com/bowline-go/bowline/client/builtin/apiregistration"
	"github.com/bowline-go/bowline/client/builtin/apps"
	"github.com/bowline-go/bowline/client/builtin/authentication"
	"github.com/bowline-go/bowline/client/builtin/authorization"
	"github.com/bowline-go/bowline/client/builtin/autoscaling"
	"github.com/bowline-go/bowline/client/builtin/batch"
	"github.com/bowline-go/bowline/client/builtin/certificates"
	"github.com/bowline-go/bowline/client/builtin/coordination"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/discovery"
	"github.com/bowline-go/bowline/client/builtin/events"
	"github.com/bowline-go/bowline/client/builtin/flowcontrol"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/node"
	"github.com/bowline-go/bowline/client/builtin/policy"
	"github.com/bowline-go/bowline/client/builtin/rbac"
	"github.com/bowline-go/bowline/client/builtin/resource"
	"github.com/bowline-go/bowline/client/builtin/scheduling"
	"github.com/bowline-go/bowline/client/builtin/storage"
	"github.com/bowline-go/bowline/client/builtin/storagemigration"
	"github.com/bowline-go/bowline/client/clienttest"
	serverdiscovery "github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// builtinTypes are the kinds of client/builtin, by the folder.
var builtinTypes = map[string][]typed{
	"admissionregistration": {
		of(admissionregistration.MutatingAdmissionPolicies()),
		of(admissionregistration.MutatingAdmissionPolicyBindings()),
		of(admissionregistration.MutatingWebhookConfigurations()),
		of(admissionregistration.ValidatingAdmissionPolicies()),
		of(admissionregistration.ValidatingAdmissionPolicyBindings()),
		of(admissionregistration.ValidatingWebhookConfigurations()),
	},
	"apiextensions":   {of(apiextensions.CustomResourceDefinitions())},
	"apiregistration": {of(apiregistration.APIServices())},
	"apps": {
		of(apps.ControllerRevisions()), of(apps.DaemonSets()), of(apps.Deployments()), of(apps.ReplicaSets()),
		of(apps.StatefulSets()),
	},
	"authentication": {
		of(authentication.SelfSubjectReviews()), of(authentication.TokenReviews()),
	},
	"authorization": {
		of(authorization.LocalSubjectAccessReviews()), of(authorization.SelfSubjectAccessReviews()),
		of(authorization.SelfSubjectRulesReviews()), of(authorization.SubjectAccessReviews()),
	},
	"autoscaling": {of(autoscaling.HorizontalPodAutoscalers())},
	"batch": {
		of(batch.CronJobs()), of(batch.Jobs()),
	},
	"certificates": {
		of(certificates.CertificateSigningRequests()), of(certificates.ClusterTrustBundles()),
		of(certificates.PodCertificateRequests()),
	},
	"coordination": {of(coordination.Leases())},
	"core": {
		of(core.Bindings()), of(core.ComponentStatuses()), of(core.ConfigMaps()), of(core.EndpointsResource()),
		of(core.Events()), of(core.LimitRanges()), of(core.Namespaces()), of(core.Nodes()),
		of(core.PersistentVolumes()), of(core.PersistentVolumeClaims()), of(core.Pods()), of(core.PodTemplates()),
		of(core.ReplicationControllers()), of(core.ResourceQuotas()), of(core.Secrets()), of(core.Services()),
		of(core.ServiceAccounts()),
	},
	"discovery": {of(discovery.EndpointSlices())},
	"events":    {of(events.Events())},
	"flowcontrol": {
		of(flowcontrol.FlowSchemas()), of(flowcontrol.PriorityLevelConfigurations()),
	},
	"networking": {
		of(networking.IPAddresses()), of(networking.Ingresses()), of(networking.IngressClasses()),
		of(networking.NetworkPolicies()), of(networking.ServiceCIDRs()),
	},
	"node":   {of(node.RuntimeClasses())},
	"policy": {of(policy.PodDisruptionBudgets())},
	"rbac": {
		of(rbac.ClusterRoles()), of(rbac.ClusterRoleBindings()), of(rbac.Roles()), of(rbac.RoleBindings()),
	},
	"resource": {
		of(resource.DeviceClasses()), of(resource.DeviceTaintRules()), of(resource.ResourceClaims()),
		of(resource.ResourceClaimTemplates()), of(resource.ResourceSlices()),
	},
	"scheduling": {of(scheduling.PriorityClasses())},
	"storage": {
		of(storage.CSIDrivers()), of(storage.CSINodes()), of(storage.CSIStorageCapacities()),
		of(storage.StorageClasses()), of(storage.VolumeAttachments()), of(storage.VolumeAttributesClasses()),
	},
	"storagemigration": {of(storagemigration.StorageVersionMigrations())},
}

// zeroDefaults are fields whose default is the zero, by the component. The documents of the server in the process have
// no such defaults.
var zeroDefaults = map[string]map[string]any{
	"apps.v1.ControllerRevision":                      {"revision": number("0")},
	"apps.v1.DaemonSetCondition":                      {"status": ""},
	"apps.v1.DeploymentCondition":                     {"status": ""},
	"apps.v1.ReplicaSetCondition":                     {"status": ""},
	"apps.v1.StatefulSetCondition":                    {"status": ""},
	"apps.v1.StatefulSetOrdinals":                     {"start": number("0")},
	"apps.v1.StatefulSetSpec":                         {"serviceName": ""},
	"apps.v1.StatefulSetStatus":                       {"availableReplicas": number("0")},
	"batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": ""},
	"core.v1.AzureDiskVolumeSource":                   {"readOnly": false},
	"core.v1.Event":                                   {"reportingComponent": "", "reportingInstance": ""},
	"core.v1.FileKeySelector":                         {"optional": false},
	"core.v1.GRPCAction":                              {"service": ""},
	"core.v1.NodeRuntimeHandler":                      {"name": ""},
	"flowcontrol.v1.FlowSchemaSpec":                   {"matchingPrecedence": number("0")},
	"flowcontrol.v1.QueuingConfiguration": {
		"handSize": number("0"), "queueLengthLimit": number("0"), "queues": number("0"),
	},
	"policy.v1.PodDisruptionBudgetStatus": {
		"currentHealthy": number("0"), "desiredHealthy": number("0"), "disruptionsAllowed": number("0"), "expectedPods": number("0"),
	},
	"rbac.v1.RoleRef":             {"apiGroup": ""},
	"scheduling.v1.PriorityClass": {"value": number("0")},
}

type number = json.Number

// complete adds the defaults that the documents of the server in the process lack.
func complete(t *testing.T, kinds []schema.Kind) {
	t.Helper()
	for _, k := range kinds {
		for name, defaults := range zeroDefaults {
			c := k.Components["io.k8s.api."+name]
			for property, v := range defaults {
				if c == nil {
					break
				}
				if c.Properties[property] == nil {
					t.Fatalf("%s has no property %s", name, property)
				}
				c.Properties[property].Default = v
			}
		}
	}
}

// builtinKinds returns the kinds of a package of client/builtin, and what its go:generate line asks for.
func builtinKinds(t *testing.T, name string) ([]schema.Kind, settings) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^//go:generate go run github\.com/bowline-go/bowline/client/typegen (.+)$`)
	text := must(os.ReadFile("../builtin/" + name + "/doc.go"))(t)
	args := append(strings.Fields(string(line.FindSubmatch(text)[1])), "-package", name)
	s := must(parse(args, io.Discard))(t)
	s.command = strings.Replace(s.command, " -package "+name, "", 1)
	kinds := must(askServer(t.Context(), newClient(t, clienttest.Options{}), s))(t)
	complete(t, kinds)
	return kinds, s
}

// code is Go source without its comments and empty lines, which the server in the process does not have the texts of.
func code(t *testing.T, text []byte) string {
	t.Helper()
	set := token.NewFileSet()
	file := must(parser.ParseFile(set, "", text, 0))(t)
	var out bytes.Buffer
	if err := printer.Fprint(&out, set, file); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// A test of internal/proof/e2e compares them with what a real server publishes, comments included.
func TestBuiltinTypesAreThoseOfTheServerInTheProcess(t *testing.T) {
	hints := must(source.BuiltinHints())(t)
	folders := must(filepath.Glob("../builtin/*/doc.go"))(t)
	if len(folders) != len(builtinTypes) {
		t.Errorf("there are %d packages, and %d are known", len(folders), len(builtinTypes))
	}
	for name, types := range builtinTypes {
		kinds, s := builtinKinds(t, name)
		o := must(s.options(t.Context()))(t)
		o.Hints = hints
		want := must(source.Write(kinds, o))(t)
		had := must(os.ReadFile("../builtin/" + name + "/types.go"))(t)
		if head := "// Code generated by " + s.command + "; DO NOT EDIT.\n"; !strings.HasPrefix(string(had), head) {
			t.Errorf("%s does not begin with %s", name, head)
		}
		if got, want := code(t, had), code(t, want); got != want {
			t.Errorf("the types of %s differ from those that are written now; internal/proof/e2e writes them:\n%s", name, difference(got, want))
		}
		if len(kinds) != len(types) {
			t.Errorf("%s has %d kinds, and %d are known", name, len(kinds), len(types))
		}
	}
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n" + b[i]
		}
	}
	return "one is longer"
}

func TestBuiltinObjectsKeepTheirBytes(t *testing.T) {
	hints := must(source.BuiltinHints())(t)
	for name, types := range builtinTypes {
		t.Run(name, func(t *testing.T) {
			kinds, _ := builtinKinds(t, name)
			roundTrips(t, kinds, types, hints)
		})
	}
}

func TestEachKindOfTheServerInTheProcessHasABuiltinType(t *testing.T) {
	known := make(map[meta.GVK]bool)
	for _, types := range builtinTypes {
		for _, typ := range types {
			known[typ.kind] = true
		}
	}
	found := 0
	for _, r := range must(serverdiscovery.New(newClient(t, clienttest.Options{}), serverdiscovery.Options{}).Preferred(t.Context()))(t) {
		if found++; !known[r.Type().GVK()] {
			t.Errorf("%v has no type", r.Type().GVK())
		}
	}
	if found != len(known) {
		t.Errorf("the server has %d kinds, and %d have a type", found, len(known))
	}
}

// Programs with a compatibility promise could not follow versions that a server drops after three releases.
func TestBuiltinTypesAreOfStableVersions(t *testing.T) {
	stable := regexp.MustCompile(`^v[0-9]+$`)
	for name, types := range builtinTypes {
		for _, typ := range types {
			if !stable.MatchString(typ.kind.Version) {
				t.Errorf("%s has %v", name, typ.kind)
			}
		}
	}
}
