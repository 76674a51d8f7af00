#!/bin/sh
# Links the parts of LLVM that the compiler needs into one library: llvm.sh CC LLVM HEADER OUTPUT. It exports only the functions
# that HEADER (llvm.h) names, so that the loader has no symbols to look up. Without LLVM's archives, OUTPUT is empty, and croft
# opens Debian's library.
set -eu
cc=$1 llvm=$2 header=$3 output=$4
names=$(sed -n 's/^    LLVM(\([A-Za-z0-9]*\)).*/LLVM\1/p' "$header")
libraries=$("$llvm/bin/llvm-config" --link-static --libs x86codegen mcjit bitreader instcombine scalaropts 2>/dev/null) || libraries=
[ -n "$libraries" ] || { : >"$output"; exit 0; }
{
    echo '{ global:'
    for name in $names; do echo "$name;"; done
    echo 'local: *; };'
} >"$output.map"
wanted=$(for name in $names; do printf ' -Wl,-u,%s' "$name"; done)
# shellcheck disable=SC2086
if ! $cc -shared -o "$output.new" $wanted -Wl,--version-script="$output.map" -Wl,--gc-sections -Wl,-Bsymbolic \
    -Wl,-z,pack-relative-relocs -Wl,--no-undefined -s -L"$llvm/lib" -Wl,--start-group $libraries -Wl,--end-group \
    -l:libstdc++.a -ldl -lm -lz -ltinfo 2>/dev/null; then
    : >"$output.new"
fi
rm -f "$output.map"
mv "$output.new" "$output"
