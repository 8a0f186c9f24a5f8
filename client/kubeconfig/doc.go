// Package kubeconfig turns kubeconfig files, or the service account of a pod, into a client.Config, lists the contexts of
// such files, and writes changes back.
//
//	loaded, err := kubeconfig.Load(kubeconfig.Options{})
//	if err != nil {
//		return err
//	}
//	c, err := client.New(loaded.Config)
//
// # Where it looks
//
// [Load] takes the first of these:
//
//  1. Options.Path. The file must exist, and nothing is merged with it.
//  2. The files that the environment variable KUBECONFIG lists. Those that do not exist are skipped (see Loaded.Skipped);
//     one that cannot be read is an error. Where KUBECONFIG names any file, ~/.kube/config is not looked at.
//  3. ~/.kube/config, if it exists.
//  4. The service account of the pod that the program runs in (see [InCluster]), if 2 and 3 found nothing at all: no
//     file, or only files without a context, a cluster, a user and a current context. A context that was asked for by name
//     is never looked for here.
//
// Loaded.Origin says which it was. KUBECONFIG, HOME (on Windows USERPROFILE), KUBERNETES_SERVICE_HOST and
// KUBERNETES_SERVICE_PORT are the only environment variables that this package reads, and PATH for credential plugins. Nothing
// is cached or watched.
//
// # What a file may hold
//
// kubeconfig v1, as YAML or JSON, in UTF-8 or in UTF-16 with a byte order mark, at most 16 MiB. A file may hold several
// documents, which unite. Unknown fields are ignored, with a line in Loaded.Warnings where the stanza is used, and null is the
// same as absent. YAML directives other than %YAML are refused. A name or a token is taken as it is written, also where YAML would make a number of it.
//
// Among several files the first value wins: contexts, clusters and users are united by name, each taken whole from the
// first file that has it, and the first current-context counts. Within one file a name that is declared twice is an error. An
// entry without a name is ignored, with a line in Loaded.Warnings.
// A relative path in a file starts at the folder of that file. There is no expansion of ~ or of environment variables.
//
// Data wins over a file of the same purpose, and tokenFile over token. A context without a user is used without
// credentials; one without a namespace has the namespace "default".
//
// Only the context that is used is checked in depth, with its cluster and its user. What cannot be meant is an error and
// not a guess: a CA together with insecure-skip-tls-verify, a certificate without its key, two ways to authenticate (a
// client certificate may come with a token or a password), impersonation without a user, and credentials for a server
// without TLS. There are no options that override single fields: change the Config that comes back.
//
// # Credential plugins
//
// A user may have a program that prints a credential (exec), of client.authentication.k8s.io/v1 or v1beta1. Load and Parse
// do not run it: Config.Credentials does, when the client needs a credential. Whoever copies a Config shares the credential,
// and a second Load has one of its own. A token, a certificate or a password beside exec is an error.
//
// Options.Plugins says which plugins may run, with which variables of the kubeconfig's, for how long, and what they may read from
// and write to. They are run without
// a shell; a command with a folder in it starts at the folder of the file, and another is looked up in PATH, but never in
// the current directory. What one prints is bounded, and it does not outlive the context or its time. A plugin that fails
// is a [*PluginError]. It is told of the cluster (provideClusterInfo) what the file says, whatever becomes of the Config.
//
// # What is not supported
//
// auth-provider. A user that has it is an error that matches [errors.ErrUnsupported]; it is never used without.
//
// # Tools that log in
//
// [Contexts] lists what there is to choose from, with the file that each context is from, and the reason where one cannot be
// used. [Write] adds, changes and deletes contexts, clusters and users, and chooses the current context. It touches only the
// files that have what is changed, and leaves all else in them as it is. Other tools that keep Kubernetes' convention of a
// lock file may write at the same time.
//
// # Errors
//
//   - [*FieldError]: something in a file is wrong. It names the file, the stanza and the field:
//     kubeconfig /home/a/.kube/config: users["admin"]: client-key-data is not base64: ...
//   - [*NotFoundError]: a context, a cluster or a user that is referred to does not exist.
//   - [*EmptyError]: there is no configuration at all.
//   - [*NotInClusterError]: the program does not run in a pod.
//   - [*PluginError]: a credential plugin has given no credential. Requests fail with it, not Load.
//   - [*LockedError]: a file is to be written, and somebody else holds its lock.
//
// What comes from a file is cleaned or quoted in them, so that it does nothing to a terminal.
//
// # Trust
//
// A kubeconfig can name any file that the program may read as a token, any server to send it to, and any program to run. Load
// only those that you trust, or say in Options.Plugins what may run. Reading one is safe whatever is in it: it runs nothing,
// writes nothing, and takes a bounded time and memory, also where YAML aliases would expand without end. A file with a
// credential should be readable by its owner alone; Loaded.Warnings says where one is not.
//
// No error of this package shows a token, a key or a password, and neither does a [Loaded], a [User] or a [Cluster] that is
// printed.
package kubeconfig
