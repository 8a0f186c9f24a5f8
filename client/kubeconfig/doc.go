// Package kubeconfig turns kubeconfig files, or the service account of a pod, into a client.Config, lists the contexts
// of such files, and writes changes back.
//
//	loaded, err := kubeconfig.Load(kubeconfig.Options{})
//	if err != nil {
//		return err
//	}
//	c, err := client.New(loaded.Config)
//
// # Sources
//
// [Load] uses the first of these:
//
//  1. Options.Path. The file must exist, and nothing is merged with it.
//  2. The files that the environment variable KUBECONFIG lists. Missing files are skipped, with a line in
//     Loaded.Warnings; one that cannot be read is an error. If KUBECONFIG names any file, ~/.kube/config is not used.
//  3. ~/.kube/config, if it exists.
//  4. The service account of the pod that the program runs in, if 2 and 3 found nothing at all: no file, or only files
//     without a context, a cluster, a user and a current context. It is not used if Options.Context names a context.
//
// In a pod the configuration has the API server that KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name, the
// account's token file, which the client reads repeatedly, the cluster's CA, and the pod's namespace. A pod without a
// CA file trusts the system's certificates, with a line in Loaded.Warnings; one without a namespace file has the
// namespace "default". If the service account is not mounted (automountServiceAccountToken: false) the error names the
// token file and matches fs.ErrNotExist.
//
// Loaded.Origin says which source was used. This package reads only these environment variables: KUBECONFIG, HOME (on
// Windows USERPROFILE), KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, and PATH for credential plugins. Nothing is
// cached or watched.
//
// # File format
//
// A file is kubeconfig v1, as YAML or JSON, in UTF-8 or in UTF-16 with a byte order mark, at most 16 MiB. It may have
// several documents, which are merged. Unknown fields are ignored, with a line in Loaded.Warnings if the stanza is
// used, and null is the same as absent. YAML directives other than %YAML are refused. A name or a token is used as it
// is written, even if YAML would read it as a number.
//
// With several files the first value wins: contexts, clusters and users are merged by name, each taken whole from the
// first file that has it, and the first current-context counts. Within one file a duplicate name is an error. An entry
// without a name is ignored, with a line in Loaded.Warnings. A relative path in a file starts at the folder of that
// file. ~ and environment variables are not expanded.
//
// Data overrides a file of the same purpose, and tokenFile overrides token. A context without a user is used without
// credentials; one without a namespace has the namespace "default".
//
// Only the context in use is checked in depth, with its cluster and its user. Contradictions that kubectl refuses are
// errors, and the package does not guess:
//
//   - a CA together with insecure-skip-tls-verify;
//   - a certificate without its key;
//   - a token and a password (but a client certificate may come with either);
//   - impersonation without a user.
//
// A kubeconfig that kubectl accepts has the same meaning here. Each of these mistakes adds a line to Loaded.Warnings:
//
//   - a context whose user does not exist: no credentials are sent;
//   - a plugin (exec) beside a token, a username or a certificate: the plugin does not run;
//   - a token file that cannot be read, beside a token: the token is used;
//   - a password without a username, or a key without a certificate: it is ignored;
//   - a token, or a server, with space around it: the space is ignored;
//   - a server without a scheme: plain HTTP is used;
//   - a server with plain HTTP: the credentials of the user are not sent;
//   - a server with a user in its URL: that user is sent, and no other token, password or plugin is used;
//   - a server with a query or a fragment: they are ignored.
//
// [Write] refuses to write any of these, except a server with plain HTTP. A context without a user is not a mistake.
//
// There are no options that override single fields: change the returned Config.
//
// # Credential plugins
//
// A user may name a program that prints a credential (exec), of client.authentication.k8s.io/v1 or v1beta1. Load and
// Parse do not run it: Config.Credentials does, when the client needs a credential. Copies of a Config share the
// credential; a second Load has its own.
//
// Options.Plugins says which plugins may run, which variables of the kubeconfig they get, how long they may run, and
// what they read from and write to. Plugins run without a shell. A command that contains a folder starts at the folder
// of the file. Any other is looked up in PATH, but never in the current directory. A plugin's output is bounded, and
// the plugin does not outlive the context or its timeout. A failed plugin is a [*PluginError]. A plugin receives the
// cluster (provideClusterInfo) as the file describes it, even if the caller changes the Config.
//
// # Limits
//
// auth-provider is not supported. A user with it is an error that matches [errors.ErrUnsupported]; the package never
// ignores the field.
//
// # Login tools
//
// [Contexts] lists the available contexts, with the file of each, and the reason if one cannot be used. [Write] adds,
// changes and deletes contexts, clusters and users, and sets the current context. It touches only the files that have
// the changed stanzas, and leaves everything else in them as it is. Other tools that use Kubernetes' convention of a
// lock file may write at the same time.
//
// # Errors
//
//   - [*FieldError]: something in a file is wrong. It names the file, the stanza and the field: kubeconfig
//     /home/a/.kube/config: users["admin"]: client-key-data is not base64: ...
//   - [*NotFoundError]: a reference names a context or a cluster that does not exist; for Write also a user.
//   - [*EmptyError]: there is no configuration at all.
//   - [*NotInClusterError]: the program does not run in a pod.
//   - [*PluginError]: a credential plugin returned no credential. Requests fail with it, not Load.
//
// The error of Load, Parse and Contexts also names the unknown fields, such as misspelt ones: those outside the
// stanzas, and those of the stanzas that were used.
//
// Text from a file is cleaned or quoted in errors, so that it cannot control a terminal.
//
// # Trust
//
// A kubeconfig can name any file that the program may read as a token, any server to send it to, and any program to
// run. Load only files that you trust, or restrict the programs with Options.Plugins. Reading a kubeconfig is safe
// whatever its content: it runs nothing, writes nothing, and takes bounded time and memory, even if YAML aliases would
// expand without end. A file with a credential should be readable by its owner alone; Loaded.Warnings reports one that
// is not.
//
// No error of this package shows a token, a key or a password, and neither does printing a [Loaded], a [User] or a
// [Cluster].
package kubeconfig
