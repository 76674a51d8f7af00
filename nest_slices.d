nest_slices.o: emu/analysis/nests/nest_slices.c emu/analysis/loop_tasks.h \
  emu/analysis/liveness.h emu/analysis/values.h \
  emu/analysis/convention.h isa/decoder/flow.h isa/insn.h \
  build/gen/isa/insn_id.h isa/disasm.h emu/analysis/flow/cfg.h \
  emu/analysis/flow/digraph.h emu/analysis/flow/reach.h isa/decode.h \
  emu/analysis/nests/nests.h emu/analysis/flow/function.h \
  emu/analysis/flow/loops.h emu/analysis/flow/dominators.h \
  emu/analysis/trips.h emu/sim/alloc.h

emu/analysis/loop_tasks.h:

emu/analysis/liveness.h:

emu/analysis/values.h:

emu/analysis/convention.h:

isa/decoder/flow.h:

isa/insn.h:

build/gen/isa/insn_id.h:

isa/disasm.h:

emu/analysis/flow/cfg.h:

emu/analysis/flow/digraph.h:

emu/analysis/flow/reach.h:

isa/decode.h:

emu/analysis/nests/nests.h:

emu/analysis/flow/function.h:

emu/analysis/flow/loops.h:

emu/analysis/flow/dominators.h:

emu/analysis/trips.h:

emu/sim/alloc.h:
