package pack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// contents is what the cache remembers of a pack. A pack never changes, so that this is true as long as the pack is there, and can be
// lost at any time.
type contents struct {
	Version int      `json:"teasel-pack-contents"`
	IDs     []string `json:"entries"` // places and keys, sorted
}

// remember notes which entries a pack holds. A cache that cannot be written costs time only.
func (c *Carrier) remember(name string, entries []Entry) {
	if c.Cache == "" {
		return
	}
	ids := idsOf(entries)
	slices.Sort(ids)
	if data, err := json.Marshal(contents{Version: version, IDs: ids}); err == nil {
		_ = writeFile(c.cacheFile(name), append(data, '\n'), false)
	}
}

// recall returns the ids of the entries of a pack; false: they are not known.
func (c *Carrier) recall(name string) (ids []string, ok bool) {
	if c.Cache == "" {
		return nil, false
	}
	data, err := os.ReadFile(c.cacheFile(name))
	var t contents
	if err != nil || json.Unmarshal(data, &t) != nil || t.Version != version {
		return nil, false
	}
	return t.IDs, true
}

func (c *Carrier) cacheFile(pack string) string { return filepath.Join(c.Cache, pack+".json") }
