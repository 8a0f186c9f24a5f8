// Package builtin describes the packages below it, one for each API group of Kubernetes. Each has all fields of all
// kinds of its group:
//
//	pods := client.For(c, core.Pods())
//	web, err := client.For(c, apps.Deployments()).Get(ctx, meta.Key{Namespace: "default", Name: "web"})
//
// A function with the name of a resource returns its client.Type. A struct has the name of the kind. A program that
// uses these packages needs no module of Kubernetes, and links only the kinds that it names.
//
//	core                    pods, services, nodes, config maps, secrets, volumes and others
//	apps                    deployments, stateful sets, daemon sets, replica sets, controller revisions
//	batch                   jobs, cron jobs
//	autoscaling             horizontal pod autoscalers
//	networking              ingresses, network policies, addresses and ranges of services
//	policy                  pod disruption budgets
//	rbac                    roles and their bindings
//	storage                 storage classes, CSI drivers and nodes, volume attachments and others
//	coordination            leases
//	events                  records of what happens to objects
//	discovery               endpoint slices
//	admissionregistration   configurations of webhooks, admission policies and their bindings
//	apiextensions           definitions of custom resources
//	apiregistration         API services
//	certificates            signing requests, bundles of authorities, requests of certificates for pods
//	scheduling              priority classes
//	node                    runtime classes
//	resource                claims, classes and slices of devices
//	flowcontrol             flow schemas, priority levels
//	storagemigration        migrations of stored objects
//	authentication          reviews of tokens, and of the caller's identity
//	authorization           reviews of permissions
//
// # When to use these types
//
// A cache holds only the fields of its type. For a cache, write a struct with the few fields that the program reads, or
// let client/typegen write it with -fields. The packages here are for programs that create or change whole objects, or
// that read many fields.
//
// # Guarantees
//
// The types have all fields that a server of Kubernetes 1.37 publishes. Their comments are the texts of its OpenAPI
// documents (copyright The Kubernetes Authors, Apache License 2.0). An object that such a server returns keeps its
// bytes, apart from the exceptions in the documentation of client/typegen, so that Update loses nothing. A field that
// only a newer server has is dropped when an object is decoded, as by any Go type; Modify and Ensure leave it as it is
// on the server.
//
// If a group uses a schema of the group core, such as the template of a pod, its package uses the type of package core.
// Conditions of the usual form, selectors, references, quantities and times are the types of client/meta.
//
// # Versions
//
// The versions are v1, and v2 of autoscaling: those of the kinds that every server has by default. Kinds that have no
// stable version are not here, because the next releases of Kubernetes change and drop such versions; write their types
// with client/typegen. The packages follow the newest Kubernetes. An older server knows fewer fields. It ignores fields
// that it does not know, or refuses them if client.WriteOptions ask for that.
//
// # Zero values
//
// A field is a pointer where absent and zero differ for the server, as in its own Go types. Functions have no zero; the
// zero of a struct is an object without a name, which the server refuses.
//
// # Errors and limits
//
// The packages have no functions but those that return a client.Type, so they return no errors. A value that the schema
// of a field does not allow, such as a text for a number, is an error of the call that decodes it. Enumerations are
// string types, and keep a value that is none of their constants. Objects that only subresources accept are not here;
// package client has client.Scale, client.Evict and client.RequestToken for them.
package builtin
