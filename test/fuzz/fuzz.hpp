// What each fuzzer is made of. A fuzzer is one file of this directory, of the name of the parser:
// it includes this one and defines Check. make fuzz links it with libFuzzer, make test with
// replay/main.cpp. Nothing is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace snowid::core::test {

// What must hold for any input. Ends the program where it does not.
void Check(std::string_view input);

// Ends the program, which libFuzzer and make test take for a find, unless a property holds.
inline void Require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

}  // namespace snowid::core::test

// libFuzzer's entry point. The input is copied to memory of just its size, so that the address
// sanitizer sees a read past it, whoever has read it from where.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> exact(data, data + size);
  snowid::core::test::Check({exact.data(), exact.size()});
  return 0;
}
