#include "base/bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/descriptor.hpp"
#include "base/file_part.hpp"
#include "base/memory_budget.hpp"
#include "base/pipe.hpp"

namespace ovir {

namespace {

/// Memory that grows without being copied: a pipe does not say how long it is.
class GrowingBlock {
 public:
  explicit GrowingBlock(std::size_t size) : size_(size) {
    void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(data);
  }
  ~GrowingBlock() { ::munmap(data_, size_); }
  GrowingBlock(const GrowingBlock&) = delete;
  GrowingBlock& operator=(const GrowingBlock&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void resize(std::size_t size) {
    void* const data = ::mremap(data_, size_, size, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(data);
    size_ = size;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_;
};

/// Ends a mapping; the owner of the bytes holds it, and with it the file.
struct Mapping {
  const std::byte* begin;
  std::size_t size;
  std::shared_ptr<const Descriptor> file;
  void operator()(const void* data) const { ::munmap(const_cast<void*>(data), size); }
};

Bytes read_whole(int fd, std::size_t limit, const std::string& path) {
  auto block = std::make_shared<GrowingBlock>(std::size_t{1} << 16);
  std::size_t used = 0;
  for (;;) {
    if (used == block->size()) block->resize(2 * used);
    const auto n = ::read(fd, block->data() + used, block->size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with(errno, path);
    if (n == 0) break;
    used += n;
    if (used > limit) fail_with(limit == 0 ? EINVAL : EFBIG, path);
  }
  const std::span<const std::byte> view(block->data(), used);
  return {std::move(block), view};
}

}  // namespace

Bytes map_file(const std::string& path) { return map_file(path, kPipeLimit); }

Bytes map_file(const std::string& path, std::size_t pipe_limit) {
  const auto file = std::make_shared<const Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!*file) fail_with(errno, path);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) fail_with(errno, path);
  if (S_ISDIR(status.st_mode)) fail_with(EISDIR, path);
  if (!S_ISREG(status.st_mode)) {
    // Of a device only /dev/null makes sense: others never end.
    return read_whole(file->get(), S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? pipe_limit : 0, path);
  }
  const std::size_t size = status.st_size;
  if (size == 0) return read_whole(file->get(), pipe_limit, path);  // empty, or a file of /proc
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->get(), 0);
  if (data == MAP_FAILED) fail_with(errno, path);
  std::shared_ptr<const void> owner(data, Mapping{static_cast<const std::byte*>(data), size, file});
  return {std::move(owner), {static_cast<const std::byte*>(data), size}};
}

FilePart::FilePart(const std::shared_ptr<const void>& owner, const std::byte* at) {
  const auto* const mapping = std::get_deleter<Mapping>(owner);
  if (!mapping) return;
  owner_ = owner;
  offset_ = at - mapping->begin;
}

bool FilePart::read(i64 offset, std::span<std::byte> to) const {
  if (!owner_) return false;
  const auto& file = *std::get_deleter<Mapping>(owner_)->file;
  for (std::size_t done = 0; done < to.size();) {
    const auto n = ::pread(file.get(), to.data() + done, to.size() - done, offset_ + offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += n;
  }
  return true;
}

void FilePart::leave_pages(std::size_t size) const {
  if (!owner_) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), offset = static_cast<std::size_t>(offset_);
  const auto first = (offset + page - 1) / page * page, end = (offset + size) / page * page;
  auto* const begin = const_cast<std::byte*>(std::get_deleter<Mapping>(owner_)->begin);
  if (first < end) (void)::madvise(begin + first, end - first, MADV_DONTNEED);  // a refusal costs memory alone
}

std::shared_ptr<std::byte> allocate(std::size_t size) {
  constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;
  if (size > std::size_t{PTRDIFF_MAX} - huge_page) throw std::bad_alloc();
  const std::size_t rounded = std::max(line, (size + line - 1) / line * line);
  const auto alignment = size >= huge_page ? huge_page : line;
  // A last page that is half full comes faster as a huge one, too.
  const auto huge = (rounded + huge_page / 2) / huge_page * huge_page;
  const auto& budget = MemoryBudget::current();
  if (budget) budget->take(rounded);
  void* data = nullptr;
  if (::posix_memalign(&data, alignment, alignment == huge_page ? std::max(rounded, huge) : rounded) != 0) {
    if (budget) budget->give_back(rounded);
    throw std::bad_alloc();
  }
  // Small pages take four times as long to come. A refusal costs speed alone.
  if (alignment == huge_page) (void)::madvise(data, huge, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(data), [budget, rounded](std::byte* p) {
            std::free(p);
            if (budget) budget->give_back(rounded);
          }};
}

}  // namespace ovir
