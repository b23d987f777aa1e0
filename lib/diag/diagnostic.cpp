#include "diag/diagnostic.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace ovir {

namespace {

constexpr std::size_t kBlock = 4096;

std::size_t line_start(std::string_view text, std::size_t offset) {
  if (offset == 0) return 0;
  const auto newline = text.rfind('\n', offset - 1);
  return newline == text.npos ? 0 : newline + 1;
}

/// A guess at the end of a message gives way to help that says otherwise: that was verified, the guess was not.
void drop_other_guess(std::string& message, std::string_view help) {
  constexpr std::string_view question = "; did you mean ";
  const auto at = message.rfind(question);
  if (at == message.npos || !message.ends_with('?')) return;
  const auto guess = std::string_view(message).substr(at + question.size());
  if (help.find(guess.substr(0, guess.size() - 1)) == help.npos) message.resize(at);
}

}  // namespace

LineColumn line_column(const SourceLoc& at) {
  if (!at) return {1, 1};
  const std::string_view text = at.file->text;
  const std::size_t offset = std::min(at.offset, text.size()), start = line_start(text, offset);
  const std::size_t lines = std::count(text.begin(), text.begin() + start, '\n');
  return {lines + 1, count_code_points(text.substr(start, offset - start)) + 1};
}

std::string_view source_line(const SourceLoc& at) {
  if (!at) return {};
  const std::string_view text = at.file->text;
  const std::size_t start = line_start(text, std::min(at.offset, text.size()));
  std::string_view line = text.substr(start, text.find('\n', start) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

LineIndex::LineIndex(const SourceFile& file) : text_(file.text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text_.size(); at += kBlock) {
    counts_.push_back(count);
    count += count_code_points(text_.substr(at, kBlock));
  }
  starts_.push_back(0);
  for (auto newline = text_.find('\n'); newline != text_.npos; newline = text_.find('\n', newline + 1))
    starts_.push_back(newline + 1);
}

std::size_t LineIndex::points_before(std::size_t offset) const {
  const std::size_t block = offset / kBlock;
  return counts_[block] + count_code_points(text_.substr(block * kBlock, offset - block * kBlock));
}

LineColumn LineIndex::operator()(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line = std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin();
  const std::size_t start = starts_[line - 1];
  return {line, points_before(offset) - points_before(start) + 1};
}

void Diagnostics::add(Diagnostic d) {
  d.severity = std::max(d.severity, ovir::severity(d.code));  // a note is the greatest
  if (d.severity == Severity::error) ++errors_;
  if (d.severity == Severity::note) ++notes_;
  list_.push_back(std::move(d));
}

void Diagnostics::set_help(std::size_t index, std::string help, std::vector<Replacement> fix) {
  drop_other_guess(list_.at(index).message, help);
  list_.at(index).help = std::move(help);
  list_.at(index).fix = std::move(fix);
}

void Diagnostics::add_note(std::size_t index, Note note) { list_.at(index).notes.push_back(std::move(note)); }

void Diagnostics::promote(const std::function<bool(const Diagnostic&)>& which) {
  for (auto& d : list_) {
    if (d.severity != Severity::warning || !which(d)) continue;
    d.severity = Severity::error;
    ++errors_;
  }
}

void Diagnostics::drop_warnings(const std::function<bool(const Diagnostic&)>& which) {
  std::erase_if(list_, [&](const Diagnostic& d) { return d.severity != Severity::error && which(d); });
  notes_ = std::count_if(list_.begin(), list_.end(), [](const Diagnostic& d) { return d.severity == Severity::note; });
}

Diagnostic diagnose(Code code, std::string message, SourceLoc at) {
  Diagnostic d;
  d.severity = severity(code);
  d.code = code;
  d.message = std::move(message);
  d.at = std::move(at);
  return d;
}

void fail(Diagnostic d) { throw Failure(std::move(d)); }

}  // namespace ovir
