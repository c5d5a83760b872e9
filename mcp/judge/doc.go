// Package judge turns transcripts into findings. [Rules] lists what can be found, and [Detectors] are what finds it.
package judge
