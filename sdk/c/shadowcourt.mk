# How a module in C is built. A folder's Makefile says
#
#   MODULE  := my-judge
#   SOURCES := judge.c                # the module's own
#   TESTS   := judge_test.c           # compiled natively with the sources, run by make test
#   SDK     := shadowcourt            # the folder of this file
#   include $(SDK)/shadowcourt.mk

CLANG ?= clang
CC    ?= cc

SDK_SOURCES := $(SDK)/shadowcourt.c $(SDK)/shadowcourt_call.c $(SDK)/shadowcourt_types.c
SDK_HEADERS := $(wildcard $(SDK)/*.h)
WARNINGS    := -std=gnu11 -Wall -Wextra

.DEFAULT_GOAL := build/$(MODULE).wasm

build/$(MODULE).wasm: $(SOURCES) $(SDK_SOURCES) $(SDK_HEADERS)
	@mkdir -p build
	$(CLANG) --target=wasm32 $(WARNINGS) -O2 -mbulk-memory -nostdlib -ffunction-sections -fdata-sections -I$(SDK) \
		-Wl,--no-entry,--gc-sections,--strip-all,-z,stack-size=131072 -o $@ $(SOURCES) $(SDK_SOURCES)

build/test: $(SOURCES) $(TESTS) $(SDK_SOURCES) $(SDK_HEADERS)
	@mkdir -p build
	$(CC) $(WARNINGS) -g -O1 -I$(SDK) -o $@ $(SOURCES) $(TESTS) $(SDK_SOURCES) -lm

.PHONY: test
test: build/test
	build/test

.PHONY: clean
clean:
	rm -rf build
