// Package meta is the vocabulary that every other package of Bowline shares: what an object, a key, a kind and a
// resource version are, the metadata that the Kubernetes API puts on each object, and the selectors that choose objects
// by it.
//
// It imports the standard library only and does no I/O. Its types are plain values: none of them locks, none of them
// holds a goroutine, and the zero value of each is valid.
//
// Any struct can be an object. The smallest embeds [Identity]:
//
//	type Pod struct {
//		meta.Identity `json:"metadata"`
//		Spec struct {
//			NodeName string `json:"nodeName"`
//		} `json:"spec"`
//	}
//
// *Pod then satisfies [Object], and decoding fills exactly the fields that it names. Where it also wants labels, or any
// other field beside the identity, it embeds a struct of both, so that the methods still promote:
//
//	type PodMeta struct {
//		meta.Identity
//		Labels map[string]string `json:"labels"`
//	}
//
//	type Pod struct {
//		PodMeta `json:"metadata"`
//	}
//
// [ObjectMeta] is the whole of the API's metadata for those who want it, [Partial] an object of which nothing else is known,
// and [Unstructured] an object without a struct. [Raw] is the one for large caches of such: it decodes the metadata, keeps the
// rest as compact JSON, and reads single fields of that with [At]. The types of k8s.io/api satisfy [Object] as they are; the generic accessors of this package ([UID], [Owners],
// [ControllerOf], [IsDeleting], [Clone]) work on all of them.
package meta
