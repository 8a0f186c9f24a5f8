package crd_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

// Boat is a custom resource.
type Boat struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Rope string `json:"rope" crd:"enum=hemp,nylon"`
		Crew int32  `json:"crew,omitempty" crd:"minimum=1; default=2"`
	} `json:"spec"`
}

// Boats is the resource.
var Boats = client.Type[*Boat]{Group: "example.com", Version: "v1", Kind: "Boat", Resource: "boats"}

func ExampleYAML() {
	manifest, err := crd.YAML(crd.MustOf(Boats, crd.Options{
		Columns: []crd.Column{{Name: "Rope", JSONPath: ".spec.rope"}},
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(manifest))
	// Output:
	// apiVersion: apiextensions.k8s.io/v1
	// kind: CustomResourceDefinition
	// metadata:
	//   name: boats.example.com
	// spec:
	//   group: example.com
	//   names:
	//     kind: Boat
	//     listKind: BoatList
	//     plural: boats
	//     singular: boat
	//   scope: Namespaced
	//   versions:
	//   - additionalPrinterColumns:
	//     - jsonPath: .spec.rope
	//       name: Rope
	//       type: string
	//     name: v1
	//     schema:
	//       openAPIV3Schema:
	//         properties:
	//           spec:
	//             properties:
	//               crew:
	//                 default: 2
	//                 format: int32
	//                 minimum: 1
	//                 type: integer
	//               rope:
	//                 enum:
	//                 - hemp
	//                 - nylon
	//                 type: string
	//             required:
	//             - rope
	//             type: object
	//         required:
	//         - spec
	//         type: object
	//     served: true
	//     storage: true
}

// The server has the defaults and the rules of the type.
func ExampleInstall() {
	ctx, stop := context.WithCancel(context.Background())
	server := clienttest.New(clienttest.Options{})
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	defer func() { stop(); <-ended }()
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if err := crd.Install(ctx, c, crd.MustOf(Boats, crd.Options{})); err != nil {
		log.Fatal(err)
	}
	boat := &Boat{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "knot"}}
	boat.Spec.Rope = "hemp"
	made, err := client.For(c, Boats).Create(ctx, boat)
	fmt.Println("crew:", made.Spec.Crew, err)

	plan, err := crd.PlanOf(ctx, c, crd.MustOf(Boats, crd.Options{ShortNames: []string{"bo"}}))
	fmt.Println(plan, err)
	// Output:
	// crew: 2 <nil>
	// boats.example.com:
	//   names.shortNames: ["bo"], was missing <nil>
}
