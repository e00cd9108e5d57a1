// A job as a person wishes it on the form, and as the server wants it.
import { agreementOf, NO_WISH, type AgreementWish } from './agreement';
import type { NewJob } from './api/client';
import { isModelName } from './upload/sent_files';

export interface Wish {
  kind: 'tuning' | 'quantization';
  name: string;
  on: string;
  trials: string;
  minutes: string;
  threads: string;
  parts: string;
  preprocess: string;
  imageMean: string;
  imageScale: string;
  judged: string;
  agreement: AgreementWish;
}
export const FIRST_WISH: Wish = { kind: 'tuning', name: '', on: '', trials: '200', minutes: '', threads: '1', parts: '1', preprocess: '', imageMean: '', imageScale: '', judged: '', agreement: NO_WISH };

// A file that the server has.
export interface Input {
  name: string;
  sha256: string;
}

// A file on its way there.
export interface Sending {
  name: string;
  step: 'reading' | 'sending' | 'sent' | 'failed';
  digest: string | null;
}

// The model first, then what it names. Null until all is there.
export function inputsOf(sent: readonly Sending[]): readonly Input[] | null {
  const model = sent.find((file) => isModelName(file.name)) ?? sent[0];
  if (model === undefined || sent.some((file) => file.step !== 'sent')) return null;
  return [model, ...sent.filter((file) => file !== model)].map((file) => ({ name: file.name, sha256: file.digest ?? '' }));
}

// Samples of one input are files, and those of several inputs are folders with a file for each. Their order by name is
// that in which they are read.
export function samplesOf(sent: readonly Sending[]): readonly Input[] | null {
  if (sent.length === 0 || sent.some((file) => file.step !== 'sent')) return null;
  return sent.map((file) => ({ name: file.name, sha256: file.digest ?? '' }));
}

const SAMPLES_FOLDER = 'in/samples';

function settingsOf(wish: Wish, model: string): Record<string, unknown> {
  const common = {
    model: `in/${model}`,
    threads: Number(wish.threads),
    ...(wish.preprocess === '' ? {} : { preprocess: wish.preprocess }),
    ...(wish.imageMean === '' ? {} : { image_mean: wish.imageMean }),
    ...(wish.imageScale === '' ? {} : { image_scale: wish.imageScale }),
  };
  if (wish.kind === 'quantization')
    return {
      ...common,
      data: SAMPLES_FOLDER,
      ...(wish.judged === '' ? {} : { judged: Number(wish.judged) }),
    };
  return {
    ...common,
    events: 'out/events.jsonl',
    ...(wish.trials === '' ? {} : { trials: Number(wish.trials) }),
    ...(wish.minutes === '' ? {} : { time: `${wish.minutes}m` }),
  };
}

export function jobOf(wish: Wish, inputs: readonly Input[], samples: readonly Input[]): NewJob {
  const agreement = agreementOf(wish.agreement);
  const given = inputs.map(({ name, sha256 }) => ({ name: `in/${name}`, sha256 }));
  if (wish.kind === 'quantization') given.push(...samples.map(({ name, sha256 }) => ({ name: `${SAMPLES_FOLDER}/${name}`, sha256 })));
  return {
    ...(agreement === null ? {} : { agreement }),
    name: wish.name,
    kind: wish.kind,
    on: wish.on,
    inputs: given,
    ...(wish.kind === 'tuning' && Number(wish.parts) > 1 ? { parts: Number(wish.parts) } : {}),
    settings: settingsOf(wish, inputs[0]?.name ?? '') as unknown as NonNullable<NewJob['settings']>,
  };
}

export interface Given {
  files: readonly Sending[];
  inputs: readonly Input[] | null;
  samples: readonly Sending[];
}

// The sentence that says what is missing; null: it can be submitted.
export function lackOf(wish: Wish, { files, inputs, samples }: Given): string | null {
  if (inputs === null) return files.length === 0 ? 'add a model first: drop its file above' : 'wait until all files are sent';
  if (wish.kind === 'tuning') return wish.trials === '' && wish.minutes === '' ? 'set a budget: trials, minutes or both' : null;
  if (samplesOf(samples) !== null) return null;
  return samples.length === 0 ? 'add samples first: drop some inputs for the model above' : 'wait until all samples are sent';
}
