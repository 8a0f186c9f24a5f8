// Package certificates makes the certificate of a webhook server, renews it, and makes API servers trust it. It needs
// nothing besides the API server: the replicas of a program share the keys in a Secret.
//
//	issuer := certificates.New(c, certificates.Options{
//		Secret:      meta.Key{Namespace: "web", Name: "site-webhooks-certificate"},
//		Service:     meta.Key{Namespace: "web", Name: "site-webhooks"},
//		Validating:  []string{"sites"},             // names of ValidatingWebhookConfigurations
//		Definitions: []string{"sites.example.com"}, // with conversion webhooks
//	})
//	server := &webhook.Server{Handler: mux, Listener: listener, Certificates: issuer}
//	group := &informer.Group{Services: []informer.Runner{server}, ...}
//
// The server runs the [Issuer]. All replicas run it, and none of them leads.
//
// # Guarantees
//
// While no certificate has expired and nobody else writes the Secret or a caBundle, each configuration trusts, at every
// moment, the certificate of each replica that has been ready. Crashes between any two writes, and replicas that are in
// different steps, change nothing about that. It follows from three rules:
//
//   - An authority gets into every caBundle first. A replica shows a certificate of it when it has seen it in all of
//     them for five minutes, which is longer than API servers take to see a change. A replica that has no valid
//     certificate shows that of the Secret at once.
//   - An authority leaves the caBundles, and the Secret, a day after it has expired. No replica can show a certificate
//     of it by then.
//   - Each write of the Secret and of a configuration states the resourceVersion that it was made from. If another
//     replica has written since, the replica reads again. So replicas that start at once agree on the first one's keys.
//
// Only the fields caBundle are written, and only those of webhooks that call the Service, or a URL with one of the
// Names. Other certificates in them are replaced.
//
// # What happens when
//
//	SOMEBODY                              THE ISSUER
//	deletes the Secret                    announces another authority, and uses it after five minutes. Without a running
//	                                      replica it makes one at once. Delete the Secret to replace a key that may be
//	                                      known to others; they are trusted until the old authority expires, unless
//	                                      you also remove it from the configurations
//	restores an old Secret                goes on from there; what the replicas show stays trusted
//	writes a wrong Secret                 replaces the parts that cannot be read; the log says which
//	overwrites or empties a caBundle      writes it again within ten seconds; until then API servers refuse the server
//	deletes a configuration, or has not   says so in the log and in Ready, and looks again every ten seconds
//	made it yet
//	takes a permission away               the same, with growing pauses of up to 30 seconds
//	runs replicas with wrong clocks       a difference of up to a day does no harm. With a greater one a replica may
//	                                      find the others' authority expired, and remove it too early
//	turns the cluster off for long        makes another certificate, or another authority, at once if the old one has
//	                                      expired. API servers trust it within seconds
//
// # Lifetimes
//
//	certificate of the servers   90 days; renewed when 30 days are left
//	authority                    720 days; its successor is announced when 180 days are left
//	clocks                       certificates are valid from a day before they are made
//
// Options.Lifetime changes the first, and the others in proportion. The keys are of ECDSA on P-256.
//
// # Starts that wait for themselves
//
// A pod gets calls when it is ready. These wait for each other for ever, so avoid them:
//
//   - A webhook with failurePolicy Fail is asked about Secrets, and the server's own Secret must be written before it
//     can answer. Leave it out by an objectSelector and Options.Labels, or by a namespaceSelector.
//   - The program's caches list a kind that its own conversion webhook converts, and the pod's readiness waits for
//     these caches, as informer.Group.Ready does. Let the readiness probe of such a pod ask only Ready of the webhook.Server.
//   - The configurations are made when the pod is ready, as by a tool that waits for Deployments before it goes on.
//     Make them before, without a caBundle.
//
// # Permissions
//
// In the namespace of the Secret: get and update of secrets with its name, and create of secrets, which RBAC cannot
// limit by name. A program whose manifest has an empty Secret (of type Opaque) does not need create. For the cluster:
// get and patch of validatingwebhookconfigurations and mutatingwebhookconfigurations of admissionregistration.k8s.io
// and of customresourcedefinitions of apiextensions.k8s.io, each with their names.
//
// [Issuer.Permissions] returns these, and informer.Group.Permissions has them.
//
// A program that can read the Secret can answer in the place of the webhooks.
package certificates
