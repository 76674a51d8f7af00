candidates.o: emu/analysis/candidates.c emu/analysis/candidates.h \
  emu/analysis/flow/cfg.h emu/analysis/flow/digraph.h \
  emu/analysis/flow/reach.h isa/decode.h isa/insn.h \
  build/gen/isa/insn_id.h isa/decoder/flow.h emu/analysis/trips.h \
  emu/analysis/flow/function.h emu/analysis/convention.h isa/disasm.h \
  emu/analysis/flow/loops.h emu/analysis/flow/dominators.h \
  emu/analysis/candidates/choose.h emu/analysis/candidates/search.h \
  emu/analysis/liveness.h emu/analysis/values.h emu/sim/alloc.h \
  isa/csr.h isa/csr.def

emu/analysis/candidates.h:

emu/analysis/flow/cfg.h:

emu/analysis/flow/digraph.h:

emu/analysis/flow/reach.h:

isa/decode.h:

isa/insn.h:

build/gen/isa/insn_id.h:

isa/decoder/flow.h:

emu/analysis/trips.h:

emu/analysis/flow/function.h:

emu/analysis/convention.h:

isa/disasm.h:

emu/analysis/flow/loops.h:

emu/analysis/flow/dominators.h:

emu/analysis/candidates/choose.h:

emu/analysis/candidates/search.h:

emu/analysis/liveness.h:

emu/analysis/values.h:

emu/sim/alloc.h:

isa/csr.h:

isa/csr.def:
