// Package judge says what is wrong with a server, from what was seen of one dialogue: [Evidence] goes in, findings come out.
// It knows neither the protocol nor how the server is reached. [Rules] are what it looks for.
package judge
