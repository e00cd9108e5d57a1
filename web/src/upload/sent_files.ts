// Files on their way to the server, each with how far it is.
import { signal } from '@preact/signals';
import { sentenceOf } from '../api/client';
import { announce } from '../ui/announce';
import { digestOf } from './digest';
import type { GivenFile } from './given_files';
import { makeTurns } from './turns';
import { send } from './upload';

// Each reads with a worker and holds a connection.
const MOST_AT_A_TIME = 3;

// Whether it is the file that a model begins with, rather than one of its weights.
export function isModelName(name: string): boolean {
  return /\.(onnx|tflite|pb|pt2)$/i.test(name);
}

export interface SentFile {
  key: number;
  name: string;
  bytes: number;
  step: 'reading' | 'sending' | 'sent' | 'failed';
  done: number; // bytes of the step
  digest: string | null;
  error: string | null;
}

export interface SentFiles {
  files: () => readonly SentFile[];
  add: (given: readonly GivenFile[]) => void;
  retry: (key: number) => void;
  remove: (key: number) => void;
  stop: () => void;
}

export function makeSentFiles(): SentFiles {
  const list = signal<readonly SentFile[]>([]);
  const sources = new Map<number, { file: File; abort: AbortController }>();
  const take = makeTurns(MOST_AT_A_TIME);
  let last = 0;

  const change = (key: number, next: Partial<SentFile>): void => {
    list.value = list.value.map((file) => (file.key === key ? { ...file, ...next } : file));
  };
  const run = async (key: number): Promise<void> => {
    const source = sources.get(key);
    if (source === undefined) return;
    const { file, abort } = source;
    try {
      change(key, { step: 'reading', done: 0, error: null });
      const digest = await digestOf(file, (done) => change(key, { done }), abort.signal);
      change(key, { step: 'sending', done: 0, digest });
      await send({ file, digest, onProgress: (done) => change(key, { done }), signal: abort.signal });
      change(key, { step: 'sent', done: file.size });
      announce(`${file.name} is sent`);
    } catch (error) {
      if (!abort.signal.aborted) change(key, { step: 'failed', error: sentenceOf(error) });
    }
  };
  const remove = (key: number): void => {
    sources.get(key)?.abort.abort();
    sources.delete(key);
    list.value = list.value.filter((file) => file.key !== key);
  };
  return {
    files: () => list.value,
    add: (given) => {
      for (const { name, file } of given) {
        const known = list.value.find((other) => other.name === name);
        if (known !== undefined) remove(known.key);
        const key = ++last;
        sources.set(key, { file, abort: new AbortController() });
        list.value = [...list.value, { key, name, bytes: file.size, step: 'reading', done: 0, digest: null, error: null }];
        void take(() => run(key));
      }
    },
    retry: (key) => void take(() => run(key)),
    remove,
    stop: () => {
      for (const { abort } of sources.values()) abort.abort();
    },
  };
}
