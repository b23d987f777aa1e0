#include "exec/out_of_memory.hpp"

#include "base/memory_budget.hpp"
#include "base/quantity.hpp"

namespace ovir {

Failure out_of_memory(std::string_view what, const std::bad_alloc& why) {
  auto text = fmt::format("no memory for {}", what);
  if (const auto* over = dynamic_cast<const OverBudget*>(&why))
    text += fmt::format(": all tensors together may take {}", size_text(over->limit));
  return Failure(diagnose(Code::E0003, text));
}

}  // namespace ovir
