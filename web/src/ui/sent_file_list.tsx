import { bytes, percent } from '../format';
import type { SentFile, SentFiles } from '../upload/sent_files';
import { Meter } from './parts';

const STEPS = { reading: 'reading', sending: 'sending', sent: 'sent', failed: 'failed' };

function Row({ file, sent }: { file: SentFile; sent: SentFiles }) {
  const share = file.bytes === 0 ? 1 : file.done / file.bytes;
  return (
    <li class="file-row">
      <span class="file-name">{file.name}</span>
      <span class="muted">{bytes(file.bytes)}</span>
      <span class={file.step === 'sent' ? 'good' : file.step === 'failed' ? 'bad' : 'muted'}>
        {STEPS[file.step]}
        {file.step === 'reading' || file.step === 'sending' ? ` ${percent(share)}` : ''}
      </span>
      {file.step === 'failed' && (
        <button class="quiet" type="button" onClick={() => sent.retry(file.key)}>
          Try again
        </button>
      )}
      <button class="quiet" type="button" onClick={() => sent.remove(file.key)} aria-label={`Remove ${file.name}`}>
        Remove
      </button>
      <Meter share={file.step === 'sent' ? 1 : share} tone={file.step === 'failed' ? 'bad' : file.step === 'sent' ? 'good' : 'accent'} />
      {file.error !== null && (
        <p class="bad" role="alert">
          {file.error}
        </p>
      )}
    </li>
  );
}

export function SentFileList({ sent }: { sent: SentFiles }) {
  const files = sent.files();
  if (files.length === 0) return null;
  return (
    <ul class="file-list" aria-label="Files">
      {files.map((file) => (
        <Row key={file.key} file={file} sent={sent} />
      ))}
    </ul>
  );
}
