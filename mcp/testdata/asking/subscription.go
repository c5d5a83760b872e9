package main

import "encoding/json"

// listen answers a request for notifications. Tools never change, but where there is a bug.
func (s *server) listen(m message) {
	var p struct{ Notifications map[string]json.RawMessage }
	if json.Unmarshal(m.Params, &p) != nil || p.Notifications == nil {
		s.fail(m.ID, -32602, "Invalid params")
		return
	}
	agreed := object{}
	if string(p.Notifications["toolsListChanged"]) == "true" {
		agreed["toolsListChanged"] = true
	}
	id := any(m.ID)
	if s.bug == "other-id" {
		id = "subscription-1"
	}
	tag := func() object { return object{"io.modelcontextprotocol/subscriptionId": id} }
	if s.bug == "early" && len(agreed) > 0 {
		s.write(object{"method": "notifications/tools/list_changed", "params": object{"_meta": tag()}})
	}
	if s.bug != "no-acknowledgment" {
		s.write(object{"method": "notifications/subscriptions/acknowledged", "params": object{"notifications": agreed, "_meta": tag()}})
	}
}
