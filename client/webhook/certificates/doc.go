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
// The server runs the [Issuer]. All replicas run one, without leader election.
//
// # Guarantees
//
// While no certificate has expired and nobody else writes the Secret or a caBundle, each configuration trusts, at every
// moment, the certificate of each replica that has been ready. This also holds if replicas crash between two writes, or
// are at different steps. It follows from three rules:
//
//   - A new authority is first added to every caBundle. A replica shows a certificate of this authority only after it
//     has seen the authority in all caBundles for five minutes, which is longer than API servers take to notice a
//     change. A replica without a valid certificate shows the Secret's certificate at once.
//   - An authority is removed from the caBundles and the Secret a day after it has expired. By then no replica can show
//     a certificate of it.
//   - Each write of the Secret and of a configuration states the resourceVersion on which it is based. If another
//     replica has written since, the replica reads again. So replicas that start at the same time agree on the keys of
//     the first one.
//
// An Issuer writes only the fields caBundle, and only those of webhooks that call the Service or a URL with one of the
// Names. It replaces other certificates in these fields.
//
// # Events
//
//	SOMEBODY                              THE ISSUER
//	deletes the Secret                    announces another authority, and uses it after five minutes. If no replica
//	                                      ran at the time, the first one that starts makes an authority and uses it at
//	                                      once. Delete the Secret to replace a key that others may know; API servers
//	                                      trust the old key until the old authority expires, unless you also remove
//	                                      that authority from the configurations
//	restores an old Secret                continues from there; the certificates of the replicas stay trusted
//	writes a wrong Secret                 replaces the parts that cannot be read; the log says which
//	overwrites or empties a caBundle      writes it again after about ten seconds at most; until then API servers
//	                                      refuse the server
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
// Options.Lifetime changes the first, and the others in proportion. The keys are ECDSA keys on P-256.
//
// # Deadlocks at the start
//
// A pod gets calls only when it is ready. In these set-ups two things wait for each other for ever, so avoid them:
//
//   - A webhook with failurePolicy Fail is asked about Secrets, and the server's own Secret must be written before it
//     can answer. Exclude the Secret by an objectSelector and Options.Labels, or by a namespaceSelector.
//   - The program's caches list a kind that its own conversion webhook converts, and the pod's readiness waits for
//     these caches, as informer.Group.Ready does. Let the readiness probe of such a pod ask only Ready of the webhook.Server.
//   - The configurations are created only when the pod is ready, for example by a tool that first waits for
//     Deployments. Create them before the pod, without a caBundle.
//
// # Permissions
//
// In the namespace of the Secret: get and update of secrets with its name, and create of secrets, which RBAC cannot
// limit by name. A program whose manifest has an empty Secret (of type Opaque) does not need create. For the cluster:
// get and patch of validatingwebhookconfigurations and mutatingwebhookconfigurations of admissionregistration.k8s.io
// and of customresourcedefinitions of apiextensions.k8s.io, each only for the names in the options.
//
// [Issuer.Permissions] returns these, and informer.Group.Permissions includes them.
//
// A program that can read the Secret can answer in the place of the webhooks.
package certificates
