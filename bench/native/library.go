package main

// library is a Debian source package and how it is compiled without its build system.
type library struct {
	name    string
	folder  string   // of the unpacked source, a pattern
	prepare string   // shell command that makes headers; it runs once, in a copy of the source
	include []string // in the source
	define  []string
	files   []string // patterns in the source
	leave   []string // names among them that are no part of the library
	harness string   // in the source; "": ours
	link    []string
}

func (l library) title() string { return l.name }

var libraries = []library{
	{name: "cjson", folder: "cjson-*", include: []string{"."}, files: []string{"cJSON.c"}, harness: "fuzzing/cjson_read_fuzzer.c", link: []string{"-lm"}},
	{name: "libxml2", folder: "libxml2-*", include: []string{".", "include"}, define: []string{"HAVE_CONFIG_H"}, files: []string{"*.c"},
		prepare: "CC=clang ./configure --disable-shared --without-python --without-zlib --without-lzma --without-iconv --without-icu " +
			"--without-http --without-ftp --without-threads --without-debug",
		leave: []string{"test*.c", "run*.c", "xmllint.c", "xmlcatalog.c", "trio*.c", "DOCBparser.c"}, link: []string{"-lm"}},
	{name: "libpng", folder: "libpng1.6-*", include: []string{"."}, define: []string{"PNG_INTEL_SSE_OPT=0"},
		prepare: "cp scripts/pnglibconf.h.prebuilt pnglibconf.h",
		files:   []string{"png*.c"}, leave: []string{"pngtest.c"}, link: []string{"-lz", "-lm"}},
	{name: "lcms2", folder: "lcms2-*", include: []string{"include"}, files: []string{"src/*.c"}, link: []string{"-lm", "-lpthread"}},
	{name: "libyaml", folder: "libyaml-*", include: []string{"include"}, files: []string{"src/*.c"},
		define: []string{`YAML_VERSION_STRING="0.2.5"`, "YAML_VERSION_MAJOR=0", "YAML_VERSION_MINOR=2", "YAML_VERSION_PATCH=5"}},
}
