package mutate

// HasDuplicateNames reports whether an object has two members of one name. It does not look into the members, and no other value has any.
func (v *JSON) HasDuplicateNames() bool {
	if v == nil || v.Kind != Object || len(v.Members) < 2 {
		return false
	}
	if len(v.Members) > 16 {
		seen := make(map[string]struct{}, len(v.Members))
		for i := range v.Members {
			seen[v.Members[i].Name] = struct{}{}
		}
		return len(seen) < len(v.Members)
	}
	for i := range v.Members {
		for j := range i {
			if v.Members[i].Name == v.Members[j].Name {
				return true
			}
		}
	}
	return false
}
