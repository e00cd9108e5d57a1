// Problem: kernels read weights in layouts and types of their own, some of which take several times the bytes
// of the weights (Winograd's transforms, pairs of i16), and differ from one processor to the next.
//
// Idea: every distinct constant and every distinct form of it, whichever plans use it, is one entry. A form
// is identified by the text of the loop nest that makes it, so that forms are compared without being made.
// Then each constant is decided by itself: either all its forms are stored, or the constant is stored and
// the runtime makes its forms.
#include "compile/weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "artifact/checksum.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "codegen/host_code.h"
#include "compile/kernels.h"
#include "device/host.h"
#include "tensor/replace_buffers.h"

namespace attune {
namespace {

std::span<const std::byte> BytesOf(const Tensor& tensor) {
  return {tensor.data(), static_cast<size_t>(tensor.num_bytes())};
}

// The same numbers as i8; nothing where they are not i16 or do not fit.
std::optional<Tensor> AsI8(const Tensor& tensor) {
  if (tensor.dtype() != DType::kI16) return std::nullopt;
  const std::span<const int16_t> wide = tensor.as<int16_t>();
  const auto fits = [](int16_t number) { return number == static_cast<int8_t>(number); };
  if (!std::ranges::all_of(wide, fits)) return std::nullopt;
  Tensor narrow(DType::kI8, tensor.shape());
  std::ranges::transform(wide, narrow.as_mutable<int8_t>().begin(),
                         [](int16_t number) { return static_cast<int8_t>(number); });
  return narrow;
}

// The prepacking that takes a tensor of `dtype`.
LoopNest WithInputOf(const LoopNest& prepacking, DType dtype) {
  const Buffer& input = prepacking.params[0].buffer;
  if (input->dtype == dtype) return prepacking;
  return ReplaceBuffers(prepacking, {{input, MakeBuffer(input->name, dtype, input->shape)}});
}

// A distinct constant.
struct Source {
  Tensor tensor;
  bool is_read = false;       // by kernels, as it is
  bool is_prepacked = false;  // by the runtime
  int64_t form_bytes = 0;     // of all its forms
  uint64_t offset = 0;        // in the section, if it is there
};

// A distinct form of a source.
struct Form {
  size_t source;
  LoopNest nest;  // without a name
  std::string text;
  int64_t bytes;
  uint64_t offset = 0;                        // in the section, if it is there
  std::map<size_t, uint64_t> prepacked = {};  // else in the prepacked weights of each variant that reads it
};

// The constant, or form of a constant, that a storage holds.
struct Use {
  size_t source;
  std::optional<size_t> form;
};

// The prepackings that run at compile time, as code for this machine.
class HostPrepackings {
 public:
  static absl::StatusOr<HostPrepackings> Compile(const std::vector<const Form*>& forms, int threads) {
    HostPrepackings result;
    std::vector<LoopNest> nests;
    for (const Form* form : forms) {
      if (!result.indices_.try_emplace(form->text, nests.size()).second) continue;
      nests.push_back(form->nest);
      nests.back().name = absl::StrCat("prepack_", nests.size());
    }
    if (nests.empty()) return result;
    ASSIGN_OR_RETURN(const Target host, HostTarget());
    std::vector<KernelJob> jobs;
    for (const LoopNest& nest : nests) jobs.push_back({&nest, {}});
    ASSIGN_OR_RETURN(const std::vector<CompiledKernel> kernels, CompileKernels(jobs, host, threads));
    std::vector<const std::string*> objects;
    for (const CompiledKernel& kernel : kernels) {
      objects.push_back(&kernel.object);
      result.scratch_bytes_ = std::max(result.scratch_bytes_, kernel.scratch_bytes);
    }
    ASSIGN_OR_RETURN(const LinkedCode code, Link(objects));
    ASSIGN_OR_RETURN(result.code_, HostCode::Map(code));
    for (const CompiledKernel& kernel : kernels)
      result.functions_.push_back(result.code_->Find(kernel.phases.front().symbol));
    return result;
  }

