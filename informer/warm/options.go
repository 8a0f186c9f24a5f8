package warm

import (
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Options say where files are and who may read them.
type Options struct {
	// Dir is the folder of the files. It is created, with mode 0700, when the first file is written. Each informer has
	// a file in it, and so has each namespace of an informer of several namespaces. All informers of a program may use
	// one folder, also those of different clusters if their Names differ. Files that no informer uses any more stay:
	// the folder is a cache, and may be emptied at any time. Dir must not be empty.
	Dir string
	// Every is how often a changed cache is written, in addition to the last write when its informer ends. 0 means ten
	// minutes, and a negative duration means only at the end. At most a tenth is added at random, so that informers
	// that began together do not write together.
	Every time.Duration
	// Cluster identifies the cluster, for a program that may not read the namespace kube-system. No other cluster may
	// have the same text. Empty means the uid of that namespace.
	Cluster string
	// Revision identifies the functions of the program that decide what the objects of a cache are, in addition to the
	// Go type: those of informer.Transform and informer.Filter, and methods such as UnmarshalJSON. Change it when they
	// change; files of another Revision are not used. It must be set for sources with such functions, and for sources
	// that are not a client.Resource.
	Revision string
	// Seal encrypts and authenticates a part of a file, and Open is its inverse. Both or none are set. They are called
	// by several goroutines at once, with up to some hundred kilobytes, or one object if that is larger. They must not
	// keep or change their arguments. AES-GCM, with a random nonce before the text, meets these rules: see the example.
	Seal func(plain []byte) ([]byte, error)
	Open func(sealed []byte) ([]byte, error)
	// Sensitive are resources that are kept only encrypted, or with PlainSecrets. The version does not matter. Secrets
	// are always sensitive.
	Sensitive []meta.GVR
	// PlainSecrets allows Secrets and the resources of Sensitive to be kept without encryption.
	PlainSecrets bool
}

const defaultEvery = 10 * time.Minute

func (o Options) validate() error {
	switch {
	case o.Dir == "":
		return fmt.Errorf("warm.Options: Dir must not be empty")
	case (o.Seal == nil) != (o.Open == nil):
		return fmt.Errorf("warm.Options: Seal and Open must both be set, or neither")
	}
	return nil
}

// isSensitive reports whether a resource must not be written without encryption.
func (o Options) isSensitive(r meta.GVR) bool {
	if r.Group == "" && r.Resource == "secrets" {
		return true
	}
	for _, s := range o.Sensitive {
		if s.Group == r.Group && s.Resource == r.Resource {
			return true
		}
	}
	return false
}
