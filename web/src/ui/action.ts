// An action of the user that the server carries out: whether it is in progress, and the sentence if it cannot.
import { useState } from 'preact/hooks';
import { sentenceOf } from '../api/client';
import { announce } from './announce';

export interface Action {
  error: string | null;
  isBusy: boolean;
  // `said` is told to screen readers once it is done.
  run: (work: () => Promise<unknown>, said: string, onDone?: () => void) => void;
}

export function useAction(): Action {
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>, said: string, onDone?: () => void): void => {
    setBusy(true);
    setError(null);
    work()
      .then(
        () => {
          announce(said);
          onDone?.();
        },
        (reason: unknown) => setError(sentenceOf(reason)),
      )
      .finally(() => setBusy(false));
  };
  return { error, isBusy, run };
}
