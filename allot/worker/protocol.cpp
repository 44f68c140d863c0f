#include "allot/worker/protocol.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <type_traits>
#include <vector>

namespace allot::protocol {
namespace {

constexpr std::size_t kHeader = 5;
constexpr char kEnd = '\n';

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  template <std::unsigned_integral Number>
  void number(Number value) {
    for (std::size_t at = 0; at < sizeof(Number); ++at) {
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * at) & 0xff));
    }
  }
  void operator()(std::uint64_t value) { number(value); }
  void operator()(std::uint32_t value) { number(value); }
  void operator()(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  void operator()(std::int32_t value) { number(static_cast<std::uint32_t>(value)); }
  void operator()(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void operator()(bool value) { bytes_.push_back(value ? '\1' : '\0'); }
  void operator()(TaskStatus value) { bytes_.push_back(static_cast<char>(value)); }
  void operator()(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void operator()(const std::vector<std::string>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::string& value : values) (*this)(value);
  }
  void operator()(const std::optional<int>& value) {
    (*this)(value.has_value());
    if (value) number(static_cast<std::uint32_t>(*value));
  }

 private:
  std::string& bytes_;
};

/// Once a field is missing, all fields after it are missing, too.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool complete() const { return good_ && bytes_.empty(); }

  template <std::unsigned_integral Number>
  Number number() {
    const std::string_view part = take(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t at = 0; at < part.size(); ++at) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(part[at])) << (8 * at);
    }
    return static_cast<Number>(value);
  }
  void operator()(std::uint64_t& value) { value = number<std::uint64_t>(); }
  void operator()(std::uint32_t& value) { value = number<std::uint32_t>(); }
  void operator()(std::int64_t& value) { value = static_cast<std::int64_t>(number<std::uint64_t>()); }
  void operator()(std::int32_t& value) { value = static_cast<std::int32_t>(number<std::uint32_t>()); }
  void operator()(double& value) { value = std::bit_cast<double>(number<std::uint64_t>()); }
  void operator()(bool& value) { value = small(1) != 0; }
  void operator()(TaskStatus& value) {
    value = static_cast<TaskStatus>(small(static_cast<std::uint8_t>(TaskStatus::kLost)));
  }
  void operator()(std::string& value) { value = take(number<std::uint32_t>()); }
  void operator()(std::vector<std::string>& values) {
    const std::uint32_t count = number<std::uint32_t>();
    // Each string takes at least its length field: a false count must not cost memory.
    if (count > bytes_.size() / sizeof(std::uint32_t)) good_ = false;
    if (!good_) return;
    values.resize(count);
    for (std::string& value : values) (*this)(value);
  }
  void operator()(std::optional<int>& value) {
    bool there = false;
    (*this)(there);
    if (there) value = static_cast<int>(number<std::uint32_t>());
  }

 private:
  std::string_view take(std::size_t size) {
    if (!good_ || size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::uint8_t small(std::uint8_t most) {
    const std::uint8_t value = number<std::uint8_t>();
    if (value > most) good_ = false;
    return good_ ? value : 0;
  }

  std::string_view bytes_;
  bool good_ = true;
};

/// The fields of each message in order, for both directions: `visit` is a Writer or a Reader.
template <typename Visit, typename Type>
void fields(Visit& visit, Type& m) {
  using Plain = std::remove_const_t<Type>;
  const auto each = [&visit](auto&... field) { (visit(field), ...); };
  if constexpr (std::same_as<Plain, Hello>) {
    each(m.version, m.program);
  } else if constexpr (std::same_as<Plain, Setup>) {
    each(m.heartbeat_s, m.silence_s);
  } else if constexpr (std::same_as<Plain, TaskRequest>) {
    each(m.id, m.argv, m.environment, m.directory, m.stdout_path, m.stderr_path, m.temporary_output,
         m.final_output, m.timeout_s, m.grace_s);
  } else if constexpr (std::same_as<Plain, TaskStarted>) {
    each(m.id, m.process);
  } else if constexpr (std::same_as<Plain, TaskRecord>) {
    each(m.id, m.status, m.exit, m.signal, m.not_found, m.error, m.start_unix, m.wall_s, m.user_s, m.sys_s,
         m.maxrss_kb, m.was_stopped, m.out, m.err, m.out_cut, m.err_cut);
  } else if constexpr (std::same_as<Plain, KillTask>) {
    each(m.id, m.signal);
  } else {
    static_assert(std::is_empty_v<Plain>, "a message whose fields are not listed");
  }
}

using Decoder = bool (*)(std::string_view, Message&);

template <std::size_t kKind>
bool decode_fields(std::string_view bytes, Message& message) {
  Reader reader(bytes);
  fields(reader, message.emplace<kKind>());
  return reader.complete();
}

template <std::size_t... kKinds>
constexpr std::array<Decoder, sizeof...(kKinds)> decoders(std::index_sequence<kKinds...>) {
  return {decode_fields<kKinds>...};
}

constexpr auto kDecoders = decoders(std::make_index_sequence<std::variant_size_v<Message>>());

}  // namespace

std::string encode(const Message& message) {
  std::string bytes(kHeader, '\0');
  Writer writer(bytes);
  std::visit([&writer](const auto& known) { fields(writer, known); }, message);
  bytes.push_back(kEnd);
  std::string header;
  Writer(header).number(static_cast<std::uint32_t>(bytes.size() - sizeof(std::uint32_t)));
  header.push_back(static_cast<char>(message.index()));
  bytes.replace(0, kHeader, header);
  return bytes;
}

Decoded decode(std::string_view bytes) {
  Decoded decoded;
  if (bytes.size() < kHeader) return decoded;
  const std::size_t size = Reader(bytes).number<std::uint32_t>();
  const auto kind = static_cast<unsigned char>(bytes[kHeader - 1]);
  if (size < 2 || size > kMostFrame || kind >= kDecoders.size()) {
    decoded.kind = Decoded::Kind::kGarbage;
    return decoded;
  }
  if (bytes.size() - sizeof(std::uint32_t) < size) return decoded;
  const std::size_t end = sizeof(std::uint32_t) + size - 1;
  const bool good =
      bytes[end] == kEnd && kDecoders[kind](bytes.substr(kHeader, end - kHeader), decoded.message);
  decoded.kind = good ? Decoded::Kind::kMessage : Decoded::Kind::kGarbage;
  if (good) decoded.size = end + 1;
  return decoded;
}

std::optional<std::size_t> after_magic(std::string_view bytes, std::string_view magic) noexcept {
  const std::size_t at = bytes.find(magic);
  if (at == std::string_view::npos) return std::nullopt;
  return at + magic.size();
}

}  // namespace allot::protocol
