// Package observe reads the transcripts of scripts: the features that make one worth keeping ([Fingerprint]), the fault of
// which a program's output tells ([FindFault]), and what later scripts can use of the answers ([Note]).
package observe
