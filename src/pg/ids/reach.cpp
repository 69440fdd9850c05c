// The hook that says how far IDs may go. See reach.hpp.
#include "pg/ids/reach.hpp"

namespace snowid::pg {

core::Reach (*reach_hook)(const core::Layout&) = nullptr;

}  // namespace snowid::pg
