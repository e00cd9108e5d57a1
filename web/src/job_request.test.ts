import { expect, test } from 'vitest';
import { FIRST_WISH, inputsOf, jobOf, lackOf, samplesOf, type Sending } from './job_request';

const sent = (name: string): Sending => ({ name, step: 'sent', digest: `digest of ${name}` });
const wish = { ...FIRST_WISH, name: 'net', on: 'desk' };

test('the model comes first, and nothing before all is there', () => {
  expect(inputsOf([])).toBeNull();
  expect(inputsOf([sent('weights.bin'), { ...sent('net.onnx'), step: 'sending' }])).toBeNull();
  expect(inputsOf([sent('weights.bin'), sent('net.onnx')])?.map(({ name }) => name)).toEqual(['net.onnx', 'weights.bin']);
});
test('a tuning job has its budget, and parts if there are several', () => {
  const job = jobOf({ ...wish, minutes: '5', parts: '2' }, inputsOf([sent('net.onnx')]) ?? [], []);
  expect(job).toEqual({
    name: 'net',
    kind: 'tuning',
    on: 'desk',
    inputs: [{ name: 'in/net.onnx', sha256: 'digest of net.onnx' }],
    parts: 2,
    settings: { model: 'in/net.onnx', threads: 1, events: 'out/events.jsonl', trials: 200, time: '5m' },
  });
});
test('what becomes of pictures is said for either kind', () => {
  const pictures = { preprocess: 'caffe', imageMean: '127.5', imageScale: '1,2,3' };
  const settings = { preprocess: 'caffe', image_mean: '127.5', image_scale: '1,2,3' };
  const inputs = [{ name: 'net.onnx', sha256: 'n' }];
  expect(jobOf({ ...wish, ...pictures }, inputs, []).settings).toMatchObject(settings);
  expect(jobOf({ ...wish, ...pictures, kind: 'quantization' }, inputs, inputs).settings).toMatchObject(settings);
});
test('a quantization job has its samples', () => {
  const job = jobOf({ ...wish, kind: 'quantization' }, [{ name: 'net.onnx', sha256: 'n' }], [{ name: 'cat.jpg', sha256: 'c' }]);
  expect(job.inputs).toEqual([{ name: 'in/net.onnx', sha256: 'n' }, { name: 'in/samples/cat.jpg', sha256: 'c' }]);
  expect(job.settings).toEqual({ model: 'in/net.onnx', threads: 1, data: 'in/samples' });
});
test('samples in folders stay in them, and some of them judge', () => {
  const samples = samplesOf([sent('0/ids.npy'), sent('0/mask.npy')]) ?? [];
  const job = jobOf({ ...wish, kind: 'quantization', judged: '3' }, [{ name: 'net.onnx', sha256: 'n' }], samples);
  expect(job.inputs?.map(({ name }) => name)).toEqual(['in/net.onnx', 'in/samples/0/ids.npy', 'in/samples/0/mask.npy']);
  expect(job.settings).toEqual({ model: 'in/net.onnx', threads: 1, data: 'in/samples', judged: 3 });
});
test('what is missing is told in words', () => {
  const files = [sent('net.onnx')];
  const inputs = inputsOf(files);
  expect(lackOf(wish, { files, inputs, samples: [] })).toBeNull();
  expect(lackOf({ ...wish, trials: '' }, { files, inputs, samples: [] })).toContain('trials');
  expect(lackOf({ ...wish, kind: 'quantization' }, { files, inputs, samples: [] })).toContain('samples');
  expect(lackOf(wish, { files: [], inputs: null, samples: [] })).toContain('model');
});
