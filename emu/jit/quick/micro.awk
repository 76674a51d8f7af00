# Turns LLVM's text of emu/jit/rows.c into tables for quick.c: micro.awk ROWS.ll > micro.inc. A row whose function is one block of
# known instructions becomes a list of micro-operations, MICRO(operation, bits, extra, constants, a, b, c), and ROW(insn, rtz,
# first, count, NULL). For another one without accesses to memory or the hart, ROW(insn, rtz, 0, 0, function) names what is called. A
# row whose result may be no number has both: then the function is called, and what it does for such results is skipped here.
function literal(text) {
    if (text == "true") return "1"
    if (text == "false") return "0"
    if (text ~ /^0x/) return "(int64_t)UINT64_C(" text ")" # of double precision
    if (text == "-9223372036854775808") return "(-INT64_C(9223372036854775807) - 1)"
    return "INT64_C(" text ")"
}
# Appends a micro-operation; its operands are LLVM's names and numbers.
function micro(operation, bits, extra, a, b, c,    operands, texts, i, mask, text) {
    operands[0] = a; operands[1] = b; operands[2] = c
    for (i = 0; i < 3; i++) if (operands[i] in low) { # needed as an integer
        text = low[operands[i]]
        delete low[operands[i]]
        micro("MICRO_TRUNC", 32, 0, text)
        result(operands[i])
    }
    mask = 0
    for (i = 0; i < 3; i++) {
        text = operands[i]
        if (text == "") texts[i] = "0"
        else if (text ~ /^offsetof/) { texts[i] = text; mask += 2 ^ i }
        else if (text in number) { texts[i] = literal(number[text]); mask += 2 ^ i }
        else if (text in value) texts[i] = value[text]
        else if (text ~ /^-?[0-9]+$/ || text == "true" || text == "false") { texts[i] = literal(text); mask += 2 ^ i }
        else { known = 0; return }
    }
    lines[count++] = sprintf("MICRO(%s, %s, %s, %d, %s, %s, %s)", operation, bits, extra, mask, texts[0], texts[1], texts[2])
}
function result(name) { value[name] = 9 + count - 1; last_result = name }
function replace_last(from, to) { sub("MICRO\\(" from ",", "MICRO(" to ",", lines[count - 1]) }
function width(type) { return substr(type, 2) }
function tell(first, count, function_) {
    if (function_ != "NULL") printf "#ifdef FUNCTION\nFUNCTION(%s)\n#endif\n", function_
    printf "#ifdef ROW\nROW(%s, %d, %d, %d, %s)\n#endif\n", insn, rtz, first, count, function_
}
# Appends the check that a value is a number.
function check_number(a) {
    if (value[a] in checked) return
    checked[value[a]]
    micro("MICRO_NUMBER", (a in boxed) ? 32 : 64, 0, a)
    numbers = 1
}
# Control goes on at a label; where it goes otherwise, the function is called.
function go_on(to) {
    resume_at = to
    sub(/%/, "", resume_at)
    from_block = block
    skipping = 1
}
function alias(target, a) {
    if (a in value) value[target] = value[a]
    else known = 0
    if (a in boxed) boxed[target]
}
# A number of single precision in the lower half of an f register, which must be boxed.
function unbox(target, register) {
    micro("MICRO_BOXED", 64, 0, register)
    alias(target, register)
    boxed[target]
    numbers = 1
}
# Integer operations of two operands.
BEGIN {
    split("add sub mul udiv sdiv urem srem and or xor shl lshr ashr", names, " ")
    for (i in names) binary[names[i]] = "MICRO_" toupper(names[i])
    special["@llvm.ctlz"] = "MICRO_CTLZ"; special["@llvm.cttz"] = "MICRO_CTTZ"
    special["@llvm.ctpop"] = "MICRO_CTPOP"; special["@llvm.bswap"] = "MICRO_BSWAP"
    special["@llvm.fshl"] = "MICRO_FSHL"; special["@llvm.fshr"] = "MICRO_FSHR"
    floats["fadd"] = "MICRO_FADD"; floats["fsub"] = "MICRO_FSUB"; floats["fmul"] = "MICRO_FMUL"; floats["fdiv"] = "MICRO_FDIV"
    floats["sqrt"] = "MICRO_FSQRT"; floats["fma"] = "MICRO_FMA"
    total = 0
}
/^define .*@field_/ {
    match($0, /@field_[a-z_]*/)
    field = substr($0, RSTART + 7, RLENGTH - 7)
    next
}
field != "" && /getelementptr/ {
    sub(/,? *!.*/, "")
    field_names[$NF] = field
    field = ""
}
/^define .*@row_/ {
    match($0, /@row_[a-z0-9_]*/)
    name = substr($0, RSTART + 5, RLENGTH - 5)
    insn = name
    rtz = sub(/_rtz$/, "", insn)
    inside = known = pure = 1
    count = 0
    split("", value); split("", wide); split("", product); split("", high)
    split("", nan); split("", checked)
    split("", number); split("", low); split("", half); split("", box); split("", boxed); split("", range)
    split("", place); split("", state); split("", holds)
    numbers = skipping = 0
    switched = ""
    block = 9
    for (i = 0; i < 9; i++) value["%" i] = i
    next
}
/^}/ && inside {
    if (known && !skipping && (!numbers || pure)) {
        printf "#ifdef MICRO\n"
        for (i = 0; i < count; i++) print lines[i]
        printf "#endif\n"
        tell(total, count, numbers ? "row_" name : "NULL")
        total += count
    } else if (pure)
        tell(0, 0, "row_" name)
    inside = 0
    next
}
!inside || /^$/ { next }
/^[0-9]+:/ {
    label = $1
    sub(/:/, "", label)
    if (skipping && label == resume_at) { skipping = 0; block = label }
    else if (!skipping) known = 0
    next
}
/@jit_|getelementptr/ { pure = pure && !/@jit_|%struct.hart\* %0/ }
!known || skipping { next }
{
    line = $0
    sub(/, !.*/, "", line); sub(/ #[0-9]+$/, "", line); sub(/, align [0-9]+/, "", line)
    gsub(/ (nuw|nsw|exact|inbounds|noundef|zeroext|tail|nonnull)/, "", line)
    gsub(/[(),]/, " ", line)
    words = split(line, w, " ")
    target = ""
    first = 1
    if (w[2] == "=") { target = w[1]; first = 3 }
    uses = 0
    for (i = first; i <= words; i++) if (w[i] ~ /^%[0-9]/) used[++uses] = w[i]
    op = w[first]; type = w[first + 1]; a = w[first + 2]; b = w[first + 3]
    if (op == "getelementptr" && type == "%struct.hart" && (w[words] in field_names)) {
        micro("MICRO_FIELD", 64, 0, "offsetof(struct hart, " field_names[w[words]] ")")
        result(target)
        place[target]
    }
    else if (op == "icmp" && type == "eq" && ((w[first + 3] in state) || (w[first + 4] in state))) {
        # Where the hart's state is not as it mostly is (it has a reservation, of that address), the interpreter executes the instruction.
        holds[target] = w[first + 4] != "0"
        micro("MICRO_ICMP", 64, holds[target] ? "MICRO_EQ" : "MICRO_NE", w[first + 3], w[first + 4])
        result(target)
        micro("MICRO_REQUIRE", 64, 0, target)
    }
    else if (op == "br" && type == "i1" && (a in holds)) go_on(holds[a] ? w[first + 4] : w[words])
    else if (op == "br" && type == "i1" && (a in nan)) { # br i1 %c label %x label %y
        check_number(nan[a])
        go_on(w[words])
    }
    else if (op == "br" && type == "i1" && (a in range)) { # br i1 %c label %x label %y
        split(range[a], parts, " ")
        number["bound"] = parts[3]
        micro("MICRO_CALL_UNLESS", 64, parts[1] == "ogt" ? "MICRO_UGT" : "MICRO_ULT", parts[2], "bound")
        numbers = 1
        go_on(w[first + 4])
    }
    else if (op == "br" && type == "i1" && (a in value)) {
        micro("MICRO_CALL_IF", 64, 0, a)
        numbers = 1
        go_on(w[words])
    }
    else if (op == "br" && type == "label") go_on(a)
    else if (op == "switch" && (a in value)) { # switch i64 %a label %x [
        switched = a
        switch_bits = width(type)
        switch_to = w[first + 4]
    }
    else if (op ~ /^i(32|64)$/ && switched != "") {
        micro("MICRO_ICMP", switch_bits, "MICRO_EQ", switched, type)
        value["case"] = 9 + count - 1
        micro("MICRO_CALL_IF", 64, 0, "case")
        numbers = 1
    }
    else if (op == "]" && switched != "") {
        switched = ""
        go_on(switch_to)
    }
    else if (op == "phi") {
        chosen = ""
        for (i = first + 2; i + 2 <= words; i += 4) # [ value label ]
            if (w[i + 2] == "%" from_block) chosen = w[i + 1]
        if (chosen in value) value[target] = value[chosen]
        else if (chosen ~ /^-?[0-9]+$/) number[target] = chosen
        else known = 0
    }
    else if (op == "alloca") { } # for the function
    else if (op == "call" && w[first + 2] ~ /^@llvm.experimental.constrained/) {
        stem = w[first + 2]
        sub(/^@llvm.experimental.constrained./, "", stem)
        suffix = stem
        sub(/\..*/, "", stem)
        sub(/^[a-z0-9]*\./, "", suffix)
        if (stem == "sitofp" && w[first + 4] == "0") { } # a register's upper half, which nothing uses
        else if (stem == "sitofp" && suffix ~ /^f32/) { micro("MICRO_FROM_INTEGER", width(w[first + 3]), 1, w[first + 4]); result(target); boxed[target] }
        else if (stem == "fpext" && suffix == "f64.f32") { micro("MICRO_WIDEN", 64, 0, w[first + 4]); result(target) }
        else if (stem == "fptrunc" && suffix == "f32.f64") { micro("MICRO_NARROW", 32, 0, w[first + 4]); result(target); boxed[target] }
        else if ((stem in floats) && suffix == "f32") {
            # The result's upper half is the first operand's.
            if (!(w[first + 4] in boxed)) known = 0
            micro(floats[stem], 32, 0, w[first + 4], w[first + 6] ~ /^%/ ? w[first + 6] : "", w[first + 8] ~ /^%/ ? w[first + 8] : "")
            result(target); boxed[target]
        }
        else if (stem == "fcmp" && suffix == "f32" && w[first + 4] == w[first + 6] && $0 ~ /"une"/) nan[target] = w[first + 4]
        else if (stem == "fcmps" && suffix == "f64" && w[first + 6] ~ /^0x/ && match($0, /"o[gl]t"/)) range[target] = substr($0, RSTART + 1, 3) " " w[first + 4] " " w[first + 6]
        else if (stem == "sitofp" && suffix ~ /^f64/) { micro("MICRO_FROM_INTEGER", width(w[first + 3]), 0, w[first + 4]); result(target) }
        else if ((stem in floats) && suffix == "f64") { micro(floats[stem], 64, 0, w[first + 4], w[first + 6] ~ /^%/ ? w[first + 6] : "", w[first + 8] ~ /^%/ ? w[first + 8] : ""); result(target) }
        else if (stem == "fcmp" && suffix == "f64" && w[first + 4] == w[first + 6] && $0 ~ /"une"/) nan[target] = w[first + 4]
        else known = 0
    }
    else if (op == "select" && (a in nan) && w[first + 3] == "i64") {
        if (value[w[first + 6]] != value[nan[a]]) known = 0
        else { check_number(nan[a]); alias(target, w[first + 6]) }
    }
    else if (op == "select" && (a in box) && (w[first + 4] in half) && half[w[first + 4]] == box[a] && w[first + 6] ~ /^(2143289344|0x7FF8000000000000)$/) unbox(target, box[a])
    else if (op == "select" && type == "i1" && (a in box)) { # of what a row computes with a number, and with the NaN that stands for others
        unbox(a " number", box[a])
        if (w[first + 4] in value) alias(target, w[first + 4]); else known = 0
    }
    else if (op == "bitcast" && line ~ / float( |$)/ && (used[1] in half)) half[target] = half[used[1]]
    else if (op == "bitcast" && line ~ /float/) { if (used[1] in boxed) alias(target, used[1]); else known = 0 }
    else if (op == "insertelement" && line ~ /<4 x (i32|float)>/) { if (used[1] in boxed) alias(target, used[1]); else known = 0 }
    else if ((op == "zext" || (op == "or" && b == "-4294967296")) && (a in boxed)) alias(target, a)
    else if (op == "trunc" && a ~ /^%[345]$/ && w[words] == "i32") low[target] = half[target] = a
    else if (op == "call" && line ~ /@llvm.x86.sse.comig[te].ss/) { micro("MICRO_FCMP", 32, line ~ /comigt/ ? "MICRO_UGT" : "MICRO_UGE", used[1], used[2]); result(target) }
    else if (op == "call" && line ~ /@llvm.x86.sse.cmp.ss/) { micro("MICRO_FMASK", 32, w[words], used[1], used[2]); result(target); boxed[target] }
    else if (op == "call" && line ~ /@llvm.x86.sse2.cvttsd2si64/) { micro("MICRO_TRUNCATE", 64, 0, used[1]); result(target) }
    else if (op == "bitcast" && line ~ / (double|<2 x i64>|<2 x double>)( |$)/ && line !~ /float/) alias(target, used[1])
    else if (op == "insertelement" && line ~ /<2 x (i64|double)> undef +(i64|double)/) alias(target, used[1])
    else if (op == "extractelement" && line ~ /<2 x i64>/) alias(target, used[1])
    else if (op == "call" && line ~ /@llvm.x86.sse2.comig[te].sd/) { micro("MICRO_FCMP", 64, line ~ /comigt/ ? "MICRO_UGT" : "MICRO_UGE", used[1], used[2]); result(target) }
    else if (op == "call" && line ~ /@llvm.x86.sse2.cmp.sd/) { micro("MICRO_FMASK", 64, w[words], used[1], used[2]); result(target) }
    else if (op == "ret") micro("MICRO_RET", 64, (a in boxed) ? 1 : 0, a)
    else if (op == "mul" && type == "i128") { if (!(a in wide) || !(b in wide) || wide[a] != wide[b]) known = 0; else product[target] = wide[a] " " from[a] " " from[b] }
    else if (op == "lshr" && type == "i128") { if (!(a in product) || b != 64) known = 0; else high[target] = product[a] }
    else if (op == "trunc" && type == "i128") {
        if (!(a in high)) known = 0
        else { split(high[a], parts, " "); micro("MICRO_MULH", 64, parts[1], parts[2], parts[3]); result(target) }
    }
    else if ((op == "sext" || op == "zext") && w[words] == "i128") { wide[target] = op == "sext" ? 1 : 0; from[target] = a }
    else if (op == "call" && w[first + 2] == "asm") { } # it keeps a floating-point row's result, which is always computed here
    else if (type !~ /^i(1|8|16|32|64)\*?$/ && op !~ /^(call|icmp)$/) known = 0
    else if (op in binary) {
        micro(binary[op], width(type), 0, a, b)
        result(target)
        if (op == "or" && type == "i64" && (b == "-4294967296" || (a in boxed) || (b in boxed))) boxed[target]
    }
    else if (op == "icmp" && type == "ugt" && w[first + 2] == "i64" && w[first + 4] == "-4294967297") {
        box[target] = w[first + 3]
        micro("MICRO_ICMP", 64, "MICRO_UGT", w[first + 3], w[first + 4])
        result(target)
    }
    else if (op == "icmp") { micro("MICRO_ICMP", width(w[first + 2]), "MICRO_" toupper(type), w[first + 3], w[first + 4]); result(target) }
    else if (op == "select") { micro("MICRO_SELECT", width(w[first + 3]), 0, a, w[first + 4], w[first + 6]); result(target) }
    else if ((op == "zext" || op == "sext") && a == last_result && lines[count - 1] ~ /MICRO_LOAD,/) {
        replace_last("MICRO_LOAD", op == "sext" ? "MICRO_LOAD_SIGNED" : "MICRO_LOAD")
        result(target)
    }
    else if (op == "zext" || op == "sext") { micro("MICRO_" toupper(op), width(type), 0, a); result(target) }
    else if (op == "trunc") { micro("MICRO_TRUNC", width(w[words]), 0, a); result(target) }
    else if (op == "bitcast" && type ~ /\*$/) { if (a in value) value[target] = value[a]; else known = 0 }
    else if (op == "load") { micro("MICRO_LOAD", width(type), 0, b); result(target); if (b in place) state[target] }
    else if (op == "store" && type ~ /^i(8|16|32|64)$/) micro("MICRO_STORE", width(type), 0, a, w[first + 4])
    else if (op == "call") {
        called = w[first + 2]
        stem = called
        sub(/\.i[0-9]+$/, "", stem)
        if (called == "@jit_load_at" || called == "@jit_store_at") { micro("MICRO_AT", 64, called == "@jit_store_at", w[first + 4]); result(target) }
        else if (called == "@jit_nothing") micro("MICRO_NOTHING", 64, 0)
        else if (called == "@jit_require") micro("MICRO_REQUIRE", 64, 0, w[first + 4])
        else if (called == "@jit_branch") micro("MICRO_BRANCH", 64, 0, w[first + 4])
        else if (called == "@jit_jump") micro("MICRO_JUMP", 64, 0, w[first + 4])
        else if ((stem in special) && type ~ /^i(32|64)$/) { micro(special[stem], width(type), 0, w[first + 4], w[first + 6], w[first + 8]); result(target) }
        else known = 0
    }
    else known = 0
}
