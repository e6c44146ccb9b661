# Every target prepares what it needs; nothing has to be run first. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo year test check mutants fuzz interop soak bench bench-peers docs header data format julia distclean corpus crosscheck

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | column -t -s @

setup: ## tools, Julia and the library (one private folder, no root)
	@deps/setup.sh --report

demo: ## winds drive a tracer forward, and its adjoint backward
	@deps/setup.sh
	@JULIA_NUM_THREADS=2 deps/run.sh julia --project=julia examples/winds.jl

year: ## a year of SimBench's profiles through a store (fetches 91 MB; FOLDER=... takes your own copy)
	@deps/setup.sh
	@deps/year.sh $(if $(FOLDER),"$(FOLDER)")

test: ## Rust tests, Julia tests with 1 and 2 threads, files and stores read by other tools, documentation
	@deps/setup.sh
	@deps/test.sh

check: ## formatters, linters, the C header, the rules of the repository
	@deps/check.sh

crosscheck: ## what we decode against netCDF4-python, xarray and zarr-python (fetches 120 MB once)
	@deps/crosscheck.sh

mutants: ## break the sources one line at a time; the tests have to notice (slow)
	@deps/run.sh python deps/mutants.py

fuzz: ## feed mutated bytes to every parser (SECONDS=60 in all; TARGET=hdf5 for one of them)
	@deps/setup.sh
	@deps/fuzz.sh $(or $(SECONDS),60) $(or $(TARGET),all)

interop: ## pass stores to and fro with other tools and the crate infrastore-core (the first build takes minutes)
	@deps/setup.sh
	@deps/interop.sh

soak: ## prefetch groups under random orders, errors, interrupts and closes (SECONDS=600)
	@deps/setup.sh
	@JULIA_NUM_THREADS=2 deps/run.sh julia --check-bounds=yes --project=julia julia/test/child_soak.jl $(or $(SECONDS),600)

bench: ## measure against the bounds and the peers; writes bench/results.json
	@deps/setup.sh
	@deps/run.sh python deps/bench.py

bench-peers: ## build the programs that `make bench` measures against (the first build takes minutes)
	@deps/peers.sh

docs: ## run the Julia code of every page of the documentation
	@deps/setup.sh
	@deps/docs.sh

header: ## write the C header from the Rust sources
	@deps/header.sh --write

format: ## format the Rust and Julia sources in place
	@deps/format.sh

corpus: ## make the conformance corpus of the tests anew
	@deps/corpus.sh

data: ## make the example's input file anew (Debian)
	@deps/data.sh

julia: ## a Julia session with the package loaded
	@deps/setup.sh
	@deps/run.sh julia --project=julia --banner=yes -i -e 'using Forcings'

distclean: ## remove the build and the private folder
	@deps/distclean.sh
