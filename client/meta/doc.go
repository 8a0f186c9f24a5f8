// Package meta is the vocabulary that every other package of Bowline shares: what an object, a key, a kind and a
// resource version are, the metadata that the Kubernetes API puts on each object, and the selectors that choose objects
// by it.
//
// It imports the standard library only and does no I/O. Its types are plain values: none of them locks, none of them
// holds a goroutine, and the zero value of each is valid.
//
// Any struct can be an object. It embeds [ObjectMeta], and names the other fields that the program uses:
//
//	type Pod struct {
//		meta.ObjectMeta `json:"metadata"`
//		Spec struct {
//			NodeName string `json:"nodeName"`
//		} `json:"spec"`
//	}
//
// *Pod then satisfies [Object], and decoding fills exactly the fields that it names. ObjectMeta can be asked for deletion,
// owners, labels and finalizers, and takes 232 bytes an object plus what is in it. Where many objects are cached, a struct may
// embed the 64 bytes of [Identity] instead, and beside it the parts that the program reads:
//
//	type PodMeta struct {
//		meta.Identity
//		meta.LabelMeta
//	}
//
//	type Pod struct {
//		PodMeta `json:"metadata"`
//	}
//
// A function that needs a part which the struct does not have does not compile: [IsDeleting] needs [DeletionMeta], [Owners] and
// [ControllerOf] need [OwnerMeta].
//
// [ObjectMeta] is the whole of the API's metadata, [Partial] an object of which nothing else is known,
// and [Unstructured] an object without a struct. [Raw] is the one for large caches of such: it decodes the metadata, keeps the
// rest as compact JSON, and reads single fields of that with [Nested]. The types of k8s.io/api satisfy [Object] as they are; the generic accessors of this package ([UID], [Owners],
// [ControllerOf], [IsDeleting], [Clone]) work on all of them.
package meta
