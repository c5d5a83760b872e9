# The tests need more than Go; scripts/setup-test.sh installs it, and
# scripts/test.sh, which `make test` runs, calls that first.

GO      ?= go
PREFIX  ?= /usr/local
# Any server's command line, for `make bench-mcp ARGS='-- node server.js'`.
ARGS    ?=

.PHONY: build test nightly lint fmt cover bench bench-mcp bench-native install clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

# All tests, from a fresh clone.
test:
	scripts/test.sh

# The long campaigns too, and everything under the race detector.
nightly:
	scripts/nightly.sh

# gofmt, vet, staticcheck and tidy modules, over every module here.
lint:
	scripts/lint.sh

fmt:
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

cover:
	$(GO) test -short -cover ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# teasel beside a bare client on the same server.
bench-mcp:
	scripts/setup-test.sh
	$(GO) run ./bench/mcp $(ARGS)

# teasel beside AFL++ and libFuzzer on libraries of Debian: `make bench-native ARGS='-time 20s libpng'`.
bench-native:
	bench/native/run.sh $(ARGS)

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0755 bin/* $(DESTDIR)$(PREFIX)/bin/
	ln -sf teasel $(DESTDIR)$(PREFIX)/bin/teasel-cc
	ln -sf teasel $(DESTDIR)$(PREFIX)/bin/teasel-c++

# The npm servers stay: they are slow to install.
clean:
	rm -rf bin mcp/testdata/servers/bin
