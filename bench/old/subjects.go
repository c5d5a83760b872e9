package main

import (
	"regexp"
	"strings"
)

// in matches what either says of a fault whose innermost functions have one of these names.
func in(functions ...string) *regexp.Regexp {
	return regexp.MustCompile(`#[0-2] (0x[0-9a-f]+ in )?(` + strings.Join(functions, "|") + `)\b`)
}

// endless matches what the three say of an input that is not done in time.
var endless = regexp.MustCompile(`/hang|libFuzzer: timeout|deadlocked!|hung or terminated`)

// The faults were chosen by their advisories, before any of this was fuzzed.
var subjects = []subject{
	{"expat", "2.1.0", []fault{
		{"CVE-2016-0718", regexp.MustCompile(`#[0-2] .*xmltok(_impl|_ns)?\.c`)},
	}, library{
		name: "expat", crate: "expat-sys", version: "2.1.6", folder: "expat", include: []string{"lib"},
		cmake: []string{"-DBUILD_shared=OFF", "-DBUILD_tools=OFF", "-DBUILD_examples=OFF", "-DBUILD_tests=OFF"},
	}},
	{"oniguruma", "6.1.1", []fault{
		{"CVE-2017-9224", in("match_at")},
		{"CVE-2017-9226", in("next_state_val")},
		{"CVE-2017-9227", in("mbc_enc_len", "forward_search_range")},
		{"CVE-2017-9228", in("bitset_set_range")},
		{"CVE-2017-9229", in("left_adjust_char_head")},
	}, library{
		name: "oniguruma", crate: "onig_sys", version: "61.1.0", folder: "oniguruma", include: []string{"src"},
		cmake: []string{"-DBUILD_SHARED_LIBS=OFF"},
	}},
	{"c-ares", "1.12.1-DEV", []fault{
		{"CVE-2017-1000381", in("ares_parse_naptr_reply")},
	}, library{
		name: "c-ares", crate: "c-ares-sys", version: "1.0.0", folder: "c-ares", include: []string{"."}, seeds: "test/fuzzinput",
		cmake: []string{"-DCARES_STATIC=ON", "-DCARES_SHARED=OFF", "-DCARES_BUILD_TOOLS=OFF"},
	}},
	{"stb_image", "2.06", []fault{
		{"issues 317, 318", in("stbi__hdr_load", "stbi__hdr_convert")},
		{"CVE-2021-42715", regexp.MustCompile(`(?s)(/hang|libFuzzer: timeout).*#[0-9]+ [^\n]*stbi__hdr_load`)},
		{"issue 1108", in("stbi__extend_receive")},
	}, library{
		name: "stb_image", crate: "stb_image", version: "0.2.5", folder: "src", files: []string{"stb_image.c"}, link: []string{"-lm"},
	}},
	{"yaml", "v3.0.0", []fault{{"CVE-2022-28948", regexp.MustCompile(`attempted to parse unknown event|parserc\.go:789`)}}, module("yaml")},
	{"protojson", "v1.32.0", []fault{{"CVE-2024-24786", endless}}, module("protojson")},
	{"tiff", "v0.17.0", []fault{{"CVE-2024-24792", regexp.MustCompile(`index out of range[\s\S]*Paletted`)}}, module("tiff")},
	{"markdown", "531d2d74bc12", []fault{
		{"CVE-2023-42821", regexp.MustCompile(`parser\.citation`)},
		{"CVE-2024-44337", endless},
	}, module("markdown")},
}
