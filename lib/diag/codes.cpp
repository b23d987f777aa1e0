// What `ovir explain` prints. One entry a code, in the order of the codes.
#include "diag/codes.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir {

namespace {

constexpr int kMalformed = 3, kUnsupported = 4, kInput = 5, kTrap = 6, kFile = 7;

constexpr CodeInfo kCodes[] = {
    {Code::E0001, kFile, "a file cannot be opened or read",
     "The path does not exist, is a directory, or may not be read by this user. The message ends with what the system "
     "said.",
     "ovir check modle.xml        # No such file or directory",
     "Check the spelling and the permissions. A model is given by its .xml file, not by its folder or its .bin."},
    {Code::E0002, kFile, "a file cannot be written",
     "The path may not be written by this user, or the disk is full. Missing folders are created. Files appear whole "
     "or not at all, so nothing half-written is left behind.",
     "ovir run model.xml -i x=zeros -o /proc/out.npz", "Give another path with -o, or free some space."},
    {Code::E0003, kFile, "memory or another limit is exceeded",
     "The model or its tensors need more than `--limits` or the machine allows, or the files of `--dump-to` more than "
     "the disk may lose. The check is made before memory is taken, so a tensor with absurd dims ends here instead of "
     "exhausting the machine.",
     "ovir run model.xml -i x=zeros --limits mem=1G", "Raise the limit, or give smaller shapes with --shape."},
    {Code::E0004, kFile, "the computation takes too long",
     "The number of elementary steps is estimated from the shapes before a layer is computed. 10 billion are allowed, "
     "some 10 seconds of the reference kernels, and 10,000 more for every byte of the model and of the inputs that are "
     "given: a model of usual size never comes near, but a file of a kilobyte cannot ask for hours.",
     R"(<data size="2000001" alpha="1" beta="1" bias="1"/>      <!-- an LRN over a million elements -->)",
     "If the shapes are what they should be, `--limits work=none` runs the model anyway, and `--limits time=60s` runs "
     "it for at most a minute."},

    {Code::E0101, kMalformed, "malformed XML",
     "The file begins like XML but is not well-formed: a tag is not closed, an attribute lacks its quotes, a < in a "
     "text is not escaped, or the file was cut short. Nothing after that place can be trusted, so nothing else is "
     "judged.",
     R"(<layer id="0" name="x type="Parameter">      <!-- the quote after x is missing -->)",
     "Look at the place named and just before it. If the file ends early, copy or download it again; compare the "
     "sizes."},
    {Code::E0102, kMalformed, "not an OpenVINO model",
     "The file is something else: a web page, a git-LFS pointer, a model of another framework, the .bin instead of the "
     ".xml. An IR is an XML file whose outermost element is <net>.",
     R"(<!DOCTYPE html> ...                            <!-- a download page that was saved as model.xml -->
version https://git-lfs.github.com/spec/v1     # run: git lfs pull)",
     "Web page: download the raw file. LFS pointer: `git lfs pull`. Another framework: convert it, `ovc model.onnx`."},
    {Code::E0103, kMalformed, "a required part of the format is missing",
     "The IR format asks for an element or attribute that the file does not have: <net> has version, <layers> and "
     "<edges>; <layer> has id, name, type and version; <port> has id; <edge> has from-layer, from-port, to-layer and "
     "to-port.",
     R"(<layer name="relu1" type="ReLU" version="opset1">     <!-- no id -->)",
     "Files written by OpenVINO have them all, so look at whatever edited or generated the file."},
    {Code::E0104, kMalformed, "a number or word of the format is malformed",
     "An id, a port number, a <dim> or a precision is not what the format allows there: not a number, negative, larger "
     "than 64 bits can hold, or not an element type. A <dim> of -1 means unknown.",
     R"(<port id="0" precision="FP31"> <dim>1x3</dim> </port>)",
     "Correct the text at the place named. Precisions are FP64 FP32 FP16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 I4 U4 BOOL "
     "and so on, in either case."},

