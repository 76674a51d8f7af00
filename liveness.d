liveness.o: emu/analysis/liveness.c emu/analysis/liveness.h \
  emu/analysis/values.h emu/analysis/convention.h isa/decoder/flow.h \
  isa/insn.h build/gen/isa/insn_id.h isa/disasm.h \
  emu/analysis/flow/cfg.h emu/analysis/flow/digraph.h \
  emu/analysis/flow/reach.h isa/decode.h emu/sim/alloc.h

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

emu/sim/alloc.h:
