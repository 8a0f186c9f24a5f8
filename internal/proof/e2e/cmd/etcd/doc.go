// Command etcd is etcd as its module releases it, held by a lifeline: it ends when its standard input ends. It takes
// etcd's flags. Package controlplane starts it.
package main
