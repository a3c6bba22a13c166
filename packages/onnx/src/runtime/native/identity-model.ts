import protobuf from 'protobufjs/minimal.js';

/**
 * Bytes of an ONNX model that returns its float32 input `x`, of any shape, as `y`.
 *
 * Used to move tensors to a device and back, and to probe an execution provider. The numbers are the field
 * tags of onnx.proto (ModelProto, GraphProto, NodeProto, ValueInfoProto).
 */
export function identityModel(): Uint8Array {
  const writer = () => protobuf.Writer.create();
  const text = (tag: number, value: string) => writer().uint32(tag).string(value);
  const tensorType = writer().uint32(8).int32(1).finish();
  const type = writer().uint32(10).bytes(tensorType).finish();
  const value = (name: string) => text(10, name).uint32(18).bytes(type).finish();
  const node = text(10, 'x').uint32(18).string('y').uint32(34).string('Identity').finish();
  const graph = writer()
    .uint32(10)
    .bytes(node)
    .uint32(18)
    .string('identity')
    .uint32(90)
    .bytes(value('x'))
    .uint32(98)
    .bytes(value('y'))
    .finish();
  const opset = text(10, '').uint32(16).int64(21).finish();
  return writer().uint32(8).int64(10).uint32(58).bytes(graph).uint32(66).bytes(opset).finish();
}
