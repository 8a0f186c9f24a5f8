// Package envtests is a small operator in the layout of a kubebuilder project, with the suite that such a project has.
// The suite runs on clienttest and on a real kube-apiserver, with controller-runtime's cache and with that of
// informer/ctrlcache, and must find the same on each.
//
// The operator serves sites: it keeps a Deployment for each Site, and says in the status of the Site whether it is
// available. The Site gets its defaults and its rules, CEL rules among them, from the definition in config/crd. The
// Deployment gets those of the server.
//
// No controllers run beside either server. So the suite writes the status of Deployments, as their controller does.
package envtests
