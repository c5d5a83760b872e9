// Package loopback tells addresses that only this machine reaches from others.
package loopback

import (
	"net/netip"
	"strings"
)

// Host reports whether a host, without a port, is the name or an address of the loopback interface. Other names are not looked up: who
// resolves them may say something else the next time.
func Host(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