    {Code::E0201, kMalformed, "two layers have the same id",
     "Edges refer to layers by id, so each layer needs an id of its own. The bodies of If, Loop and TensorIterator "
     "number their layers independently.",
     R"(<layer id="4" name="a" .../>  <layer id="4" name="b" .../>)",
     "Give one of them an unused id and correct the edges that mean it. Often a layer was pasted twice: delete the "
     "copy."},
    {Code::E0202, kMalformed, "an edge names a layer that does not exist",
     "`from-layer` or `to-layer` of an <edge> is not the id of a layer in the same graph.",
     R"(<edge from-layer="17" from-port="0" to-layer="3" to-port="0"/>    <!-- there is no layer 17 -->)",
     "Correct the id, or delete the edge together with the layer that was deleted. An edge cannot reach into or out of "
     "a body: the port map does that."},
    {Code::E0203, kMalformed, "an edge names a port that does not exist",
     "The layer exists, but none of its output ports has the id in `from-port`, or none of its input ports that in "
     "`to-port`. Port ids are the `id` attributes of <port>, and the outputs usually continue the numbering of the "
     "inputs.",
     R"(<edge from-layer="2" from-port="0" .../>    <!-- layer 2 has input port 0 and output port 1 -->)",
     "Use an id that the layer's <output> or <input> lists."},
    {Code::E0204, kMalformed, "an input port is fed twice",
     "Two edges end at the same input port. An output may feed many inputs; an input takes one value.",
     R"(<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>    <!-- meant to-port="1"? -->)",
     "Delete one of the edges or let it end at the port that it was meant for."},
    {Code::E0205, kMalformed, "an input port has no edge",
     "A layer declares an input port, but no edge leads to it, so the input has no value.",
     R"(<input> <port id="0"/> <port id="1"/> </input>     <!-- and only one edge leads to this layer -->)",
     "Add the edge, or delete the port where the operation can do without that input."},
    {Code::E0206, kMalformed, "a cycle",
     "Following the edges leads from a layer back to itself, so no order exists in which the layers could run. The "
     "notes list the layers of the cycle. Recurrence is expressed with Loop, TensorIterator or a state variable, never "
     "with an edge back.",
     R"(<edge from-layer="3" ... to-layer="2" .../>  <edge from-layer="2" ... to-layer="3" .../>)",
     "One edge of the cycle names the wrong layer; it is most often one added by hand."},
    {Code::E0207, kMalformed, "two ports of a layer have the same id",
     "Edges name ports by id, so ids must differ among a layer's inputs, and among its outputs.",
     R"(<output> <port id="1" .../> <port id="1" .../> </output>)",
     "Renumber the ports (inputs first, then outputs, from 0) and correct the edges."},
    {Code::E0208, kMalformed, "a body, port map or back edge is faulty",
     "If, Loop and TensorIterator hold whole graphs. Their port map connects a port of the layer (external_port_id) to "
     "a Parameter or Result of the body (internal_layer_id); back edges lead from a Result to a Parameter. One of "
     "these is missing, connects something else, or bodies are nested too deeply.",
     R"(<port_map> <input external_port_id="7" internal_layer_id="0"/> </port_map>  <!-- the layer has no port 7 -->)",
     "Every Parameter of a body needs exactly one source: the port map or, for later iterations as well, a back edge."},
    {Code::E0209, kMalformed, "a state variable is used incorrectly",
     "ReadValue and Assign share a variable through `variable_id`. Each variable has one ReadValue and one Assign at "
     "most, and an Assign needs a ReadValue of the same variable.",
     R"(<layer type="Assign" ...> <data variable_id="state2"/> ...     <!-- only "state1" is read -->)",
     "Correct the variable_id; it must be the same in both layers."},

