// What a signal does: temporary files go, a line says why, and the exit code is one of the contract's.
#pragma once

namespace ovir::app {

/// Installs the handlers; to be called once, before anything is opened. Signals that the caller ignores stay ignored.
void handle_signals();

}  // namespace ovir::app
