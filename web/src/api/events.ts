// Follows a stream of server-sent events, and comes again when it breaks.
import { signal } from '@preact/signals';

// How many streams are broken just now.
export const brokenStreams = signal(0);

const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 15_000;

export function nextWait(wait: number): number {
  return Math.min(wait * 2, MOST_WAIT_MS);
}

export interface Follower<T> {
  event: string;
  // Called whenever the stream is there (again), so that what was missed can be read.
  onOpen?: () => void;
  onEvent: (data: T) => void;
  // The stream has ended well: false, do not come again.
  goesOn?: () => boolean;
}

// Returns the function that ends it.
export function follow<T>(path: string, follower: Follower<T>): () => void {
  let source: EventSource | null = null;
  let timer: number | undefined;
  let wait = FIRST_WAIT_MS;
  let isBroken = false;
  let isOver = false;

  const setBroken = (broken: boolean): void => {
    if (broken === isBroken) return;
    isBroken = broken;
    brokenStreams.value += broken ? 1 : -1;
  };
  const end = (): void => {
    isOver = true;
    setBroken(false);
    window.clearTimeout(timer);
    source?.close();
  };
  const open = (): void => {
    source = new EventSource(path);
    source.addEventListener('open', () => {
      wait = FIRST_WAIT_MS;
      setBroken(false);
      follower.onOpen?.();
    });
    source.addEventListener(follower.event, (event) => {
      follower.onEvent(JSON.parse((event as MessageEvent<string>).data) as T);
    });
    source.addEventListener('error', () => {
      source?.close();
      if (isOver) return;
      if (follower.goesOn?.() === false) {
        end();
        return;
      }
      setBroken(true);
      timer = window.setTimeout(open, wait);
      wait = nextWait(wait);
    });
  };
  open();
  return end;
}