    {Code::E0301, kFile, "the .bin is missing",
     "The graph has constants, and the file with their values cannot be opened. It is expected beside the .xml, with "
     "the same name but for the ending.",
     "ovir check model.xml        # there is no model.bin in that folder",
     "Copy the .bin beside the .xml, or pass it with `--weights FILE`. `ovir check --no-weights` and `ovir info` do "
     "without."},
    {Code::E0302, kMalformed, "a constant lies outside the .bin",
     "A Const layer's `offset` + `size` is larger than the file. The .bin belongs to another version of the model, or "
     "was cut short while it was copied.",
     R"(<data element_type="f32" shape="1000" offset="4000" size="4000"/>      <!-- and the .bin has 6000 bytes -->)",
     "Copy the .bin again from where the .xml came from. The two files are written together and belong together."},
    {Code::E0303, kMalformed, "a constant's size does not fit its shape and type",
     "`size` is not the number of bytes that `shape` elements of `element_type` take. Elements narrower than a byte "
     "are packed.",
     R"(<data element_type="f32" shape="2,3" offset="0" size="12"/>            <!-- 6 × 4 = 24 bytes -->)",
     "One of shape, element_type and size was edited without the others."},
    {Code::E0304, kMalformed, "the .bin is not weights",
     "The file beside the model is a git-LFS pointer, a web page, or text such as another XML. Weights are raw "
     "numbers.",
     "version https://git-lfs.github.com/spec/v1     # this is what model.bin begins with",
     "LFS pointer: `git lfs pull`. Web page: download the raw file. If .xml and .bin are swapped, swap the names."},

    {Code::E0401, kMalformed, "a required attribute is missing",
     "The operation has an attribute without a default, and the layer's <data> does not give it.",
     R"(<layer id="5" name="join" type="Concat" version="opset1"> <data/>    <!-- axis="1"? -->)",
     "Add it. `ovir ops NAME` lists the attributes of an operation, their types and defaults."},
    {Code::E0402, kMalformed, "an attribute's value is malformed",
     "The text cannot be read as the attribute's type: a number, a list of numbers with commas, true or false, an "
     "element type, a shape.",
     R"(<data strides="2;2" pads_begin="0,0" .../>                            <!-- 2,2 -->)",
     "Write it as `ovir ops NAME` says. Lists are separated by commas; element types are words such as f32 and i64."},
    {Code::E0403, kMalformed, "an attribute's value is outside its domain",
     "The value can be read but is not one the operation allows: a word that is not in its list, a stride of 0, an "
     "axis below the least.",
     R"(<data auto_pad="same" .../>                                          <!-- same_upper or same_lower -->)",
     "Choose one of the values in the message."},

