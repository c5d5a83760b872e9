package main

import (
	"fmt"
	"os"
	"path/filepath"
)

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
	// These five were drawn from lots.txt; docs/benchmarks.md says how.
	{name: "yajl", folder: "yajl-*", include: []string{"include"}, files: []string{"src/*.c"}, link: []string{"-lm"},
		prepare: "mkdir -p include/yajl && cp src/api/*.h include/yajl && " +
			"sed 's/[$][{]YAJL_MAJOR[}]/2/; s/[$][{]YAJL_MINOR[}]/1/; s/[$][{]YAJL_MICRO[}]/0/' src/api/yajl_version.h.cmake >include/yajl/yajl_version.h"},
	{name: "minizip", folder: "minizip-*", include: []string{"."}, files: []string{"unzip.c", "ioapi.c"}, link: []string{"-lz"}},
	{name: "libplist", folder: "libplist-*", include: []string{".", "include", "src", "libcnary/include"}, files: []string{"src/*.c", "libcnary/node*.c"},
		prepare: ": >config.h",
		define: []string{"_GNU_SOURCE", "__LITTLE_ENDIAN__=1", `PACKAGE_VERSION="2.2.0"`, "HAVE_ASPRINTF", "HAVE_STRDUP", "HAVE_STRNDUP", "HAVE_STPCPY",
			"HAVE_GMTIME_R", "HAVE_LOCALTIME_R", "HAVE_TIMEGM", "HAVE_STRPTIME", "HAVE_MEMMEM", "HAVE_TM_TM_GMTOFF", "HAVE_TM_TM_ZONE"},
		link: []string{"-lm", "-lpthread"}},
	{name: "tinyxml2", folder: "tinyxml2-*", include: []string{"."}, files: []string{"tinyxml2.cpp"}, link: []string{"-lstdc++"}},
	{name: "json-c", folder: "json-c-*", include: []string{"."}, files: []string{"*.c"}, define: []string{"_GNU_SOURCE"},
		prepare: "cmake -DCMAKE_C_COMPILER=clang -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF .", leave: []string{"libjson.c"}, link: []string{"-lm"}},
}

// source returns the file of its harness; dir is where the library was unpacked, root has the sources of this program.
func (l library) source(root, dir string) (string, error) {
	if l.harness != "" {
		return filepath.Join(dir, l.harness), nil
	}
	for _, extension := range []string{".c", ".cc"} {
		f := filepath.Join(root, "harness", l.name+extension)
		if _, err := os.Stat(f); err == nil {
			return f, nil
		}
	}
	return "", fmt.Errorf("no harness of %s in %s", l.name, filepath.Join(root, "harness"))
}
