// Package meta defines the basic types that every other package of Bowline shares: objects, keys, kinds, resource
// versions, the metadata that the Kubernetes API puts on each object, and the selectors that choose objects by it.
//
// It does no I/O. It imports only the standard library and one internal package of this module, which itself imports
// only the standard library. Its types are plain values: none of them has a lock or a goroutine, and the zero value of
// each is valid.
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
// *Pod then implements [Object], and decoding fills only the named fields. ObjectMeta has deletion, owners, labels and
// finalizers, and takes 232 bytes an object plus its content. For large caches, a struct may embed the 64 bytes of
// [Identity] instead, and beside it the parts that the program reads:
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
// A call of a function that needs a part that the struct lacks does not compile: [IsDeleting] needs [DeletionMeta],
// [Owners] and [ControllerOf] need [OwnerMeta].
//
// The other types of objects are:
//
//   - [Partial] is an object of which only the metadata is read.
//   - [Unstructured] is an object without a struct.
//   - [Raw] is an object without a struct for large caches: it decodes the metadata, keeps the rest as compact JSON,
//     and reads single fields of that with [Nested].
//
// The types of k8s.io/api implement [Object] as they are; the generic accessors of this package ([UID], [Owners],
// [ControllerOf], [IsDeleting], [Clone]) work on all of them.
package meta