    {Code::E0501, kMalformed, "too few or too many inputs or outputs",
     "The operation, in the version that the layer names, takes a fixed number of inputs (some of them optional) or "
     "gives a fixed number of outputs. Arity differs between versions: MaxPool has one output in opset1 and two since "
     "opset8.",
     "MatMul of f32[8,512]       # takes two inputs",
     "Compare with `ovir ops NAME`. The version attribute may name the wrong operation set."},
    {Code::E0502, kMalformed, "an element type that the operation does not take",
     "An input has an element type outside the set that the specification allows for that port.",
     "LogicalAnd of f32 and f32                  # takes boolean",
     "Put a Convert in front, or correct the element_type of the Parameter or Constant that it comes from."},
    {Code::E0503, kMalformed, "element types that must be equal differ",
     "The specification gives several ports one type (\"T\"), and the values that arrive have different ones. OpenVINO "
     "never converts silently.",
     "Add of f32[1,3] and f16[3]",
     "Convert one side. A model that was compressed to f16 in part usually lacks a Convert behind a constant."},
    {Code::E0504, kMalformed, "a rank that the operation does not take",
     "An input has too few or too many dims: a convolution over images takes [N,C,H,W], an axis is a scalar or has one "
     "dim.",
     "Convolution of f32[3,224,224] and f32[8,3,3,3]       # the batch dim is missing",
     "Follow the note on where the shape comes from. If a model input lost its batch, give it with --shape."},
    {Code::E0505, kMalformed, "shapes that must be equal or broadcastable are not",
     "Aligned at the last axis, two dims must be equal or one of them 1 (numpy rules); operations without broadcasting "
     "need equal shapes.",
     "Add of f32[1,64,56,56] and f32[64]         # 56 against 64; [64,1,1] would do",
     "Reshape one side, so that its dims line up, or correct the shape it was given."},
    {Code::E0506, kMalformed, "a dim that contradicts another",
     "Two dims that the operation ties together differ: the inner dims of a MatMul, channels and filters of a "
     "convolution, the dims beside the axis of a Concat.",
     "MatMul of f32[8,512] and f32[256,10]       # 512 against 256",
     "See which of the two inputs is wrong with `ovir shapes MODEL --why LAYER`. transpose_a and transpose_b are "
     "frequent culprits."},
    {Code::E0507, kMalformed, "an axis or index out of range",
     "For rank r an axis lies in [-r, r-1]; an index into an axis of length n lies in [0, n-1], and for some "
     "operations in [-n, n-1].",
     R"(Softmax of f32[1,1000] with axis="2")",
     "Correct the attribute or the constant. The axis often belongs to a layout with another rank."},
    {Code::E0508, kMalformed, "an input's value outside its domain",
     "The value of an input that configures the operation (a constant, mostly) is not allowed: a negative length, a "
     "step of 0, a permutation that names an axis twice.",
     "Transpose of f32[1,3,8] by {0, 2, 2}", "Correct the constant, or convert the model again."},
    {Code::E0512, kMalformed, "element counts that must be equal differ",
     "A Reshape keeps every element, so the products of the old and of the new dims must be equal. One -1 in the "
     "target stands for what is left over; 0 keeps a dim where special_zero is true.",
     "Reshape of f32[2,4,8,8] to {1, 4, 64}      # 512 elements against 256",
     "Targets with a hard-coded batch break under another --shape: use -1 (or 0) for that dim, as in `ovir edit MODEL "
     "--set-const NAME=-1,4,64 -o OUT`. `ovir check` tries such values and says which one works."},

    {Code::E0601, kUnsupported, "an unsupported IR version",
     "ovir reads IR 10 (OpenVINO 2020.1 to 2021.4) and IR 11 (since 2022.1). Versions up to 9 have other operations "
     "and no operation sets; OpenVINO itself has refused them since 2021.1.",
     R"(<net name="model" version="6" batch="1">)",
     "Convert the original model again with a current OpenVINO: `ovc model.onnx`. An old IR itself cannot be "
     "converted."},
    {Code::E0602, kUnsupported, "an unknown operation type",
     "No operation set has an operation of this name. It is a custom operation, or a slip in `type`.",
     R"(<layer id="7" name="post" type="YoloDecode" version="opset1">)",
     "A custom operation needs an extension library."},
    {Code::E0603, kUnsupported, "an unknown operation set, or an operation that the set does not contain",
     "`version` names the operation set in which the type is looked up: opset1 to opset17. A set contains the "
     "operations that were current at its time; Softmax with a negative axis is in opset8, not in opset1; Reverse left "
     "after opset3.",
     R"(<layer id="7" name="gelu" type="Gelu" version="opset1">              <!-- since opset2 -->)",
     "`ovir ops NAME` lists the versions of the operation. `extension` marks operations of another library."},
    {Code::E0604, kUnsupported, "an element type that cannot be computed with",
     "The operation's signature allows these element types, but ovir cannot compute with them. What the signature does "
     "not allow is E0502.",
     "(no model is known that shows it)",
     "Convert to f32 in front of the operation and back behind it. Please report it: the specification allows the "
     "type."},
    {Code::E0605, kUnsupported, "a part of a valid model that is not supported",
     "Mean values that a <pre-process> element subtracts from an input whose lengths are not fixed, or whose rank is 1 "
     "or more than 5. Or an operation without a kernel.",
     R"(<data element_type="f32" shape="?,64"/> ... <mean value="104"/> ...)",
     "Give the Parameter a fixed shape, or convert the model again: current converters put the subtraction into the "
     "graph. `ovir ops` lists the operations that can run."},

    {Code::E0606, kUnsupported, "a layer that the requested OpenVINO cannot read",
     "`--for RELEASE` asks whether that release of OpenVINO reads the model. A release refuses operation sets, "
     "operations and element types that are younger than it.",
     "ovir check model.xml --for 2021.4       # Softmax of opset8 came with 2022.1",
     "`ovir edit MODEL --fix --for RELEASE -o OUT` lowers layers where an older version computes the same. Otherwise "
     "use a newer OpenVINO, or convert the model with an older one."},

    {Code::E0701, kInput, "an unknown input name",
     "`-i NAME=...` does not name an input of the model. A NAME is a tensor name of a Parameter, its layer name, or "
     "its number in file order.",
     "ovir run model.xml -i imgae=@cat.npy       # the input is called image",
     "`ovir info MODEL` lists the inputs. With one input the NAME may be left out."},
    {Code::E0702, kInput, "an input has no value",
     "Every input of the model needs a value to run. The message ends with a command that can be pasted.",
     "ovir run bert.xml -i ids=@ids.npy          # attention_mask is missing",
     "Pass it with -i, or let --random fill it."},
    {Code::E0703, kInput, "an input has the wrong shape",
     "The data has a shape that the model's input does not allow. `?` in a declared shape accepts any length.",
     "image is declared f32[1,3,224,224], and cat.npy holds f32[1,224,224,3]",
     "Transpose or resize the data; `--layout 'images[NHWC]'` does it for images. `--shape` gives the input another "
     "shape, if the model allows that."},
    {Code::E0704, kInput, "an input has the wrong element type",
     "The data's element type differs from the input's. Values are never converted silently, since that can lose "
     "digits.",
     "ids is declared i64, and ids.npy holds i32", "Save the data in the right type, or add --cast."},
    {Code::E0705, kInput, "input data cannot be read",
     "The file or text given for an input is damaged, has another format, or holds less data than its header says.",
     "ovir run model.xml -i x='2x2xf32=1 2 3'    # three values for four places",
     "`ovir run --help` describes the forms of a VALUE."},
    {Code::E0706, kInput, "an input given twice",
     "Two values were given for one input, maybe under two of its names (tensor name, layer name, number).",
     "ovir run model.xml -i x=zeros -i 0=ones", "Leave one of them out."},

    {Code::T0801, kTrap, "a layer computed NaN",
     "`run --trap nan` stopped at the first value that is not a number. Usual causes: inf - inf, 0 * inf, 0 / 0, the "
     "square root or logarithm of a negative number, a Softmax over nothing but -inf, or an input or constant that "
     "holds NaN already. The notes name the operands and follow them back.",
     "ovir run model.xml -i x=@x.npy --trap nan",
     "Look at the operands in the notes. Where an infinity is among them, `--trap overflow,div0` stops where it was "
     "made. Where the input itself is the source, check how it was prepared."},
    {Code::T0802, kTrap, "a layer computed an infinity",
     "`run --trap inf` stopped at the first infinite value, also one that an input or a constant holds. Attention "
     "masks are often built from -inf on purpose.",
     "ovir run model.xml -i x=@x.npy --trap inf",
     "If the infinity is meant, leave `inf` out: `--trap overflow,div0` stops only where finite operands give an "
     "infinite result."},
    {Code::T0803, kTrap, "an index out of range",
     "`run --trap oob` found an index outside the axis that it selects from. Gather gives zeros for such an index and "
     "OneHot a row without an entry, so the run would go on with wrong values; other operations refuse it.",
     "ovir run model.xml -i 'ids=1x4xi64=1 5 999999 2' --trap oob",
     "The notes follow the index back to the input that it came from. For token ids, compare the tokenizer's "
     "vocabulary with the number of rows of the embedding table."},
    {Code::T0804, kTrap, "a division by zero",
     "`run --trap div0` found a divisor of zero (Divide, Mod, FloorMod), a negative power of zero, or the logarithm of "
     "zero. For integers the specification leaves the result undefined, and ovir gives 0.",
     "ovir run model.xml -i x=zeros --trap div0",
     "Add a small epsilon to the divisor, or clamp it, as normalization layers do."},
    {Code::T0805, kTrap, "an overflow",
     "`run --trap overflow` found finite operands with an infinite result, a Convert whose target type cannot hold the "
     "value, or integer arithmetic beyond the range of its type.",
     "ovir run model.xml -i x=const:1e30 --trap overflow",
     "Scale the operands, or compute in a wider type. `run --check-range f16` shows the headroom of every layer."},
    {Code::T0806, kTrap, "an operand outside the domain of an operation",
     "`run --trap domain` found operands without NaN whose result is NaN: the square root or logarithm of a negative "
     "number, Acos or Asin beyond 1, inf - inf, 0 * inf.",
     "ovir run model.xml -i x=const:-1 --trap domain",
     "Clamp the operand to the domain, or look for what made it leave the domain: the notes follow it back."},
    {Code::T0807, kTrap, "a value that f16 cannot hold",
     "`run --trap f16` found a finite value beyond 65504, the largest of f16. On hardware that computes in f16 it "
     "would become infinite.",
     "ovir run model.xml -i x=@x.npy --trap f16",
     "Keep the layer in f32, or scale its weights. `run --check-range f16` shows how much room every layer has."},
    {Code::T0808, kTrap, "a value that bf16 cannot hold",
     "`run --trap bf16` found a finite value that bf16 would round to infinity, beyond about 3.39e38. Masks that are "
     "made with the lowest f32 number are a usual cause.",
     "ovir run model.xml -i x=@x.npy --trap bf16", "Use a smaller number for the mask, such as -1e9, or -inf itself."},
    {Code::T0809, kTrap, "an element that nothing has set",
     "`run --trap uninit` found a state that is read before any value was given to it, or an element of an output that "
     "the layer's kernel never wrote.",
     "ovir run decoder.xml -i ids=@ids.npy --trap uninit",
     "For a state: give ReadValue an initial value, or load one with --load-state. An element that a kernel did not "
     "write is a fault in ovir; please report it."},

    {Code::W0901, kMalformed, "a declared shape or type contradicts the inferred one",
     "The <dim>s or the precision of a port have no value in common with what follows from the inputs. ovir "
     "and OpenVINO go by the inferred ones, so this is only a warning, but the file was probably edited by hand or by "
     "a faulty tool.",
     R"(<output> <port id="1" precision="FP32"> <dim>1</dim> <dim>63</dim> </port> ...  <!-- inferred: [1,64] -->)",
     "Find out which one is right. `ovir edit MODEL --fix -o OUT` declares what is inferred, or, where an attribute is "
     "what stands alone, changes that. --strict makes this an error."},
    {Code::W0902, kMalformed, "an unknown attribute",
     "It has no effect. If the name is misspelled, the default of the attribute that was meant is used instead.",
     R"(<data stride="2,2" .../>                                             <!-- strides -->)",
     "Correct the name if the message suggests one; otherwise hide the warning with `-A W0902`."},
    {Code::W0903, kMalformed, "constants partly overlap",
     "Two Const layers share some bytes of the .bin. Sharing all of them is common, sharing a part is not: an offset "
     "or a size is probably wrong.",
     R"(<layer name="a" type="Const" ...> <data offset="0" size="100" .../> ...
<layer name="b" type="Const" ...> <data offset="64" size="100" .../> ...)",
     "Compare with the .xml that came with this .bin."},
    {Code::W0904, kMalformed, "layers are unused",
     "No Result depends on them, so they are not computed and only make the file larger.",
     "a Relu whose output feeds nothing", "Remove them; or, if one of them should be an output, give it a Result."},
    {Code::W0905, kMalformed, "a model without results",
     "No layer is a Result (or an Assign, which sets a state), or there are no layers at all: running the model "
     "computes nothing.",
     R"(<layers> <layer id="0" name="x" type="Parameter" ...> <layer id="1" name="y" type="ReLU" ...> </layers>)",
     "Add a Result layer for each output, or export the model again."},
    {Code::W0906, kMalformed, "layers share a name",
     "Two layers of the model, or of one body, have the same name. The model runs, but a selector, `--dump` or a "
     "reference that goes by this name means all of them.",
     R"(<layer id="2" name="first" type="ReLU" version="opset1">                <!-- as layer 1 -->)",
     "Give each layer a name of its own. Until then `id:2` selects one of them."},
    {Code::W0907, kMalformed, "XML that other readers refuse or read differently",
     "A bare `&` that begins no entity, bytes that are not UTF-8, or an entity of the file's own DOCTYPE. ovir and "
     "OpenVINO take them as they are; other XML readers refuse the first two and expand the third.",
     R"(<net name="a & b" version="11">)", "Write `&amp;`, or save the file as UTF-8."},
    {Code::W0908, kMalformed, "a number that is not written as specified",
     "An integer with a fraction of zeros, a list with a comma at its end, or a port map that numbers the outputs of "
     "its layer otherwise than their ports. OpenVINO reads such files (but for \"offset\" and \"size\" of a Const), "
     "and ovir reads them alike.",
     R"(<data axis="1.0"/>)", "Write the integer. In a port map, name the ids of the layer's output ports."},
    {Code::W0909, kMalformed, "faulty layers that are unused",
     "No Result depends on them, so neither OpenVINO nor ovir looks at them in a run; the model runs without them.",
     R"(<layer id="7" name="left" type="Frobnicate" version="opset1"> ...  <!-- whose output feeds nothing -->)",
     "Remove the layer. If a Result should depend on it, an edge is missing."},
    {Code::N0901, 0, "attributes that converters left behind",
     "Model Optimizer wrote some attributes for operations that have none of that name. They have no effect, here and "
     "in OpenVINO. One note counts them all.",
     R"(<layer type="Convolution" ...> <data output_padding="0,0" .../>)",
     "Nothing needs to be done; `-A N0901` hides it."},
    {Code::N0902, 0, "OpenVINO computes this differently, or does not read it",
     "OpenVINO's reader or its CPU plugin departs from the specification here; ovir follows the specification. `ovir "
     "check --portability` lists such layers.",
     "Divide of i64 and i64    # the plugin computes in 32 bits",
     "If results must be the same on both, avoid the operation."},
};

constexpr CodeInfo kUnknown{
    Code{},
    70,
    "an internal error",
    "ovir found a fault in itself.",
    "",
    "Please report it, with the command and the model (`ovir reduce --anonymize` makes a small one)."};

constexpr bool in_order() {
  return std::is_sorted(std::begin(kCodes), std::end(kCodes),
                        [](const CodeInfo& a, const CodeInfo& b) { return a.code < b.code; });
}
static_assert(in_order());

const CodeInfo* find(Code code) {
  const auto* const at = std::lower_bound(std::begin(kCodes), std::end(kCodes), code,
                                          [](const CodeInfo& i, Code c) { return i.code < c; });
  return at != std::end(kCodes) && at->code == code ? at : nullptr;
}

}  // namespace

std::span<const CodeInfo> all_codes() { return kCodes; }

const CodeInfo& info(Code code) {
  const CodeInfo* const found = find(code);
  return found != nullptr ? *found : kUnknown;
}

Severity severity(Code code) {
  return code >= Code::N0901 ? Severity::note : code >= Code::W0901 ? Severity::warning : Severity::error;
}

std::string_view to_string(Severity severity) {
  constexpr std::string_view words[] = {"error", "warning", "note"};
  return words[static_cast<std::size_t>(severity)];
}

std::string to_string(Code code) {
  constexpr char letters[] = {'E', 'W', 'N'};  // in the order of Severity
  const auto number = static_cast<unsigned>(code) % 1000;
  const char letter = number / 100 == 8 ? 'T' : letters[static_cast<std::size_t>(severity(code))];
  return fmt::format("{}{:04}", letter, number);
}

std::optional<Code> parse_code(std::string_view text) {
  for (const auto& entry : kCodes)
    if (equals_ignoring_case(text, to_string(entry.code))) return entry.code;
  return std::nullopt;
}

}  // namespace ovir
