// Package samesite guards a server that is meant for one machine or one room from pages of other sites. A browser would let these send
// requests to it: across origins, or to a name of their own that leads to this machine (DNS rebinding).
package samesite

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Only returns h behind the filter. A request is refused with 421 unless its Host is localhost, an address or one of hosts, and with 403 if it
// changes something and comes from a page of another origin (see http.CrossOriginProtection). Programs, which send no Origin, pass.
func Only(h http.Handler, hosts ...string) http.Handler {
	h = http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		named := func(own string) bool { return own != "" && strings.EqualFold(own, host) }
		if !named("localhost") && !slices.ContainsFunc(hosts, named) && net.ParseIP(host) == nil {
			http.Error(w, "want localhost, an address or a name that was given as the Host", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
