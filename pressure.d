pressure.o: emu/analysis/pressure.c emu/analysis/pressure.h \
  emu/analysis/flow/reach.h isa/decode.h isa/insn.h \
  build/gen/isa/insn_id.h emu/analysis/liveness.h emu/analysis/values.h \
  emu/analysis/convention.h isa/decoder/flow.h isa/disasm.h \
  emu/analysis/flow/cfg.h emu/analysis/flow/digraph.h emu/sim/alloc.h

emu/analysis/pressure.h:

emu/analysis/flow/reach.h:

isa/decode.h:

isa/insn.h:

build/gen/isa/insn_id.h:

emu/analysis/liveness.h:

emu/analysis/values.h:

emu/analysis/convention.h:

isa/decoder/flow.h:

isa/disasm.h:

emu/analysis/flow/cfg.h:

emu/analysis/flow/digraph.h:

emu/sim/alloc.h:
