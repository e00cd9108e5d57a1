import type { DigestAnswer } from './digest_worker';
import workerAddress from './digest_worker?worker&url';

interface ScriptPolicy {
  createScriptURL(address: string): string;
}
interface PolicyFactory {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

// Browsers with trusted types start no worker from a plain text.
const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
const policy = factory?.createPolicy('attune', {
  createScriptURL(address: string): string {
    if (address !== workerAddress) throw new TypeError('no worker of this page');
    return address;
  },
});

// The file's SHA-256. `onProgress` gets the bytes that are done.
export function digestOf(file: File, onProgress: (done: number) => void, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(policy?.createScriptURL(workerAddress) ?? workerAddress, { type: 'module' });
    const end = (): void => worker.terminate();
    signal.addEventListener('abort', () => {
      end();
      reject(new DOMException('the upload was stopped', 'AbortError'));
    });
    worker.addEventListener('message', (event: MessageEvent<DigestAnswer>) => {
      const answer = event.data;
      if ('done' in answer) {
        onProgress(answer.done);
        return;
      }
      end();
      if ('digest' in answer) resolve(answer.digest);
      else reject(new Error(`${file.name}: cannot be read: ${answer.error}`));
    });
    worker.addEventListener('error', () => {
      end();
      reject(new Error(`${file.name}: its digest cannot be computed in this browser`));
    });
    worker.postMessage(file);
  });
}
