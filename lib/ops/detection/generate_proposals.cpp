// GenerateProposals: region proposals of every image of a batch.
// Spec: operation-sets/operation-specs/detection/generate-proposals-9
#include "op/kit/proposals.hpp"
#include "op/op.hpp"

namespace ovir::ops::generate_proposals {
namespace {

enum Input { im_info, anchors, deltas, scores };
enum Output { rpnrois, rpnscores, rpnroisnum };

struct Attrs {
  float min_size = 0, nms_threshold = 0, nms_eta = 1;
  i64 pre_nms_count = 0, post_nms_count = 0;
  bool normalized = true;
  ElementType roi_num_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_index_type(a.roi_num_type, "roi_num_type");
  c.require_attr(a.pre_nms_count > 0, "pre_nms_count", "must be positive, but is {}", a.pre_nms_count);
  c.require_attr(a.post_nms_count > 0, "post_nms_count", "must be positive, but is {}", a.post_nms_count);
  c.require_attr(0 <= a.nms_eta && a.nms_eta <= 1, "nms_eta", "must be in 0..1, but is {}", a.nms_eta);
  c.require_rank(im_info, 2);
  for (int port = anchors; port <= scores; ++port) c.require_rank(port, 4);
  Dim batch, height, width, count;
  if (const auto& shape = c.shape(im_info); shape.has_rank()) {
    c.require(shape[1].compatible(Dim(3, 4)), im_info, Code::E0506,
              "input \"im_info\" of GenerateProposals must have 3 or 4 columns, but its shape is {}", to_string(shape));
    batch = shape[0];
  }
  if (const auto& shape = c.shape(anchors); shape.has_rank()) {
    c.require(shape[3].contains(4), anchors, Code::E0506,
              "the last dim of input \"anchors\" of GenerateProposals must be 4, but its shape is {}",
              to_string(shape));
    height = shape[0];
    width = shape[1];
    count = shape[2];
  }
  if (const auto& shape = c.shape(scores); shape.has_rank()) {
    batch = c.require_same_dim(batch, shape[0], scores, "the batch of \"im_info\"", "that of \"scores\"");
    count = c.require_same_dim(count, shape[1], scores, "the number of anchors per position (dim 2 of \"anchors\")",
                               "the number of channels of \"scores\"");
    height = c.require_same_dim(height, shape[2], scores, "the height of \"anchors\"", "that of \"scores\"");
    width = c.require_same_dim(width, shape[3], scores, "the width of \"anchors\"", "that of \"scores\"");
  }
  if (const auto& shape = c.shape(deltas); shape.has_rank()) {
    batch = c.require_same_dim(batch, shape[0], deltas, "the batch of \"im_info\"", "that of \"boxesdeltas\"");
    c.require_same_dim(count * Dim(4), shape[1], deltas, "4 numbers for each anchor",
                       "the number of channels of \"boxesdeltas\"");
    c.require_same_dim(height, shape[2], deltas, "the height of \"anchors\"", "that of \"boxesdeltas\"");
    c.require_same_dim(width, shape[3], deltas, "the width of \"anchors\"", "that of \"boxesdeltas\"");
  }
  const Dim rows(0, (batch * Dim(a.post_nms_count)).max);
  c.output(rpnrois, PartialShape{rows, Dim(4)});
  c.output(rpnscores, PartialShape{rows});
  c.output(rpnroisnum, a.roi_num_type, PartialShape{batch});
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto f32 = [&](int port) { return convert(c.in(port), ElementType::f32); };
  const auto info = f32(im_info), anchor = f32(anchors), delta = f32(deltas), score = f32(scores);
  const auto batch = info.dim(0), count = score.dim(1), cells = score.dim(2) * score.dim(3);
  std::vector<Proposal> all;
  std::vector<i64> numbers;
  for (i64 n = 0; n < batch; ++n) {
    // The image's height and width, then one scale for both or one for each.
    const float* image = info.data<float>() + n * info.dim(1);
    const ProposalLimits limits{image[0], image[1], a.min_size * image[2], a.min_size * image[info.dim(1) == 4 ? 3 : 2],
                                a.normalized ? 0.0F : 1.0F};
    auto found = decode_proposals(anchor.data<float>(), delta.data<float>() + n * count * 4 * cells,
                                  score.data<float>() + n * count * cells, cells, count, limits);
    found =
        select_proposals(std::move(found), a.pre_nms_count, a.post_nms_count, a.nms_threshold, a.nms_eta, limits.pixel);
    numbers.push_back(std::ssize(found));
    all.insert(all.end(), found.begin(), found.end());
  }
  const auto rows = std::ssize(all);
  auto &boxes = c.out(rpnrois, {rows, 4}), &values = c.out(rpnscores, {rows}), &counts = c.out(rpnroisnum, {batch});
  dispatch(boxes.type(), Floats{}, [&]<class T>() {
    T *box = boxes.mutable_data<T>(), *value = values.mutable_data<T>();
    for (const auto& p : all) {
      for (const float v : {p.x0, p.y0, p.x1, p.y1}) *box++ = static_cast<T>(v);
      *value++ = static_cast<T>(p.score);
    }
  });
  dispatch(counts.type(), Indices{}, [&]<class I>() {
    std::transform(numbers.begin(), numbers.end(), counts.mutable_data<I>(), [](i64 n) { return static_cast<I>(n); });
  });
}

constexpr TypeVar T{"T", kFloat}, TNumber{"roi_num_type", kIndex};
constexpr PortDef kInputs[] = {{"im_info", T}, {"anchors", T}, {"boxesdeltas", T}, {"scores", T}};
constexpr PortDef kOutputs[] = {{"rpnrois", T}, {"rpnscores", T}, {"rpnroisnum", TNumber}};
constexpr Version kVersions[] = {
    {.since = 9,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs =
         attributes<Attrs, Attr<"min_size", &Attrs::min_size, kRequired>,
                    Attr<"nms_threshold", &Attrs::nms_threshold, kRequired>,
                    Attr<"pre_nms_count", &Attrs::pre_nms_count, kRequired>,
                    Attr<"post_nms_count", &Attrs::post_nms_count, kRequired>, Attr<"normalized", &Attrs::normalized>,
                    Attr<"nms_eta", &Attrs::nms_eta>, Attr<"roi_num_type", &Attrs::roi_num_type>>,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "GenerateProposals", .spec = "detection/generate-proposals", .versions = kVersions};

}  // namespace ovir::ops::generate_proposals