  // Thread safe; both ends are aligned.
  void Run(const Form& form, const Tensor& from, std::byte* to) const {
    void* const buffers[] = {const_cast<std::byte*>(from.data()), to};
    Tensor scratch(DType::kU8, {scratch_bytes_});
    functions_[indices_.at(form.text)](buffers, nullptr, scratch.mutable_data(), 0, 1);
  }

 private:
  std::optional<HostCode> code_;
  std::map<std::string, size_t> indices_;
  std::vector<PhaseFunction> functions_;
  int64_t scratch_bytes_ = 0;
};

class Placement {
 public:
  Placement(std::span<const PlanOfVariant> plans, size_t variants) : plans_(plans) {
    weights_.variants.resize(variants);
    kernels_.resize(variants);
  }

  absl::StatusOr<PlacedWeights> Run(int threads) {
    for (const PlanOfVariant& plan : plans_) Collect(*plan.plan);
    for (Source& source : sources_) source.is_prepacked = IsBetterPrepacked(source);
    RETURN_IF_ERROR(WriteSection(threads));
    for (size_t i = 0; i < plans_.size(); ++i) Locate(i);
    return std::move(weights_);
  }

 private:
  void Collect(const NetworkPlan& plan) {
    std::vector<std::optional<Use>>& uses = uses_.emplace_back();
    for (const Storage& storage : plan.storages) {
      uses.emplace_back();
      if (!storage.constant) continue;
      if (storage.prepacking < 0) {
        uses.back() = Use{SourceOf(*storage.constant), std::nullopt};
        sources_[uses.back()->source].is_read = true;
      } else {
        const LoopNest& nest = plan.prepackings[static_cast<size_t>(storage.prepacking)];
        uses.back() = FormOf(*storage.constant, nest, storage.bytes);
      }
    }
  }

  size_t SourceOf(const Tensor& tensor) {
    const auto known = by_address_.find(tensor.data());
    if (known != by_address_.end() && sources_[known->second].tensor.num_bytes() == tensor.num_bytes())
      return known->second;
    const uint64_t checksum = Xxh64(BytesOf(tensor));
    const auto [begin, end] = by_checksum_.equal_range(checksum);
    const auto equal = std::find_if(begin, end, [&](const auto& entry) {
      return std::ranges::equal(BytesOf(sources_[entry.second].tensor), BytesOf(tensor));
    });
    const size_t index = equal == end ? sources_.size() : equal->second;
    if (equal == end) {
      sources_.push_back({tensor});
      by_checksum_.emplace(checksum, index);
      by_address_[tensor.data()] = index;
    }
    return index;
  }

  Use FormOf(const Tensor& tensor, const LoopNest& prepacking, int64_t bytes) {
    const std::optional<Tensor> narrowed = AsI8(tensor);
    const Tensor& stored = narrowed ? *narrowed : tensor;
    const size_t source = SourceOf(stored);
    LoopNest nest = WithInputOf(prepacking, stored.dtype());
    nest.name.clear();
    std::string text = Print(nest);
    const auto [known, is_new] = by_text_.try_emplace({source, text}, forms_.size());
    if (is_new) {
      forms_.push_back({source, std::move(nest), std::move(text), bytes});
      sources_[source].form_bytes += bytes;
    }
    return {source, known->second};
  }

  // Whether leaving the forms to the runtime makes the file smaller by an eighth of the constant's bytes,
  // and at least by a page. Stored forms are mapped and take no time to load.
  static bool IsBetterPrepacked(const Source& source) {
    constexpr int64_t kPage = 4096;
    const int64_t bytes = source.tensor.num_bytes();
    const int64_t saved = source.form_bytes - (source.is_read ? 0 : bytes);
    return source.form_bytes > 0 && saved >= std::max(bytes / 8, kPage);
  }

  uint64_t Reserve(int64_t bytes) {
    const uint64_t offset = section_bytes_;
    weights_.sizes.push_back(static_cast<uint64_t>(bytes));
    section_bytes_ += static_cast<uint64_t>(RoundUp(bytes, static_cast<int64_t>(kConstantPadding)));
    return offset;
  }

