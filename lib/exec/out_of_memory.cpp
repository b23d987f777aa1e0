#include "exec/out_of_memory.hpp"

#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "diag/over_memory.hpp"

namespace ovir {

Failure out_of_memory(std::string_view what, const std::bad_alloc& why) {
  const auto text = fmt::format("no memory for {}", what);
  if (const auto* over = dynamic_cast<const OverBudget*>(&why))
    return over_memory(fmt::format("{}: all tensors together may take {}", text, size_text(over->limit)));
  return Failure(diagnose(Code::E0003, text));
}

}  // namespace ovir
