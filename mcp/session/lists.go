package session

import "github.com/teaselfuzz/teasel/mutate"

// ListMembers names the member of a list's result that holds the items, and the member of an item that tells it apart.
func ListMembers(method string) (items, key string) {
	switch method {
	case "tools/list":
		return "tools", "name"
	case "resources/list":
		return "resources", "uri"
	case "resources/templates/list":
		return "resourceTemplates", "uriTemplate"
	case "prompts/list":
		return "prompts", "name"
	}
	return "", ""
}

// Keys returns what tells the items of a list apart, in their order.
func Keys(items *mutate.JSON, key string) (keys []string) {
	for _, item := range items.Items {
		text, _ := item.Get(key).Str()
		keys = append(keys, text)
	}
	return keys
}

// FirstOther returns the first item of a that is not at the same place in b.
func FirstOther(a, b []string) string {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i]
		}
	}
	return ""
}
