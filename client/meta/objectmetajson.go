package meta

// This file decodes metadata for Raw: field by field, by the exact names of the API. encoding/json would accept names
// in any case, and check the text once more.

func (s *jsonScan) readObjectMeta(m *ObjectMeta) error {
	*m = ObjectMeta{}
	return s.readMembers(func(name []byte) (known bool, err error) {
		switch string(name) {
		case "name":
			err = s.readText(&m.Name)
		case "generateName":
			err = s.readText(&m.GenerateName)
		case "namespace":
			err = s.readText(&m.Namespace)
		case "selfLink":
			err = s.readText(&m.SelfLink)
		case "uid":
			err = s.readText(&m.UID)
		case "resourceVersion":
			err = s.readText(&m.ResourceVersion)
		case "generation":
			err = s.readInt(&m.Generation)
		case "creationTimestamp":
			err = s.readTime(&m.CreationTimestamp)
		case "deletionTimestamp":
			err = readPointer(s, &m.DeletionTimestamp, s.readTime)
		case "deletionGracePeriodSeconds":
			err = readPointer(s, &m.DeletionGracePeriodSeconds, s.readInt)
		case "labels":
			err = s.readTexts(&m.Labels)
		case "annotations":
			err = s.readTexts(&m.Annotations)
		case "ownerReferences":
			err = readList(s, &m.OwnerReferences, s.readOwner)
		case "finalizers":
			err = readList(s, &m.Finalizers, s.readText)
		case "managedFields":
			err = readList(s, &m.ManagedFields, s.readManagedFields)
		default:
			return false, nil
		}
		return true, err
	})
}

func (s *jsonScan) readOwner(o *OwnerReference) error {
	return s.readMembers(func(name []byte) (known bool, err error) {
		switch string(name) {
		case "apiVersion":
			err = s.readText(&o.APIVersion)
		case "kind":
			err = s.readText(&o.Kind)
		case "name":
			err = s.readText(&o.Name)
		case "uid":
			err = s.readText(&o.UID)
		case "controller":
			err = readPointer(s, &o.Controller, s.readBool)
		case "blockOwnerDeletion":
			err = readPointer(s, &o.BlockOwnerDeletion, s.readBool)
		default:
			return false, nil
		}
		return true, err
	})
}

func (s *jsonScan) readManagedFields(m *ManagedFields) error {
	return s.readMembers(func(name []byte) (known bool, err error) {
		switch string(name) {
		case "manager":
			err = s.readText(&m.Manager)
		case "operation":
			err = s.readText(&m.Operation)
		case "apiVersion":
			err = s.readText(&m.APIVersion)
		case "time":
			err = readPointer(s, &m.Time, s.readTime)
		case "fieldsType":
			err = s.readText(&m.FieldsType)
		case "fieldsV1":
			var text []byte
			text, err = s.value()
			m.FieldsV1 = append([]byte(nil), text...)
		case "subresource":
			err = s.readText(&m.Subresource)
		default:
			return false, nil
		}
		return true, err
	})
}
