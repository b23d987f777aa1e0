// The stable codes of diagnostics, each with its severity, its exit status and what `ovir explain` says of it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ovir {

enum class Severity : std::uint8_t { error, warning, note };

/// One enumerator a code: E0507 is an error, T0801 a trap, W0902 a warning, N0901 (1901 here) a note; see codes.cpp.
enum class Code : std::uint16_t {
  E0001 = 1,     ///< a file cannot be opened or read
  E0002,         ///< a file cannot be written
  E0003,         ///< memory or another limit
  E0004,         ///< more work than a run may take
  E0101 = 101,   ///< malformed XML
  E0102,         ///< not an OpenVINO model
  E0103,         ///< a required element or attribute of the format is missing
  E0104,         ///< a number or word of the format is malformed
  E0201 = 201,   ///< two layers with one id
  E0202,         ///< an edge names a layer that does not exist
  E0203,         ///< an edge names a port that does not exist
  E0204,         ///< an input port fed twice
  E0205,         ///< an input port that nothing feeds
  E0206,         ///< a cycle
  E0207,         ///< two ports of a layer with one id
  E0208,         ///< a faulty body, port map or back edge
  E0209,         ///< a faulty use of a state variable
  E0301 = 301,   ///< the .bin is missing
  E0302,         ///< a constant lies outside the .bin
  E0303,         ///< a constant's size does not fit its shape and type
  E0304,         ///< the .bin is not weights (an LFS pointer, a web page, an XML)
  E0401 = 401,   ///< a required attribute is missing
  E0402,         ///< an attribute's value is malformed
  E0403,         ///< an attribute's value is outside its domain
  E0501 = 501,   ///< too few or too many inputs or outputs
  E0502,         ///< an element type the operation does not take
  E0503,         ///< element types that must be equal differ
  E0504,         ///< a rank the operation does not take
  E0505,         ///< shapes that must be broadcastable or equal are not
  E0506,         ///< a dim that contradicts another
  E0507,         ///< an axis or index out of range
  E0508,         ///< an input's value outside its domain
  E0512 = 512,   ///< element counts that must be equal differ (Reshape)
  E0601 = 601,   ///< an IR version that is not read
  E0602,         ///< an unknown operation type
  E0603,         ///< an unknown operation set, or an operation that its set does not hold
  E0604,         ///< an element type without a kernel
  E0605,         ///< an operation ovir does not have
  E0606,         ///< a layer that the OpenVINO asked for does not read
  E0701 = 701,   ///< an input name that the model does not have
  E0702,         ///< an input without a value
  E0703,         ///< an input of a wrong shape
  E0704,         ///< an input of a wrong element type
  E0705,         ///< input data that cannot be understood
  E0706,         ///< an input given twice
  T0801 = 801,   ///< NaN
  T0802,         ///< an infinity
  T0803,         ///< an index out of range
  T0804,         ///< a division by zero
  T0805,         ///< an overflow
  T0806,         ///< an operand outside the domain
  T0807,         ///< a value that f16 cannot hold
  T0808,         ///< a value that bf16 cannot hold
  T0809,         ///< an element that nothing has set
  W0901 = 901,   ///< a declared shape or type that contradicts the inferred one
  W0902,         ///< an attribute the operation does not know
  W0903,         ///< constants that overlap in part
  W0904,         ///< layers that no result depends on
  W0905,         ///< a model without results
  W0906,         ///< layers that share a name
  W0907,         ///< XML that is not well-formed, but can be read
  W0908,         ///< a number that only OpenVINO's reader takes
  W0909,         ///< a faulty layer that no result depends on
  N0901 = 1901,  ///< attributes that converters left behind
  N0902,         ///< a layer that OpenVINO's CPU plugin computes otherwise than specified
};

struct CodeInfo {
  Code code;
  int exit_status;         ///< 3 malformed or inconsistent, 4 unsupported, 5 input, 6 numeric trap, 7 I/O
  std::string_view title;  ///< one line
  std::string_view cause;
  std::string_view example;  ///< a minimal example, may span lines
  std::string_view fix;      ///< the usual fixes
};

std::span<const CodeInfo> all_codes();
const CodeInfo& info(Code);
Severity severity(Code);
/// "error", "warning", "note".
std::string_view to_string(Severity);
/// "E0507", "T0801", "W0902", "N0901".
std::string to_string(Code);
std::optional<Code> parse_code(std::string_view);

}  // namespace ovir
