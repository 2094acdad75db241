// SPDX-License-Identifier: MIT
// What a Cortex-M does before main and after it: vectors, floating-point unit, data, constructors;
// and semihosting, by which QEMU hears text and the exit code.
#include "board.hpp"

extern "C" {

extern std::uint32_t stack_top;
extern std::uint32_t data_in_flash;
extern std::uint32_t data_begin;
extern std::uint32_t data_end;
extern std::uint32_t bss_begin;
extern std::uint32_t bss_end;
extern void (*constructors_begin[])();
extern void (*constructors_end[])();

auto main() -> int;
[[noreturn]] void reset();
[[noreturn]] void fault();

/// An operation of the debugger, Arm's semihosting: its number in r0, its argument in r1.
static auto semihosting(std::uint32_t operation, void const* argument) -> std::uint32_t {
  register std::uint32_t r0 asm("r0") = operation;
  register void const* r1 asm("r1") = argument;
  asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
[[noreturn]] static void stop(std::uint32_t code) {
  std::uint32_t const block[2] = {0x20026, code};  // ADP_Stopped_ApplicationExit
  semihosting(0x20, block);
  for (;;) {
  }
}

[[gnu::section(".vectors"), gnu::used]] void* const vectors[16] = {
    &stack_top,
    reinterpret_cast<void*>(reset),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
    reinterpret_cast<void*>(fault),
};

void reset() {
  auto volatile* const access = reinterpret_cast<std::uint32_t volatile*>(0xE000ED88);
  *access = *access | 0xFU << 20U;  // coprocessors 10 and 11: the floating-point and vector unit
  asm volatile("dsb\nisb" ::: "memory");
  auto const* from = &data_in_flash;
  for (auto* to = &data_begin; to < &data_end;) *to++ = *from++;
  for (auto* to = &bss_begin; to < &bss_end;) *to++ = 0;
  for (auto* f = constructors_begin; f < constructors_end; ++f) (*f)();
  stop(static_cast<std::uint32_t>(main()));
}
void fault() {
  semihosting(0x04, "fault\n");
  stop(3);
}
void abort() { fault(); }

}  // extern "C"

namespace board {

void print(char const* text) { semihosting(0x04, text); }

namespace {
auto& control = *reinterpret_cast<std::uint32_t volatile*>(0xE000E010);
auto& reload = *reinterpret_cast<std::uint32_t volatile*>(0xE000E014);
auto& current = *reinterpret_cast<std::uint32_t volatile*>(0xE000E018);
}  // namespace

void start_counting() {
  reload = 0xFFFFFF;
  current = 0;
  control = 5;  // the processor's clock, no interrupt
}
auto ticks() -> std::uint32_t { return 0xFFFFFF - current; }

}  // namespace board
