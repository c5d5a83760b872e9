// Package session lets the campaigns of many fuzz tests share a machine, and shows and saves what they come to.
package session
