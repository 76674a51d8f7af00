# CMake's toolchain for programs of Linux on croft's machines. croft is found in PATH, or beside this file's source tree.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

find_program(CROFT croft HINTS "${CMAKE_CURRENT_LIST_DIR}/../../build/bin" NO_CMAKE_FIND_ROOT_PATH)
find_path(CROFT_INCLUDE croft/nucd.h
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../../isa/include" "${CMAKE_CURRENT_LIST_DIR}/../include"
    NO_CMAKE_FIND_ROOT_PATH)
include_directories(SYSTEM "${CROFT_INCLUDE}")
find_library(CROFT_LIBRARY libcroft.a
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../../build/share/croft/linux" "${CMAKE_CURRENT_LIST_DIR}/../linux"
    NO_CMAKE_FIND_ROOT_PATH)
set(CMAKE_C_STANDARD_LIBRARIES_INIT "${CROFT_LIBRARY}")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${CROFT_LIBRARY}")

# `ctest` and try_run() execute programs on this machine.
set(CMAKE_CROSSCOMPILING_EMULATOR "${CROFT};run")
