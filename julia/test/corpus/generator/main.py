"""Makes the corpus: a read-only cache root, and what decoding its files must give. All data are invented.

    python3 main.py FOLDER

The bytes depend on nothing but the versions of the packages, which deps/env.sh pins."""

import gzip
import sys
from types import SimpleNamespace

from numcodecs import blosc

import containers
import masking
import scenarios
import text
import times
import windows
import zarr_stores
from corpus import Corpus

# Several threads would cut blocks as they come.
blosc.use_threads = False
# The time of compression stands in what gzip writes.
gzip.time = SimpleNamespace(time=lambda: 0.0)

corpus = Corpus(sys.argv[1])
for part in (masking, text, containers, times, windows, zarr_stores, scenarios):
    part.add_to(corpus)
corpus.finish()
