package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/regular"
)

// serviceAccount is the folder where the kubelet puts the credentials of a pod's service account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster returns the configuration of the service account of the program's pod: the API server that
// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name, the account's token file, which the client reads
// repeatedly, the cluster's CA and the pod's namespace. A pod without a CA file trusts the system's certificates, and
// Warnings says so; one without a namespace file has the namespace "default". inCluster does not read the variable
// POD_NAMESPACE, which some programs use: it is set by the author of the manifest and need not be the account's
// namespace.
//
// The files must be regular files. Like [Load], inCluster waits as long as the file system takes.
//
// Outside a pod the error is a [*NotInClusterError]. If the service account is not mounted
// (automountServiceAccountToken: false) the error names the token file and matches fs.ErrNotExist.
//
// The Kubernetes documentation describes the variables and files under "Accessing the Kubernetes API from a Pod".
// account is the folder of the service account.
func inCluster(account string) (Loaded, error) {
	const hostVariable, portVariable = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
	host, port := os.Getenv(hostVariable), os.Getenv(portVariable)
	switch {
	case host == "":
		return Loaded{}, &NotInClusterError{variable: hostVariable}
	case port == "":
		return Loaded{}, &NotInClusterError{variable: portVariable}
	}
	l := Loaded{Origin: inClusterOrigin, Namespace: "default"}
	l.Config = client.Config{
		Server:          "https://" + net.JoinHostPort(host, port),
		BearerTokenFile: filepath.Join(account, "token"),
	}
	if err := checkServer(l.Config.Server); err != nil {
		return Loaded{}, fmt.Errorf("in-cluster: %s and %s must name a server: the URL %w",
			hostVariable, portVariable, err)
	}
	if err := readable(l.Config.BearerTokenFile); err != nil {
		return Loaded{}, fmt.Errorf("in-cluster: read the service account's token %s: %w", l.Config.BearerTokenFile, err)
	}
	ca := filepath.Join(account, "ca.crt")
	switch err := readable(ca); {
	case err == nil:
		l.Config.TLS.CAFile = ca
	case errors.Is(err, fs.ErrNotExist):
		l.Warnings = append(l.Warnings, fmt.Sprintf("in-cluster: the CA file %s does not exist; the system's certificates are trusted instead", ca))
	default:
		return Loaded{}, fmt.Errorf("in-cluster: read the cluster's CA %s: %w", ca, err)
	}
	namespace := filepath.Join(account, "namespace")
	switch b, _, err := regular.Read(namespace, maxSize); {
	case err == nil && len(strings.TrimSpace(string(b))) > 0:
		l.Namespace = strings.TrimSpace(string(b))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Loaded{}, fmt.Errorf("in-cluster: read the pod's namespace %s: %w", namespace, withoutPath(err))
	}
	return l, nil
}
