// Computes the SHA-256 of a file piece by piece, away from the thread that paints.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const PIECE_BYTES = 4 << 20;

export type DigestAnswer = { done: number } | { digest: string } | { error: string };

self.addEventListener('message', (event: MessageEvent<File>) => {
  void digest(event.data);
});

async function digest(file: File): Promise<void> {
  try {
    const hash = sha256.create();
    for (let at = 0; at < file.size; at += PIECE_BYTES) {
      hash.update(new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer()));
      answer({ done: Math.min(at + PIECE_BYTES, file.size) });
    }
    answer({ digest: bytesToHex(hash.digest()) });
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) });
  }
}

function answer(message: DigestAnswer): void {
  self.postMessage(message);
}
