candidate_table.o: emu/analysis/candidate_table.c \
  emu/analysis/candidate_table.h emu/analysis/candidates.h \
  emu/analysis/flow/cfg.h emu/analysis/flow/digraph.h \
  emu/analysis/flow/reach.h isa/decode.h isa/insn.h \
  build/gen/isa/insn_id.h isa/decoder/flow.h emu/analysis/trips.h \
  emu/analysis/flow/function.h emu/analysis/convention.h isa/disasm.h \
  emu/analysis/flow/loops.h emu/analysis/flow/dominators.h \
  emu/sim/error.h emu/sim/alloc.h emu/sim/little_endian.h

emu/analysis/candidate_table.h:

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

emu/sim/error.h:

emu/sim/alloc.h:

emu/sim/little_endian.h:
