// Command kube-apiserver is the Kubernetes API server as its module releases it, held by a lifeline: it ends when its
// standard input ends. It takes kube-apiserver's flags. Package controlplane starts it.
package main
