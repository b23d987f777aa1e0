#include "exec/states.hpp"

#include <cstring>

#include "tensor/copy.hpp"

namespace ovir {

void SessionStates::commit() {
  for (auto& [name, state] : before_) state = Tensor();
}

void SessionStates::assign(const std::string& variable, const Tensor& value) {
  auto &state = current[variable], &spare = spare_[variable];
  const bool takes_turns = state && state.type() == value.type() && state.shape() == value.shape() &&
                           value.type() != ElementType::string && !value.packed();
  if (!takes_turns) {  // one that grows leaves nothing behind
    spare = Tensor();
    state = value.owned();
    return;
  }
  renew(spare, value.type(), value.shape());
  if (value.byte_size() > 0) std::memcpy(spare.mutable_bytes(), value.bytes(), value.byte_size());
  std::swap(state, spare);
}

}  // namespace ovir
