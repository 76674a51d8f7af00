# CMake's toolchain for programs of Linux on croft's machines. croft and its files are found beside this file, in the source tree or
# where they are installed, or in PATH.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

# share/croft of the source tree, of this file in share/croft/cmake, and of the copy among the installed examples.
set(CROFT_PLACES "${CMAKE_CURRENT_LIST_DIR}/../../build/share/croft" "${CMAKE_CURRENT_LIST_DIR}/../../croft"
    "${CMAKE_CURRENT_LIST_DIR}/../../../../croft")
list(TRANSFORM CROFT_PLACES APPEND /../../bin OUTPUT_VARIABLE CROFT_PROGRAMS)
find_program(CROFT croft HINTS ${CROFT_PROGRAMS} NO_CMAKE_FIND_ROOT_PATH)
find_path(CROFT_INCLUDE croft/nucd.h HINTS ${CROFT_PLACES} PATH_SUFFIXES include NO_CMAKE_FIND_ROOT_PATH)
find_library(CROFT_LIBRARY libcroft.a HINTS ${CROFT_PLACES} PATH_SUFFIXES linux NO_CMAKE_FIND_ROOT_PATH)
foreach(found CROFT CROFT_INCLUDE CROFT_LIBRARY)
    if(NOT ${found})
        message(FATAL_ERROR "${found} is not found: build or install croft, or name the program, the folder with croft/nucd.h, and "
            "libcroft.a by -DCROFT=, -DCROFT_INCLUDE= and -DCROFT_LIBRARY=")
    endif()
endforeach()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CROFT CROFT_INCLUDE CROFT_LIBRARY)
include_directories(SYSTEM "${CROFT_INCLUDE}")
set(CMAKE_C_STANDARD_LIBRARIES_INIT "${CROFT_LIBRARY}")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${CROFT_LIBRARY}")

# `ctest` and try_run() execute programs on this machine.
set(CMAKE_CROSSCOMPILING_EMULATOR "${CROFT};run")
