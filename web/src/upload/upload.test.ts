import { expect, test } from 'vitest';
import { Problem } from '../api/client';
import { PIECE_BYTES, send, type Network } from './upload';

// A server that keeps what comes, and fails as told: each request takes the next failure, or none.
function serverWith(failures: (number | 'network' | null)[]) {
  let kept = 0;
  const asked: string[] = [];
  const waits: number[] = [];
  const network: Network = {
    sleep: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    fetch: ((path: string, request: RequestInit) => {
      asked.push(`${request.method ?? ''} ${path}`);
      const failure = failures.shift() ?? null;
      if (failure === 'network') return Promise.reject(new TypeError('failed to fetch'));
      if (failure !== null) return Promise.resolve(new Response(JSON.stringify({ detail: `sentence ${failure}` }), { status: failure, headers: { 'Retry-After': '2' } }));
      if (request.method === 'POST') return Promise.resolve(Response.json({ offset: kept }, { status: 201 }));
      kept += (request.body as Blob).size;
      return Promise.resolve(new Response(null, { status: 204, headers: { 'Upload-Offset': String(kept) } }));
    }) as typeof fetch,
  };
  return { network, asked, waits, kept: () => kept };
}

const SIZE = 2 * PIECE_BYTES + 5;
function sendTo(network: Network, progress: number[] = []): Promise<void> {
  return send({ file: new Blob([new Uint8Array(SIZE)]), digest: 'd', onProgress: (sent) => progress.push(sent), signal: new AbortController().signal }, network);
}

test('a file goes in pieces', async () => {
  const server = serverWith([]);
  const progress: number[] = [];
  await sendTo(server.network, progress);
  expect(server.kept()).toBe(SIZE);
  expect(progress).toEqual([0, PIECE_BYTES, 2 * PIECE_BYTES, SIZE]);
  expect(server.asked).toEqual(['POST /v1/uploads', 'PATCH /v1/uploads/d', 'PATCH /v1/uploads/d', 'PATCH /v1/uploads/d']);
});
test('an interrupted upload resumes where the server says', async () => {
  const server = serverWith([null, null, 'network', 503, null, 409]);
  await sendTo(server.network);
  expect(server.kept()).toBe(SIZE);
  expect(server.waits).toHaveLength(3);
  expect(server.waits[1]).toBe(2000);
});
test('what the server refuses is told at once, by its sentence', async () => {
  const server = serverWith([413]);
  await expect(sendTo(server.network)).rejects.toEqual(new Problem(413, 'sentence 413', 2));
  expect(server.asked).toHaveLength(1);
});
test('it gives up when nothing helps', async () => {
  await expect(sendTo(serverWith(Array.from({ length: 20 }, () => 'network' as const)).network)).rejects.toThrow('fetch');
});
