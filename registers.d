registers.o: emu/cmd/cc/loops/registers.c emu/cmd/cc/loops/state.h \
  emu/analysis/loop_tasks.h emu/analysis/liveness.h \
  emu/analysis/values.h emu/analysis/convention.h isa/decoder/flow.h \
  isa/insn.h build/gen/isa/insn_id.h isa/disasm.h \
  emu/analysis/flow/cfg.h emu/analysis/flow/digraph.h \
  emu/analysis/flow/reach.h isa/decode.h emu/analysis/nests/nests.h \
  emu/analysis/flow/function.h emu/analysis/flow/loops.h \
  emu/analysis/flow/dominators.h emu/analysis/trips.h emu/cmd/cc/loops.h \
  emu/cmd/code/assembly.h emu/sim/error.h emu/cmd/code/program.h \
  emu/debug/symbols.h emu/cmd/code/numbered.h isa/include/croft/loops.h

emu/cmd/cc/loops/state.h:

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

emu/cmd/cc/loops.h:

emu/cmd/code/assembly.h:

emu/sim/error.h:

emu/cmd/code/program.h:

emu/debug/symbols.h:

emu/cmd/code/numbered.h:

isa/include/croft/loops.h:
