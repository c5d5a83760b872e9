package main

import "slices"

// versions are the protocol versions that the server speaks, oldest first.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// since says whether the negotiated version is v or later.
func (s *session) since(v string) bool { return s.version >= v }

// allowed refuses a method at the wrong time: before initialize and notifications/initialized there is only ping.
func (s *session) allowed(method string) *failure {
	switch {
	case method == "ping" || s.ready && method != "initialize":
		return nil
	case method == "initialize":
		if s.version == "" || s.has("second-initialize") {
			return nil
		}
		return &failure{code: codeInvalidRequest, message: "Invalid Request: the session is initialized already"}
	case s.has("tools-before-initialize") && method == "tools/list":
		return nil
	}
	return &failure{code: codeInvalidRequest, message: "Invalid Request: the session is not initialized yet"}
}

// initialize settles the version: the client's if we speak it, else our latest.
func (s *session) initialize(r *request) (raw, *failure) {
	wanted := r.params.get("protocolVersion")
	client := r.params.get("clientInfo")
	switch {
	case r.to != sink(s.out):
		return nil, &failure{code: codeInvalidRequest, message: "Invalid Request: initialize must not be part of a batch"}
	case !wanted.isString():
		return nil, invalid("Invalid params: protocolVersion must be a string")
	case !r.params.get("capabilities").isObject():
		return nil, invalid("Invalid params: capabilities must be an object")
	case !client.get("name").isString() || !client.get("version").isString():
		return nil, invalid("Invalid params: clientInfo must have a name and a version")
	}
	offered := wanted.str()
	version := offered
	if !slices.Contains(versions, version) {
		version = versions[len(versions)-1]
		if !s.has("version-echoed") {
			offered = version
		}
	}
	// A second initialize, where that bug is planted, changes nothing: it must not look like other bugs.
	if s.version == "" {
		s.version = version
	}
	return object(
		"protocolVersion", offered,
		"capabilities", s.capabilities(),
		"serverInfo", object("name", "planted", "version", "1.0.0"),
		"instructions", "A small warehouse with documents, notes and reports.",
	), nil
}

func (s *session) capabilities() raw {
	resources := object("subscribe", true)
	if s.has("undeclared-subscribe") {
		resources = object()
	}
	return object("completions", object(), "logging", object(), "prompts", object(), "resources", resources, "tools", object())
}