  absl::Status WriteSection(int threads) {
    std::vector<const Source*> sources;
    for (Source& source : sources_) {
      if (!source.is_read && !source.is_prepacked) continue;
      source.offset = Reserve(source.tensor.num_bytes());
      sources.push_back(&source);
    }
    std::vector<const Form*> forms;
    for (Form& form : forms_) {
      if (sources_[form.source].is_prepacked) continue;
      form.offset = Reserve(form.bytes);
      forms.push_back(&form);
    }
    // Prepackings write whole vectors to aligned addresses: the section's own start is aligned too.
    std::vector<std::byte>& section = weights_.section;
    section.resize(section_bytes_ + kTensorAlignment);
    const auto misaligned = reinterpret_cast<uintptr_t>(section.data()) % kTensorAlignment;
    std::byte* const base = section.data() + (misaligned == 0 ? 0 : kTensorAlignment - misaligned);
    ASSIGN_OR_RETURN(const HostPrepackings prepackings, HostPrepackings::Compile(forms, threads));
    const auto write = [&](int64_t i) {
      const auto index = static_cast<size_t>(i);
      if (index < sources.size()) {
        const std::span<const std::byte> bytes = BytesOf(sources[index]->tensor);
        std::ranges::copy(bytes, base + sources[index]->offset);
      } else {
        const Form& form = *forms[index - sources.size()];
        prepackings.Run(form, sources_[form.source].tensor, base + form.offset);
      }
    };
    ParallelFor(std::ssize(sources) + std::ssize(forms), write, threads);
    if (base != section.data()) std::memmove(section.data(), base, section_bytes_);
    section.resize(section_bytes_);
    return absl::OkStatus();
  }

  void Locate(size_t plan) {
    std::vector<PlacedWeights::Location>& locations = weights_.locations.emplace_back();
    for (const std::optional<Use>& use : uses_[plan]) {
      PlacedWeights::Location& location = locations.emplace_back();
      if (!use) continue;
      if (!use->form) {
        location = {Place::kConstant, sources_[use->source].offset};
      } else if (!sources_[use->source].is_prepacked) {
        location = {Place::kConstant, forms_[*use->form].offset};
      } else {
        location = {Place::kPrepacked, PrepackedOffset(forms_[*use->form], plans_[plan].variant)};
      }
    }
  }

  uint64_t PrepackedOffset(Form& form, size_t variant) {
    PlacedWeights::OfVariant& of_variant = weights_.variants[variant];
    const auto [known, is_new] = form.prepacked.try_emplace(variant, of_variant.prepacked_bytes);
    if (is_new) {
      of_variant.prepackings.push_back(
          {PrepackingKernel(form, variant), sources_[form.source].offset, known->second});
      of_variant.prepacked_bytes +=
          static_cast<uint64_t>(RoundUp(form.bytes, static_cast<int64_t>(kConstantPadding)));
    }
    return known->second;
  }

  uint32_t PrepackingKernel(const Form& form, size_t variant) {
    std::vector<LoopNest>& kernels = weights_.variants[variant].kernels;
    const auto [known, is_new] =
        kernels_[variant].try_emplace(form.text, static_cast<uint32_t>(kernels.size()));
    if (is_new) {
      kernels.push_back(form.nest);
      kernels.back().name = absl::StrCat("prepack", variant, "_", Sha256Hex(form.text).substr(0, 12));
    }
    return known->second;
  }

  const std::span<const PlanOfVariant> plans_;
  std::vector<Source> sources_;
  std::vector<Form> forms_;
  std::vector<std::vector<std::optional<Use>>> uses_;  // by plan and storage
  std::map<const std::byte*, size_t> by_address_;
  std::multimap<uint64_t, size_t> by_checksum_;
  std::map<std::pair<size_t, std::string>, size_t> by_text_;
  std::vector<std::map<std::string, uint32_t>> kernels_;  // by variant
  uint64_t section_bytes_ = 0;
  PlacedWeights weights_;
};

}  // namespace

absl::StatusOr<PlacedWeights> PlaceWeights(std::span<const PlanOfVariant> plans, size_t variants,
                                           int threads) {
  return Placement(plans, variants).Run(threads);
}

}  // namespace attune
