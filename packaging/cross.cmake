# SPDX-License-Identifier: Apache-2.0
# Toolchain file for another of Debian's architectures (packaging/install-deps cross ARCH installs what it takes):
#   cmake --preset matrix -B build/cross --toolchain packaging/cross.cmake -DRDMACFG_CROSS_ARCH=arm64
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RDMACFG_CROSS_ARCH)  # CMake tries the compiler in projects of their own
function(rdmacfg_ask_dpkg variable out)
  execute_process(COMMAND dpkg-architecture -f -a ${RDMACFG_CROSS_ARCH} -q ${variable} OUTPUT_VARIABLE answer
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} ${answer} PARENT_SCOPE)
endfunction()
if(NOT RDMACFG_CROSS_ARCH)
  message(FATAL_ERROR "packaging/cross.cmake needs -DRDMACFG_CROSS_ARCH=, an architecture of dpkg-architecture -L")
endif()
rdmacfg_ask_dpkg(DEB_HOST_GNU_TYPE gnu_type)
rdmacfg_ask_dpkg(DEB_HOST_GNU_CPU gnu_cpu)
rdmacfg_ask_dpkg(DEB_HOST_MULTIARCH CMAKE_LIBRARY_ARCHITECTURE)

set(CMAKE_SYSTEM_NAME Linux)
if(gnu_cpu STREQUAL "powerpc64le")  # as uname(1) has it, and qemu
  set(gnu_cpu ppc64le)
endif()
set(CMAKE_SYSTEM_PROCESSOR ${gnu_cpu})
set(CMAKE_C_COMPILER ${gnu_type}-gcc)
set(CMAKE_CXX_COMPILER ${gnu_type}-g++)
set(PKG_CONFIG_EXECUTABLE /usr/bin/${gnu_type}-pkg-config)
find_program(RDMACFG_EMULATOR NAMES qemu-${gnu_cpu} qemu-${gnu_cpu}-static)
if(RDMACFG_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${RDMACFG_EMULATOR})
endif()
