// Package tenant is a controller with webhooks like Capsule: a tenant gives its owners namespaces, and admission
// webhooks keep the owners within what the tenant allows. It is here to test Bowline with an operator that has webhooks
// and two versions of its kind.
//
//	group := tenant.New(c, tenant.Options{Service: service, Namespace: "capsule-system", Listener: listener})
//	err := group.Run(ctx)
//
// A user in one of Options.Groups who creates a namespace makes it a namespace of the tenant that the user owns. The
// controller gives each namespace the LimitRanges, NetworkPolicies, ResourceQuotas and RoleBindings of its tenant, and
// its labels and annotations. The webhooks complete and check namespaces, Pods, claims, Ingresses and Services in
// them, and tenants. Tenants are stored in version v1beta2, and the conversion between it and v1beta1 loses nothing.
//
// # Files that are made
//
// crd.yaml comes from the types in types.go, descriptions.go from their comments, and role.yaml from the accesses that
// the program asks for in the tests; go test -update writes them. webhooks.yaml is written by hand.
//
// # Limits
//
// Compared with Capsule it lacks the other kinds (configuration, global resources, resource pools), the options for
// gateways and devices, and classes that are selected by expressions. A tenant that shares a quota between its
// namespaces divides it as Capsule does: a moment after the last change. So two namespaces that grow at the same time
// may together exceed it for that moment.
package tenant
