// Sends a file in pieces, and resumes where it broke off (https://tus.io/protocols/resumable-upload).
import { changeHeaders, Problem, problemOf } from '../api/client';

export const PIECE_BYTES = 4 << 20;
const MOST_TRIES = 6;
const FIRST_WAIT_MS = 300;

export interface Sending {
  file: Blob;
  digest: string;
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

// Replaced in tests.
export interface Network {
  fetch: typeof fetch;
  sleep: (ms: number) => Promise<void>;
}
const browser: Network = {
  fetch: (...request) => fetch(...request),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

// Whether the same request may do better later.
function passes(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Problem && (error.status === 429 || error.status >= 500));
}

// Returns once the server has the whole file. Throws its sentence if it refuses it.
export async function send(sending: Sending, network: Network = browser): Promise<void> {
  let tries = 0;
  let offset: number | null = null;
  for (;;) {
    try {
      offset ??= await begin(sending, network);
      sending.onProgress(offset);
      if (offset >= sending.file.size) return;
      offset = await append(sending, offset, network);
      tries = 0;
    } catch (error) {
      const isElsewhere = error instanceof Problem && error.status === 409;
      if (sending.signal.aborted || (!passes(error) && !isElsewhere) || ++tries >= MOST_TRIES) throw error;
      // The server says where to resume.
      offset = null;
      const seconds = error instanceof Problem ? error.retrySeconds : null;
      await network.sleep(seconds === null ? FIRST_WAIT_MS * 2 ** tries : seconds * 1000);
    }
  }
}

async function begin({ file, digest, signal }: Sending, network: Network): Promise<number> {
  const response = await network.fetch('/v1/uploads', {
    method: 'POST',
    headers: { ...changeHeaders(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ sha256: digest, bytes: file.size }),
    signal,
  });
  if (!response.ok) throw await problemOf(response);
  const upload = (await response.json()) as { offset: number };
  return upload.offset;
}

async function append({ file, digest, signal }: Sending, offset: number, network: Network): Promise<number> {
  const response = await network.fetch(`/v1/uploads/${digest}`, {
    method: 'PATCH',
    headers: { ...changeHeaders(), 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) },
    body: file.slice(offset, offset + PIECE_BYTES),
    signal,
  });
  if (!response.ok) throw await problemOf(response);
  return Number(response.headers.get('Upload-Offset'));
}
