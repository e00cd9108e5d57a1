// Reads what a view shows, and reads it again.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../api/client';

export interface Loaded<T> {
  value: T | null;
  error: string | null;
  reload: () => void;
}

// `everySeconds`: 0: only once, and by reload(). A hidden page asks for nothing.
export function useLoaded<T>(read: () => Promise<T>, keys: readonly unknown[], everySeconds = 0): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  const turn = useRef(0);
  const load = useCallback(() => {
    const mine = ++turn.current;
    read().then(
      (next) => {
        if (mine !== turn.current) return;
        setValue(next);
        setError(null);
      },
      (reason: unknown) => {
        if (mine === turn.current) setError(sentenceOf(reason));
      },
    );
  }, keys);
  useEffect(() => {
    setValue(null);
    load();
    const timer = everySeconds <= 0 ? undefined : window.setInterval(() => {
      if (!document.hidden) load();
    }, everySeconds * 1000);
    return () => {
      ++turn.current;
      window.clearInterval(timer);
    };
  }, [load, everySeconds]);
  return { value, error, reload: load };
}

// The time, told anew every second while `runs`.
export function useNow(runs: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return;
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, [runs]);
  return now;
}
