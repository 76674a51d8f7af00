# Cross-compiles the examples and runs the demonstration.
EXAMPLES       := $(BUILD)/examples
EXAMPLE_CFLAGS := -O2 -g -Wall -Wextra
CROFT          := $(BUILD)/bin/croft
NUCD_KERNELS   := meabo2 meabo5 ebox stride spatter spmv
SIMT_KERNELS   := vector_add reduction scalar_product walsh backprop kmeans pathfinder needleman_wunsch lud stencil \
                  sgemm hotspot3d srad libor
SIMT_EXAMPLES  := $(SIMT_KERNELS:%=$(EXAMPLES)/simt/%)
# The workloads of the NUPIM and TOM papers that are not among the kernels above.
WORKLOADS      := bfs btree cfd heartwall kmeans libor lulesh nn ray srad streamcluster
WORKLOAD_FILES := $(WORKLOADS:%=$(EXAMPLES)/workloads/%)
# The applications of the AxRAM paper.
AXRAM_APPS     := binarization blackscholes convolution inversek2j jmeint laplacian meanfilter newton_raph sobel srad
AXRAM_FILES    := $(AXRAM_APPS:%=$(EXAMPLES)/axram/%)
# The workloads of the stash paper, in six memory configurations.
STASH_WORKLOADS := micro/implicit micro/pollution micro/on_demand micro/reuse sgemm lud backprop needleman_wunsch \
                  pathfinder stencil surf particles
STASH_EXAMPLES := $(STASH_WORKLOADS:%=$(EXAMPLES)/stash/%)
EXAMPLE_FILES  := $(EXAMPLES)/hello $(EXAMPLES)/nucd_vector $(EXAMPLES)/spmv $(EXAMPLES)/circuit.mtx \
                  $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%)

.PHONY: examples simt-examples workloads axram-examples stash-examples demo
examples: $(EXAMPLE_FILES) ## cross-compile the examples
simt-examples: $(SIMT_EXAMPLES) ## cross-compile the kernels for multiprocessors
workloads: $(WORKLOAD_FILES) ## cross-compile the workloads of the NUPIM and TOM papers
stash-examples: $(STASH_EXAMPLES) ## cross-compile the workloads of the stash paper
axram-examples: $(AXRAM_FILES) ## cross-compile the applications of the AxRAM paper, with their original functions

$(EXAMPLES)/spmv: examples/spmv/spmv.c examples/spmv/matrix.c examples/spmv/matrix.h
$(EXAMPLES)/hello: examples/hello.c
$(EXAMPLES)/nucd_vector: examples/nucd_vector.c
$(EXAMPLES)/hello $(EXAMPLES)/nucd_vector $(EXAMPLES)/spmv: $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) $(filter examples/%.c,$^) -lm -o $@

# The kernels of the NUCD paper, compiled with Zba, whose shift-and-add instructions stand for Arm's scaled
# addresses.
$(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%): $(EXAMPLES)/nucd/%: examples/nucd/%.c examples/nucd/kernel.h $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) -march=rv64gc_zba_zbb_zbs $< -lm -o $@

$(SIMT_EXAMPLES): $(EXAMPLES)/simt/%: examples/simt/%.c examples/simt/kernel.h $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) $< -lm -o $@

# Square roots are single instructions, as on a GPU, which has no errno.
$(WORKLOAD_FILES): $(EXAMPLES)/workloads/%: examples/workloads/%.c examples/simt/kernel.h $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) -fno-math-errno $< -lm -o $@

$(AXRAM_FILES): $(EXAMPLES)/axram/%: examples/axram/%.c examples/axram/app.h examples/axram/image.h \
    examples/simt/kernel.h $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) -fno-math-errno $< -lm -o $@

# Without contraction, results do not depend on the configuration; without ICF, equal kernels of two configurations are not merged.
$(STASH_EXAMPLES): $(EXAMPLES)/stash/%: examples/stash/%.c examples/stash/config.h examples/stash/micro/micro.h \
    examples/simt/kernel.h $(wildcard examples/simt/*.c) $(SHARE_FILES) | $(CROFT)
	@mkdir -p $(@D)
	$(CROFT) cc $(EXAMPLE_CFLAGS) -ffp-contract=off -fno-ipa-icf -fno-math-errno $< -lm -o $@

# The generator runs on the build machine.
$(EXAMPLES)/generate: examples/spmv/generate.c | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) -std=c17 $(OPTIMIZE) $(WARNINGS) $(CFLAGS) $< -o $@

$(EXAMPLES)/circuit.mtx: $(EXAMPLES)/generate
	$< 1 > $@

demo: ## set up, build everything, run the examples and compare them with qemu-riscv64
	+@MAKE="$(MAKE)" BUILD="$(BUILD)" SETUP="$(SETUP)" examples/demo.sh
