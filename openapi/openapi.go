// Package openapi holds the OpenAPI document of the HTTP interface. It is generated from
// the comments in package api by "go run ./openapi/gen" and never written by hand.
package openapi

import _ "embed"

//go:embed openapi.json
var documentJSON []byte

//go:embed openapi.yaml
var documentYAML []byte

// JSON gives the document as JSON. The caller must not change the bytes.
func JSON() []byte { return documentJSON }

// YAML gives the document as YAML. The caller must not change the bytes.
func YAML() []byte { return documentYAML }
