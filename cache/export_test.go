package cache

// SetLarge sets from which number of objects on a change is put in place beside the tables of the readers.
func (s *Store[T]) SetLarge(objects int) { s.large = objects }
