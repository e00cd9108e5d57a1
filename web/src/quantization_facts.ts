// The facts about a job that compares ways to quantize, from its result.
type Fields = Record<string, unknown>;

export interface Variant {
  name: string;
  error: string; // empty: it was made
  ms: number;
  speedup: number;
  speedupLow: number;
  speedupHigh: number;
  drop: number; // the share of held-back samples with another result
  judgedLoss: number | null; // the share of judging samples with another result; null: none has judged
  judgedSamples: number;
  bytes: number;
  file: string; // of the job; empty: none
}
export interface QuantizationResult {
  baselineMs: number;
  best: string; // empty: none keeps what it should
  variants: readonly Variant[];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// The file is the job's own whose name ends as the runner's path does.
function fileOf(path: string, files: readonly string[]): string {
  const name = path.replace(/^.*\//, '');
  return name === '' ? '' : (files.find((file) => file.startsWith('out/') && file.endsWith(`/${name}`)) ?? '');
}

// Null if the job has none yet, or is of another kind.
export function quantizationResultOf(result: unknown, files: readonly string[]): QuantizationResult | null {
  if (!isFields(result) || !Array.isArray(result['variants'])) return null;
  return {
    baselineMs: numberOf(result['baseline_ms']),
    best: textOf(result['best']),
    variants: result['variants'].filter(isFields).map((variant) => ({
      name: textOf(variant['name']),
      error: textOf(variant['error']),
      ms: numberOf(variant['ms']),
      speedup: numberOf(variant['speedup']),
      speedupLow: numberOf(variant['speedup_low']),
      speedupHigh: numberOf(variant['speedup_high']),
      drop: numberOf(variant['drop']),
      judgedLoss: typeof variant['judged_loss'] === 'number' ? variant['judged_loss'] : null,
      judgedSamples: numberOf(variant['judged_samples']),
      bytes: numberOf(variant['bytes']),
      file: fileOf(textOf(variant['output']), files),
    })),
  };
}
