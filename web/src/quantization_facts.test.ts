import { expect, test } from 'vitest';
import { quantizationResultOf } from './quantization_facts';

test('a result of another shape is none', () => {
  for (const result of [null, 3, [], {}, { variants: 'x' }]) expect(quantizationResultOf(result, [])).toBeNull();
});
test('variants have their files and what was judged', () => {
  const result = {
    baseline_ms: 2,
    best: 'mse',
    variants: [{ name: 'mse', ms: 1, speedup: 2, drop: 0.01, judged_loss: 0.01, judged_samples: 4, bytes: 100, output: '/any/where/mse.onnx' }, { name: 'entropy', error: 'too few samples' }, 7],
  };
  const facts = quantizationResultOf(result, ['in/mse.onnx', 'out/quantized/mse.onnx']);
  expect(facts?.variants).toHaveLength(2);
  expect(facts?.variants[0]).toMatchObject({ file: 'out/quantized/mse.onnx', judgedLoss: 0.01, judgedSamples: 4 });
  expect(facts?.variants[1]).toMatchObject({ file: '', error: 'too few samples', judgedLoss: null });
});
